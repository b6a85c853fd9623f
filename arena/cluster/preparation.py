"""Prepare the machines of a cluster for a tournament: ship folders, and compare everything."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

import attrs
import msgspec

from arena.cluster.comparison import differences
from arena.cluster.folder import FolderError, folder_of
from arena.cluster.machine_facts import MachineFacts, MachineQuestion, asked_about, facts_of, unpacked
from arena.cluster.packed_folder import discard, packed, receive
from arena.journal.file import belongings
from arena.plan.bot_spec import BotSpec
from arena.worker.job import Relocation
from arena.worker.relocation import localized

_SEND_SECONDS: Final = 600.0  # for all folders
ANSWER_SECONDS: Final = 120.0  # a busy machine needs long to load the arena, and to read the folders of bots
_LEAVE_SECONDS: Final = 10.0


@attrs.frozen
class Machine:
    """A Dask worker that may play, or why it may not."""

    address: str  # of the Dask worker
    name: str  # of the machine
    relocation: Relocation  # where its bots are
    problems: tuple[str, ...] = ()
    answered: bool = True


@attrs.frozen
class Terms:
    """What a tournament asks of a machine."""

    bots: tuple[BotSpec, ...]
    cwd: str
    ours: MachineFacts  # what the answer should be
    shipped: tuple[tuple[str, str, bytes], ...] = ()  # bot, folder, and the folder as bytes, if folders are shipped
    ignored: frozenset[str] = frozenset()  # names of the tournament's own files, if a bot's folder holds them too

    @classmethod
    def of(cls, bots: Sequence[BotSpec], journal: Path | None, *, ship: bool) -> Self:
        """The journal and its secret may lie in the folder of a bot: they change while the tournament is played, and
        no other machine may have them. Raises FolderError if a folder cannot be sent, and OSError."""
        relocation = Relocation(str(Path.cwd()))
        ignored = frozenset(path.name for path in belongings(journal)) if journal else frozenset[str]()
        asked = asked_about("", bots, relocation, ignored)
        return cls(tuple(bots), relocation.cwd, facts_of(asked), tuple(_shipped(asked)) if ship else (), ignored)

    def relocation(self, root: str | None = None) -> Relocation:
        """Where the bots are on a machine, which may have received the folders of bots in this folder."""
        interpreters = {name: bot.interpreter for name, bot in self.ours.bots.items() if bot.interpreter}
        if root is None:
            return Relocation(self.cwd, interpreters=interpreters)
        folders = {}
        for number, (bot, folder, _) in enumerate(self.shipped):
            there = Path(folder)
            folders[bot] = (str(there.parent if there.is_file() else there), f"{root}/{number}")
        return Relocation(self.cwd, folders, interpreters)


def _shipped(asked: MachineQuestion) -> list[tuple[str, str, bytes]]:
    found = []
    for bot in asked.bots:
        folder = folder_of(localized(bot, asked.relocation))
        if folder is not None:
            found.append((bot.name, str(folder), packed(folder, asked.ignored)))
    return found


def told(asked: MachineQuestion) -> bytes:
    """The facts about this machine."""
    return facts_of(asked).packed()


async def prepared(client: Any, address: str, run: str, terms: Terms) -> Machine:
    """Send the folders of bots to a Dask worker, and compare its machine with ours."""
    relocation = terms.relocation()
    if terms.shipped:
        root = await _asked(client, address, _SEND_SECONDS, receive, run, [data for _, _, data in terms.shipped])
        if isinstance(root, Exception):
            return _unfit(address, relocation, "the folders of bots could not be sent there", root)
        relocation = terms.relocation(root)
    data = await _asked(client, address, ANSWER_SECONDS, told, asked_about(run, terms.bots, relocation, terms.ignored))
    if isinstance(data, Exception):
        return _unfit(address, relocation, "it does not say what it is like", data)
    try:
        facts = unpacked(data)
    except msgspec.DecodeError:
        return Machine(
            address, address, relocation, ("its arena answers in another way; install the same version there",)
        )
    return Machine(address, facts.host, relocation, tuple(differences(terms.ours, facts)))


async def left(client: Any, address: str, run: str) -> None:
    """Have a Dask worker forget what it received, if it answers soon."""
    await _asked(client, address, _LEAVE_SECONDS, discard, run)


async def _asked(client: Any, address: str, seconds: float, function: Any, *arguments: Any) -> Any:
    """Call a function in a Dask worker. Returns what it returns, or the exception that was raised on the way."""
    called = client.run(function, *arguments, workers=[address], on_error="return")
    try:
        found = await asyncio.wait_for(called, seconds)
    except TimeoutError:
        return TimeoutError(f"there was no answer within {seconds:.0f} s")
    except Exception as error:  # whatever Dask raises, there is no answer
        return error
    return found.get(address, LookupError("it has left the cluster"))


def _unfit(address: str, relocation: Relocation, what: str, error: Exception) -> Machine:
    """A Dask worker of which we got only an error. It has answered if the error comes from its own files."""
    if "No module named 'arena" in str(error):  # Dask returns such an error only as a text
        return Machine(
            address, address, relocation, ("the arena is not installed there; `pip install 'schotten-arena[dask]'`",)
        )
    answered = isinstance(error, FolderError) or (isinstance(error, OSError) and error.errno is not None)
    return Machine(address, address, relocation, (f"{what}: {_words(error)}",), answered)


def _words(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__

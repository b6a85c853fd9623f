"""The folder that is kept of a fault, so that the bot's author can reproduce it: `bundle.json` for `arena rerun`, the
position, the messages that were exchanged with the bot, and what it wrote on stderr.

The folder can be handed to the author as it is: what only the opponent knows is in another one beside it. That has a
`bundle.json` of both bots, for `arena rerun --live`.
"""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.bots.conversation import said_text
from arena.journal.endings import Fault
from arena.journal.file import OPENING
from arena.journal.lines import SeatNumber
from arena.match.match import PlayedRound
from arena.match.round_play import Players
from arena.match.translate import seat_number
from arena.plan.recorded_config import RecordedBot, recorded_bot
from arena.support.text import folder_name, printable
from arena.worker.job import MatchJob
from engine.cards import other
from protocol.messages import BotSeed, Count
from protocol.names import NAME_RULE, name_problem

_FILE: Final = "bundle.json"
_MOST: Final = 20  # of each bot and ending
_EXPECTED: Final = "expected a folder such as cup.faults/1.1-2.3-mybot beside the journal, or the bundle.json in it"


class BundleError(Exception):
    """A file or folder is not the bundle of a fault. The message says what it is instead, and what was expected."""


# So much is told to a bot, whose lines are limited. A bundle can be edited.
_LONGEST: Final = 1000
T = TypeVar("T")
Text = Annotated[str, Meta(max_length=_LONGEST)]


class BundledFault(Struct, frozen=True):
    seat: SeatNumber
    bot: str
    ending: str
    detail: str


class BundledStart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the bots were told before the first move, besides the deal."""

    match: Text
    number: Annotated[int, Meta(ge=1)]  # of the round in its match
    rounds: Annotated[int, Meta(ge=1)]
    points: tuple[Count, Count]
    salt: Text
    attempt: Annotated[int, Meta(ge=1)] = 1
    bot_seeds: tuple[BotSeed | None, BotSeed | None] | None = None  # by seat
    welcome_seeds: tuple[BotSeed | None, BotSeed | None] = (None, None)  # those of the processes, from their start
    begun: bool = True  # false if the bot failed before the round began
    round_count: Count = 0  # that the process of the bot at fault had played before
    rounds_before: tuple[tuple[str, BotSeed | None], ...] = ()  # of these the first, with the bot's seeds


class FaultBundle(Struct, frozen=True, kw_only=True, omit_defaults=True):
    round: str
    rules: str
    seed: str
    first: SeatNumber
    cwd: str = ""  # of the arena; folders of bots are relative to it. Only the organiser's bundle has it.
    bots: tuple[RecordedBot, RecordedBot]  # of the opponent only the name
    fault: BundledFault
    moves: tuple[tuple[SeatNumber, str, int | None], ...]
    exit_status: tuple[int | None, int | None]
    rerun: str  # the command that plays the round again
    start: BundledStart


def bundle_folder(parent: Path, played: PlayedRound, players: Players) -> Path:
    """The folder in `parent` for the bundle of a round that ended by a fault."""
    fault = played.referee.fault
    assert fault is not None
    return parent / folder_name(f"{played.planned.id}-{players[fault.seat].spec.name}")


def is_worth_a_bundle(parent: Path, name: str, ending: Fault) -> bool:
    """Count another fault of this bot with this ending, in a file in `parent`, and return whether it is one of the
    first. A bot that fails again and again must not fill the disk. Raises OSError."""
    parent.mkdir(parents=True, exist_ok=True)
    counter = parent / f"{folder_name(f'{ending.value}-{name}')}.count"
    before = counter.read_text() if counter.exists() else ""
    count = 1 + (int(before) if before.strip().isdecimal() else 0)
    counter.write_text(f"{count}\n")
    return count <= _MOST


def opponents_folder(folder: Path) -> Path:
    """The folder beside that of a bundle, with what only the organiser and the opponent may know."""
    return folder.with_name(f"{folder.name}.opponent")


def bundle_files(
    folder: Path, job: MatchJob, played: PlayedRound, players: Players, points: tuple[int, int]
) -> dict[Path, dict[str, str]]:
    """The files of a bundle, by folder and name. `points` are those of the match before the round. The bots are those
    of the job, as `arena rerun` can start them on the machine of the tournament. Of their environments only the names
    of variables are kept."""
    fault = played.referee.fault
    assert fault is not None
    names = (players[0].spec.name, players[1].spec.name)
    bundle = FaultBundle(
        round=played.planned.id,
        rules=played.referee.game.rules.name,
        seed=played.dealt.seed,
        first=seat_number(played.first),
        cwd=job.relocation.cwd if job.relocation else str(Path.cwd()),
        bots=(recorded_bot(job.bots[0]), recorded_bot(job.bots[1])),
        fault=BundledFault(seat_number(fault.seat), names[fault.seat], fault.ending.value, fault.detail),
        moves=tuple((seat_number(seat), text, ms) for seat, text, ms in played.referee.moves),
        exit_status=(players[0].exit_status, players[1].exit_status),
        rerun=f"arena rerun {shlex.quote(str(folder))}",
        start=BundledStart(
            match=job.planned.id,
            number=played.planned.number,
            rounds=job.planned.length,
            points=points,
            salt=played.dealt.salt,
            attempt=played.dealt.attempt,
            bot_seeds=played.dealt.bot_seeds,
            welcome_seeds=(players[0].welcome_seed, players[1].welcome_seed),
            begun=played.begun,
            round_count=players[fault.seat].round_count,
            rounds_before=tuple(players[fault.seat].rounds),
        ),
    )
    from arena.replay.position_report import titled_text  # faults are rare, and a worker should start quickly

    own, theirs = (_exchange(names[seat], seat, players) for seat in (fault.seat, other(fault.seat)))
    position = played.referee.game.position()
    if fault.seat == 1:
        position, names = position.turned(), (names[1], names[0])
    text = titled_text(position, f"round {played.planned.id}", names)
    return {
        folder: {_FILE: _encoded(_for_author(bundle)), "position.txt": text} | own,
        opponents_folder(folder): {_FILE: _encoded(bundle)} | theirs,
    }


def _for_author(bundle: FaultBundle) -> FaultBundle:
    """The bundle without what only the opponent knows: how it is started, and its seeds, on which its next moves may
    depend. Nor does an author need to know where the organiser's files are."""
    start, seat = bundle.start, bundle.fault.seat
    opponent = RecordedBot(name=bundle.bots[1 - seat].name)
    return replace(
        bundle,
        cwd="",
        bots=_with_own(bundle.bots, seat, opponent),
        exit_status=_with_own(bundle.exit_status, seat, None),
        start=replace(
            start,
            bot_seeds=start.bot_seeds and _with_own(start.bot_seeds, seat, None),
            welcome_seeds=_with_own(start.welcome_seeds, seat, None),
        ),
    )


def _with_own(both: tuple[T, T], seat: SeatNumber, other: T) -> tuple[T, T]:
    return (both[0], other) if seat == 0 else (other, both[1])


def _encoded(bundle: FaultBundle) -> str:
    # Not with msgspec, which refuses text from a path with bytes that are not UTF-8.
    return json.dumps(msgspec.to_builtins(bundle), indent=1)


def _exchange(name: str, seat: int, players: Players) -> dict[str, str]:
    player, stem, files = players[seat], folder_name(f"{seat}-{name}"), {}
    if player.link:
        files[f"{stem}.exchange.txt"] = "".join(f"{said_text(said)}\n" for said in player.link.transcript)
    if (wrote := player.stderr_tail) is not None:
        files[f"{stem}.stderr.txt"] = wrote
    return files


def write_bundle(folders: Mapping[Path, Mapping[str, str]]) -> None:
    """Write the files of a bundle, by folder and name. Raises OSError."""
    for folder, files in folders.items():
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")


def read_bundle(path: Path) -> FaultBundle:
    """Read the bundle in this folder or file. Raises BundleError."""
    file = path / _FILE if path.is_dir() else path
    raw = b""
    if file.exists() and not file.is_file():  # reading a FIFO would block, and a device may never end
        raise BundleError(f"{path}: this is not a regular file; {_EXPECTED}")
    try:
        raw = file.read_bytes()
        found = msgspec.convert(json.loads(raw), FaultBundle)
        for problem in filter(None, (name_problem(bot.name) for bot in found.bots)):
            raise msgspec.ValidationError(f"a bot's name is {NAME_RULE}, but {problem}")
        return found
    except FileNotFoundError:
        problem = "there is no such file" if file == path else f"there is no {_FILE} in this folder"
    except OSError as error:
        problem = f"this cannot be read ({error.strerror})"
    except msgspec.ValidationError as error:
        problem = f"this is not the bundle of a fault ({printable(str(error))})"
    except (ValueError, RecursionError):  # not JSON, or not even text
        problem = "this is a journal" if raw.startswith(OPENING) else "this is not JSON"
    raise BundleError(f"{path}: {problem}; {_EXPECTED}")

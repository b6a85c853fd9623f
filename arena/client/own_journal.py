"""The file in which `arena connect` keeps the rounds of its bot."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from arena.client.client_events import ClientEvent, RoundNotKept
from arena.client.own_rounds import KeptRound, NotKept
from arena.journal.file import is_journal, not_a_journal
from arena.journal.lines import Journal, JournalError, TournamentLine, encoded
from arena.plan.deals import PROMISED
from arena.plan.recorded_config import RecordedConfig
from arena.support.timestamps import utc_now


class OwnJournal:
    """Appends rounds, those of each start of the program after an opening line of their own. Raises JournalError if the
    file is something else. Nothing waits for the disk: the bot's time is running."""

    def __init__(self, path: Path, address: str, report: Callable[[ClientEvent], None]):
        _check(path)
        self._journal = Journal(path, kept=False)
        self._address = address
        self._report = report
        self._config: RecordedConfig | None = None  # in the last opening line
        self._written: set[str] = set()  # ids since then
        self._failed = False

    def __enter__(self) -> "OwnJournal":
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.__exit__()

    def keep(self, found: KeptRound | NotKept) -> None:
        """Write a round. What goes wrong is reported, and never ends the play."""
        if isinstance(found, NotKept):
            self._report(RoundNotKept(found.why))
        elif not self._failed:
            try:
                self._journal.append(self._opening(found) + encoded(found.line))
                self._written.add(found.line.id)
            except JournalError as error:
                self._failed = True
                self._report(RoundNotKept(f"{error}; no more rounds are kept"))

    def _opening(self, found: KeptRound) -> bytes:
        """An opening line, if there is none yet or the server has begun another tournament: with other matches, or with
        the same ids again."""
        event = f"rounds at {self._address}"
        config = RecordedConfig(event=event, rules=found.line.rules, rounds=found.rounds, deals=PROMISED)
        if config == self._config and found.line.id not in self._written:
            return b""
        self._config = config
        self._written.clear()
        return encoded(TournamentLine(config=config, started=utc_now("microseconds")))  # no two are the same


def _check(path: Path) -> None:
    """Raise JournalError unless rounds can be appended: to no file, or to one that this class has written. A line that
    was torn by a power cut is cut off."""
    try:
        if not path.exists() or (path.is_file() and not path.stat().st_size):
            return
        if path.is_file() and not is_journal(path):
            raise JournalError(not_a_journal(path))
        with Journal(path, kept=False) as journal, path.open("rb") as file:
            first = file.readline()
            if first.endswith(b"\n") and not _is_own(first):
                raise JournalError(f"{path}: this is the journal of a tournament; name another file")
            file.seek(0)
            whole = sum(len(line) for line in file if line.endswith(b"\n"))
            if whole < os.path.getsize(path):
                journal.drop_torn_line(whole)
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}") from None


def _is_own(opening: bytes) -> bool:
    try:
        return msgspec.json.decode(opening, type=TournamentLine).config.deals == PROMISED
    except msgspec.DecodeError:
        return False

"""The journal: JSON lines, append-only, one line for each finished round. It is the database: everything else is folded
from it."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec
from msgspec import Struct

from arena.deals import Dealt
from arena.referee import Referee
from arena.schedule import MatchId, PlannedRound
from arena.wire import card_texts
from engine.cards import Seat, cards_from_texts
from engine.deal import Deal
from engine.record import GameRecord
from engine.ruleset import RuleSet
from engine.scoring import Ending, Outcome

VERSION: Final = 1
WITHDRAWN: Final = "withdrawn after"  # how the detail of a round begins that a withdrawn bot forfeits
_OPENING: Final = b'{"type":"tournament"'  # how every journal begins


class JournalError(Exception):
    """A journal that cannot be used as it is."""


class _Line(Struct, frozen=True, tag_field="type", kw_only=True):
    v: int = VERSION


class TournamentLine(_Line, frozen=True, tag="tournament", kw_only=True):
    config: dict[str, Any]
    started: str


class ResultLine(Struct, frozen=True):
    winner: int | None
    ending: str
    points: tuple[int, int]
    owners: tuple[int | None, ...]


class FaultLine(Struct, frozen=True, omit_defaults=True):
    seat: int
    detail: str
    bundle: str | None = None  # where more is kept, beside the journal
    other_detail: str | None = None  # what happened to the other bot, where neither started


class RoundLine(_Line, frozen=True, tag="round", kw_only=True, omit_defaults=True):
    v: int
    id: str
    match: str
    round: int
    pair: str  # the id of the first round of the pair, the unit of statistics
    rules: str
    seed: str
    bots: tuple[str, str]
    first: int
    deck: tuple[str, ...]
    tactics: tuple[str, ...]
    moves: tuple[tuple[int, str, int | None], ...]
    notes: dict[str, str]
    result: ResultLine
    started: str
    fault: FaultLine | None = None
    salt: str = ""  # that the bots' hash of the deal was made with; journals of before 0.2 have none


class VoidLine(_Line, frozen=True, tag="void", kw_only=True):
    id: str
    match: str
    round: int
    bots: tuple[str, str]
    reason: str
    started: str
    excused: int | None = None  # the seat whose lateness was excused; null if the arena itself failed


class ResumeLine(_Line, frozen=True, tag="resume", kw_only=True):
    """The tournament goes on after a stop. Rounds that were under way are dealt anew, so deals count these lines."""

    started: str


class RevealLine(_Line, frozen=True, tag="reveal", kw_only=True):
    """The tournament is over: this is the secret that all its deals came from."""

    secret: str


def is_forfeit(line: RoundLine) -> bool:
    """Nobody tried to play it: a bot had been withdrawn."""
    return line.fault is not None and line.fault.detail.startswith(WITHDRAWN)


JournalLine = TournamentLine | RoundLine | VoidLine | ResumeLine | RevealLine


def round_line(
    planned: PlannedRound,
    match: MatchId,
    bots: tuple[str, str],
    rules: RuleSet,
    dealt: Dealt,
    first: Seat,
    referee: Referee,
    started: str,
    bundle: str | None,
) -> RoundLine:
    outcome, fault = referee.outcome, referee.fault
    assert outcome is not None
    return RoundLine(
        v=VERSION,
        id=planned.id,
        match=match,
        round=planned.number,
        pair=planned.pair,
        rules=rules.name,
        seed=dealt.seed,
        bots=bots,
        first=first,
        deck=card_texts(dealt.deal.clan),
        tactics=card_texts(dealt.deal.tactics),
        moves=tuple(referee.moves),
        notes={str(index): note for index, note in referee.notes.items()},
        result=ResultLine(outcome.winner, outcome.ending.value, outcome.points, outcome.owners),
        started=started,
        fault=FaultLine(fault.seat, fault.detail, bundle, fault.other_detail) if fault else None,
        salt=dealt.salt,
    )


def game_record(line: RoundLine) -> GameRecord:
    """The round as the engine knows it. Raises EngineError for texts that are no card or rule set, ValueError for an
    unknown ending."""
    result = line.result
    return GameRecord(
        rules=RuleSet.named(line.rules),
        deal=Deal(cards_from_texts(line.deck), cards_from_texts(line.tactics)),
        first=Seat(line.first),
        moves=tuple((Seat(seat), text) for seat, text, _ in line.moves),
        outcome=Outcome(
            winner=None if result.winner is None else Seat(result.winner),
            ending=Ending(result.ending),
            points=result.points,
            owners=tuple(None if owner is None else Seat(owner) for owner in result.owners),
        ),
    )


_encoder = msgspec.json.Encoder()


def encoded(line: JournalLine) -> bytes:
    return _encoder.encode(line) + b"\n"


@attrs.frozen
class Entry:
    """A line of a journal: what it says, or what is wrong with it."""

    number: int  # from 1
    line: Any  # None if it is damaged
    problem: str = ""
    torn: bool = False  # the last line, cut off in the middle
    start: int = 0  # the byte at which it begins


def read(path: Path, kind: Any) -> Iterator[Entry]:
    """Every line of the file, one at a time. `kind` is the union of structs to decode."""
    decoder = msgspec.json.Decoder(kind)
    start = 0
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                if not line.endswith(b"\n"):
                    yield Entry(number, None, "the line is torn: the file ends in the middle of it", torn=True)
                else:
                    yield Entry(number, decoder.decode(line), start=start)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                yield Entry(number, None, f"this is no line of a journal: {error}")
            start += len(line)


def read_round(path: Path, entry: Entry) -> RoundLine:
    """A line that was read as something smaller before, as the whole round that it is. Raises JournalError."""
    with open(path, "rb") as file:
        file.seek(entry.start)
        line = file.readline()
    try:
        return msgspec.json.decode(line, type=RoundLine)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise JournalError(f"{path}:{entry.number}: this is no line of a journal: {error}") from None


class Journal:
    """The one writer of a journal; it holds the file's lock until it is closed."""

    def __init__(self, path: Path):
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise JournalError(f"{path}: {error.strerror}") from None
        self.path = path
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise JournalError(f"{path}: another arena is writing to this journal; wait for it or stop it") from None

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def recover(self) -> Iterator[JournalLine]:
        """What was written so far. A torn last line is dropped; any other damage is refused."""
        for entry in read(self.path, JournalLine):
            if entry.torn:
                self._drop_torn_line(first=entry.number == 1)
            elif entry.line is None:
                raise JournalError(f"{self.path}:{entry.number}: {entry.problem}; mend or remove the line to go on")
            else:
                line: JournalLine = entry.line
                yield line

    def _drop_torn_line(self, first: bool) -> None:
        with open(self.path, "rb") as file:
            *lines, torn = file
        if first and not (torn.startswith(_OPENING) or _OPENING.startswith(torn)):
            raise JournalError(f"{self.path}: this is no journal; nothing was changed")
        whole = sum(map(len, lines))
        os.ftruncate(self._file, whole)
        os.fsync(self._file)

    def append(self, lines: bytes) -> None:
        """Writes whole lines, or none of them, and does not return before they are on the disk."""
        before = os.fstat(self._file).st_size
        try:
            left = memoryview(lines)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, before)
            raise JournalError(f"{self.path}: cannot write: {error.strerror}") from error

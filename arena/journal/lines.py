"""The journal: JSON lines, append-only, one line for each finished round. It is the database: everything else is folded
from it."""

from collections.abc import Container, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.journal.endings import ENDINGS
from arena.journal.file import OPENING, open_journal
from arena.journal.file import Journal as Journal
from arena.journal.file import JournalError as JournalError
from arena.plan.recorded_config import RecordedConfig, readable_part
from arena.support.text import printable
from engine.cards import Seat, cards_from_texts
from engine.deal import Deal
from engine.record import GameRecord
from engine.ruleset import RuleSet
from engine.scoring import Outcome

VERSION: Final = 1
_LONGEST: Final = 1 << 24  # bytes of a line; the longest ever written have some hundred kilobytes
MOST_POINTS: Final = 99  # of a round; more than anybody scores, and sums of them fit everywhere

SeatNumber = Literal[0, 1]
Milliseconds = Annotated[int, Meta(ge=0, le=2**53 - 1)]
RoundPoints = Annotated[int, Meta(ge=0, le=MOST_POINTS)]


class _Line(Struct, frozen=True, tag_field="type", kw_only=True):
    v: int = VERSION


class TournamentLine(_Line, frozen=True, tag="tournament", kw_only=True):
    config: RecordedConfig
    started: str


class ResultLine(Struct, frozen=True):
    winner: int | None
    ending: str
    points: tuple[int, int]
    owners: tuple[int | None, ...]

    def __post_init__(self) -> None:
        """A line that says anything else is refused where it is read, and not somewhere in the middle of a command."""
        if self.winner not in (None, 0, 1):
            raise ValueError(f"the winner is {self.winner}, but expected seat 0, seat 1 or null")
        if not all(0 <= points <= MOST_POINTS for points in self.points):
            raise ValueError(f"the points are {self.points[0]} and {self.points[1]}, but expected 0 to {MOST_POINTS}")
        if self.ending not in ENDINGS:
            raise ValueError(f"{self.ending[:40]!r} is no ending; there are: {', '.join(ENDINGS)}")


class FaultLine(Struct, frozen=True, omit_defaults=True):
    seat: int
    detail: str
    bundle: str | None = None  # where more is kept, beside the journal
    other_detail: str | None = None  # what happened to the other bot, where neither started
    withdrawn: bool | None = None  # the bot was not asked to play, because it is withdrawn; None in older journals

    def __post_init__(self) -> None:
        if self.seat not in (0, 1):
            raise ValueError(f"the fault is charged to seat {self.seat}, but expected seat 0 or seat 1")


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

    def __post_init__(self) -> None:
        if self.first not in (0, 1):
            raise ValueError(f"seat {self.first} began, but expected seat 0 or seat 1")


class VoidLine(_Line, frozen=True, tag="void", kw_only=True):
    id: str
    match: str
    round: int
    bots: tuple[str, str]
    reason: str
    started: str
    excused: int | None = None  # the seat whose lateness was excused; null if the arena itself failed

    def __post_init__(self) -> None:
        if self.excused not in (None, 0, 1):
            raise ValueError(f"seat {self.excused} was excused, but expected seat 0, seat 1 or null")


class ResumeLine(_Line, frozen=True, tag="resume", kw_only=True):
    """The tournament goes on after a stop. Rounds that were under way are dealt anew, so deals count these lines."""

    started: str


class RevealLine(_Line, frozen=True, tag="reveal", kw_only=True):
    """The tournament is over: this is the secret that all its deals came from."""

    secret: str


class RoundName(Struct, frozen=True, tag_field="type", tag="round"):
    """The part of a RoundLine that finds it. Readers that need more extend it; what they do not need is skipped, which
    is quick."""

    v: int
    id: str
    match: str


def is_withdrawal(withdrawn: bool | None, detail: str) -> bool:
    """Whether the fault of these fields is that a withdrawn bot did not play.

    Journals that were written before the field existed say so in words alone: the ending, the missing moves and the
    missing bundle are the same for a bot that failed to start while its bundle could not be written."""
    return detail.startswith("withdrawn after ") if withdrawn is None else withdrawn


def is_forfeit(line: RoundLine) -> bool:
    """Nobody tried to play it: a bot had been withdrawn."""
    return line.fault is not None and is_withdrawal(line.fault.withdrawn, line.fault.detail)


JournalLine = TournamentLine | RoundLine | VoidLine | ResumeLine | RevealLine


def outcome_of(result: ResultLine) -> Outcome:
    return Outcome(
        winner=None if result.winner is None else Seat(result.winner),
        ending=ENDINGS[result.ending],
        points=result.points,
        owners=tuple(None if owner is None else Seat(owner) for owner in result.owners),
    )


def game_record(line: RoundLine) -> GameRecord:
    """The round as the engine knows it. Raises EngineError for texts that are no card or rule set."""
    return GameRecord(
        rules=RuleSet.named(line.rules),
        deal=Deal(cards_from_texts(line.deck), cards_from_texts(line.tactics)),
        first=Seat(line.first),
        moves=tuple((Seat(seat), text) for seat, text, _ in line.moves),
        outcome=outcome_of(line.result),
    )


_encoder = msgspec.json.Encoder()


def encoded(line: JournalLine) -> bytes:
    return _encoder.encode(line) + b"\n"


class Entry(Struct, frozen=True, gc=False):
    """A line of a journal: what it says, or what is wrong with it."""

    path: Path
    number: int  # from 1
    line: Any  # None if it cannot be used
    problem: str = ""  # with a line: it is an opening line, and parts of its configuration cannot be read
    torn: bool = False  # the last line, cut off in the middle
    start: int = 0  # the byte at which it begins
    unknown: str = ""  # its type, if no program of this version knows that; then nothing is wrong with it
    opens: bool = False  # the opening line of a tournament, though it cannot be read

    @property
    def message(self) -> str:
        """The problem, with its place."""
        return f"{self.path}:{self.number}: {self.problem}"


_UNDECODABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def read(path: Path, kind: Any) -> Iterator[Entry]:
    """Every line of the file, one at a time. `kind` is the union of structs to decode. Raises JournalError for what is
    no regular file, and OSError."""
    decode = msgspec.json.Decoder(kind).decode
    start = 0
    with open_journal(path) as file:
        for number, line in enumerate(iter(partial(file.readline, _LONGEST), b""), 1):
            size = len(line)
            try:
                if line.endswith(b"\n"):
                    found = decode(line)
                    if found.v == VERSION:
                        yield Entry(path, number, found, "", False, start)
                    else:
                        yield _of_another_version(Entry(path, number, None, start=start), found.v, line)
                elif size == _LONGEST:
                    size += _rest_of_line(file)
                    yield Entry(path, number, None, f"the line is longer than {_LONGEST} bytes", start=start)
                else:
                    problem = "the line is torn: the file ends in the middle of it"
                    yield Entry(path, number, None, problem, torn=True, start=start)
            except _UNDECODABLE as error:
                yield _undecodable(Entry(path, number, None, _damage(error), start=start), line)
            start += size


def _rest_of_line(file: BinaryIO) -> int:
    size = 0
    while rest := file.readline(_LONGEST):
        size += len(rest)
        if rest.endswith(b"\n"):
            break
    return size


class _Head(Struct):
    """What every line has, of whatever type and version."""

    type: str
    v: int = VERSION


_KNOWN_TYPES: Final = ("tournament", "round", "void", "resume", "reveal")


def _undecodable(entry: Entry, line: bytes) -> Entry:
    """Of another type or version than ours, or damaged."""
    try:
        head = msgspec.json.decode(line, type=_Head)
    except _UNDECODABLE:
        return replace(entry, opens=line.startswith(OPENING))
    if head.type not in _KNOWN_TYPES:
        return replace(entry, problem="", unknown=head.type or "no name")
    if head.v != VERSION:
        return _of_another_version(entry, head.v, line)
    return _damaged_opening(entry, line) if head.type == "tournament" else entry


class _AnyOpening(_Line, frozen=True, tag="tournament", kw_only=True):
    """A TournamentLine, whatever its configuration says."""

    config: dict[str, Any]
    started: str


def _damaged_opening(entry: Entry, line: bytes) -> Entry:
    """With as much of its configuration as can be read: its rounds are worth something all the same."""
    try:
        opening = msgspec.json.decode(line, type=_AnyOpening)
    except _UNDECODABLE:
        return replace(entry, opens=True)
    config, problem = readable_part(opening.config)
    problem = f"the configuration is damaged: {printable(problem)[:300]}"
    return replace(entry, line=TournamentLine(config=config, started=opening.started), problem=problem)


def _damage(error: Exception) -> str:
    return f"this is no line of a journal: {printable(str(error))[:300]}"


def _of_another_version(entry: Entry, version: int, line: bytes) -> Entry:
    opens = msgspec.json.decode(line, type=_Head).type == "tournament"
    problem = f"the line has version {version} of the journal format, but this arena reads version {VERSION}"
    return replace(entry, problem=problem, opens=opens)


def rounds_at(path: Path, numbers: Container[int]) -> Iterator[Entry]:
    """The whole rounds at these lines, which were read as something smaller before. Raises JournalError if the path is
    not a regular file, and OSError."""
    decode = msgspec.json.Decoder(RoundLine).decode
    with open_journal(path) as file:
        for number, line in enumerate(file, 1):
            if number in numbers:
                try:
                    yield Entry(path, number, decode(line))
                except _UNDECODABLE as error:
                    yield Entry(path, number, None, _damage(error))


def read_round(entry: Entry) -> RoundLine:
    """A line that was read as something smaller before, as the whole round that it is. Raises JournalError."""
    with open_journal(entry.path) as file:
        file.seek(entry.start)
        line = file.readline(_LONGEST)
    try:
        return msgspec.json.decode(line, type=RoundLine)
    except _UNDECODABLE as error:
        raise JournalError(f"{entry.path}:{entry.number}: {_damage(error)}") from None

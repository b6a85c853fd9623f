"""The lines of a journal: JSON, append-only, one line for each finished round. The journal is the database: everything
else is computed from it."""

from collections.abc import Container, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Any, Final, Generic, Literal, TypeVar, cast

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType
from msgspec.structs import replace

from arena.journal.endings import ENDINGS
from arena.journal.file import OPENING, open_journal, wrong_start
from arena.journal.file import VERSION as VERSION
from arena.journal.file import Journal as Journal
from arena.journal.file import JournalError as JournalError
from arena.journal.identity import BotLine as BotLine
from arena.plan.recorded_config import RecordedConfig, readable_part, refusal, unknown_names
from arena.support.signals import interrupts_held
from arena.support.text import counted, printable
from engine.cards import Seat, cards_from_texts
from engine.deal import Deal
from engine.record import GameRecord
from engine.ruleset import RuleSet
from engine.scoring import Outcome

_LONGEST: Final = 1 << 24  # bytes of a line; the longest that the arena writes have some hundred kilobytes
MOST_POINTS: Final = 99  # of a round; more than the rules give, and small enough for any sum

SeatNumber = Literal[0, 1]
Milliseconds = Annotated[int, Meta(ge=0, le=2**53 - 1)]
PlayerIds = tuple[str | None, str | None]  # by seat; None for a bot that was not asked to come
RoundPoints = Annotated[int, Meta(ge=0, le=MOST_POINTS)]


class _Line(Struct, frozen=True, tag_field="type", kw_only=True):
    v: int = VERSION


class TournamentLine(_Line, frozen=True, tag="tournament", kw_only=True):
    config: RecordedConfig
    started: str
    follows: str | UnsetType = UNSET  # the hash of the opening line of the cycle before, at a server that plays forever


class ResultLine(Struct, frozen=True):
    winner: int | None
    ending: str
    points: tuple[int, int]
    owners: tuple[int | None, ...]

    def __post_init__(self) -> None:
        """Refuse impossible values when the line is read, not later in the middle of a command."""
        if self.winner not in (None, 0, 1):
            raise ValueError(f"the winner is {self.winner}, but expected seat 0, seat 1 or null")
        one, two = self.points
        if not (0 <= one <= MOST_POINTS and 0 <= two <= MOST_POINTS):
            raise ValueError(f"the points are {one} and {two}, but expected 0 to {MOST_POINTS}")
        if self.ending not in ENDINGS:
            raise ValueError(f"{self.ending[:40]!r} is not an ending; there are: {', '.join(ENDINGS)}")


class FaultLine(Struct, frozen=True, omit_defaults=True):
    seat: int
    detail: str
    bundle: str | None = None  # the folder of its fault bundle, beside the journal
    other_detail: str | None = None  # what happened to the other bot, if neither started
    withdrawn: bool | None = None  # the bot was not asked to play, because it is withdrawn
    between_rounds: bool = False  # the bot ended before the round began, so it was not asked for a decision of it

    def __post_init__(self) -> None:
        if self.seat not in (0, 1):
            raise ValueError(f"the fault is charged to seat {self.seat}, but expected seat 0 or seat 1")


class AssistedLine(Struct, frozen=True, omit_defaults=True):
    """A person had help in the round, so it is not rated."""

    seat: int
    taken_back: int = 0  # decisions
    hints: bool = False  # an evaluator said what it would play

    def __post_init__(self) -> None:
        if self.seat not in (0, 1):
            raise ValueError(f"seat {self.seat} had help, but expected seat 0 or seat 1")

    def words(self, name: str) -> str:
        """Why the round is not rated; `name` is the person's."""
        parts = [f"took back {counted(self.taken_back, 'decision')}"] if self.taken_back else []
        parts += ["had hints"] if self.hints else []
        return f"not rated: {name} {' and '.join(parts) or 'had help'}"


class RoundName(Struct, frozen=True, tag_field="type", tag="round"):
    """The part of a RoundLine that identifies it. Readers that need more fields extend it; decoding skips all others
    quickly."""

    v: int
    id: str
    match: str


Cards = TypeVar("Cards")
Moves = TypeVar("Moves")
Notes = TypeVar("Notes")


class _Round(RoundName, Generic[Cards, Moves, Notes], frozen=True, kw_only=True, omit_defaults=True):
    """A finished round, whatever its longest parts are decoded to."""

    round: int
    pair: str  # the id of the first round of the pair, the unit of statistics
    rules: str
    seed: str
    bots: tuple[str, str]
    first: int
    deck: Cards
    tactics: Cards
    moves: Moves
    notes: Notes
    result: ResultLine
    started: str
    fault: FaultLine | None = None
    salt: str = ""  # hashed with the deal for the bots
    host: str | None = None  # the machine of a cluster that it was played on
    delay: Milliseconds | None = None  # for how long that machine stood still meanwhile
    players: PlayerIds | None = None  # ids of BotLines
    assisted: AssistedLine | None = None
    promise: str | None = None  # the hash of its deal that the server gave before it; only where a bot wrote the line

    def __post_init__(self) -> None:
        if self.first not in (0, 1):
            raise ValueError(f"seat {self.first} began, but expected seat 0 or seat 1")


class RoundLine(_Round[tuple[str, ...], tuple[tuple[int, str, int | None], ...], dict[str, str]], frozen=True):
    """A finished round with all its parts."""


class RawRound(_Round[Raw, Raw, Raw], frozen=True):
    """A RoundLine whose longest parts, the cards, moves and notes, are kept as they are written. It is quick to decode,
    and is encoded as the same line again: for a resume, and for rounds on their way from a worker to the journal."""


class VoidLine(_Line, frozen=True, tag="void", kw_only=True):
    id: str
    match: str
    round: int
    bots: tuple[str, str]
    reason: str
    started: str
    excused: int | None = None  # the seat of the bot that was excused; null if the arena itself failed
    killed: bool | UnsetType = UNSET  # something killed that bot; otherwise its lateness was excused
    # It is void only because the bots may have seen its deal when a machine was lost; that is not a loss of theirs.
    deal_exposed: bool | UnsetType = UNSET
    along: bool | UnsetType = UNSET  # what `deal_exposed` was called before; read and never written

    @property
    def is_loss(self) -> bool:
        """Whether a bot without a sandbox can have caused it by a kill."""
        return self.deal_exposed is not True and (self.excused is None or self.killed is True)

    def __post_init__(self) -> None:
        if self.excused not in (None, 0, 1):
            raise ValueError(f"seat {self.excused} was excused, but expected seat 0, seat 1 or null")
        if self.along is not UNSET:
            msgspec.structs.force_setattr(self, "deal_exposed", self.along)
            msgspec.structs.force_setattr(self, "along", UNSET)


class ResumeLine(_Line, frozen=True, tag="resume", kw_only=True):
    """The tournament resumes after a stop. Unfinished rounds get new deals, derived from how often it has resumed."""

    started: str


class ReadmissionLine(_Line, frozen=True, tag="readmission", kw_only=True):
    """A bot that was withdrawn plays again from here on: its program was repaired, and the organiser accepts that."""

    bot: str
    started: str


class RevealLine(_Line, frozen=True, tag="reveal", kw_only=True):
    """The tournament is over, and this is the secret that all its deals were derived from."""

    secret: str


AnyRound = RoundLine | RawRound


def is_forfeit(line: AnyRound) -> bool:
    """Whether the round was not played because a bot had been withdrawn."""
    return line.fault is not None and line.fault.withdrawn is True


JournalLine = TournamentLine | BotLine | RoundLine | VoidLine | ResumeLine | ReadmissionLine | RevealLine


def outcome_of(result: ResultLine) -> Outcome:
    winner, owners = cast("Seat | None", result.winner), cast("tuple[Seat | None, ...]", result.owners)
    return Outcome(winner=winner, ending=ENDINGS[result.ending], points=result.points, owners=owners)


def game_record(line: RoundLine) -> GameRecord:
    """The round as a record of the engine. Raises EngineError if a text is not a card or a rule set."""
    return GameRecord(
        rules=RuleSet.named(line.rules),
        deal=Deal(cards_from_texts(line.deck), cards_from_texts(line.tactics)),
        first=Seat(line.first),
        moves=tuple((Seat(seat), text) for seat, text, _ in line.moves),
        outcome=outcome_of(line.result),
    )


_encoder = msgspec.json.Encoder()


def encoded(line: JournalLine | RawRound) -> bytes:
    return _encoder.encode(line) + b"\n"


class JournalEntry(Struct, frozen=True, gc=False):
    """A line of a journal: what it says, or what is wrong with it."""

    path: Path
    number: int  # from 1
    line: Any  # None if it cannot be used
    problem: str = ""  # if `line` is set: an opening line whose configuration is partly unreadable
    torn: bool = False  # it is the last line, cut off in the middle
    start: int = 0  # the byte at which it begins
    unknown: str = ""  # its type, if this version does not know it; that is not a problem
    opens: bool = False  # it is the opening line of a tournament, but cannot be read
    raw: bytes = b""  # the line itself, if it is an opening line, a complete round, or the reader keeps all

    @property
    def message(self) -> str:
        """The problem, prefixed with its place."""
        return f"{self.path}:{self.number}: {self.problem}"


_UNDECODABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def read(path: Path, kind: Any, *, keep_raw: bool = False) -> Iterator[JournalEntry]:
    """Yield every line of the file. `kind` is the union of structs to decode. With `keep_raw`, entries that could be
    decoded have their line too. A file that can be no journal, such as an empty or a compressed one, is one entry with
    a problem. Raises JournalError if the path is not a regular file or holds a tournament that is refused, and
    OSError."""
    with interrupts_held():
        decode = msgspec.json.Decoder(kind).decode
    start = 0
    with open_journal(path) as file:
        if problem := wrong_start(file.peek(1)):
            yield JournalEntry(path, 1, None, problem)
            return
        for number, line in enumerate(iter(partial(file.readline, _LONGEST), b""), 1):
            size = len(line)
            try:
                if line.endswith(b"\n"):
                    if not line.isascii():
                        line.decode()  # the JSON decoder does not look into fields that it skips
                    found = decode(line)
                    if found.v == VERSION:
                        is_opening = type(found) is TournamentLine
                        raw = line if keep_raw or is_opening else b""
                        entry = JournalEntry(path, number, found, "", False, start, "", False, raw)
                        yield _accepted(entry) if is_opening else entry
                    else:
                        yield _of_another_version(JournalEntry(path, number, None, start=start), found.v, line)
                elif size == _LONGEST:
                    size += _rest_of_line(file)
                    yield JournalEntry(path, number, None, f"the line is longer than {_LONGEST} bytes", start=start)
                else:
                    problem = "the line is torn: the file ends in the middle of it"
                    yield JournalEntry(path, number, None, problem, torn=True, start=start)
            except _UNDECODABLE as error:
                yield _undecodable(JournalEntry(path, number, None, _damage(error), start=start), line)
            start += size


def _rest_of_line(file: IO[bytes]) -> int:
    size = 0
    while rest := file.readline(_LONGEST):
        size += len(rest)
        if rest.endswith(b"\n"):
            break
    return size


class _Head(Struct):
    """The fields that every line has, whatever its type and version."""

    type: str
    v: int = VERSION


_KNOWN_TYPES: Final = ("tournament", "bot", "round", "void", "resume", "readmission", "reveal")


def _undecodable(entry: JournalEntry, line: bytes) -> JournalEntry:
    """Find out why a line was not decoded: it is of another type or version, or damaged."""
    try:
        head = msgspec.json.decode(line, type=_Head)
    except _UNDECODABLE:
        return replace(entry, opens=line.startswith(OPENING))
    if head.type not in _KNOWN_TYPES:
        return replace(entry, problem="", unknown=head.type or "no name")
    if head.v != VERSION:
        return _of_another_version(entry, head.v, line)
    return _damaged_opening(entry, line) if head.type == "tournament" else entry


def _accepted(opening: JournalEntry) -> JournalEntry:
    """The opening line, unless this version refuses its tournament: then it raises JournalError."""
    if reason := refusal(opening.line.config):
        raise JournalError(f"{opening.path}:{opening.number}: {reason}")
    return opening


class _AnyOpening(_Line, frozen=True, tag="tournament", kw_only=True):
    """A TournamentLine, whatever its configuration says."""

    config: dict[str, Any]
    started: str
    follows: str | UnsetType = UNSET


def _damaged_opening(entry: JournalEntry, line: bytes) -> JournalEntry:
    """Keep as much of the configuration as can be read, because the rounds of the tournament are still useful."""
    try:
        opening = msgspec.json.decode(line, type=_AnyOpening)
    except _UNDECODABLE:
        return replace(entry, opens=True)
    config, problem = readable_part(opening.config)
    problem = f"the configuration is damaged: {printable(problem)[:300]}"
    found = TournamentLine(config=config, started=opening.started, follows=opening.follows)
    return _accepted(replace(entry, line=found, problem=problem, raw=line))


def unknown_settings(entry: JournalEntry) -> list[str]:
    """The settings in an opening line that this version does not know, and so cannot resume with."""
    try:
        return unknown_names(msgspec.json.decode(entry.raw, type=_AnyOpening).config)
    except _UNDECODABLE:
        return ["that are not UTF-8"]


def _damage(error: Exception) -> str:
    return f"this is not a line of a journal: {printable(str(error))[:300]}"


def _of_another_version(entry: JournalEntry, version: int, line: bytes) -> JournalEntry:
    opens = msgspec.json.decode(line, type=_Head).type == "tournament"
    problem = f"the line has version {version} of the journal format, but this arena reads version {VERSION}"
    return replace(entry, problem=problem, opens=opens)


def rounds_at(path: Path, numbers: Container[int]) -> Iterator[JournalEntry]:
    """Read the lines with these numbers again, as complete rounds. Raises JournalError if the path is not a regular
    file, and OSError."""
    with open_journal(path) as file:
        for number, line in enumerate(iter(partial(file.readline, _LONGEST), b""), 1):
            if not line.endswith(b"\n"):
                _rest_of_line(file)
            if number in numbers:
                yield _complete_round(path, number, line)


def read_round(entry: JournalEntry) -> RoundLine:
    """Decode a partly decoded round again, as a complete round. Its line is read again if the entry does not have it.
    Raises JournalError, and OSError."""
    complete = _complete_round(entry.path, entry.number, entry.raw or _line_of(entry))
    if complete.line is None:
        raise JournalError(complete.message)
    line: RoundLine = complete.line
    return line


def _line_of(entry: JournalEntry) -> bytes:
    with open_journal(entry.path) as file:
        file.seek(entry.start)
        return file.readline(_LONGEST)


_decode_round = msgspec.json.Decoder(RoundLine).decode


def _complete_round(path: Path, number: int, line: bytes) -> JournalEntry:
    try:
        return JournalEntry(path, number, _decode_round(line), raw=line)
    except _UNDECODABLE as error:
        return JournalEntry(path, number, None, _damage(error))

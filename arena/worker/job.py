"""A match as plain data: what is to be played, what is played of it already, and what its player reports. Pure.

The owner of the tournament sends orders, and whoever plays a match sends reports, in the order in which things happen.
Both are frozen values that can be pickled. A report that the owner passes on to listeners is an event already, one of
those in tournament/tournament_events.py.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict

from arena.journal.endings import Fault
from arena.journal.lines import AnyRound, BotLine, RawRound, VoidLine, encoded
from arena.plan.bot_spec import AnySpec
from arena.plan.deals import DealKey, Dealt, GrantedDeals
from arena.plan.schedule import PlannedMatch, PlannedRound
from engine.ruleset import RuleSet
from engine.scoring import Outcome, Score

if TYPE_CHECKING:
    from arena.match.audience import Scene, Sight

Bots = tuple[AnySpec, AnySpec]


class Rulings(Struct, frozen=True):
    """What the tournament has decided so far and may decide anew while a match is played."""

    withdrawn: frozenset[str] = frozenset()  # bots that forfeit their rounds
    spent: frozenset[str] = frozenset()  # bots that are not excused any more
    watched: bool = False  # whether there are spectators


class SoFar(Struct, frozen=True):
    """What is played of a match."""

    score: Score
    finished: frozenset[str] = frozenset()  # ids of rounds
    voids: Mapping[str, int] = field(default_factory=dict)  # by round


class Relocation(Struct, frozen=True):
    """What a player on another machine has to know. What it would write into folders, it reports instead."""

    cwd: str  # of the owner: folders of bots are relative to it
    # By bot, if its folder was shipped: its path on the machine of the owner, and on the other one.
    folders: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    interpreters: Mapping[str, str] = field(default_factory=dict)  # by bot: the hash of what runs it where the owner is


class MatchJob(Struct, frozen=True):
    """A match, and all that is needed to play what is missing of it."""

    planned: PlannedMatch
    rules: RuleSet
    bots: Bots
    key: DealKey | GrantedDeals
    resumes: int  # of the tournament: the deals depend on it
    so_far: SoFar
    rulings: Rulings
    max_faults: int
    faults: Path | None = None  # the folder for bundles of faults
    stderr: Path | None = None  # the folder for what the bots write on stderr
    relocation: Relocation | None = None  # if it is played on another machine than the tournament

    @property
    def names(self) -> tuple[str, str]:
        return self.bots[0].name, self.bots[1].name


# Orders besides MatchJob and Rulings.


class Setup(Struct, frozen=True):
    """The first order of a worker."""

    concurrency: int  # matches that it may play at once
    pinned: bool | None = None  # whether it has a core for itself and its bots; None if that depends on how they play
    in_turn: bool = False  # more matches than that wait; else the owner does not send more


class GoOn(Struct, frozen=True):
    """The report after which the match waited is processed."""

    match: str


class Beat(Struct, frozen=True):
    """The owner asks whether the worker still reacts."""


class Deals(Struct, frozen=True):
    """More deals of a match whose player does not know the key, by round and its number of voids."""

    match: str
    deals: Mapping[tuple[str, int], Dealt]

    def __repr__(self) -> str:
        return f"Deals({self.match!r}, of {len(self.deals)} rounds)"  # without the deals, which are secret


Order = Setup | MatchJob | Rulings | GoOn | Deals | Beat


# Reports.


class Event(Struct, frozen=True):
    """`kind` names the event for programs, which read it as JSON."""

    kind: ClassVar[str]

    def facts(self) -> dict[str, Any]:
        """The fields of the JSON object, besides its kind and time."""
        return asdict(self)


class RoundStarted(Event, frozen=True):
    kind = "started"
    match: str
    planned: PlannedRound
    bots: tuple[str, str]

    def facts(self) -> dict[str, Any]:
        return {"id": self.planned.id, "round": self.planned.number, "bots": self.bots}


class DealExposed(Struct, frozen=True):
    """The bots are about to see the deal of the round that began last."""

    match: str


class RoundFinished(Event, frozen=True):
    """The round counts. Listeners hear of it once it is saved in the journal."""

    kind = "finished"
    line: AnyRound

    def facts(self) -> dict[str, Any]:
        line = self.line
        return _round_facts(line) | {
            "winner": line.result.winner,
            "ending": line.result.ending,
            "points": line.result.points,
            "fault": msgspec.to_builtins(line.fault) if line.fault else None,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """As the line of the journal: the owner of the tournament reads little of it, and copies the rest."""
        return _finished, (encoded(self.line),)


_decode = msgspec.json.Decoder(RawRound).decode


def _finished(line: bytes) -> RoundFinished:
    return RoundFinished(_decode(line))


class BotIdentified(Event, frozen=True):
    """Who a player is, before the first round that refers to it: a match reports it once, and a tournament saves it
    once. The owner adds `changes`, how it differs from what played under this name before, if anything did."""

    kind = "bot"
    line: BotLine
    changes: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        line = self.line
        return {
            "id": line.id,
            "bot": line.name,
            "version": line.version,
            "author": line.author,
            "fingerprint": line.fingerprint.short if line.fingerprint else None,
            "changes": self.changes,
        }


class RoundVoid(Event, frozen=True):
    """The round does not count and will be played again."""

    kind = "void"
    line: VoidLine

    def facts(self) -> dict[str, Any]:
        return _round_facts(self.line) | {"reason": self.line.reason}


def _round_facts(line: AnyRound | VoidLine) -> dict[str, Any]:
    return {"id": line.id, "match": line.match, "round": line.round, "bots": line.bots}


class Noticed(Event, frozen=True):
    """Something that the organiser should know at once, such as a machine of a cluster that cannot play."""

    kind = "notice"
    text: str


class OrganiserWarned(Struct, frozen=True):
    """Something for the organiser to know at the end."""

    text: str


class PositionSeen(Struct, frozen=True):
    """The position after a move, for spectators."""

    scene: "Scene"
    sight: "Sight"


class RoundSeen(Struct, frozen=True):
    """The result of a round, for spectators."""

    scene: "Scene"
    outcome: Outcome


class DealWanted(Struct, frozen=True):
    """The match waits for the deal of this round, which was void `voids` times."""

    match: str
    round: str
    voids: int


class StderrWritten(Struct, frozen=True):
    """What a bot wrote on stderr, if its player cannot keep it."""

    number: int  # of the bot
    data: bytes


class FaultBundled(Struct, frozen=True):
    """The bundle of a fault of this bot, likewise: files by name, by folders of the owner."""

    match: str
    round: str
    bot: str
    ending: Fault
    folders: Mapping[Path, Mapping[str, str]]


class MatchOver(Struct, frozen=True):
    match: str


class Alive(Struct, frozen=True):
    """The answer to a beat."""


Report = (
    RoundStarted
    | DealExposed
    | BotIdentified
    | RoundFinished
    | RoundVoid
    | DealWanted
    | StderrWritten
    | FaultBundled
    | Noticed
    | OrganiserWarned
    | PositionSeen
    | RoundSeen
    | MatchOver
    | Alive
)


def waits(report: Report) -> TypeGuard[RoundFinished | RoundVoid | DealWanted]:
    """Whether the match waits until the report is processed, because the next round may depend on it: a fault may
    withdraw a bot, and a void may be the last that is excused."""
    return isinstance(report, RoundVoid | DealWanted) or (
        isinstance(report, RoundFinished) and report.line.fault is not None
    )

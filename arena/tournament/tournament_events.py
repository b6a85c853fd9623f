"""What a tournament reports while it runs: one class for each event. The words for people are chosen in cli."""

import enum
from typing import Any, ClassVar, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from arena.journal.formats import Verdict
from arena.journal.lines import AnyRound, BotLine, VoidLine
from arena.plan.schedule import PlannedRound


class Event(Struct, frozen=True):
    """`kind` names the event for programs, which read it as JSON."""

    kind: ClassVar[str]

    def facts(self) -> dict[str, Any]:
        """The fields of the JSON object, besides its kind and time."""
        return asdict(self)


class TournamentOpened(Event, frozen=True):
    """The journal is read and the tournament starts or resumes."""

    kind = "tournament"
    rounds: int  # of the whole tournament
    finished: int  # rounds among them that the journal already holds
    opening_hash: str | None = None  # of the opening line of the journal, if it is to be published


class RoundStarted(Event, frozen=True):
    kind = "started"
    planned: PlannedRound
    bots: tuple[str, str]

    def facts(self) -> dict[str, Any]:
        return {"id": self.planned.id, "round": self.planned.number, "bots": self.bots}


class BotIdentified(Event, frozen=True):
    """Who a player of the next round is, as the journal knows it from now on. `changes` says how it differs from what
    played under this name before in the tournament, if anything did."""

    kind = "bot"
    line: BotLine
    changes: tuple[str, ...]

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


class RoundFinished(Event, frozen=True):
    """The round is saved in the journal."""

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


class RoundVoid(Event, frozen=True):
    """The round does not count and will be played again."""

    kind = "void"
    line: VoidLine

    def facts(self) -> dict[str, Any]:
        return _round_facts(self.line) | {"reason": self.line.reason}


def _round_facts(line: AnyRound | VoidLine) -> dict[str, Any]:
    return {"id": line.id, "match": line.match, "round": line.round, "bots": line.bots}


class Comeback(enum.Enum):
    """How a withdrawn bot plays again."""

    ACCEPTED = "its program was repaired, and the organiser accepts the change"
    REPAIRED = "its program was repaired: all changes are accepted"
    TOO_LATE = "not in this tournament: none of its matches waits for others, so it forfeits all its rounds now"
    NONE = "not in this tournament: it connects, or the journal does not know it: nothing shows a repair"


class BotWithdrawn(Event, frozen=True):
    """The bot forfeits its remaining rounds, because it made this many faults in a row."""

    kind = "withdrawn"
    bot: str
    faults: int
    still: bool = False  # it was withdrawn before the tournament was resumed
    comeback: Comeback = Comeback.ACCEPTED

    def facts(self) -> dict[str, Any]:
        return {"bot": self.bot, "faults": self.faults, "still": self.still}


class BotReadmitted(Event, frozen=True):
    """The bot was withdrawn, and plays again, because it was repaired."""

    kind = "readmitted"
    bot: str


class Noticed(Event, frozen=True):
    """Something that the organiser should know at once, such as a machine of a cluster that cannot play."""

    kind = "notice"
    text: str


class TournamentEnded(Event, frozen=True):
    """The tournament is over, or was stopped."""

    kind = "ended"
    finished: int
    rounds: int


class VerdictAdvanced(Event, frozen=True):
    """More is known of a tournament that ends as soon as it is decided, or this is what the journal already tells."""

    kind = "test"
    verdict: Verdict

    def facts(self) -> dict[str, Any]:
        return self.verdict.facts()


TournamentEvent = (
    TournamentOpened
    | RoundStarted
    | BotIdentified
    | RoundFinished
    | RoundVoid
    | BotWithdrawn
    | BotReadmitted
    | Noticed
    | VerdictAdvanced
    | TournamentEnded
)


class Listener(Protocol):
    """Receives events in order; a round only after the journal has saved it."""

    def heard(self, event: TournamentEvent, /) -> None: ...

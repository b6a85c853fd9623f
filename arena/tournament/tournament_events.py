"""What a tournament reports while it runs: one class for each event. What happens in a round is told as its match
reports it (worker/job.py). The words for people are chosen in cli."""

import enum
from typing import Any, Protocol

from arena.journal.formats import Verdict
from arena.worker.job import BotIdentified as BotIdentified
from arena.worker.job import Event as Event
from arena.worker.job import Noticed as Noticed
from arena.worker.job import RoundFinished as RoundFinished
from arena.worker.job import RoundStarted as RoundStarted
from arena.worker.job import RoundVoid as RoundVoid


class TournamentOpened(Event, frozen=True):
    """The journal is read and the tournament starts or resumes."""

    kind = "tournament"
    rounds: int  # of the whole tournament
    finished: int  # rounds among them that the journal already holds
    opening_hash: str | None = None  # of the opening line of the journal, if it is to be published


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

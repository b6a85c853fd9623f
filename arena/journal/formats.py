"""How a tournament goes on: which of its matches may begin, and when it is over. Pure.

The two questions are asked of a tournament's state (`next_matches` and `verdict` in tournament_state.py), and its
format answers them. What else depends on the format is an attribute of it, so that those who play or verify a
tournament need not know which one it is. A format that is no fixed schedule keeps what it needs of the rounds that it
is told of.
"""

from collections.abc import Iterable
from typing import Any, Final, Protocol

import attrs

from arena.journal.finished_rounds import FinishedRounds
from arena.journal.identity import BotLine
from arena.journal.lines import VoidLine
from arena.journal.planned import Plan
from arena.journal.sequential_test import SequentialTest
from arena.plan.recorded_config import RecordedConfig
from arena.plan.schedule import PlannedMatch


class Verdict(Protocol):
    """Whether a tournament is over; a format that decides something has more to say."""

    @property
    def is_over(self) -> bool: ...

    @property
    def counted(self) -> int:
        """How much it rests on. It grows whenever there is something to say."""

    def facts(self) -> dict[str, Any]:
        """The verdict so far, as the fields of a JSON object."""


class TournamentFormat(Protocol):
    @property
    def words(self) -> str:
        """What a tournament of this format is called."""

    @property
    def plays_all(self) -> bool:
        """Whether every round of the plan has to be played. If not, the tournament ends as soon as it is decided."""

    @property
    def withdraws(self) -> bool:
        """Whether a bot that makes too many faults in a row plays no more."""

    @property
    def counts_voids(self) -> bool:
        """Whether its verdict accounts for lost rounds, so that they are no reason to stop."""

    @property
    def one_version(self) -> str:
        """Why a bot that has changed must not play on; empty if the organiser may accept it."""

    def refuses(self, line: BotLine, /) -> str | None:
        """Why nothing counts that this version of a bot plays; None if it may play."""

    def add_round(self, line: Any, /) -> None:
        """Take in the result of a round of the plan. The caller must not add a round twice."""

    def add_void(self, line: VoidLine, /) -> None: ...

    def next_matches(self, plan: Plan, finished: FinishedRounds, /) -> Iterable[PlannedMatch]: ...

    def verdict(self, plan: Plan, finished: FinishedRounds, /) -> Verdict: ...


@attrs.frozen
class Completeness:
    """The verdict of a fixed schedule: whether all of it is played."""

    is_over: bool
    counted: int = 0

    def facts(self) -> dict[str, Any]:
        return {}


_PLAYING, _COMPLETE = Completeness(is_over=False), Completeness(is_over=True)


class FixedSchedule:
    """Round-robin and gauntlet: every match of the plan is played, whatever the results are."""

    words = "tournament"
    plays_all = True
    withdraws = True
    counts_voids = False
    one_version = ""

    def refuses(self, _line: BotLine, /) -> None:
        return None

    def add_round(self, _line: Any, /) -> None:
        pass

    def add_void(self, _line: VoidLine, /) -> None:
        pass

    def next_matches(self, plan: Plan, finished: FinishedRounds, /) -> Iterable[PlannedMatch]:
        return (match for match in plan.schedule if not finished.is_over(match.id))

    def verdict(self, plan: Plan, finished: FinishedRounds, /) -> Completeness:
        return _COMPLETE if finished.count >= plan.total else _PLAYING


_FIXED_SCHEDULE: Final = FixedSchedule()


def format_of(config: RecordedConfig, plan: Plan) -> TournamentFormat:
    """The format of a recorded tournament, before its first round. Raises ConfigError if it cannot be played so."""
    return _FIXED_SCHEDULE if config.sprt is None else SequentialTest.of(config, plan)

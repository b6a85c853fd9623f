"""When failures of the arena itself are too many for a tournament to go on. Pure.

A round that fails for a reason of our own, or whose worker died, is void and played again. A bot without a sandbox can
kill its worker to get another deal, nobody can tell who did it, and so no bot can be charged: the tournament stops.
"""

from collections import Counter
from typing import Final

from arena.journal.lines import VoidLine
from arena.plan.config import Config
from arena.tournament.ledger import Ledger

_MOST_FAILURES: Final = 10  # of one match without a finished round: the machine is overloaded, or the arena has a bug
_MOST_LOST: Final = 5  # rounds of one bot, for the same reasons, in the whole tournament; for a long one see `lost`


class Failures:
    def __init__(self, config: Config, ledger: Ledger):
        self._config = config
        self._ledger = ledger
        self._in_a_row: Counter[str] = Counter()  # by match, since its last finished round

    def forget(self, match: str) -> None:
        """A round of the match is finished, or all of it."""
        self._in_a_row.pop(match, None)

    def add(self, match: str, what: str, reason: str) -> str | None:
        """Count a failure. Returns why the tournament has to stop, if it has to."""
        self._in_a_row[match] += 1
        if self._in_a_row[match] != _MOST_FAILURES:
            return None
        return f"{what} was void {_MOST_FAILURES} times in a row: {reason}"

    def lost(self, line: VoidLine) -> str | None:
        """Why the tournament has to stop if one of these bots has lost too many rounds in this way, also before a
        resume: five, and one more for each hundred rounds that it has finished. Some formats count them in their
        verdict instead."""
        often = [name for name in line.bots if self._lost_too_many(name)]
        if self._ledger.state.format.counts_voids or not often:
            return None
        count = max(self._ledger.state.lost[name] for name in often)
        last = f"{line.id} ({line.bots[0]} vs {line.bots[1]})"
        lost = f"{count} rounds of {' and '.join(often)} are void by now"
        return f"{lost}, the last one {last}: {line.reason}. {self._remedy()}"

    def _lost_too_many(self, name: str) -> bool:
        return self._ledger.state.lost[name] >= _MOST_LOST + self._ledger.state.rounds[name] // 100

    def _remedy(self) -> str:
        if all(program.is_sandboxed for program in self._config.programs):
            return "Find out what is wrong with this machine, for example too little memory."
        return "If this machine is not the reason, a bot without a sandbox is: begin another tournament with --sandbox."

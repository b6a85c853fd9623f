"""The tournaments of one journal: the one that is unfinished in it, and with `forever` one cycle after the other.

This module knows what is played next, which bots take part and how many rounds are finished; it never waits for bots.
"""

from collections.abc import Callable, Iterable, Sequence

import attrs

from arena.journal.lines import Journal
from arena.journal.tournament_state import TournamentState, verdict
from arena.plan.bot_spec import AnySpec, RemoteSpec
from arena.plan.config import Config, OnChange
from arena.plan.recorded_config import RecordedConfig
from arena.plan.server_config import ServerConfig
from arena.plan.time_control import TimeLimits
from arena.processes.fingerprint import fingerprint_of
from arena.tournament.ledger import Ledger, PastTournament, begin, check_same, end, go_on, read_past


class Cycles:
    """Reads the journal on construction. Raises JournalError if it is the journal of another tournament."""

    def __init__(self, config: Config, server: ServerConfig, journal: Journal):
        self._config = attrs.evolve(config, changed=OnChange.CONTINUE)  # no author shall be able to stop a server
        self._server = server
        self._journal = journal
        self._earlier = 0, 0  # finished rounds and all rounds of the tournaments before the last one
        self._last: tuple[int, int, int] | None = None  # the first cycle of the last one, and the same of it
        for program in config.programs:
            fingerprint_of(program)  # reads large programs before anybody waits for an answer
        past = read_past(journal)
        self._cycle = past.ledger.state.config.first_cycle if past.ledger else 0  # the number of the last one
        self.left = self._left_over(past)  # the tournament that can be resumed
        self.remarks = past.remarks  # about the journal

    @property
    def finished(self) -> int:
        return self._earlier[0] + (self._last[1] if self._last else 0)

    @property
    def total(self) -> int:
        return self._earlier[1] + (self._last[2] if self._last else 0)

    @property
    def is_over(self) -> bool:
        """Whether every round was played; never with `forever`."""
        return not self._server.forever and self._last is not None and self.finished == self.total

    def players(self, is_here: Callable[[str], bool], entered: Iterable[str]) -> tuple[AnySpec, ...]:
        """The bots of the next tournament: those that are connected, and, without `forever`, all bots of the file.
        `entered` are the names of bots that are not in the file."""
        named = [
            bot for bot in self._config.bots if not (self._server.forever and bot.may_be_away) or is_here(bot.name)
        ]
        others = [RemoteSpec(name, None, self._server.bot_limits) for name in entered if is_here(name)]
        return (*named, *others)

    def resume(self) -> tuple[Config, Ledger]:
        """Return the unfinished tournament, which is then no longer in `left`."""
        assert self.left is not None
        left, self.left = self.left, None
        return left

    def begin(self, players: Sequence[AnySpec]) -> tuple[Config, Ledger]:
        """Write the opening line of another tournament among these bots. Raises JournalError if that fails."""
        self._cycle += 1
        config = attrs.evolve(self._config, bots=tuple(players))
        if self._server.forever:
            config = attrs.evolve(config, first_cycle=self._cycle, cycles=1)
        return begin(self._journal, config)

    def count(self, state: TournamentState, finished: int) -> None:
        """Note how many rounds of this tournament are in the journal now."""
        if self._last is not None and self._last[0] != state.config.first_cycle:
            self._earlier = self.finished, self.total
        self._last = state.config.first_cycle, finished, state.plan.total

    def _left_over(self, past: PastTournament) -> tuple[Config, Ledger] | None:
        if past.ledger is None:
            return None
        state = past.ledger.state
        config = go_on(self._journal, self._resumed(state.config), past)
        self.count(state, state.finished.count)
        if not verdict(state).is_over:
            return config, past.ledger
        if not state.is_revealed:
            end(self._journal, config)
        return None

    def _resumed(self, recorded: RecordedConfig) -> Config:
        """The config of the tournament that has begun. Bots that are not in the file joined through the open door."""
        bots = list(self._config.bots)
        if self._server.open_door or self._server.forever:
            bots = self._recorded_bots(recorded)
        cycles = 1 if self._server.forever else self._config.cycles
        config = attrs.evolve(self._config, bots=tuple(bots), first_cycle=recorded.first_cycle, cycles=cycles)
        check_same(self._journal, recorded, config)
        return config

    def _recorded_bots(self, recorded: RecordedConfig) -> list[AnySpec]:
        named = {bot.name: bot for bot in self._config.bots}
        found: list[AnySpec] = []
        for bot in recorded.bots or ():
            if bot.name in named:
                found.append(named[bot.name])
            elif bot.remote:
                found.append(RemoteSpec(bot.name, None, bot.clock or TimeLimits()))
        return found

"""The tournaments of one journal: the one that is unfinished in it, and with `forever` one cycle after the other.

This module knows what is played next, which bots take part and how many rounds are finished; it never waits for bots.
"""

from collections.abc import Callable, Iterable, Sequence

import attrs

from arena.bots.fingerprint import fingerprint_of
from arena.journal.lines import Journal, TournamentLine
from arena.plan.bot_spec import AnySpec, BotSpec, RemoteSpec
from arena.plan.config import Config, OnChange
from arena.plan.server_config import ServerConfig
from arena.plan.time_control import TimeLimits
from arena.tournament.ledger import (
    JournalSummary,
    Ledger,
    begin,
    check_same,
    end,
    go_on,
    ledger_of,
    planned_rounds,
    read_past,
)


class Cycles:
    """Reads the journal on construction. Raises JournalError if it is the journal of another tournament."""

    def __init__(self, config: Config, server: ServerConfig, journal: Journal):
        self._config = attrs.evolve(config, changed=OnChange.CONTINUE)  # no author shall be able to stop a server
        self._server = server
        self._journal = journal
        self._earlier = 0, 0  # finished rounds and all rounds of the tournaments before the last one
        self._last: tuple[int, int, int] | None = None  # the first cycle of the last one, and the same of it
        for bot in config.bots:
            if isinstance(bot, BotSpec):
                fingerprint_of(bot)  # reads large programs before anybody waits for an answer
        past = read_past(journal, config.max_faults)
        self._begun = past.tournaments
        self.remarks = past.ledger.remarks  # about the journal
        self.left = self._left_over(past)  # the tournament that can be resumed

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
            bot
            for bot in self._config.bots
            if not (self._server.forever and isinstance(bot, RemoteSpec)) or is_here(bot.name)
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
        self._begun += 1
        config = attrs.evolve(self._config, bots=tuple(players))
        if self._server.forever:
            config = attrs.evolve(config, first_cycle=self._begun, cycles=1)
        return begin(self._journal, config), ledger_of(config)

    def count(self, config: Config, finished: int) -> None:
        """Note how many rounds of this tournament are in the journal now."""
        if self._last is not None and self._last[0] != config.first_cycle:
            self._earlier = self.finished, self.total
        self._last = config.first_cycle, finished, planned_rounds(config)

    def _left_over(self, past: JournalSummary) -> tuple[Config, Ledger] | None:
        if past.opening is None:
            return None
        config = go_on(self._journal, self._resumed(past.opening), past)
        total, finished = planned_rounds(config), len(past.ledger.finished)
        self.count(config, finished)
        if finished < total:
            return config, past.ledger
        if not past.revealed:
            end(self._journal, config)
        return None

    def _resumed(self, opening: TournamentLine) -> Config:
        """The config of the tournament that has begun. Bots that are not in the file joined through the open door."""
        bots = list(self._config.bots)
        if self._server.open_door or self._server.forever:
            bots = self._recorded_bots(opening)
        cycles = 1 if self._server.forever else self._config.cycles
        config = attrs.evolve(self._config, bots=tuple(bots), first_cycle=opening.config.first_cycle, cycles=cycles)
        check_same(self._journal, opening, config)
        return config

    def _recorded_bots(self, opening: TournamentLine) -> list[AnySpec]:
        named = {bot.name: bot for bot in self._config.bots}
        found: list[AnySpec] = []
        for recorded in opening.config.bots or ():
            if recorded.name in named:
                found.append(named[recorded.name])
            elif recorded.remote:
                found.append(RemoteSpec(recorded.name, None, recorded.clock or TimeLimits()))
        return found

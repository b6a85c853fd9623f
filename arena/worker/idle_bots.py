"""The processes of local bots, which are kept between matches."""

from functools import partial
from typing import Final

from arena.bots.player import LocalPlayer, Processes
from arena.bots.wants import Logic
from arena.plan.bot_spec import BotSpec
from arena.processes.stderr import StderrKeeper

_IDLE_BOTS: Final = 8  # idle processes kept, for each match that may be played at once


class IdleBots:
    """Gives players to matches, and keeps them when these are over. Their processes belong to `processes`."""

    def __init__(self, processes: Processes, concurrency: int):
        self._processes = processes
        self._limit = _IDLE_BOTS * concurrency
        self._idle: list[tuple[int, LocalPlayer]] = []  # the most recently used last

    def take(self, number: int, spec: BotSpec, stderr: StderrKeeper) -> LocalPlayer:
        for place in reversed(range(len(self._idle))):
            if self._idle[place][0] == number:
                return self._idle.pop(place)[1]
        return LocalPlayer(spec, self._processes, stderr.of(number, spec.name), partial(self._keep, number))

    def _keep(self, number: int, player: LocalPlayer) -> Logic[None]:
        player.stop()
        self._idle.append((number, player))
        while len(self._idle) > self._limit:
            yield from self._idle.pop(0)[1].leave()

    def clear(self) -> list[Logic[None]]:
        """What ends all idle processes."""
        players, self._idle = [player for _, player in self._idle], []
        return [player.leave() for player in players]

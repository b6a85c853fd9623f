"""The spectators as a worker sees them: what is shown to them goes to the owner of the tournament as reports."""

import math
import time
from typing import Final

from arena.match.audience import Scene, Sight
from arena.worker.job import PositionSeen, RoundSeen
from arena.worker.outbox import Outbox
from engine.scoring import Outcome

_PAUSE: Final = 0.05  # seconds between two positions of a match: spectators see no more than twenty in a second


class Viewers:
    def __init__(self, outbox: Outbox):
        self._outbox = outbox
        self.watchers: list[bool] = []  # not empty while there are spectators
        self._last_look: dict[str, float] = {}  # by match

    def are_there(self, watched: bool) -> None:
        self.watchers[:] = [True] if watched else []

    def look(self, scene: Scene, sight: Sight) -> None:
        now = time.monotonic()
        too_soon = now < self._last_look.get(scene.match, -math.inf) + _PAUSE or self._outbox.is_full
        if too_soon and sight.outcome is None:  # the last position of a round is never left out
            return
        self._last_look[scene.match] = now
        self._outbox.send(PositionSeen(scene, sight))

    def round_over(self, scene: Scene, outcome: Outcome) -> None:
        if self.watchers:
            self._outbox.send(RoundSeen(scene, outcome))

    def match_over(self, match: str) -> None:
        self._last_look.pop(match, None)

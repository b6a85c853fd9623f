"""Those who look on while a match is played, as the match knows them: it shows them scenes and waits for nobody."""

from collections.abc import Sized
from typing import Protocol

import attrs

from arena.match.referee import Referee
from engine.scoring import Outcome


@attrs.frozen
class Scene:
    """The round that is looked at."""

    match: str
    round: int
    rules: str
    bots: tuple[str, str]
    first: int
    points: tuple[int, int]


class Audience(Protocol):
    @property
    def watchers(self) -> Sized:
        """Those present; the match shows nothing while there are none."""

    def look(self, scene: Scene, referee: Referee) -> None:
        """A move was made."""

    def round_over(self, scene: Scene, outcome: Outcome) -> None: ...

    def match_over(self, match: str) -> None: ...

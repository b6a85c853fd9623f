"""The spectators as a match sees them: the match shows them what happens, and never waits for them."""

from collections.abc import Sized
from typing import Protocol

from msgspec import Struct

from arena.match.referee import Move
from engine.game import Game
from engine.scoring import Outcome


class Scene(Struct, frozen=True):
    """The round that spectators see."""

    match: str
    round: int
    rules: str
    bots: tuple[str, str]
    first: int
    points: tuple[int, int]


class Sight(Struct, frozen=True):
    """The round as it stands when spectators look. It can be pickled, and a compiled referee cannot."""

    game: Game
    moves: list[Move]
    outcome: Outcome | None


class Audience(Protocol):
    """What a match calls while it is played. arena/server/spectators.py implements it."""

    @property
    def watchers(self) -> Sized:
        """The spectators that are present; the match shows nothing while there are none."""

    def look(self, scene: Scene, sight: Sight) -> None:
        """Show the position after a move."""

    def round_over(self, scene: Scene, outcome: Outcome) -> None:
        """Show the result of a round."""

    def match_over(self, match: str) -> None:
        """Stop showing the match with this id."""

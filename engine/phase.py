"""The phases of a turn: what the player to move has to decide."""

import enum
from typing import Final


class Phase(enum.Enum):
    """What the player to move has to decide; in OVER, nothing."""

    CLAIM = "claim"
    PLAY = "play"
    DRAW = "draw"
    RETURN = "return"
    OVER = "over"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is written in Python and slow


# For what runs at every decision: until Python 3.12, reading a member from its class takes ten times as long.
CLAIM: Final = Phase.CLAIM
PLAY: Final = Phase.PLAY
DRAW: Final = Phase.DRAW

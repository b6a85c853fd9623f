"""What the player to move has to decide."""

import enum


class Phase(enum.Enum):
    CLAIM = "claim"
    PLAY = "play"
    DRAW = "draw"
    RETURN = "return"
    OVER = "over"

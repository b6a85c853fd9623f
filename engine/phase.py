"""The phases of a turn: what the player to move has to decide."""

import enum


class Phase(enum.Enum):
    CLAIM = "claim"
    PLAY = "play"
    DRAW = "draw"
    RETURN = "return"
    OVER = "over"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is written in Python and slow

"""What the engine raises: each type says what kind of mistake was made, its text says which."""


class EngineError(Exception):
    """Any mistake that the engine reports."""


class NotationError(EngineError):
    """A text that is no action, card or rule set."""


class IllegalAction(EngineError):
    """An action that the rules do not allow now. The game it was tried on is unchanged."""


class DealError(EngineError):
    """Decks that are not the cards of the game."""


class RecordError(EngineError):
    """A record that is not a round played by the rules."""

    def __init__(self, problem: str, move: int | None = None):
        where = "" if move is None else f"move {move + 1}: "
        super().__init__(where + problem)
        self.move = move  # index into the record's moves

"""What the engine raises: each type says what kind of mistake was made, its text says which."""


class EngineError(Exception):
    """Any mistake that the engine reports."""


class NotationError(EngineError):
    """A text that is no action, card or rule set."""


class IllegalAction(EngineError):
    """An action that the rules do not allow now. The game it was tried on is unchanged."""


class DealError(EngineError):
    """Decks that are not the cards of the game."""

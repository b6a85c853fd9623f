"""The engine's exceptions: the type says what kind of mistake was made, the text says which."""


class EngineError(Exception):
    """The base class of all errors that the engine reports."""


class NotationError(EngineError):
    """A text is not a valid action, card or rule set."""


class IllegalAction(EngineError):
    """The rules do not allow the action now. The game is unchanged."""


class DealError(EngineError):
    """The decks of a deal are not the cards of the game."""


class RecordError(EngineError):
    """A record is not a round played by the rules. The text names the first illegal move, if that is the reason."""

    def __init__(self, problem: str, move: int | None = None):
        where = "" if move is None else f"move {move + 1}: "
        super().__init__(where + problem)
        self.move = move  # index into the record's moves

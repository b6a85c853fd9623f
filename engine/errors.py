"""The engine's exceptions: the type says what kind of mistake was made, the text says which."""


class EngineError(Exception):
    """The base class of all errors that the engine reports."""


class NotationError(EngineError):
    """A text is not a valid action, card or rule set."""


class IllegalActionError(EngineError):
    """The rules do not allow the action now. The game is unchanged."""


class DealError(EngineError):
    """The decks of a deal are not the cards of the game."""


class RecordError(EngineError):
    """A record is not a round played by the rules. The text names the first illegal move, if that is the reason."""

    def __init__(self, problem: str, move: int | None = None):
        where = "" if move is None else f"move {move + 1}: "
        super().__init__(where + problem)
        self.move = move  # index into the record's moves


class PositionError(EngineError):
    """A position that cannot come up in a round, or a text that does not describe one."""

    def __init__(self, problem: str, where: str = "", line: int | None = None):
        super().__init__(problem if line is None else f"line {line}: {problem}")
        self.problem = problem
        self.where = where  # how the line of the position's text begins that should be different, such as "stone 3"
        self.line = line  # its number, from 1; None for a position that was not read from a text

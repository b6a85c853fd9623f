"""A bot without any I/O: lines in, lines out. `protocol.bot_runner` connects it to a stream."""

from collections.abc import Callable

import msgspec

from protocol.fairness import DealCheck
from protocol.messages import (
    PROTOCOL,
    BotAction,
    BotHello,
    Bye,
    Error,
    MatchEnd,
    MatchStart,
    Message,
    Request,
    RoundEnd,
    RoundStart,
    ServerHello,
    Welcome,
)
from protocol.names import NAME_RULE, name_problem
from protocol.session import Role, Session

# A move, or a move and a note for the log.
Choose = Callable[[Request], str | tuple[str, str]]
Tell = Callable[[str], None]


def ignore(_: object) -> None:
    """The default hook, which does nothing."""


def hello_of(name: str, version: str | None, author: str | None, token: str | None, legal: bool) -> BotHello:
    """The hello of a bot. Raises ValueError, which says what is wrong, if the name is not valid."""
    if problem := name_problem(name):
        raise ValueError(f"{name!r} is not a valid name for a bot: {problem}; expected {NAME_RULE}")
    return BotHello(PROTOCOL, name, version, author, token, legal)


class Bot:
    """Answers the server's lines. Calls `tell` with what its author should know, such as an error from the server."""

    def __init__(
        self,
        choose: Choose,
        hello: BotHello,
        tell: Tell,
        *,
        on_match_start: Callable[[MatchStart], None] = ignore,
        on_round_start: Callable[[RoundStart], None] = ignore,
        on_round_end: Callable[[RoundEnd], None] = ignore,
        on_match_end: Callable[[MatchEnd], None] = ignore,
    ):
        self._choose = choose
        self._hello = hello
        self._tell = tell
        self._hooks: dict[type[Message], Callable[..., None]] = {
            MatchStart: on_match_start,
            RoundStart: on_round_start,
            RoundEnd: on_round_end,
            MatchEnd: on_match_end,
        }
        self._session = Session(Role.BOT)
        self.deals = DealCheck()
        self.welcomed = False  # on the connection that is open
        self.bye: Bye | None = None  # the server's bye, once it has arrived

    def connected_again(self) -> None:
        """Forget the connection that was lost: the next line is the first of a new one."""
        self._session = Session(Role.BOT)
        self.welcomed = False
        self.bye = None

    def answer(self, line: bytes) -> bytes | None:
        """The answer to a line from the server; None if it needs none. Raises ProtocolError if the line, or the answer,
        breaks the protocol."""
        message = self._session.receive(line)
        match message:
            case ServerHello():
                return self._session.send(self._hello)
            case Request():
                return self._session.send(self._action(message))
            case Error():
                self._tell(f"the server says: {message.message} ({message.code})")
            case Bye():
                self.bye = message
            case Welcome():
                self.welcomed = True
                self._hello = msgspec.structs.replace(self._hello, session=message.session)
            case None:
                pass
            case _:
                if complaint := self.deals.observe(message):
                    self._tell(complaint)
                self._hooks.get(type(message), ignore)(message)
        return None

    def _action(self, request: Request) -> BotAction:
        chosen = self._choose(request)
        match chosen:
            case str(move):
                return BotAction(request.id, move)
            case (str(move), str() | None as note):
                return BotAction(request.id, move, note)
        example = request.legal[0] if request.legal else "play r5 3"
        raise TypeError(
            f"choose() returned {chosen!r}; it must return a move such as {example!r}, or a move and a note"
        )

"""The person's end of a connection. It speaks the protocol like every bot, and knows only what a bot would know."""

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Final, cast

import trio

from arena.human.screen import Wish
from arena.human.user_interface import UserInterface
from engine.errors import EngineError
from protocol.errors import Code, RemoteProtocolError
from protocol.framing import LineBuffer
from protocol.messages import PROTOCOL, BotAction, BotHello, Request, ServerHello, ServerMessage
from protocol.session import Role, Session

_CHUNK: Final = 64 * 1024


# What the person's end says, before it leaves, to take back the last decision. No bot may say it, and no server
# understands it: only the link of a person does (human_player.py).
TAKE_BACK: Final = b'{"type":"take_back"}'


class PersonClient:
    def __init__(self, name: str, interface: UserInterface):
        self._hello = BotHello(PROTOCOL, name)
        self._interface = interface

    async def converse(self, stream: trio.abc.Stream) -> None:
        """Play on this connection until either side closes it. Raises RemoteProtocolError in a group."""
        async with stream, trio.open_nursery() as nursery:
            nursery.start_soon(self._leave_when_closed, nursery.cancel_scope)
            with _ends_with_the_connection():
                await self._listen(stream, nursery)
            nursery.cancel_scope.cancel()
        self._interface.hung_up()

    async def _leave_when_closed(self, conversation: trio.CancelScope) -> None:
        await self._interface.closed.wait()
        conversation.cancel()

    async def _listen(self, stream: trio.abc.Stream, nursery: trio.Nursery) -> None:
        """Hear messages and have the person decide. A further message ends a decision: it came too late."""
        session, lines, deciding = Session(Role.BOT), LineBuffer(), trio.CancelScope()
        while data := await stream.receive_some(_CHUNK):
            for message in map(session.receive, lines.feed(data)):
                deciding.cancel()
                match message:
                    case ServerHello():
                        await stream.send_all(session.send(self._hello))
                    case Request():
                        deciding = trio.CancelScope()
                        answer = partial(self._answer, message, stream, session, nursery.cancel_scope)
                        nursery.start_soon(_within, deciding, answer)
                    case None:
                        pass  # a message that this version does not know
                    case _:
                        with _only_real_rounds():
                            self._interface.told(cast("ServerMessage", message))

    async def _answer(
        self, request: Request, stream: trio.abc.Stream, session: Session, conversation: trio.CancelScope
    ) -> None:
        with _only_real_rounds():
            move = await self._interface.choose(request)
        with _ends_with_the_connection():
            if isinstance(move, Wish):
                await stream.send_all(TAKE_BACK + b"\n")
                conversation.cancel()
            else:
                await stream.send_all(session.send(BotAction(request.id, move)))


async def _within(scope: trio.CancelScope, function: Callable[[], Awaitable[None]]) -> None:
    with scope:
        await function()


def _ends_with_the_connection() -> contextlib.suppress:
    return contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError)


@contextlib.contextmanager
def _only_real_rounds() -> Iterator[None]:
    try:
        yield
    except EngineError as error:
        raise RemoteProtocolError(Code.BAD_MESSAGE, f"the server describes an impossible round: {error}") from None

"""A server in this process, and bots that visit it over real sockets on loopback."""

import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import trio

from arena.cli.server_wording import server_text
from arena.journal.lines import Journal, JournalLine, RoundLine, read
from arena.journal.verify import verify_journals
from arena.plan.config import Config
from arena.plan.server_config import ServerConfig, read_server_file
from arena.plan.tokens import token_hash
from arena.server.gathering import BeginKey
from arena.server.server import Server
from arena.server.server_events import ServerEvent
from arena.server.wall_clock import Clock, local_time
from arena.support.address import parse_address
from arena.tournament.tournament_events import BotWithdrawn, RoundFinished, TournamentEvent
from protocol.framing import LineBuffer
from protocol.messages import PROTOCOL, BotAction, BotHello, Request
from protocol.session import Role, Session


def token_of(name: str) -> str:
    return f"the token of {name}"


def remote_bots(*names: str) -> str:
    return "".join(f'[[bot]]\nname = "{name}"\ntoken = "{token_hash(token_of(name))}"\n' for name in names)


class Heard:
    """Keeps what the server reports, and wakes a test that waits for it."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, dict[str, Any]]] = []
        self._more = trio.Event()

    def heard(self, event: ServerEvent | TournamentEvent, /) -> None:
        if isinstance(event, RoundFinished):
            self._keep(event.kind, event.line.id, {})
        elif isinstance(event, BotWithdrawn):
            self._keep(event.kind, event.bot, {})
        elif isinstance(event, ServerEvent):
            self._keep(event.kind, server_text(event), event.facts())

    def _keep(self, kind: str, text: str, facts: dict[str, Any]) -> None:
        self.told.append((kind, text, facts))
        self._more.set()
        self._more = trio.Event()

    def texts(self, kind: str) -> list[str]:
        return [text for each, text, _ in self.told if each == kind]

    async def wait(self, kind: str, text: str = "") -> str:
        """Until there is such news."""
        while True:
            for each in self.texts(kind):
                if text in each:
                    return each
            await self._more.wait()


@attrs.define
class Served:
    server: Server
    address: str
    heard: Heard
    journal: Path
    over: trio.Event
    cancel: Callable[[], None]  # end it at once, as an error of the program would

    def rounds(self) -> list[RoundLine]:
        return [entry.line for entry in read(self.journal, JournalLine) if isinstance(entry.line, RoundLine)]

    def verified(self) -> list[RoundLine]:
        problems = verify_journals([self.journal]).problems
        assert problems == [], problems  # pytest does not show values of asserts in helpers
        return self.rounds()


def configured(folder: Path, text: str, **options: str) -> tuple[Config, ServerConfig]:
    path = folder / "cup.toml"
    path.write_text(text)
    given = {name.replace("_", "-"): value for name, value in options.items()}
    return read_server_file(path, {"listen": "127.0.0.1:0", "rounds": "2"} | given)


def trio_time() -> datetime:
    """A wall clock that keeps step with trio's, which may be a mock."""
    return datetime(2026, 1, 31, 12, tzinfo=UTC) + timedelta(seconds=trio.current_time())


@contextlib.asynccontextmanager
async def serving(
    folder: Path, text: str, wall_clock: Clock = local_time, begin_key: BeginKey | None = None, /, **options: str
) -> AsyncIterator[Served]:
    """A server until the block ends, or until its tournament does."""
    config, server_config = configured(folder, text, **options)
    assert config.journal is not None
    heard = Heard()
    with Journal(config.journal) as journal:
        server = Server(config, server_config, journal, heard, begin_key, wall_clock)
        over = trio.Event()
        async with trio.open_nursery() as nursery:

            async def run(task_status: trio.TaskStatus[str]) -> None:
                await server.run(task_status=task_status)
                over.set()

            address = await nursery.start(run)
            try:
                yield Served(server, address, heard, config.journal, over, nursery.cancel_scope.cancel)
            finally:
                while _visitors:
                    await trio.aclose_forcefully(_visitors.pop().stream)
            nursery.cancel_scope.cancel()


_visitors: "list[Visitor]" = []  # of the server that runs; they leave with it


def first_move(request: Request) -> str:
    return request.legal[0]


class Visitor:
    """A bot's end of a connection."""

    def __init__(self, stream: trio.abc.Stream):
        self.stream = stream
        self.session = Session(Role.BOT)
        self.lines = LineBuffer()
        self.waiting: list[bytes] = []
        self.heard: list[Any] = []

    async def hear(self) -> Any:
        """The next message; None at the end."""
        while not self.waiting:
            try:
                data = await self.stream.receive_some(65536)
            except trio.BrokenResourceError:
                return None
            if not data:
                return None
            self.waiting += self.lines.feed(data)
        message = self.session.receive(self.waiting.pop(0))
        self.heard.append(message)
        return message

    async def hear_until(self, kind: type) -> Any:
        while True:
            message = await self.hear()
            assert message is not None, [type(each).__name__ for each in self.heard]
            if isinstance(message, kind):
                return message

    async def hear_until_closed(self) -> list[str]:
        """What it heard, in all."""
        while await self.hear() is not None:
            pass
        return self.kinds()

    async def say(self, message: Any) -> None:
        await self.stream.send_all(self.session.send(message))

    async def greet(self, name: str, token: str | None = None, session: str | None = None) -> None:
        await self.hear()
        await self.say(BotHello(PROTOCOL, name, token=token, session=session))

    def kinds(self) -> list[str]:
        return [type(each).__name__ for each in self.heard]


ELSEWHERE = "127.0.0.66"  # all of 127.0.0.0/8 is this machine


async def connected(address: str, source: str | None = None) -> Visitor:
    host, port = parse_address(address)
    visitor = Visitor(await trio.open_tcp_stream(host, port, local_address=source))
    _visitors.append(visitor)
    return visitor


async def arrived(address: str, name: str, session: str | None = None) -> Visitor:
    """With its token; the server has welcomed it."""
    visitor = await connected(address)
    await visitor.greet(name, token_of(name), session)
    await visitor.hear()
    return visitor


async def play(visitor: Visitor, choose: Callable[[Request], str] = first_move) -> Visitor:
    """Answers until the server says bye or the connection ends."""
    while (message := await visitor.hear()) is not None:
        if isinstance(message, Request):
            await visitor.say(BotAction(message.id, choose(message)))
    await visitor.stream.aclose()
    return visitor


async def come_and_play(address: str, name: str, choose: Callable[[Request], str] = first_move) -> None:
    await play(await arrived(address, name), choose)

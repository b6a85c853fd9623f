"""`arena watch`: the rounds of a server as they are played, on a board in the terminal or as lines."""

import json
from collections.abc import Callable
from typing import Final

import attrs
import trio

from arena.client.dial import MAYBE_TLS, CannotConnect, ConnectError, Server, connected
from arena.replay.board import board, coloured
from arena.replay.positions import Position, Replay, Step, StonePosition
from arena.support.signals import calling_on_signals
from arena.support.text import printable
from protocol.errors import RemoteProtocolError
from protocol.framing import LineBuffer
from protocol.messages import (
    PROTOCOL,
    BotHello,
    Bye,
    Error,
    ServerHello,
    WatchedPosition,
    WatchedResult,
    Watching,
)
from protocol.session import Role, Session, State

_CHUNK: Final = 64 * 1024
NOBODY: Final = -1  # whose view it is where both hands are hidden


@attrs.define
class Screen:
    """Shows one round after the other; a board on a terminal, lines elsewhere."""

    write: Callable[[str], None]
    on_terminal: bool
    match: str = ""  # the one that is watched; any if empty
    colour: bool = False
    hands: bool = False
    last_result: str = ""

    def begin(self, message: Watching) -> None:
        self.hands = message.hands
        event = f"{printable(message.event)}: " if message.event else ""
        what = f"waiting for match {printable(self.match)}" if self.match else "waiting for a round"
        late = f", {message.delay_ms / 1000:g} seconds late" if message.delay_ms else ""
        self._say(f"{event}{what}{late}. Ctrl-C leaves.")

    def position(self, message: WatchedPosition) -> None:
        replay = replay_of(message, self.hands)
        if not self.on_terminal:
            if message.seat is not None:
                name = printable(message.bots[message.seat])
                self.write(f"{_where(message)} {message.number}. {name}: {_move(message)}{_took(message.ms)}\n")
            return
        step = replay.steps[0]
        did = "The deal."
        if message.seat is not None:
            did = f"{message.number}. {printable(message.bots[message.seat])}: {_move(message)}{_took(message.ms)}"
        points = f"points so far {message.points[0]} - {message.points[1]}"
        head = f"Match {_where(message)}  {printable(message.rules)}  {_names(message.bots)}  {points}"
        lines = [head, did, "", *board(replay, step, steady=True), "", self.last_result]
        plain = map(printable, lines)  # cards are texts of the server, too
        text = "\x1b[K\n".join(coloured(line) if self.colour else line for line in plain)
        self.write(f"\x1b[H{text}\x1b[J")

    def result(self, message: WatchedResult) -> None:
        won = "a draw" if message.winner is None else f"{printable(message.bots[message.winner])} wins"
        points = f"{message.points[0]} - {message.points[1]}"
        self.last_result = (
            f"{_where(message)} {_names(message.bots)}: {won} ({printable(message.ending)}), points {points}"
        )
        self._say(self.last_result)

    def _say(self, text: str) -> None:
        self.write(f"\x1b[H\x1b[2J{text}\n" if self.on_terminal else f"{text}\n")


def _where(message: WatchedPosition | WatchedResult) -> str:
    return f"{printable(message.match)}.{message.round}"


def _names(bots: tuple[str, str]) -> str:
    return " - ".join(map(printable, bots))


def _move(message: WatchedPosition) -> str:
    return printable(message.move or "")


def json_line(line: bytes) -> str:
    """A message as it came; what would do something to a terminal is written as JSON writes it."""
    text = line.decode()
    return text if text.isprintable() else "".join(map(_json_character, text))


def _json_character(char: str) -> str:
    if char in "\t\r\n":  # outside of texts, where they mean nothing
        return " "
    return char if char.isprintable() else json.dumps(char)[1:-1]


def _took(ms: int | None) -> str:
    return "" if ms is None else f"  ({ms} ms)"


def replay_of(message: WatchedPosition, hands: bool) -> Replay:
    """As the board draws it."""
    position = Position(
        stones=tuple(
            StonePosition(each.sides, each.owner, each.modes, each.needs, each.complete_first, (None, None))
            for each in message.stones
        ),
        hands=message.hands,
        clan_deck=message.decks.clan,
        tactic_deck=message.decks.tactic,
        discard=message.discard,
        tactics_played=message.tactics_played,
        phase=message.phase,
        to_move=message.to_move,
        draws_left=0,
        returns_left=0,
    )
    step = Step(number=message.number, position=position, stones_held=position.stones_held)
    return Replay(
        id=f"{message.match}.{message.round}",
        match=message.match,
        round=message.round,
        rules=message.rules,
        bots=message.bots,
        first=message.first,
        started="",
        winner=None,
        ending="",
        points=message.points,
        view=None if hands else NOBODY,
        steps=(step,),
    )


async def watch(server: Server, match: str, screen: Screen, tell_line: Callable[[bytes], None] | None) -> bool:
    """Until the server has nothing more to show; false if a signal came first. `tell_line` gets the lines instead of
    the screen. Raises ConnectError."""
    with trio.CancelScope() as scope:
        async with calling_on_signals(scope.cancel):
            await _attend(server, match, screen, tell_line)
            return True
    return False


async def _attend(server: Server, match: str, screen: Screen, tell_line: Callable[[bytes], None] | None) -> None:
    try:
        stream = await connected(server, server.context())
    except CannotConnect as error:
        raise ConnectError(str(error)) from None
    session, lines = Session(Role.BOT), LineBuffer()
    async with stream:
        try:
            while data := await stream.receive_some(_CHUNK):
                for line in lines.feed(data):
                    message = session.receive(line)
                    if isinstance(message, ServerHello):
                        await stream.send_all(session.send(BotHello(PROTOCOL, "watcher", watch=match)))
                    elif tell_line:
                        tell_line(line)
                    if isinstance(message, Bye):
                        return
                    _show(message, screen if not tell_line else None)
        except (trio.BrokenResourceError, RemoteProtocolError) as error:
            raise ConnectError(f"the connection was lost: {error}") from None
    hint = MAYBE_TLS if session.state is State.NEW and not server.tls else ""
    raise ConnectError(f"the server closed the connection{hint}")


def _show(message: object, screen: Screen | None) -> None:
    match message:
        case Error():
            raise ConnectError(f"the server says: {message.message}")
        case Watching() if screen:
            screen.begin(message)
        case WatchedPosition() if screen:
            screen.position(message)
        case WatchedResult() if screen:
            screen.result(message)
        case _:
            pass

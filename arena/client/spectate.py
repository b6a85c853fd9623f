"""`arena watch`: shows the rounds of a server as they are played, on a board in the terminal or as lines."""

import json
from collections.abc import Callable
from typing import Final

import attrs
import trio

from arena.client.dial import MAYBE_TLS, ConnectError, Destination, UnreachableError, connected
from arena.replay.board import board, coloured
from arena.replay.positions import ReplayStep
from arena.support.signals import calling_on_signals
from arena.support.text import printable
from engine.cards import (
    BACK_BY_TEXT,
    CLAN_BACK,
    CLAN_CARDS,
    SEATS,
    STONES,
    TACTIC_BACK,
    TACTIC_DECK,
    Card,
    Seat,
    cards_from_texts,
)
from engine.errors import EngineError
from engine.phase import Phase
from engine.position import Cards, Position, StonePosition
from engine.ruleset import RuleSet
from protocol.errors import RemoteProtocolError
from protocol.framing import LineBuffer
from protocol.messages import (
    PROTOCOL,
    BotHello,
    BothSides,
    Bye,
    Error,
    ServerHello,
    WatchedPosition,
    WatchedResult,
    WatchedStone,
    Watching,
)
from protocol.session import Role, Session, State

_CHUNK: Final = 64 * 1024


@attrs.define
class Screen:
    """Shows one round after the other: as a board on a terminal, as lines elsewhere."""

    write: Callable[[str], None]
    on_terminal: bool
    match: str = ""  # the id of the match to watch; empty for any
    colour: bool = False
    last_result: str = ""

    def begin(self, message: Watching) -> None:
        event = f"{printable(message.event)}: " if message.event else ""
        what = f"waiting for match {printable(self.match)}" if self.match else "waiting for a round"
        late = f", {message.delay_ms / 1000:g} seconds late" if message.delay_ms else ""
        self._say(f"{event}{what}{late}. Ctrl-C leaves.")

    def position(self, message: WatchedPosition) -> None:
        if not self.on_terminal:
            if message.seat is not None:
                name = printable(message.bots[message.seat])
                self.write(f"{_where(message)} {message.number}. {name}: {_move(message)}{_took(message.ms)}\n")
            return
        step = ReplayStep(number=message.number, position=position_of(message))
        did = "The deal."
        if message.seat is not None:
            did = f"{message.number}. {printable(message.bots[message.seat])}: {_move(message)}{_took(message.ms)}"
        points = f"points so far {message.points[0]} - {message.points[1]}"
        head = f"Match {_where(message)}  {printable(message.rules)}  {_names(message.bots)}  {points}"
        lines = [head, did, "", *board(message.bots, step, steady=True), "", self.last_result]
        plain = map(printable, lines)  # the names of cards come from the server and are untrusted
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
    """A message as it came, with control characters escaped as in JSON, so that it cannot affect a terminal."""
    text = line.decode()
    return text if text.isprintable() else "".join(map(_json_character, text))


def _json_character(char: str) -> str:
    if char in "\t\r\n":  # outside of JSON strings, where they mean nothing
        return " "
    return char if char.isprintable() else json.dumps(char)[1:-1]


def _took(ms: int | None) -> str:
    return "" if ms is None else f"  ({ms} ms)"


def position_of(message: WatchedPosition) -> Position:
    """The position that the server shows. Raises ConnectError if the message names something that the game lacks."""
    try:
        if len(message.stones) != len(STONES):
            raise ValueError(f"there are {len(message.stones)} stones, but expected {len(STONES)}")
        return Position(
            rules=RuleSet.named(message.rules),
            stones=tuple(map(_stone, message.stones)),
            hands=_both(message.hands),
            clan_deck=_deck(CLAN_BACK, message.decks.clan, len(CLAN_CARDS)),
            tactic_deck=_deck(TACTIC_BACK, message.decks.tactic, len(TACTIC_DECK)),
            discard=cards_from_texts(message.discard),
            tactics_played=_both(message.tactics_played),
            phase=Phase(message.phase),
            to_move=SEATS[message.to_move or 0],
        )
    except (EngineError, ValueError) as error:
        raise ConnectError(f"the server sent a position that this program cannot read: {error}") from None


def _stone(stone: WatchedStone) -> StonePosition:
    return StonePosition(
        _both(stone.sides), cards_from_texts(stone.modes), _seat(stone.owner), _seat(stone.complete_first)
    )


def _deck(back: Card, count: int, most: int) -> Cards:
    if count > most:
        raise ValueError(f"a deck has {count} cards, but there are only {most}")
    return (back,) * count


def _both(texts: BothSides) -> tuple[Cards, Cards]:
    first, second = (tuple(_card(text) for text in each) for each in texts)
    return first, second


def _card(text: str) -> Card:
    """A card, or the back of a card in a hidden hand."""
    return BACK_BY_TEXT[text] if text in BACK_BY_TEXT else cards_from_texts([text])[0]


def _seat(seat: int | None) -> Seat | None:
    return None if seat is None else SEATS[seat]


async def watch(server: Destination, match: str, screen: Screen, tell_line: Callable[[bytes], None] | None) -> bool:
    """Shows a match, or all, until the server says bye; returns false if a signal came first. If `tell_line` is given,
    it gets the server's lines instead of the screen. Raises ConnectError."""
    with trio.CancelScope() as scope:
        async with calling_on_signals(scope.cancel):
            await _attend(server, match, screen, tell_line)
            return True
    return False


async def _attend(server: Destination, match: str, screen: Screen, tell_line: Callable[[bytes], None] | None) -> None:
    try:
        stream = await connected(server, server.context())
    except UnreachableError as error:
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
    # A server that never said hello may have waited for a TLS handshake.
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

"""The texts for the events of a server. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, assert_never

from arena.server.server_events import (
    AcceptFailed,
    BotCame,
    BotLeft,
    CycleBegins,
    FewDescriptors,
    FloodDropped,
    FloodNotDropped,
    Incident,
    Listening,
    LobbyWaits,
    NamesForgotten,
    PeerBrokeProtocol,
    PeerRefused,
    ServerEvent,
    Stopping,
    TokensUnprotected,
)
from arena.support.text import printable

_NAMED_AT_MOST: Final = 8  # bots in a line


def server_text(event: ServerEvent) -> str:
    return printable(_server_text(event))


def _server_text(event: ServerEvent) -> str:
    match event:
        case Listening():
            return f"Listening at {event.address}"
        case TokensUnprotected():
            return "Warning: tokens cross the network unencrypted; use --cert and --key to encrypt them"
        case FewDescriptors():
            return (
                f"Warning: this machine allows {event.limit} open files, which is too few for {event.connections} "
                "connections (ulimit -n)"
            )
        case NamesForgotten():
            return (
                f"Warning: {event.file} does not say who owns these names: {_list(event.bots)}; each belongs to the "
                "first bot that connects with it"
            )
        case LobbyWaits():
            return f"In the lobby: {_list(event.here)}. Missing: {_list(event.missing)}. It begins {_when(event)}."
        case BotCame():
            several = f", {event.connections} connections" if event.connections > 1 else ""
            return f"{event.bot} is here ({event.address}{several})"
        case BotLeft():
            if event.connections:
                return f"A connection of {event.bot} has ended ({event.address}, {event.connections} left)"
            return f"{event.bot} has left ({event.address})"
        case CycleBegins():
            what = f"Cycle {event.cycle}" if event.forever else "The tournament"
            return f"{what} begins: {_list(event.bots)}"
        case Stopping():
            return "Stopping: running matches may end; a second signal stops at once."
        case PeerRefused() | PeerBrokeProtocol() | AcceptFailed() | FloodDropped() | FloodNotDropped():
            more = f" (and {event.unreported} more)" if event.unreported else ""
            return _incident_text(event) + more
    assert_never(event)


def _incident_text(event: Incident) -> str:
    match event:
        case PeerRefused():
            return f"{event.address} was refused: {event.reason}"
        case PeerBrokeProtocol():
            return f"{event.address} broke the protocol ({event.code})"
        case AcceptFailed():
            return f"cannot accept a connection: {event.reason}"
        case FloodDropped():
            return f"a flood of connections comes from {', '.join(event.sources)}"
        case FloodNotDropped():
            return f"the kernel cannot drop a flood of connections: {event.reason}"
    assert_never(event)


def _when(event: LobbyWaits) -> str:
    match event.begin:
        case datetime() as moment:
            when = f"at {moment:%Y-%m-%d %H:%M:%S}"
        case "key":
            when = ""
        case _:
            when = "as soon as a connected bot has somebody to play" if event.forever else "when all are here"
    return " or ".join(filter(None, (when, "when Enter is pressed" if event.has_begin_key else "")))


def _list(names: Sequence[str]) -> str:
    if not names:
        return "none"
    more = len(names) - _NAMED_AT_MOST
    return ", ".join(names[:_NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")

"""The texts for the events of a bot at a server. Pure."""

from typing import assert_never

from arena.client.client_events import (
    ClientEvent,
    DealNotAsPromised,
    MatchBegan,
    MatchEnded,
    PlayEnded,
    Reconnecting,
    Record,
    RoundNotKept,
    ServerComplained,
    ServerSaidBye,
    TokenUnprotected,
    Welcomed,
)
from arena.support.text import counted, printable


def client_text(event: ClientEvent) -> str:
    return printable(_client_text(event))


def _client_text(event: ClientEvent) -> str:
    match event:
        case Welcomed():
            again = " again" if event.again else ""
            return f"Connected{again} to {event.address} as {event.name}"
        case MatchBegan():
            return f"Match {event.match} against {event.opponent} begins: {counted(event.rounds, 'round')}"
        case MatchEnded():
            result = {"win": "won", "loss": "lost", "draw": "drawn"}[event.result]
            points = f"{event.points.yours} to {event.points.theirs} points"
            return f"Match {event.match} against {event.opponent}: {result}, {points}. So far {_record(event.matches)}"
        case Reconnecting():
            return f"{event.problem}; connecting again, for up to {event.seconds:g} s"
        case ServerComplained():
            return f"The server says: {event.message} ({event.code})"
        case DealNotAsPromised():
            return event.problem
        case TokenUnprotected():
            return "Warning: the token crosses the network unencrypted; use --tls to encrypt it"
        case ServerSaidBye():
            return f"The server says bye: {event.reason}; {event.deals}"
        case PlayEnded():
            matches = f"{counted(event.matches.total, 'match', 'matches')} ({_record(event.matches)})"
            rounds = f"{counted(event.rounds.total, 'round')} ({_record(event.rounds)})"
            return f"Played {matches}, {rounds}: {event.points.yours} to {event.points.theirs} points"
        case RoundNotKept():
            return f"Not kept: {event.problem}"
    assert_never(event)


def _record(record: Record) -> str:
    return f"{record.won} won, {record.lost} lost, {record.drawn} drawn"

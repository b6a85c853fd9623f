"""The texts for events: of a tournament, of a server and of a bot at a server. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, assert_never

from arena.client.events import (
    ClientEvent,
    DealNotAsPromised,
    MatchBegan,
    MatchEnded,
    PlayEnded,
    Reconnecting,
    Record,
    ServerComplained,
    ServerSaidBye,
    TokenUnprotected,
    Welcomed,
)
from arena.journal.lines import RoundLine, VoidLine
from arena.server.events import (
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
from arena.support.text import counted, printable, printable_lines
from arena.tournament.events import BotWithdrawn, RoundVoid, TournamentOpened

_NAMED_AT_MOST: Final = 8  # bots in a line
_REASONS: Final = {
    "five-stones": "five stones",
    "three-adjacent": "three adjacent stones",
    "blocked": "blocked",
    "illegal-move": "makes an illegal move",
    "malformed": "sends a malformed line",
    "timeout": "loses on time",
    "crashed": "crashed",
    "failed-to-start": "did not start",
    "disconnected": "disconnects",
    "out-of-memory": "uses too much memory",
    "out-of-cpu": "uses too much processor time",
    "out-of-processes": "has too many processes",
}


# A tournament


def resumed_text(event: TournamentOpened) -> str | None:
    """A line about the rounds that are in the journal already; None if there are none."""
    if not event.finished:
        return None
    left = "nothing is left to play" if event.finished == event.rounds else "resuming"
    return f"{event.finished} of {event.rounds} rounds are in the journal already: {left}."


def pairing(bots: tuple[str, str]) -> str:
    return f"{bots[0]} vs {bots[1]}"


def score_text(line: RoundLine) -> str:
    winner = line.result.winner
    if winner is None:
        return "0-0" if line.fault else "1/2-1/2"
    return "1-0" if winner == 0 else "0-1"


def ending_text(line: RoundLine) -> str:
    reason = _REASONS.get(line.result.ending, line.result.ending)
    if line.fault and line.result.winner is None:
        return "neither bot started"
    return f"{line.bots[line.fault.seat]} {reason}" if line.fault else reason


def fault_lines(line: RoundLine) -> list[str]:
    """A line for each bot at fault that says what went wrong, the last one with the folder of the fault. Control
    characters that the bot wrote are escaped."""
    fault = line.fault
    if fault is None:
        return []
    found = [fault.detail]
    if fault.other_detail is not None:
        found = [f"{line.bots[fault.seat]}: {fault.detail}", f"{line.bots[1 - fault.seat]}: {fault.other_detail}"]
    if fault.bundle:
        found[-1] += f"; see {fault.bundle}"
    return [printable(text) for text in found]


def news_text(event: RoundVoid | BotWithdrawn | ServerEvent) -> str:
    match event:
        case RoundVoid():
            return _void_text(event.line)
        case BotWithdrawn():
            return f"{event.bot} is withdrawn after {event.faults} faults in a row; its remaining rounds are forfeited"
        case _:
            return server_text(event)


def _void_text(line: VoidLine) -> str:
    reason = printable_lines(line.reason)
    return f"Void round {line.id} ({pairing(line.bots)}), will be played again: {reason}"


# A server


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
            when = "when two are here" if event.forever else "when all are here"
    return " or ".join(filter(None, (when, "when Enter is pressed" if event.has_begin_key else "")))


def _list(names: Sequence[str]) -> str:
    if not names:
        return "none"
    more = len(names) - _NAMED_AT_MOST
    return ", ".join(names[:_NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")


# A bot at a server


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
    assert_never(event)


def _record(record: Record) -> str:
    return f"{record.won} won, {record.lost} lost, {record.drawn} drawn"

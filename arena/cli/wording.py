"""The texts for the events of a tournament. Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from arena.journal.lines import AnyRound, VoidLine, is_forfeit
from arena.support.text import printable, printable_lines
from arena.tournament.tournament_events import (
    BotIdentified,
    BotReadmitted,
    BotWithdrawn,
    Comeback,
    Noticed,
    RoundFinished,
    RoundStarted,
    RoundVoid,
    TournamentEnded,
    TournamentEvent,
    TournamentOpened,
    VerdictAdvanced,
)

if TYPE_CHECKING:
    from arena.server.server_events import ServerEvent

AnyEvent: TypeAlias = "ServerEvent | TournamentEvent"
# The lines about an event. What is shown of a tournament is put together of these; each knows some of the events.
Wording = Callable[[AnyEvent], Iterable[str]]

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


def opening(event: AnyEvent) -> Iterator[str]:
    """A line about the rounds that are in the journal already. If there are none, one about the hash with which the
    organiser can prove later what was fixed now; none if there is no such hash."""
    match event:
        case TournamentOpened(finished=0):
            if event.opening_hash:
                yield _publish_text(event.opening_hash)
        case TournamentOpened():
            left = "nothing is left to play" if event.finished == event.rounds else "resuming"
            are = "is" if event.finished == 1 else "are"
            yield f"{event.finished} of {event.rounds} rounds {are} in the journal already: {left}."


def _publish_text(opening_hash: str) -> str:
    what = "the hash of the journal's opening line, which fixes bots, rounds, rules, limits and deals"
    return f"Publish this now: {what}, is {opening_hash}"


def duration_text(seconds: float) -> str:
    """About how long something takes, in words: 40 s, 12 min, 3 h 20 min, 5 days."""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    if minutes < 100:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{round(minutes / 60 / 24)} days"


def pairing(bots: tuple[str, str]) -> str:
    return f"{bots[0]} vs {bots[1]}"


def score_text(line: AnyRound) -> str:
    winner = line.result.winner
    if winner is None:
        return "0-0" if line.fault else "1/2-1/2"
    return "1-0" if winner == 0 else "0-1"


def ending_text(line: AnyRound) -> str:
    reason = _REASONS.get(line.result.ending, line.result.ending)
    if line.fault and line.result.winner is None:
        return "neither bot started"
    words = f"{line.bots[line.fault.seat]} {reason}" if line.fault else reason
    return f"{words}; {line.assisted.words(line.bots[line.assisted.seat])}" if line.assisted else words


def fault_lines(line: AnyRound) -> list[str]:
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


def fault_news(line: AnyRound) -> list[str]:
    """What went wrong in a round, in lines that also say in which."""
    if line.fault is None or is_forfeit(line):
        return []
    return [f"Round {line.id} ({pairing(line.bots)}): {ending_text(line)}: {text}" for text in fault_lines(line)]


def faults(event: AnyEvent) -> list[str]:
    """Of a round that is finished, only what went wrong."""
    return fault_news(event.line) if isinstance(event, RoundFinished) else []


def news(event: AnyEvent) -> Iterator[str]:
    """A line about whatever happens besides rounds that are played and their results."""
    match event:
        case TournamentOpened() | RoundStarted() | RoundFinished() | VerdictAdvanced() | TournamentEnded():
            pass
        case BotIdentified(changes=()):
            pass  # no news: it is the first of its name
        case RoundVoid(VoidLine(deal_exposed=True)):
            pass  # a notice counts them
        case _:
            yield news_text(event)


def news_text(event: "RoundVoid | BotIdentified | BotWithdrawn | BotReadmitted | Noticed | ServerEvent") -> str:
    match event:
        case RoundVoid():
            return _void_text(event.line)
        case BotIdentified():
            text = f"{event.line.name} has changed: {'; '.join(event.changes)}. From now on it is another version."
            return printable(text)
        case BotWithdrawn():
            return _withdrawal_text(event)
        case BotReadmitted():
            return f"{event.bot} has changed and plays again; the rounds that it forfeited stay lost."
        case Noticed():
            return printable(event.text)
        case _:
            from arena.cli.server_wording import server_text  # needed only by a server

            return server_text(event)


_LATER: Final = (
    "It forfeits its matches under way now, and the others when all else is played. To have it play those, stop the "
    "arena before, repair the program and resume"
)
_COMEBACKS: Final = {
    Comeback.ACCEPTED: f". {_LATER} with --changed continue.",
    Comeback.REPAIRED: f". {_LATER}.",
    Comeback.TOO_LATE: " and forfeits its remaining rounds now: they are of matches under way, or nothing else is left "
    "to play.",
    Comeback.NONE: "; its remaining rounds are forfeited. It plays again in another tournament: nothing shows here "
    "whether it was repaired.",
}


def _withdrawal_text(event: BotWithdrawn) -> str:
    withdrawn = f"{event.bot} is {'still ' if event.still else ''}withdrawn after {event.faults} faults in a row"
    return f"{withdrawn}{_COMEBACKS[event.comeback]}"


def _void_text(line: VoidLine) -> str:
    reason = printable_lines(line.reason)
    return f"Void round {line.id} ({pairing(line.bots)}), will be played again: {reason}"

"""What the person is told about moves and results, in words. Pure."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from arena.human.view import DecisionView
from arena.replay.board import WIDTH
from arena.support.text import printable
from protocol.messages import Clock, MoveEvent, Result, RoundEnd, Side

_RESULTS: Final[dict[Result, str]] = {"win": "You win", "loss": "You lose", "draw": "A draw in"}


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    return textwrap.wrap(text, max(8, min(width, WIDTH)), subsequent_indent="    ")


def time_left(clock: Clock, seconds: float) -> str:
    limits = [ms / 1000 for ms in (clock.move_ms, clock.bank_ms) if ms is not None]
    return f"{max(0.0, min(limits) - seconds):.0f} s left  " if limits else ""


def news_of(view: DecisionView, events: Sequence[MoveEvent], them: str, *, decided: bool) -> list[str]:
    """The moves since the person's last decision, which is the first of them if `decided`. Those of one player that
    follow each other are in one text; a claim of the opponent has its reason."""
    reasons = view.why_claimed(events)
    groups: list[tuple[Side, list[str]]] = []
    for place, event in enumerate(events):
        if event.by == "you" and (event.move.startswith("draw ") or (decided and place == 0)):
            continue
        if not groups or groups[-1][0] != event.by:
            groups.append((event.by, []))
        why = f" ({reasons[place]})" if place in reasons else ""
        groups[-1][1].append(printable(event.move) + why)
    names = {"you": "The only legal move for you", "opponent": them}
    return [f"{names[by]}: {', '.join(moves)}" for by, moves in groups]


def result_of_round(end: RoundEnd, them: str) -> str:
    """Who won the round, and why."""
    why = "".join(f": {reason}" for reason in _reason(end, them))
    return f"{_RESULTS[end.result]} the round{why}. Points {end.points.yours} - {end.points.theirs}."


def result_of_match(result: Result, points: tuple[int, int]) -> str:
    return f"{_RESULTS[result]} the match, points {points[0]} - {points[1]}."


def _reason(end: RoundEnd, them: str) -> Iterator[str]:
    winner: Side = "you" if end.result == "win" else "opponent"
    held = [number for number, owner in enumerate(end.stones, 1) if owner == winner]
    holds = "you hold" if winner == "you" else f"{them} holds"
    match end.ending:
        case "five-stones":
            yield f"{holds} five stones, {_numbers(held)}"
        case "three-adjacent":
            yield f"{holds} three adjacent stones, {_numbers(_adjacent(held))}"
        case "blocked" if end.result == "draw":
            yield "neither could do anything more, and both hold as many stones"
        case "blocked":
            yield f"neither could do anything more, and {holds} more stones, {_numbers(held)}"
        case fault if end.result == "draw":
            yield printable(fault)
        case fault:
            yield f"{them} failed ({printable(fault)})" if winner == "you" else f"you failed ({printable(fault)})"


def _adjacent(stones: Sequence[int]) -> list[int]:
    """Those stones that are part of three in a row."""
    middles = [b for (a, b), (_, c) in pairwise(pairwise(stones)) if a + 2 == b + 1 == c]
    return [stone for stone in stones if any(abs(stone - middle) < 2 for middle in middles)]


def _numbers(stones: Sequence[int]) -> str:
    return " ".join(map(str, stones))

"""Draw a step of a round as text, at most 80 columns wide: the board of the engine, with what happened. Pure.

A star marks the cards that the last step moved.
"""

import re
import textwrap
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len

from arena.replay.movements import places_of
from arena.replay.positions import Replay, ReplayStep
from arena.support.text import cropped, padded, printable
from engine import drawing
from engine.cards import SEATS
from engine.drawing import short

WIDTH: Final = 80
_NAME: Final = 12  # columns for a bot's name
_NOTE_LINES: Final = 3
Bots = tuple[str, str]  # the names by seat
_COLOUR_CODES: Final = {"r": "31", "o": "33", "y": "93", "g": "32", "b": "94", "p": "35"}
_CARD: Final = re.compile(r"(?<![\w-])([roygbp])([1-9])(\*?)(?![\w*-])")


def board(bots: Bots, step: ReplayStep, *, steady: bool = False) -> list[str]:
    """The position as lines. `steady` keeps empty rows, so that nothing jumps from one step to the next."""
    position, moved = step.position, _moved(step)
    first, second = (padded(printable(name), _NAME) for name in bots)
    claimed = step.claim.stone if step.claim else None
    rows = drawing.board(position, (first, second), moved, claimed, steady)
    lines = drawing.facts(position, (first.rstrip(), second.rstrip()), moved)
    return [cropped(row, WIDTH) for row in rows] + [row for line in lines for row in _wrapped(line, "    ")]


def title(replay: Replay, step: ReplayStep) -> str:
    left = f"Round {printable(replay.id)}  {printable(replay.rules)}  {_versus(replay)}"
    right = f"position {step.number} of {replay.steps[-1].number}, turn {step.turn}"
    space = WIDTH - len(right) - 2
    return f"{padded(left, space)}  {right}"


def happened(replay: Replay, step: ReplayStep) -> list[str]:
    """The move that led to the position, and the result if the round is over."""
    lines = [*_what_happened(replay, step)]
    if step is replay.steps[-1]:
        lines += _wrapped(result_text(replay), "")
        lines += _wrapped(_versions(replay), "")
    return lines


def _versions(replay: Replay) -> str:
    """Which versions of the bots played, if the journal knows it."""
    known = [f"{_name(replay, seat)} {printable(replay.versions[seat])}" for seat in SEATS if replay.versions[seat]]
    return f"Versions: {', '.join(known)}." if known else ""


def result_text(replay: Replay) -> str:
    points = f"{replay.points[0]} - {replay.points[1]}"
    remark = f"; {printable(replay.remark)}" if replay.remark else ""
    if replay.winner is None:
        return f"The round is a draw ({replay.ending}), points {points}{remark}."
    return f"{_name(replay, replay.winner)} wins ({replay.ending}), points {points}{remark}."


def text(replay: Replay, step: ReplayStep) -> str:
    """Everything about one step, for a pipe."""
    return "\n".join([title(replay, step), *happened(replay, step), "", *board(replay.bots, step)]) + "\n"


def coloured(line: str) -> str:
    """The line with its cards in their colours; cards that just moved are inverted, so that they stand out."""
    return _CARD.sub(
        lambda found: f"\x1b[{'7;' if found[3] else ''}{_COLOUR_CODES[found[1]]}m{found[0]}\x1b[0m",
        line,
    )


def _what_happened(replay: Replay, step: ReplayStep) -> Iterator[str]:
    if step.fault:
        whose = "neither bot" if step.fault.seat is None else _name(replay, step.fault.seat)
        detail = f": {printable(step.fault.detail)}" if step.fault.detail else ""
        yield from _wrapped(f"{step.number}. {whose}: {step.fault.ending}{detail}", "    ")
        return
    if step.seat is None or step.move is None:
        yield f"0. The deal; {_name(replay, replay.first)} begins."
        return
    how = "the only legal move" if step.by_referee else f"{step.ms} ms"
    drawn = f", draws {' '.join(short(each.card) for each in step.drawn)}" if step.drawn else ""
    yield from _wrapped(f"{step.number}. {_name(replay, step.seat)}: {step.move}{drawn}  ({how})", "    ")
    if step.reason:
        yield from _wrapped(f"    {printable(step.reason)}", "    ")
    if step.note is not None:
        note = _wrapped(f"    note: {printable(step.note)}", "      ")
        yield from note[:_NOTE_LINES]
        if len(note) > _NOTE_LINES:
            yield "      …"


def _wrapped(line: str, indent: str) -> list[str]:
    columns = WIDTH if cell_len(line) == len(line) else WIDTH // 2  # characters may be two columns wide
    return [cropped(each, WIDTH) for each in textwrap.wrap(line, columns, subsequent_indent=indent)]


def _name(replay: Replay, seat: int) -> str:
    return cropped(printable(replay.bots[seat]), 2 * _NAME)


def _versus(replay: Replay) -> str:
    return " - ".join(cropped(printable(name), _NAME) for name in replay.bots)


def _moved(step: ReplayStep) -> dict[str, set[int]]:
    """Where the cards lie now that the step moved: place -> indices."""
    places = places_of(step.position)
    found: dict[str, set[int]] = {}
    for each in step.movements:
        cards = places[each.target]
        if each.after in cards and each.target not in ("deck", "tactics"):
            last = len(cards) - 1 - cards[::-1].index(each.after)
            found.setdefault(each.target, set()).add(last)
    return found

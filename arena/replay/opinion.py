"""An evaluation as text: the curve of a round, and what the evaluator thinks of a decision. Pure.

Every text says whose opinion it is.
"""

import textwrap
from collections.abc import Sequence
from typing import Any, Final

from arena.replay.analysis import Analysis, JudgedDecision
from arena.replay.board import WIDTH
from arena.replay.positions import Replay
from arena.support.text import cropped, printable

_BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_FULL: Final = len(_BLOCKS) - 1
_HEIGHT: Final = 6  # rows of the large curve
_LABEL: Final = 7  # columns before a curve: "100 %  "
_NAME: Final = 24


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def lost(decision: JudgedDecision) -> str:
    """What the decision lost: the difference between the two percentages, as they are shown beside it."""
    return f"{round(100 * decision.best_expected) - round(100 * decision.expected)} %"


def wrapped(text: str, indent: str = "") -> list[str]:
    """The text in lines of the width of a board; no line begins with a per cent sign."""
    lines = textwrap.wrap(text.replace(" %", "\0%"), WIDTH, subsequent_indent=indent)
    return [line.replace("\0%", " %") for line in lines]


def standing_words(analysis: Analysis, replay: Replay, number: int) -> str:
    """What can be expected in the position of this number."""
    seat = replay.view or 0
    expected = percent(analysis.curve(replay.view)[number])
    return f"{_sentence_start(analysis)} expects {expected} for {_bot(replay, seat)}{_with_what(replay)}."


def verdict(analysis: Analysis, decision: JudgedDecision) -> str:
    """What the evaluator thinks of a decision, from the view of the bot that made it."""
    who = _sentence_start(analysis)
    if decision.best == decision.move:
        return f"{who} would have chosen the same."
    if percent(decision.best_expected) == percent(decision.expected):
        return f"{who} would have chosen {decision.best}, worth the same."
    worth = f"{percent(decision.best_expected)} instead of {percent(decision.expected)}: {lost(decision)} lost"
    return f"{who} would have chosen {decision.best}, {worth}."


def words(analysis: Analysis, replay: Replay, number: int) -> list[str]:
    """What the evaluator thinks of the decision that led to the position of this number, and of the position."""
    decision = analysis.at(number)
    sentences = [] if decision is None else [verdict(analysis, decision)]
    return [line for each in (*sentences, standing_words(analysis, replay, number)) for line in wrapped(each)]


def curve_text(analysis: Analysis, replay: Replay) -> str:
    """The curve of the round and the decisions that lost most, for a pipe."""
    title = f"Round {printable(replay.id)}  {printable(replay.rules)}  {' - '.join(_bot(replay, s) for s in (0, 1))}"
    return "\n".join([cropped(title, WIDTH), "", *curve_page(analysis, replay)]) + "\n"


def as_facts(analysis: Analysis, replay: Replay) -> list[dict[str, Any]]:
    """The evaluation of each position for JSON: what each view expects, as far as it may be seen, and the decision that
    led to the position."""
    curves = {"both": analysis.both, "seat0": analysis.own[0], "seat1": analysis.own[1]}
    found = []
    for step in replay.steps:
        expected = {view: round(curve[step.number], 4) for view, curve in curves.items() if curve is not None}
        decision = analysis.at(step.number)
        judged = None if decision is None else {
            "expected": round(decision.expected, 4),
            "best": decision.best,
            "best_expected": round(decision.best_expected, 4),
        }  # fmt: skip
        found.append({"evaluation": {"by": analysis.evaluator, "expected": expected, "decision": judged}})
    return found


def curve_page(analysis: Analysis, replay: Replay, at: int | None = None) -> list[str]:
    """The same as lines; `at` is the position that is being shown."""
    words = (
        f"What {_bot(replay, replay.view or 0)} could expect{_with_what(replay)}, in the opinion of "
        f"{analysis.evaluator}. The numbers mark the decisions that lost most."
    )
    marked = analysis.worst()
    lines = [*wrapped(words), ""]
    lines += large_curve(analysis.curve(replay.view), [each.number for each in marked], WIDTH - _LABEL - 1, at)
    lines.append("")
    if not marked:
        lines.append("No decision lost much.")
    for place, each in enumerate(marked, 1):
        bot = _bot(replay, each.seat)
        text = (
            f"{place}. position {each.number}, {bot}: {each.move} ({percent(each.expected)}) instead of "
            f"{each.best} ({percent(each.best_expected)}): {lost(each)} lost"
        )
        lines += wrapped(text, "   ")
    return lines


def large_curve(curve: Sequence[float], marks: Sequence[int], width: int, at: int | None = None) -> list[str]:
    columns = _columns(curve, width)
    rows = []
    for row in reversed(range(_HEIGHT)):
        label = {_HEIGHT - 1: "100 %", _HEIGHT // 2: " 50 %", 0: "  0 %"}.get(row, "")
        blocks = (round(value * _HEIGHT * _FULL) - row * _FULL for value in columns)
        rows.append(f"{label:<{_LABEL}}" + "".join(_BLOCKS[min(_FULL, max(0, block))] for block in blocks))
    rows.append(f"{'':<{_LABEL}}" + _mark_row(len(curve), marks, width, at))
    return [row.rstrip() for row in rows]


def small_curve(curve: Sequence[float], marks: Sequence[int], width: int, at: int) -> list[str]:
    """Two rows: the curve with the value of the position, and below it the marks of the decisions that lost most."""
    columns = "".join(_BLOCKS[max(1, round(value * _FULL))] for value in _columns(curve, width))
    return [f"{columns} {percent(curve[at]):>5}", _mark_row(len(curve), marks, width, at, "!").rstrip()]


def _columns(curve: Sequence[float], width: int) -> list[float]:
    """A value for each column; a round with fewer positions than columns has wider ones."""
    return [curve[column * len(curve) // width] for column in range(width)]


def _mark_row(length: int, marks: Sequence[int], width: int, at: int | None, sign: str = "") -> str:
    row = [" "] * width
    for place, number in enumerate(marks, 1):
        row[_column(number, length, width)] = sign or str(place)
    if at is not None:
        row[_column(at, length, width)] = "^"
    return "".join(row)


def _column(number: int, length: int, width: int) -> int:
    """The first column of a position."""
    return min(width - 1, -(-number * width // length))


def _sentence_start(analysis: Analysis) -> str:
    return analysis.evaluator[:1].upper() + analysis.evaluator[1:]


def _with_what(replay: Replay) -> str:
    return " with both hands known" if replay.view is None else " from its own view"


def _bot(replay: Replay, seat: int) -> str:
    return cropped(printable(replay.bots[seat]), _NAME)

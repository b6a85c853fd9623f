"""The viewer: a page that shows one round, or the rounds of a report. No I/O, except that it reads the assets."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import msgspec

from arena.evaluation.counting import bundled_evaluator
from arena.journal.lines import RoundLine
from arena.pages.markup import Markup
from arena.pages.page import asset, page
from arena.replay.analysis import Analysis, analyse
from arena.replay.build import replay_of
from arena.replay.movements import Movement
from arena.replay.positions import Replay, ReplayStep
from engine.cards import card_texts
from engine.errors import EngineError

_OF_THE_ROUND = ("id", "rules", "bots", "first", "started", "winner", "ending", "points", "view")


def round_data(replay: Replay, analysis: Analysis | None = None) -> dict[str, Any]:
    """What the viewer needs to show a round: the first position and what each step changes, and what an evaluator
    thinks of it. If `replay` and `analysis` are one seat's view, the data contains nothing that the seat could not
    see."""
    data = {key: getattr(replay, key) for key in _OF_THE_ROUND}
    data |= {"remark": replay.remark} if replay.remark else {}
    data |= {"start": _start(replay), "steps": [_step(step) for step in replay.steps[1:]]}
    return data if analysis is None else data | {"evaluation": _evaluation(analysis)}


def round_evaluation(line: RoundLine) -> msgspec.Raw:
    """The evaluation of a recorded round as JSON, for a worker; NOT_EVALUATED if it cannot be replayed."""
    try:
        replay = replay_of(line)
    except (EngineError, ValueError):  # the process that writes the round reports it
        return NOT_EVALUATED
    return msgspec.Raw(msgspec.json.encode(_evaluation(analyse(replay, bundled_evaluator()))))


NOT_EVALUATED: Final = msgspec.Raw(b"null")


def _evaluation(analysis: Analysis) -> dict[str, Any]:
    """The curves in per mille, and the decisions as [position, expected, what was best, expected of that]."""
    return {
        "by": analysis.evaluator,
        "both": _per_mille(analysis.both),
        "own": [_per_mille(curve) for curve in analysis.own],
        "decisions": [
            [each.number, round(1000 * each.expected), each.best, round(1000 * each.best_expected)]
            for each in analysis.decisions
        ],
        "marked": [each.number for each in analysis.worst()],
    }


def _per_mille(curve: Sequence[float] | None) -> list[int] | None:
    return None if curve is None else [round(1000 * value) for value in curve]


def _start(replay: Replay) -> dict[str, Any]:
    dealt = replay.steps[0].position
    return {
        "hands": [card_texts(hand) for hand in dealt.hands],
        "decks": [len(dealt.clan_deck), len(dealt.tactic_deck)],
        "phase": dealt.phase.value,
        "to_move": dealt.decides,
    }


def _step(step: ReplayStep) -> dict[str, Any]:
    """One step, without empty fields: most steps have neither note nor claim nor fault. A movement is [before, source,
    index, after, target, index], a change is [field, before, after]."""
    found = {
        "turn": step.turn,
        "seat": step.seat,
        "move": step.move,
        "ms": step.ms,
        "note": step.note,
        "reason": step.reason,
        "completion": step.claim.completion if step.claim else None,
        "fault": attrs.asdict(step.fault) if step.fault else None,
        "movements": [_movement(each) for each in step.movements],
        "changes": [[each.field, each.before, each.after] for each in step.changes],
    }
    return {key: value for key, value in found.items() if value not in (None, [], ())}


def _movement(each: Movement) -> list[Any]:
    return [each.before, each.source, each.source_index, each.after, each.target, each.target_index]


def viewer_page(shown: Mapping[str, Any] | None, chunks: Sequence[Sequence[int]] = ()) -> str:
    """The viewer as HTML: for one round (`shown`), or for a report, with the first and last round number in each of its
    files (`chunks`)."""
    title = "A round of Schotten Totten"
    if shown is not None:
        title = f"{shown['bots'][0]} – {shown['bots'][1]}, round {shown['id']}"
    data = {"chunks": chunks} if shown is None else {"round": shown}
    styles = ("base.css", "cards.css", "viewer.css")
    scripts = ("theme.js", "cards.js", "round.js", "board.js", "panels.js", "chart.js", "viewer.js")
    return page(title, "viewer", Markup(asset("viewer.html")), styles, scripts, data, loads_files=shown is None)

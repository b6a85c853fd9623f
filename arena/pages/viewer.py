"""The viewer: a page that shows one round, or the rounds of a report. No I/O, except that it reads the assets."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from arena.pages.markup import Markup
from arena.pages.page import asset, page
from arena.replay.movements import Movement
from arena.replay.positions import Replay, Step
from engine.cards import card_texts

_OF_THE_ROUND = ("id", "rules", "bots", "first", "started", "winner", "ending", "points", "view")


def round_data(replay: Replay, number: int | None = None) -> dict[str, Any]:
    """What the viewer needs to show a round: the first position and what each step changes. `number` is the number of
    the round in its report. If `replay` is one seat's view, the data contains nothing that the seat could not see."""
    data = {key: getattr(replay, key) for key in _OF_THE_ROUND}
    data |= {"start": _start(replay), "steps": [_step(step) for step in replay.steps[1:]]}
    return data if number is None else data | {"number": number}


def _start(replay: Replay) -> dict[str, Any]:
    dealt = replay.steps[0].position
    return {
        "hands": [card_texts(hand) for hand in dealt.hands],
        "decks": [len(dealt.clan_deck), len(dealt.tactic_deck)],
        "phase": dealt.phase.value,
        "to_move": dealt.decides,
    }


def _step(step: Step) -> dict[str, Any]:
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
    scripts = ("theme.js", "cards.js", "round.js", "board.js", "panels.js", "viewer.js")
    return page(title, "viewer", Markup(asset("viewer.html")), styles, scripts, data, loads_files=shown is None)

"""The worst decisions of a bot as a list, for people and for programs. Pure."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.replay.mistakes import Mistake, Mistakes
from arena.replay.opinion import lost, percent, wrapped
from arena.support.text import counted, printable


def mistakes_text(mistakes: Mistakes, name: str, journal: Path, rounds: int, pages: Mapping[str, str]) -> str:
    """The list, the worst first, each with the command that shows it, and the page if `pages` has one for its round.
    `rounds` is how many were evaluated."""
    decided = f"{counted(mistakes.decisions, 'decision')} in {counted(rounds, 'round')}"
    bot, opinion = printable(name), f"in the opinion of {mistakes.evaluator}"
    if not mistakes.found:
        return "\n".join(wrapped(f"{bot} made {decided}; none of them lost anything, {opinion}."))
    head = f"What {bot} lost most by, {opinion}; it made {decided}."
    lines = wrapped(head)
    for place, each in enumerate(mistakes.found, 1):
        lines += ["", *_item(place, each, journal, pages)]
    if not all(each.round.id in pages for each in mistakes.found):
        hint = f"`arena report {_quoted(journal)}` writes pages; this list then names the page of each decision too."
        lines += ["", hint]
    return "\n".join(lines)


def _item(place: int, mistake: Mistake, journal: Path, pages: Mapping[str, str]) -> list[str]:
    decision, played = mistake.decision, mistake.round
    text = (
        f"{place:2}. round {printable(played.address)}, position {decision.number}: {decision.move} "
        f"({percent(decision.expected)}) instead of {decision.best} ({percent(decision.best_expected)}): "
        f"{lost(decision)} lost"
    )
    lines = wrapped(text, "    ")
    lines.append(f"    {_command(mistake, journal)}")
    if page := pages.get(played.id):
        lines.append(f"    {page}&at={decision.number}&view={decision.seat + 1}")
    return lines


def _command(mistake: Mistake, journal: Path) -> str:
    at = f"--at {mistake.decision.number} --evaluate"
    return f"arena replay {_quoted(journal)} {shlex.quote(printable(mistake.round.address))} {at}"


def _quoted(journal: Path) -> str:
    return shlex.quote(printable(str(journal)))


def mistakes_json(mistakes: Mistakes, journal: Path) -> str:
    """The list as JSON, one line for each decision; `round` and `position` are the words of the command line."""
    return "[\n" + ",\n".join(json.dumps(_facts(each, mistakes.evaluator, journal)) for each in mistakes.found) + "\n]"


def _facts(mistake: Mistake, evaluator: str, journal: Path) -> dict[str, Any]:
    decision = mistake.decision
    return {
        "by": evaluator,
        "round": mistake.round.address,
        "position": decision.number,
        "seat": decision.seat,
        "move": decision.move,
        "expected": round(decision.expected, 4),
        "best": decision.best,
        "best_expected": round(decision.best_expected, 4),
        "loss": round(decision.loss, 4),
        "command": _command(mistake, journal),
    }

"""The decisions of a bot that differ from the recorded ones, as text and as JSON. Pure."""

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
from tabulate import tabulate

from arena.devtools.regress import RepeatedDecision
from arena.support.text import counted, cropped, printable

_MOST_ROWS: Final = 100
_MOVE_WIDTH: Final = 40


@attrs.define
class Findings:
    """The decisions of a bot; `again` are those of a second run with --twice."""

    journal: str
    bot: str
    recorded_bot: str
    decisions: list[RepeatedDecision] = attrs.field(factory=list)
    again: list[RepeatedDecision] | None = None
    recorded_versions: list[str] = attrs.field(factory=list)  # as far as the journal knows them

    @property
    def rounds(self) -> int:
        return len({each.round for each in self.decisions})

    @property
    def different(self) -> list[RepeatedDecision]:
        return [each for each in self.decisions if each.differs]

    @property
    def faults(self) -> list[RepeatedDecision]:
        return [each for each in self.decisions if each.fault is not None]

    def second_answers(self) -> dict[tuple[str, int], RepeatedDecision]:
        return {(each.round, each.position): each for each in self.again or ()}

    @property
    def unsteady(self) -> int | None:
        """The number of decisions in which the bot differs from itself; None if it was asked only once."""
        if self.again is None:
            return None
        second = self.second_answers()
        both = ((each, second.get((each.round, each.position))) for each in self.decisions)
        return sum(other is not None and _answer(each) != _answer(other) for each, other in both)


def _answer(decision: RepeatedDecision) -> str:
    """The move, or the kind of the fault without its details, which may contain times."""
    if decision.fault is not None:
        return decision.fault.ending.value
    return decision.answer.move or ""


def _recorded(decision: RepeatedDecision) -> str:
    """The recorded move, or the kind of the fault with which the recorded bot failed."""
    if decision.recorded_fault is not None:
        return decision.recorded_fault.value
    return decision.answer.recorded or ""


def text(findings: Findings) -> str:
    return "\n".join(_lines(findings)) + "\n"


def _lines(findings: Findings) -> Iterator[str]:
    different, faults = findings.different, findings.faults
    if different:
        yield _table(findings, different[:_MOST_ROWS])
        if len(different) > _MOST_ROWS:
            yield f"… and {len(different) - _MOST_ROWS} more; --json has all of them"
        yield ""
    for fault in faults[:_MOST_ROWS]:
        again = " (the recorded fault)" if fault.came_again else ""
        yield f"{printable(fault.round)}, position {fault.position}{again}: {printable(str(fault.fault))}"
    if faults:
        yield ""
    yield _total(findings)
    if recorded := [each for each in findings.decisions if each.recorded_fault is not None]:
        yield f"{sum(each.came_again for each in recorded)} of {counted(len(recorded), 'recorded fault')} came again."
    if findings.unsteady is not None:
        yield (
            f"Asked twice, {findings.bot} differs from itself in {findings.unsteady} of {len(findings.decisions)}"
            + ("." if not findings.unsteady else ": it draws lots without the seed in round_start, or depends on time.")
        )
    elif different:
        yield "A bot that draws lots by itself differs without a change; --twice says how often it differs from itself."
    if different:
        first = different[0]
        command = ["arena", "replay", findings.journal, first.round, "--at", str(first.position)]
        yield f"Look at the first:  {printable(shlex.join(command))}"


def _total(findings: Findings) -> str:
    count, faults = len(findings.different), sum(each.fault is not None for each in findings.different)
    decisions, rounds = counted(len(findings.decisions), "decision"), counted(findings.rounds, "round")
    versions = f" ({printable(', '.join(findings.recorded_versions))})" if findings.recorded_versions else ""
    of = f"{decisions} of {printable(findings.recorded_bot)}{versions} in {rounds}"
    if not count:
        return f"{findings.bot} decides as recorded: none of {of} differs."
    return f"{count} of {of} differ" + (f", {faults} by a fault." if faults else ".")


def _table(findings: Findings, shown: Sequence[RepeatedDecision]) -> str:
    second = findings.second_answers()
    headers = ["Round", "Position", "Phase", "Recorded", "Now"] + (["Again"] if findings.again is not None else [])
    rows = []
    for each in shown:
        row = [each.round, str(each.position), each.answer.phase, _recorded(each), _answer(each)]
        if findings.again is not None:
            other = second.get((each.round, each.position))
            row.append("not asked" if other is None else _answer(other))
        rows.append([cropped(printable(cell), _MOVE_WIDTH) for cell in row])
    aligned = ["left", "right", "left", "left", "left", "left"][: len(headers)]
    return tabulate(rows, headers, tablefmt="simple", colalign=aligned, disable_numparse=True)


def json_text(findings: Findings) -> str:
    second = findings.second_answers()
    differences = []
    for each in findings.different:
        plain: dict[str, object] = {"round": each.round} | attrs.asdict(each.answer, recurse=False)
        plain["fault"] = None if each.fault is None else str(each.fault)
        plain["recorded_fault"] = None if each.recorded_fault is None else each.recorded_fault.value
        if findings.again is not None:
            other = second.get((each.round, each.position))
            plain["again"] = None if other is None else other.answer.move
        differences.append(plain)
    return json.dumps(
        {
            "journal": findings.journal,
            "bot": findings.bot,
            "as": findings.recorded_bot,
            "versions": findings.recorded_versions,
            "rounds": findings.rounds,
            "decisions": len(findings.decisions),
            "different": len(differences),
            "faults": len(findings.faults),
            "recorded_faults": sum(each.recorded_fault is not None for each in findings.decisions),
            "came_again": sum(each.came_again for each in findings.decisions),
            "unsteady": findings.unsteady,
            "differences": differences,
        },
        indent=1,
    )

"""The cycles of a server that plays for ever: one that was removed, changed or cut is found out, and journals that were
split or put together in any honest way are in order."""

from collections.abc import Iterable
from pathlib import Path

import attrs
import msgspec

from arena.journal.file import line_hash
from arena.journal.verify import VerifyReport, verify_journals
from tests.helpers import genuine
from tests.helpers.commands import arena
from tests.helpers.tournaments import configured, steady

Cycle = list[bytes]  # the lines of one tournament
CONFIG = attrs.evolve(configured(steady("a"), steady("b"), journal=None, rounds="2"), seed="")


def changed_opening(cycle: Cycle, **fields: object) -> Cycle:
    opening = msgspec.json.decode(cycle[0]) | fields
    return [msgspec.json.encode(opening) + b"\n", *cycle[1:]]


def cycles(count: int, event: str = "") -> list[Cycle]:
    """The journal of a server."""
    found: list[Cycle] = []
    for number in range(1, count + 1):
        cycle = list(genuine.lines(attrs.evolve(CONFIG, first_cycle=number, event=event)))
        found.append(changed_opening(cycle, follows=line_hash(found[-1][0])) if found else cycle)
    return found


def verified(folder: Path, *files: Iterable[Cycle]) -> VerifyReport:
    paths = [folder / f"{number}.jsonl" for number in range(len(files))]
    for path, content in zip(paths, files, strict=True):
        path.write_bytes(b"".join(line for cycle in content for line in cycle))
    return verify_journals(paths)


def texts(report: VerifyReport) -> list[str]:
    return [problem.text for problem in report.problems]


def test_a_removed_cycle_is_missed_with_its_place(tmp_path: Path) -> None:
    first, second, third, fourth = cycles(4)
    assert (texts(report := verified(tmp_path, [first, second, third, fourth])), report.remarks) == ([], [])
    assert texts(verified(tmp_path, [first, third, fourth])) == ["cycle 2 is missing between lines 1 and 5"]
    assert texts(verified(tmp_path, [first, fourth])) == ["cycles 2-3 are missing between lines 1 and 5"]
    result = arena("verify", str(tmp_path / "0.jsonl"))
    assert result.exit_code == 1
    assert f"{tmp_path / '0.jsonl'}:5: cycles 2-3 are missing between lines 1 and 5\n" in result.output


def test_journals_of_several_servers_may_be_put_together(tmp_path: Path) -> None:
    one, two = cycles(3), cycles(2, "other")
    for files in ([[*one, *two]], [[*two, *one]], [two, one]):
        assert (texts(report := verified(tmp_path, *files)), report.incomplete) == ([], 0)
    assert texts(verified(tmp_path, [*two, one[0], one[2]])) == ["cycle 2 is missing between lines 9 and 13"]


def test_a_journal_may_be_split_and_its_parts_come_in_any_order(tmp_path: Path) -> None:
    first, second, third = cycles(3)
    for parts in ([[first], [second, third]], [[second, third], [first]]):
        assert (texts(report := verified(tmp_path, *parts)), report.remarks) == ([], [])


def test_a_file_that_begins_with_a_later_cycle_is_not_complete_and_that_is_no_problem(tmp_path: Path) -> None:
    _, *later = cycles(3)
    report = verified(tmp_path, later)
    assert (texts(report), report.incomplete) == ([], 1)
    remark = "not complete: it begins with cycle 2, and those before are not in these files"
    assert report.remarks == [f"{tmp_path / '0.jsonl'}:1: {remark}"]


def test_the_plan_of_a_cycle_cannot_be_changed_once_another_follows(tmp_path: Path) -> None:
    first, second, third = cycles(3)
    edited = changed_opening(second, started="2026-01-31T13:00:00Z")
    words = "cycle 3 does not follow cycle 2: an opening line was changed or removed between lines 5 and 9"
    assert texts(verified(tmp_path, [first, edited, third])) == [words]


def test_a_removed_cycle_is_missed_even_if_the_next_one_is_said_to_follow_another(tmp_path: Path) -> None:
    first, _, third = cycles(3)
    forged = changed_opening(third, follows=line_hash(first[0]))
    assert texts(verified(tmp_path, [first, forged])) == ["cycle 2 is missing between lines 1 and 5"]
    words = f"cycle 2 is missing between {tmp_path / '0.jsonl'}:1 and {tmp_path / '1.jsonl'}:1"
    assert texts(verified(tmp_path, [first], [forged])) == [words]


def test_a_cycle_that_another_one_follows_is_complete(tmp_path: Path) -> None:
    first, second = cycles(2)
    cut = [*first[:2]]  # without a round that was lost, and without the secret
    (problem,) = verified(tmp_path, [cut, second]).problems
    assert (problem.line, problem.text.partition(":")[0]) == (1, "not complete, although cycle 2 follows")
    report = verified(tmp_path, [first, second[:2]])
    assert (texts(report), report.incomplete) == ([], 1)

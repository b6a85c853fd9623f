"""A journal that reveals its secret is complete: a round that was removed from it is found out, whoever removed it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pytest

from arena.journal.lines import RoundLine
from arena.journal.round_check import late_answer
from arena.journal.verify import verify_journals
from arena.plan.config import Config
from arena.plan.time_control import TimeLimits
from arena.stats.standings import fold
from tests.helpers import genuine
from tests.helpers.commands import arena
from tests.helpers.raw_journals import Line, write
from tests.helpers.tournaments import configured, steady

BOTS = [steady(name) for name in "abc"]


def config_of(*bots: str, rounds: str = "4", **options: str) -> Config:
    return attrs.evolve(configured(*bots or BOTS, journal=None, rounds=rounds, **options), seed="")


@pytest.fixture(scope="module")
def recorded() -> bytes:
    """A tournament of three bots, with its secret."""
    return b"".join(genuine.lines(config_of()))


@pytest.fixture
def lines(recorded: bytes) -> list[Line]:
    return [msgspec.json.decode(line) for line in recorded.splitlines()]


def lost_by(name: str) -> Callable[[Line], bool]:
    def is_lost(line: Line) -> bool:
        winner: Any = line["result"]["winner"]
        return name in line["bots"] and winner is not None and line["bots"][winner] != name

    return is_lost


def without(lines: list[Line], removed: Callable[[Line], bool]) -> list[Line]:
    kept = [line for line in lines if line["type"] != "round" or not removed(line)]
    assert len(kept) < len(lines)
    return kept


@pytest.mark.parametrize("options", [{}, {"format": "gauntlet"}, {"mirror": "true"}, {"rules": "classic"}], ids=str)
def test_a_tournament_with_all_its_rounds_is_complete(options: dict[str, str], tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    journal.write_bytes(b"".join(genuine.lines(config_of(**options))))
    report = verify_journals([journal])
    assert (report.problems, report.remarks, report.incomplete) == ([], [], 0)


def test_lost_rounds_that_somebody_removed_are_missed_match_by_match(lines: list[Line], tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", without(lines, lost_by("a")))
    result = arena("verify", journal)
    assert result.exit_code == 1
    missing = [line for line in result.output.splitlines() if "missing, although" in line]
    assert missing
    for line in missing:
        assert line.startswith(f"{journal}:{len(journal.read_bytes().splitlines())}: ")  # the line with the secret
        assert " of match 1.1-" in line
    assert "all in order" not in result.output
    note = "Rounds that were played but are not in the journal, see `arena verify`: "
    assert note in arena("table", journal).output
    assert fold([journal])[0].missing_rounds == 0  # nothing is left to play


def test_each_missing_match_and_round_is_named(lines: list[Line], tmp_path: Path) -> None:
    gone = ("1.1-3.1", "1.1-3.2", "1.1-3.4", "1.2-3.3")
    journal = tmp_path / "cup.jsonl"
    write(journal, without(lines, lambda line: line["match"] == "1.1-2" or line["id"] in gone))
    assert sorted(problem.text.rpartition(": ")[2] for problem in verify_journals([journal]).problems) == [
        "all of match 1.1-2 (a vs b)",
        "round 3 of match 1.2-3 (b vs c)",
        "rounds 1-2, 4 of match 1.1-3 (a vs c)",
    ]


def test_a_journal_that_ends_before_its_secret_is_not_complete_and_that_is_no_problem(
    lines: list[Line], tmp_path: Path
) -> None:
    journal = write(tmp_path / "cup.jsonl", lines[:6])
    result = arena("verify", journal)
    assert result.exit_code == 0
    remark = "not complete: 5 of 12 rounds; the secret of the deals is not revealed yet: at the end of the tournament"
    assert f"{journal}: {remark} it will prove 5 deals" in result.output
    assert "5 rounds of 1 tournament, 0 void: all in order, but not complete" in result.output


def test_a_removed_secret_proves_nothing(lines: list[Line], tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", lines[:-1])
    result = arena("verify", journal)
    assert result.exit_code == 1
    assert "the tournament is over, but its secret was not revealed: 12 deals are not proved" in result.output


def test_of_several_tournaments_each_has_to_be_complete(lines: list[Line], tmp_path: Path) -> None:
    other = [msgspec.json.decode(line) for line in genuine.lines(config_of(*BOTS[:2], event="other"))]
    journal = write(tmp_path / "cup.jsonl", [*other, *lines])
    assert verify_journals([journal]).problems == []
    whole = len(other)
    write(journal, [*other[:1], *other[2:], *lines])
    (problem,) = verify_journals([journal]).problems
    assert (problem.line, problem.text.rpartition(": ")[2]) == (whole - 1, "round 1 of match 1.1-2 (a vs b)")


def test_the_hash_of_the_secret_is_printed_to_be_compared(lines: list[Line], tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", lines)
    assert f"has the hash {lines[0]['config']['seed_hash']}: compare it" in arena("verify", journal).output


def test_an_edited_plan_of_many_matches_does_not_fill_the_memory(tmp_path: Path) -> None:
    opening, *_, reveal = genuine.lines(config_of(*BOTS[:2], rounds="2"))
    line = msgspec.json.decode(opening)
    line["config"]["cycles"] = 3000
    journal = write(tmp_path / "cup.jsonl", [line, msgspec.json.decode(reveal)])
    problems = verify_journals([journal]).problems
    assert len(problems) == 1001
    assert problems[-1].text.endswith("rounds of 2000 more matches")


# Thinking times


def longest(line: Line) -> list[Any]:
    return max((move for move in line["moves"] if move[2] is not None), key=lambda move: move[2])


def test_a_time_beyond_the_limit_is_found_out(lines: list[Line], tmp_path: Path) -> None:
    first = lines[1]
    move = longest(first)
    limit = 60_000 + 50  # of an answer, and the margin
    for ms, problems in ((limit, 0), (limit + 1, 1)):
        move[2] = ms
        found = verify_journals([write(tmp_path / "cup.jsonl", lines)]).problems
        assert len(found) == problems
    number, name = first["moves"].index(move) + 1, first["bots"][move[0]]
    words = f"move {number}: took 60051 ms, but {name} had 60000 ms for an answer, and 50 ms more"
    assert found[0].text == f"round {first['id']}: {words}"


def test_times_that_together_exceed_the_bank_are_found_out(lines: list[Line]) -> None:
    line = msgspec.convert(lines[1], RoundLine)
    spent = [sum(ms or 0 for seat, _, ms in line.moves if seat == side) for side in (0, 1)]
    enough = [TimeLimits(move_ms=None, bank_ms=each, margin_ms=0) for each in spent]
    assert late_answer(line, (enough[0], enough[1])) is None
    short = TimeLimits(move_ms=None, bank_ms=spent[1] - 1, margin_ms=0)
    late = late_answer(line, (enough[0], short))
    assert late is not None
    assert " ms left in the bank, and 0 ms more" in late
    assert late_answer(line, (enough[0], TimeLimits(move_ms=None, bank_ms=spent[1] - 1, margin_ms=1))) is None

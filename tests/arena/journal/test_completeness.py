"""A journal that reveals its secret is complete: a round that was removed from it is found out, whoever removed it."""

import shlex
import subprocess
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


@pytest.mark.parametrize("options", [{}, {"format": "gauntlet"}, {"rules": "classic"}], ids=str)
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
    assert f"{journal}:1: {remark} it will prove 5 deals" in result.output
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


def test_the_hash_of_each_opening_line_is_that_of_standard_tools(recorded: bytes, tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    journal.write_bytes(recorded + recorded.replace(b'"event":""', b'"event":"other"', 1))
    second = len(recorded.splitlines()) + 1
    output = arena("verify", journal).output
    for number in (1, second):
        tools = ["sh", "-c", f"sed -n {number}p {shlex.quote(str(journal))} | sha256sum"]
        digest = subprocess.run(tools, capture_output=True, text=True, check=True).stdout.split()[0]
        assert f"{journal}:{number}: the opening line has the hash sha256:{digest}\n" in output
    assert "Compare each hash with the one published before play" in output


@pytest.mark.parametrize(
    "change",
    [{"cycles": 2}, {"rounds": 2}, {"rules": "tactics"}, {"max_faults": 3}, {"bots": "abd"}, {"event": "cup"}],
    ids=str,
)
def test_another_plan_has_another_hash(change: Line, lines: list[Line], tmp_path: Path) -> None:
    """Whoever edits the plan and removes what is not in it any more, cannot have the hash that was published."""
    before = hashes(write(tmp_path / "cup.jsonl", lines))
    lines[0]["config"] |= change
    assert hashes(write(tmp_path / "cup.jsonl", lines)) != before


def hashes(journal: Path) -> list[str]:
    return [found.text for found in verify_journals([journal]).openings]


def test_a_line_that_ends_in_cr_lf_is_named_because_its_hash_is_another(recorded: bytes, tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    journal.write_bytes(recorded)
    before = hashes(journal)
    journal.write_bytes(recorded.replace(b"\n", b"\r\n"))
    report = verify_journals([journal])
    assert (report.problems, report.rounds) == ([], 12)
    remark = "the line ends in CR LF, which changes its hash; `tr -d '\\r'` removes the CR"
    assert report.remarks == [f"{journal}:1: {remark}"]
    assert hashes(journal) != before


def test_an_edited_plan_of_many_matches_does_not_fill_the_memory(tmp_path: Path) -> None:
    opening, *_, reveal = genuine.lines(config_of(*BOTS[:2], rounds="2"))
    line = msgspec.json.decode(opening)
    line["config"]["cycles"] = 3000
    journal = write(tmp_path / "cup.jsonl", [line, msgspec.json.decode(reveal)])
    problems = verify_journals([journal]).problems
    assert len(problems) == 1001
    assert problems[-1].text.endswith("rounds of 2000 more matches")


# What changed deals, and is left to the organiser


def void(line: Line, excused: int | None) -> Line:
    taken = {key: line[key] for key in ("v", "id", "match", "round", "bots", "started")}
    return taken | {"type": "void", "reason": "the arena stood still", "excused": excused}


@pytest.mark.parametrize("count", [3, 4])
def test_a_share_of_the_rounds_is_at_least_three(count: int, lines: list[Line], tmp_path: Path) -> None:
    opening = lines[0] | {"config": lines[0]["config"] | {"max_voids": "1%"}}
    journal = write(tmp_path / "cup.jsonl", [opening, *count * [void(lines[1], 0)]])
    name = lines[1]["bots"][0]
    remark = f"{journal}:1: {name} was excused {count} times, but max-voids is 1% of its rounds, at least 3"
    assert (remark in verify_journals([journal]).remarks) is (count > 3)


@pytest.mark.parametrize(("excused", "count"), [(0, 20), (0, 21), (None, 21)])
def test_a_bot_that_was_excused_too_often_is_named(
    excused: int | None, count: int, lines: list[Line], tmp_path: Path
) -> None:
    opening = lines[0] | {"config": lines[0]["config"] | {"max_voids": 20}}
    journal = write(tmp_path / "cup.jsonl", [opening, *count * [void(lines[1], excused)]])
    is_named = excused is not None and count > 20
    remark = f"{journal}:1: {lines[1]['bots'][0]} was excused 21 times, but max-voids is 20"
    assert (remark in verify_journals([journal]).remarks) is is_named


def test_each_tournament_says_how_often_it_was_resumed(lines: list[Line], tmp_path: Path) -> None:
    other = lines[0] | {"started": "later"}
    resume: Line = {"type": "resume", "v": 1, "started": "later"}
    journal = write(tmp_path / "cup.jsonl", [*lines, other, resume, resume])
    found = [remark for remark in verify_journals([journal]).remarks if "resumed" in remark]
    words = "resumed 2 times; rounds that were not finished got other deals"
    assert found == [f"{journal}:{len(lines) + 1}: {words}"]


def test_rounds_that_nothing_but_the_journal_proves_are_counted(lines: list[Line], tmp_path: Path) -> None:
    """Whoever invents a crash cannot be found out, but everybody sees how many there were."""
    words = "Rounds that ended by a fault or were forfeited, of which the journal is the only witness: "
    assert words not in arena("verify", write(tmp_path / "cup.jsonl", lines)).output
    result = {"winner": 0, "ending": "crashed", "points": [5, 0], "owners": 9 * [None]}
    lines[1] |= {"moves": lines[1]["moves"][:2], "result": result, "fault": {"seat": 1, "detail": "it exited"}}
    found = arena("verify", write(tmp_path / "cup.jsonl", lines))
    assert (found.exit_code, f"{words}1\n" in found.output) == (0, True)


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


# What reaches a terminal


def test_names_in_a_journal_cannot_disturb_a_terminal(recorded: bytes, tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    journal.write_bytes(recorded.replace(b'"a"', rb'"a\u0007\u202e"'))
    for command in (["verify"], ["table"], ["table", "--by", "version"], ["replay"]):
        output = arena(*command, journal).output
        assert all(line.isprintable() for line in output.splitlines()), command
        assert r"a\x07\u202e" in output
    assert arena("verify", journal).exit_code == 1  # no table counts the rounds of such a name


def test_a_torn_opening_line_leaves_nothing_to_verify(recorded: bytes, tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    journal.write_bytes(recorded[:100])
    for command, status in (("verify", 1), ("table", 1), ("report", 2), ("replay", 2)):
        result = arena(command, journal)
        assert (result.exit_code, f"{journal}" in result.output, "torn" in result.output) == (status, True, True)
    assert "all in order" not in arena("verify", journal).output


def test_an_error_of_reading_names_the_file() -> None:
    """This file can be opened, but its first page cannot be read."""
    for command in ("verify", "table", "report", "replay"):
        result = arena(command, "/proc/self/mem")
        assert (result.exit_code, result.output) == (2, "Error: /proc/self/mem: cannot read: Input/output error\n")

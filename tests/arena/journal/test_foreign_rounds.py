"""Rounds of no tournament, of another one, or there twice."""

import random
import sys
from pathlib import Path

import pytest

from arena.journal.finished_rounds import MatchesOver
from arena.journal.index import rounds_in
from arena.journal.verify import verify_journals
from arena.stats.standings import fold
from tests.helpers.commands import arena
from tests.helpers.paths import STEADY_BOT
from tests.helpers.raw_journals import Change, Line, run, write


def test_rounds_before_the_opening_line_belong_to_no_tournament(lines: list[Line], journal: Path) -> None:
    opening, *rounds = lines
    write(journal, [*rounds[:2], opening, *rounds])
    what = f"{journal}:1: no opening line comes before this round, so it and all that follow are left out"
    standings, problems = fold([journal])
    assert standings.rounds == 4
    assert problems == [what]
    report = verify_journals([journal])
    assert [str(problem) for problem in report.problems] == [what]
    assert report.rounds == 4
    assert [each.line for each in rounds_in(journal)[0]] == [4, 5, 6, 7]
    write(journal, [*rounds[:2], opening])
    result = run(journal)
    assert result.exit_code == 2
    assert what in result.output


def _foreign_id(lines: list[Line]) -> list[Line]:
    lines[2]["id"] = "9.1-2.2"
    return lines


def _foreign_bots(lines: list[Line]) -> list[Line]:
    lines[2]["bots"] = ["a", "zoe"]
    return lines


def _foreign_rules(lines: list[Line]) -> list[Line]:
    lines[2]["rules"] = "tactics"
    return lines


def _twice(lines: list[Line]) -> list[Line]:
    lines[2] = lines[1]
    return lines


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_foreign_id, "round 9.1-2.2: it is not in the schedule of this tournament"),
        (_foreign_bots, "round 1.1-2.2: it is between a and zoe, but the schedule says a and b"),
        (_foreign_rules, "round 1.1-2.2: it was played by tactics, but the tournament by base"),
        (_twice, "round 1.1-2.1 is in the journal twice"),
    ],
)
def test_a_tournament_does_not_go_on_from_rounds_that_are_not_its_own(
    change: Change, words: str, lines: list[Line], journal: Path, tmp_path: Path
) -> None:
    before = write(journal, change(lines)[:-1]).read_bytes()
    assert f"{journal}:3: {words}; mend or remove the line to resume" in run(journal).output
    cup = tmp_path / "cup.toml"
    bots = "".join(
        f'[[bot]]\nname = "{name}"\ncmd = ["{sys.executable}", "{STEADY_BOT}", "{name}"]\n' for name in ("a", "b")
    )
    server = '[server]\nlisten = "127.0.0.1:0"\n'
    cup.write_text(f"rounds = 4\n{server}[each]\nst = 5\n{bots}")
    served = arena("serve", str(cup), "--quiet")
    assert served.exit_code == 2
    assert f"{journal}:3: {words}; mend or remove the line to resume" in served.output
    assert journal.read_bytes() == before


def test_a_damaged_configuration_is_told_where_a_tournament_would_go_on(lines: list[Line], journal: Path) -> None:
    for key, value in (("bots", 5), ("bots", [{"name": "a"}, 7]), ("cycles", 10**18), ("seed", 5), ("rounds", "four")):
        config = lines[0]["config"] | {key: value}
        write(journal, [lines[0] | {"config": config}, *lines[1:]])
        result = run(journal)
        assert result.exit_code == 2
        assert f"{journal}:1: " in result.output
        assert "the configuration is damaged" in arena("verify", str(journal)).output


def test_a_round_that_comes_twice_counts_once(lines: list[Line], journal: Path) -> None:
    opening, *rounds = lines
    for count in (3, 4):  # while its match goes on, and when it is over
        write(journal, [opening, *rounds[:count], rounds[0]])
        standings, problems = fold([journal])
        assert standings.rounds == count
        assert len(problems) == 1
        assert "round 1.1-2.1 is in the journal twice" in problems[0]


def test_matches_that_end_in_any_order_are_known_to_be_over() -> None:
    for seed in range(20):
        over, ids = MatchesOver(), [f"{cycle}.{pair}" for cycle in range(1, 9) for pair in ("1-2", "1-3")]
        ids += ["x", "7", "8", "07.1-2", "", ".", "1.", "99999999999999.1-2"]
        random.Random(seed).shuffle(ids)
        for done, match in enumerate(ids):
            assert match not in over
            over.add(match)
            assert [each in over for each in ids] == [index <= done for index in range(len(ids))]

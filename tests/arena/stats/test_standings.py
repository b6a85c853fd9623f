"""The fold over journals: hand-made lines in, counts out, in memory that does not grow."""

import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.journal.endings import Fault
from arena.journal.lines import JournalError
from arena.stats.match_score import match_text, uncounted_notes
from arena.stats.ratings import Matchup
from arena.stats.round_summary import RoundSummary
from arena.stats.standings import BotTotals, Standings, fold
from arena.stats.thinking_time import ThinkingTime
from tests.helpers.summaries import line, opening, standings_of, written


def bot(standings: Standings, name: str) -> BotTotals:
    return next(each for each in standings.totals() if each.name == name)


def test_rounds_points_and_results_are_counted_for_both() -> None:
    found = standings_of(
        opening(rounds=3, pairs=False),
        line("m.1", 0, (5, 2)),
        line("m.2", 1, (1, 5)),
        line("m.3", None, (3, 3)),
        line("n.1", 0, (5, 0), bots=("b", "a")),
    )
    a, b = found.totals()
    assert (a.name, a.rounds, a.wins, a.draws, a.losses) == ("a", 4, 1, 1, 2)
    assert (b.name, b.rounds, b.wins, b.draws, b.losses) == ("b", 4, 2, 1, 1)
    assert (a.points, a.points_against, b.points, b.points_against) == (9, 15, 15, 9)
    assert found.matchups() == [Matchup(0, 1, (0, 0, 0, 0, 0), (2, 1, 1))]
    assert [(each.bot, each.opponent, each.wins, each.points) for each in found.versus()] == [
        ("a", "b", 1, 9),
        ("b", "a", 2, 15),
    ]


def test_the_two_rounds_of_a_pair_are_one_unit() -> None:
    found = standings_of(
        opening(rounds=4),
        line("m.1", 0, (5, 2)),
        line("m.2", 0, (5, 2)),
        line("m.3", 0, (5, 2), pair="m.2"),
        line("m.4", None, (2, 2), pair="m.1"),
    )
    assert found.matchups() == [Matchup(0, 1, (0, 0, 0, 1, 1), (0, 0, 0))]


def test_half_a_pair_counts_as_a_single_round_until_the_other_half_comes() -> None:
    half = [opening(rounds=4), line("m.1", 0, (5, 2))]
    assert standings_of(*half).matchups() == [Matchup(0, 1, (0,) * 5, (0, 0, 1))]
    assert standings_of(*half, line("m.3", 1, (2, 5), pair="m.1")).matchups() == [
        Matchup(0, 1, (0, 0, 1, 0, 0), (0,) * 3)
    ]


def test_a_pair_is_never_made_of_two_tournaments() -> None:
    found = standings_of(opening(), line("m.1", 0, (5, 2)), opening(), line("m.2", 1, (2, 5), pair="m.1"))
    assert found.matchups() == [Matchup(0, 1, (0,) * 5, (1, 0, 1))]
    assert found.unfinished_matches == 2


def test_a_match_is_won_by_points_once_all_its_rounds_are_in() -> None:
    lines = [
        opening(rounds=2, pairs=False),
        line("m.1", 0, (5, 4)),
        line("m.2", 1, (0, 5)),  # a won as many rounds, but b has more points
        line("n.1", 0, (5, 2)),
        line("n.2", 1, (2, 5)),
        line("o.1", 0, (5, 0)),
    ]
    found = standings_of(*lines)
    assert bot(found, "a").matches == (0, 1, 1)
    assert bot(found, "b").matches == (1, 1, 0)
    assert found.unfinished_matches == 1


def test_faults_are_charged_by_kind_to_whose_fault_it_was() -> None:
    found = standings_of(
        opening(rounds=9, pairs=False),
        line("m.1", 1, (0, 5), ending="timeout", fault={"seat": 0, "detail": "late"}),
        line("m.2", 1, (0, 5), ending="timeout", fault={"seat": 0, "detail": "late"}),
        line("m.3", 0, (5, 0), ending="crashed", fault={"seat": 1, "detail": "exit status 1"}),
        line("m.4", None, (0, 0), ending="failed-to-start", fault={"seat": 1, "detail": "withdrawn"}),
    )
    assert bot(found, "a").faults == {Fault.TIMEOUT: 2, Fault.FAILED_TO_START: 1}
    assert bot(found, "b").faults == {Fault.CRASHED: 1, Fault.FAILED_TO_START: 1}


def test_rounds_ended_by_a_fault_can_be_left_out_and_the_other_one_of_the_pair_stays() -> None:
    found = standings_of(
        opening(rounds=4),
        line("m.1", 1, (0, 5), ending="timeout", fault={"seat": 0, "detail": "late"}),
        line("m.2", 0, (5, 1)),
        line("m.3", 1, (0, 5), pair="m.2", ending="crashed", fault={"seat": 0, "detail": "gone"}),
        line("m.4", 0, (5, 2), pair="m.1"),
        leave_out_faults=True,
    )
    a = bot(found, "a")
    assert (a.rounds, a.wins, a.points, a.points_against) == (2, 2, 10, 3)
    assert found.matchups() == [Matchup(0, 1, (0,) * 5, (0, 0, 2))]
    assert sum(a.faults.values()) == 2
    assert a.matches == (1, 0, 0)


def test_thinking_time_leaves_out_moves_that_the_referee_applied() -> None:
    moves = [(0, "play r5 3", 10), (1, "pass", None), (0, "claim 3", 30), (1, "play r1 1", 7)]
    found = standings_of(opening(), line("m.1", 0, (5, 0), moves=moves))
    assert (bot(found, "a").mean_ms, bot(found, "a").p99_ms) == (20, 30)
    assert (bot(found, "b").mean_ms, bot(found, "b").p99_ms) == (7, 7)
    assert bot(standings_of(opening(), line("m.1", 0, (5, 0))), "a").mean_ms is None


@pytest.mark.parametrize("ms", [0, 1, 63, 64, 65, 1000, 4095, 4096, 123_456, 10**9, 2**62])
def test_a_percentile_is_exact_for_short_times_and_within_a_few_percent_for_long_ones(ms: int) -> None:
    thinking = ThinkingTime()
    thinking.add([ms] * 99 + [2**63])
    found = thinking.percentile(99)
    assert found is not None
    assert ms <= found <= (ms if ms < 64 else ms * 1.032)


def test_the_99th_percentile_is_not_the_worst_move() -> None:
    thinking = ThinkingTime()
    thinking.add([5] * 99 + [5000])
    assert thinking.percentile(99) == 5
    thinking.add([5000] * 9)
    assert thinking.percentile(99) == pytest.approx(5000, rel=0.032)


def test_what_is_still_to_come_is_known_from_the_configuration() -> None:
    assert standings_of(opening(rounds=10, bots=3), line("m.1", 0, (5, 0))).missing_rounds == 29
    assert standings_of(opening(rounds=10, bots=3, format="gauntlet"), line("m.1", 0, (5, 0))).missing_rounds == 19
    assert standings_of(line("m.1", 0, (5, 0))).missing_rounds is None


def test_a_tournament_line_of_another_program_does_no_harm() -> None:
    found = standings_of({"type": "tournament", "v": 1, "config": {}, "started": ""}, line("m.1", 0, (5, 0)))
    assert bot(found, "a").rounds == 1
    assert found.missing_rounds is None


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (line("m.2", 0, (5, 0), pair="m.1", bots=("a", "c")), "other bots"),
        (line("m.2", 0, (5, 0), bots=("a", "a")), "against itself"),
        (line("m.2", 0, (5, 0), bots=("a", "\x1b[2J")), "not a name"),
    ],
)
def test_a_round_that_cannot_be_is_refused_and_not_counted(wrong: dict[str, Any], what: str) -> None:
    standings = standings_of(opening(rounds=4), line("m.1", 0, (5, 0)))
    with pytest.raises(JournalError, match=what):
        standings.add(msgspec.convert(wrong, RoundSummary))
    assert standings.rounds == bot(standings, "a").rounds == 1


def test_damaged_lines_are_reported_with_their_place_and_the_rest_counts(tmp_path: Path) -> None:
    path = written(
        tmp_path / "cup.jsonl",
        opening(rounds=4),
        line("m.1", 0, (5, 0)),
        b"garbage\n",
        line("m.2", 0, (5, 0), ending="tired"),
        b'\xff\xfe{"type":"round"}\n',
        line("m.3", 1, (0, 5), moves=[[2, "pass", 1]]),
        {
            "type": "void",
            "v": 1,
            "id": "m.4",
            "match": "m",
            "round": 4,
            "bots": ["a", "b"],
            "reason": "",
            "started": "",
        },
        line("m.4", 1, (0, 5)),
        b'{"type":"round","v":1,"id":"m',
    )
    standings, problems = fold([path])
    assert standings.rounds == 2
    assert standings.voids == 1
    assert [problem.split(": ")[0] for problem in problems] == [f"{path}:{number}" for number in (3, 4, 5, 6, 9)]
    assert "tired" in problems[1]
    assert "torn" in problems[4]


def test_a_file_full_of_garbage_does_not_fill_the_memory_with_complaints(tmp_path: Path) -> None:
    _, problems = fold([written(tmp_path / "x", *[b"x\n"] * 1000)])
    assert len(problems) == 101
    assert problems[-1] == "and 900 more"


def test_journals_may_be_split_and_concatenated(tmp_path: Path) -> None:
    cup = [opening(rounds=2), line("m.1", 0, (5, 0)), line("m.2", 0, (5, 1), pair="m.1")]
    other = [opening(rounds=2, started="later"), line("m.1", 1, (0, 5)), line("m.2", 0, (5, 1), pair="m.1")]
    together = written(tmp_path / "together", *cup, *other)
    parts = [written(tmp_path / "1", *cup[:2]), written(tmp_path / "2", *cup[2:]), written(tmp_path / "3", *other)]
    for paths in ([together], parts):
        standings, problems = fold(paths)
        assert not problems
        assert standings.matchups() == [Matchup(0, 1, (0, 0, 1, 0, 1), (0, 0, 0))]
        assert standings.missing_rounds == 0


def test_the_same_journal_given_twice_counts_once_and_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "cup", opening(), line("m.1", 0, (5, 0)), line("m.2", 0, (5, 1), pair="m.1"))
    standings, problems = fold([path, path])
    assert standings.rounds == 2
    assert problems == [f"{path}:1: this tournament was already read; its rounds are left out"]


def test_the_order_of_rounds_changes_nothing() -> None:
    lines = [
        line("m.1", 0, (5, 0), bots=("x", "y")),
        line("n.1", 1, (2, 5), bots=("a", "x")),
        line("m.2", None, (3, 3), bots=("x", "y"), pair="m.1"),
        line("n.2", 0, (5, 4), bots=("a", "x"), pair="n.1"),
    ]
    there, back = standings_of(opening(bots=3), *lines), standings_of(opening(bots=3), *reversed(lines))
    assert there.totals() == back.totals()
    assert there.rate().elo == back.rate().elo


def test_an_unknown_anchor_is_refused_by_name() -> None:
    standings = standings_of(opening(), line("m.1", 0, (5, 0)), line("m.2", 1, (0, 5), pair="m.1"))
    assert standings.rate(anchor=("b", 1000)).elo == pytest.approx((1000, 1000))
    with pytest.raises(ValueError, match="no bot is called 'c'; there are: a, b"):
        standings.rate(anchor=("c", 1000))


@pytest.mark.extended
def test_memory_does_not_grow_with_the_number_of_rounds() -> None:
    names = ("a", "b", "c")
    moves = [(turn % 2, "play r5 3", turn * 37 % 3000) for turn in range(50)]

    def grown(standings: Standings, matches: range) -> int:
        for match in matches:
            bots = (names[match % 3], names[(match + 1) % 3])
            for number in range(1, 11):
                pair = f"{match}.{number if number <= 5 else number - 5}"
                winner = (match * 7 + number) % 2
                each = line(f"{match}.{number}", winner, (5, 1), bots=bots, pair=pair, moves=moves)
                standings.add(msgspec.convert(each, RoundSummary))
        return tracemalloc.get_traced_memory()[0]

    standings = standings_of(opening(rounds=10, bots=3))
    tracemalloc.start()
    try:
        early = grown(standings, range(200))
        late = grown(standings, range(200, 2000))
    finally:
        tracemalloc.stop()
    assert standings.rounds == 20_000
    assert standings.unfinished_matches == 0
    assert late - early < 20_000  # a byte for each round


def test_a_round_in_which_a_person_had_help_is_not_rated() -> None:
    helped = {"seat": 0, "taken_back": 1}
    found = standings_of(
        opening(rounds=4, pairs=True),
        line("m.1", 0, (5, 2)),
        line("m.2", 0, (5, 1), pair="m.1", assisted=helped),
        line("m.3", 0, (5, 0), assisted={"seat": 0, "hints": True}),
        line("m.4", 1, (0, 5), pair="m.3"),
    )
    assert found.matchups() == [Matchup(0, 1, (0, 0, 0, 0, 0), (1, 0, 1))]
    assert (found.rounds, found.assisted) == (4, 2)
    assert (bot(found, "a").points, bot(found, "b").points) == (5, 7)
    assert "not rated: 2." in " ".join(uncounted_notes(found))


def test_a_match_in_which_every_round_had_help_has_no_score() -> None:
    found = standings_of(opening(rounds=1, pairs=False), line("m.1", 0, (5, 2), assisted={"seat": 0, "hints": True}))
    assert match_text(found, "a", "b") == "Rounds in which a person had help, and which are not rated: 1."

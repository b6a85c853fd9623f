"""What a report gathers, and which rounds it chooses."""

import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.journal.endings import Fault
from arena.stats.report_data import FirstMoverStats, ReportContents, gather, sample
from tests.helpers.journals import write_many
from tests.helpers.summaries import line as standing_line
from tests.helpers.summaries import opening as standing_opening
from tests.helpers.summaries import written


def gathered(tmp_path: Path, *lines: dict[str, Any]) -> ReportContents:
    return gather([written(tmp_path / "journal.jsonl", standing_opening(rounds=20), *lines)])


# What is gathered


def test_elo_is_computed_at_evenly_spread_times_and_at_the_end(tmp_path: Path) -> None:
    found = gather([write_many(tmp_path / "cup.jsonl", 1003)])
    times = [point.rounds for point in found.course]
    assert 24 <= len(times) <= 49
    assert times[-1] == 1003
    assert {late - early for early, late in pairwise(times[:-1])} == {32}
    names = found.standings.names
    final = dict(zip(names, found.standings.rate().elo, strict=True))
    assert found.course[-1].elo == pytest.approx(final)
    assert found.course[10].elo != pytest.approx(final, abs=1)


def test_the_most_surprising_wins_come_first_and_faults_surprise_nobody(tmp_path: Path) -> None:
    strong_wins = [standing_line(f"m.{n}", 0, (5, 1), first=0) for n in range(1, 10)]
    found = gathered(
        tmp_path,
        *strong_wins,
        standing_line("u.1", 1, (3, 5), first=0),
        standing_line("u.2", 1, (0, 5), first=0),
        standing_line("f.1", 1, (0, 5), ending="timeout", first=0),
        standing_line("f.2", 1, (0, 5), ending="timeout", first=0),
    )
    assert [(upset.id, upset.winner, upset.points) for upset in found.upsets] == [
        ("u.2", "b", (5, 0)),
        ("u.1", "b", (5, 3)),
    ]
    assert all(0 < upset.expected < 0.5 for upset in found.upsets)
    assert [upset.number for upset in found.upsets] == [11, 10]


def test_the_first_players_score_has_an_interval_by_pairs() -> None:
    alike, opposed = FirstMoverStats(), FirstMoverStats()
    for pair in range(100):
        for half_points in (2, 2) if pair % 2 else (0, 0):
            alike.add(str(pair), half_points)
        for half_points in (2, 0):
            opposed.add(str(pair), half_points)
    (mean, margin), (other_mean, other_margin) = alike.score() or (0, 0), opposed.score() or (0, 0)
    assert mean == other_mean == 0.5
    assert margin == pytest.approx(1.96 * 0.5 / 10, rel=0.02)  # a hundred units that end 2 or 0
    assert other_margin < margin / 5  # each of them ends 1
    assert FirstMoverStats().score() is None


def test_who_began_is_counted_for_each_bot(tmp_path: Path) -> None:
    found = gathered(
        tmp_path,
        standing_line("m.1", 0, (5, 2), first=0),
        standing_line("m.2", 1, (1, 5), first=0),
        standing_line("m.3", None, (3, 3), first=1, ending="blocked"),
        standing_line("m.4", 1, (0, 5), first=1, ending="crashed"),
    )
    seatings = found.gathered.seatings
    assert (seatings["a"].rounds, seatings["a"].half_points) == ([2, 1], [2, 1])
    assert (seatings["b"].rounds, seatings["b"].half_points) == ([1, 2], [1, 2])
    assert found.gathered.results["a", Fault.CRASHED.value, 0] == 1
    assert list(found.gathered.faults) == [4]


@pytest.mark.extended
def test_memory_hardly_grows_with_the_rounds(tmp_path: Path) -> None:
    sizes = []
    for count in (500, 4000):
        journal = write_many(tmp_path / f"{count}.jsonl", count)
        tracemalloc.start()
        found = gather([journal])
        sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert found.standings.rounds == count
    assert sizes[1] - sizes[0] < 3500 * 40


# Which rounds are chosen


def test_all_rounds_are_chosen_if_there_are_few() -> None:
    assert sample(5, [], [], 10) == sample(5, [2], [3], 5) == sample(5, [], [], None) == [1, 2, 3, 4, 5]


def test_a_sample_holds_surprises_faults_and_an_even_spread() -> None:
    chosen = sample(1000, [7, 8], range(500, 510), 100)
    assert len(chosen) == len(set(chosen)) == 100
    assert chosen == sorted(chosen)
    assert {7, 8, *range(500, 510)} <= set(chosen)
    others = [number for number in chosen if number not in {7, 8, *range(500, 510)}]
    gaps = [late - early for early, late in pairwise(others)]
    assert max(gaps) <= 24
    assert min(others) < 20


def test_faults_are_at_most_a_quarter_of_a_sample() -> None:
    chosen = sample(1000, [], range(1, 901), 40)
    assert len(chosen) == 40
    assert len(sample(1000, range(1, 50), range(1, 900), 3)) == 3
    assert sample(1000, [], [], 0) == []

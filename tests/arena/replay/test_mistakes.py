"""The worst decisions of a bot over a whole journal."""

from pathlib import Path

import pytest

from arena.evaluation.counting import bundled_evaluator
from arena.journal.index import rounds_in
from arena.journal.lines import RoundLine, encoded
from arena.replay.analysis import analyse
from arena.replay.build import replay_of
from arena.replay.mistakes import mistakes_of
from engine.ruleset import PRESETS
from tests.helpers.rounds import OPENING, random_round, written
from tests.helpers.sampling import sampled


def rounds() -> list[RoundLine]:
    pairs = (("ann", "ben"), ("cy", "ann"), ("ben", "cy"))
    return [random_round(PRESETS["base"], n, id=f"{n + 1}.1-2.1", bots=pairs[n % 3]) for n in range(9)]


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("mistakes") / "cup.jsonl", *rounds())


@pytest.mark.parametrize("workers", sampled([0, 2], 0))
def test_they_are_the_worst_decisions_of_all_its_rounds(journal: Path, workers: int) -> None:
    expected = []
    for line in rounds():
        found = analyse(replay_of(line), bundled_evaluator())
        expected += [(-each.loss, line.id, each) for each in found.decisions if line.bots[each.seat] == "ann"]
    listed, _ = rounds_in(journal)
    done: list[int] = []
    mistakes = mistakes_of("ann", journal, listed, 5, done.append, workers)
    assert [(each.round.id, each.decision) for each in mistakes.found] == [
        (id, decision) for _, id, decision in sorted(expected, key=lambda each: each[0])[:5]
    ]
    assert mistakes.decisions == len(expected)
    assert mistakes.problems == []
    assert done == list(range(1, 10))


def test_a_round_that_cannot_be_replayed_is_reported_and_the_others_count(tmp_path: Path) -> None:
    good, bad = rounds()[:2]
    path = tmp_path / "cup.jsonl"
    path.write_bytes(OPENING + encoded(good) + encoded(bad).replace(b'"play ', b'"play play ', 1))
    listed, _ = rounds_in(path)
    mistakes = mistakes_of("ann", path, listed, 3)
    assert len(mistakes.found) == 3
    assert {each.round.id for each in mistakes.found} == {good.id}
    [problem] = mistakes.problems
    assert problem.startswith(f"{path}:3: this round cannot be replayed: move 1: ")

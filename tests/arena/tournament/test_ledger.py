"""What the ledger of a tournament makes of finished rounds."""

from itertools import islice
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import asdict, replace

from arena.journal.lines import AssistedLine, FaultLine, Journal, RawRound, ResultLine, encoded, outcome_of
from arena.tournament.jobs import job_of
from arena.tournament.ledger import Ledger, begin_unrecorded, planned_matches, resume
from arena.worker.job import Rulings
from engine.cards import Seat
from engine.ruleset import PRESETS
from engine.scoring import Score
from tests.helpers import genuine
from tests.helpers.journals import numbered_round
from tests.helpers.rounds import round_line
from tests.helpers.tournaments import configured, steady


def ledger_with(**options: str) -> Ledger:
    return begin_unrecorded(configured(steady("a"), steady("b"), journal=None, **options))[1]


@pytest.mark.parametrize("rules", PRESETS)
def test_the_score_of_a_match_under_way_follows_from_its_rounds_in_any_order(rules: str) -> None:
    lines = [numbered_round(number, ("a", "b"), rules, seed=number) for number in (1, 0)]
    ledger, points = ledger_with(rounds="4"), [0, 0]
    for line in lines:
        ledger.finish(line)
        points = [had + won for had, won in zip(points, line.result.points, strict=True)]
        first = Seat(line.first)
        expected = Score(PRESETS[rules], first).after(outcome_of(line.result)).first
        assert ledger.scores == {"1": Score(PRESETS[rules], expected, (points[0], points[1]))}


def test_a_finished_round_ends_faults_in_a_row() -> None:
    ledger = ledger_with(max_faults="3")
    ledger.faults_in_a_row.update(a=2, b=1)
    assert ledger.finish(numbered_round(0, ("a", "b"))) == []
    assert ledger.faults_in_a_row == {"a": 0, "b": 0}


def test_a_resume_remembers_scores_only_of_matches_under_way(tmp_path: Path) -> None:
    """Memory would otherwise grow with the number of matches in the journal."""
    config = configured(steady("a"), steady("b"), steady("c"), rounds="4", journal=tmp_path / "cup.jsonl")
    assert config.journal is not None
    config.journal.write_bytes(b"".join(islice(genuine.lines(config), 1 + 4 + 4 + 3)))
    with Journal(config.journal) as journal:
        _, ledger = resume(journal, config)
    assert ledger.state.finished.count == 11
    assert list(ledger.scores) == [planned_matches(config)[2].id]


def test_a_raw_round_has_all_but_its_cards_moves_and_notes_and_is_written_as_the_same_line() -> None:
    fault = FaultLine(seat=1, detail="late", bundle="cup.faults/1", withdrawn=True)
    line = replace(
        numbered_round(0, ("a", "b")),
        fault=fault,
        salt="5a",
        players=("1f", None),
        notes={"0": '\u00e9 "1"'},
        host="m1",
        delay=3,
        assisted=AssistedLine(seat=0, hints=True),
    )
    raw = msgspec.json.decode(encoded(line), type=RawRound)
    read = {name: value for name, value in asdict(raw).items() if not isinstance(value, msgspec.Raw)}
    assert {name: getattr(line, name) for name in read} == read
    assert set(raw.__struct_fields__) - set(read) == {"deck", "tactics", "moves", "notes"}
    assert raw.__struct_fields__ == line.__struct_fields__
    assert encoded(raw) == encoded(line)
    full, partial = ledger_with(max_faults="1"), ledger_with(max_faults="1")
    assert full.finish(line) == partial.finish(raw) == ["b"]
    assert full.scores == partial.scores
    assert full.withdrawn == partial.withdrawn == {"b": None}


def test_of_a_match_that_is_over_only_its_id_is_kept() -> None:
    ledger = ledger_with(rounds="2")
    one, two = (numbered_round(number, ("a", "b")) for number in (0, 1))
    ledger.finish(one)
    assert list(ledger.scores) == [one.match]
    ledger.finish(two)
    assert ledger.scores == {}
    finished = ledger.state.finished
    assert (finished.count, finished.under_way(one.match), one.id in finished) == (2, frozenset(), True)


def test_a_worker_that_dies_after_the_last_round_of_a_match_leaves_nothing_to_play() -> None:
    config, ledger = begin_unrecorded(configured(steady("a"), steady("b"), journal=None, rounds="2"))
    (match,) = planned_matches(config)
    ids = [planned.id for planned in match.rounds]
    for id in ids:
        ledger.finish(round_line(id, ResultLine(0, "five-stones", (5, 0), ())))
    job = job_of(match, config, ledger, Rulings(), lambda _what: None)
    assert job.so_far.finished == {*ids}

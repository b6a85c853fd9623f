"""What the ledger of a tournament makes of finished rounds."""

from itertools import islice
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import asdict, replace

from arena.journal.lines import AssistedLine, FaultLine, Journal, RawRound, encoded, outcome_of
from arena.plan.schedule import Format, schedule
from arena.tournament.ledger import Ledger, planned_matches, resume
from engine.cards import Seat
from engine.ruleset import PRESETS
from engine.scoring import Score
from tests.helpers import genuine
from tests.helpers.journals import numbered_round
from tests.helpers.tournaments import configured, steady


@pytest.mark.parametrize("rules", PRESETS)
def test_the_score_of_a_match_under_way_follows_from_its_rounds_in_any_order(rules: str) -> None:
    lines = [numbered_round(number, ("a", "b"), rules, seed=number) for number in (1, 0)]
    ledger, points = Ledger(max_faults=0), [0, 0]
    for line in lines:
        ledger.add(line)
        points = [had + won for had, won in zip(points, line.result.points, strict=True)]
        first = Seat(line.first)
        expected = Score(PRESETS[rules], first).after(outcome_of(line.result)).first
        assert ledger.scores == {"1": Score(PRESETS[rules], expected, (points[0], points[1]))}


def test_a_finished_round_ends_faults_in_a_row() -> None:
    ledger = Ledger(max_faults=3)
    ledger.faults_in_a_row.update(a=2, b=1)
    assert ledger.add(numbered_round(0, ("a", "b"))) == []
    assert ledger.faults_in_a_row == {"a": 0, "b": 0}


def test_deals_are_kept_only_if_a_round_may_repeat_them() -> None:
    line = numbered_round(0, ("a", "b"))
    for mirrored in (True, False):
        ledger = Ledger(max_faults=0, mirrored=mirrored)
        ledger.add(line)
        assert ledger.dealt == ({line.id: (line.seed, line.salt, 1)} if mirrored else {})


def test_a_resume_remembers_scores_only_of_matches_under_way(tmp_path: Path) -> None:
    """Memory would otherwise grow with the number of matches in the journal."""
    config = configured(steady("a"), steady("b"), steady("c"), rounds="4", journal=tmp_path / "cup.jsonl")
    assert config.journal is not None
    config.journal.write_bytes(b"".join(islice(genuine.lines(config), 1 + 4 + 4 + 3)))
    with Journal(config.journal) as journal:
        _, ledger = resume(journal, config)
    assert len(ledger.finished) == 11
    assert list(ledger.scores) == [planned_matches(config)[2].id]
    assert ledger.dealt == {}


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
    full, partial = Ledger(max_faults=1), Ledger(max_faults=1)
    assert full.add(line) == partial.add(raw) == ["b"]
    assert full == partial


def test_a_match_that_is_over_is_forgotten() -> None:
    (match,) = schedule(2, Format.ROUND_ROBIN, 1, 2, False, PRESETS["base"])
    ledger = Ledger(max_faults=0)
    ledger.scores[match.id] = Score(PRESETS["base"], match.first, (5, 2))
    ledger.close(match)
    assert ledger.scores == {}


def test_the_ledger_forgets_finished_matches() -> None:
    ledger = Ledger(5)
    config = configured(steady("a"), steady("b"))
    match = planned_matches(config)[0]
    ledger.finished.update(each.id for each in match.rounds)
    ledger.close(match)
    assert ledger == Ledger(5)

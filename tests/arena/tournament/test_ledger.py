"""What the ledger of a tournament makes of finished rounds."""

import pytest

from arena.journal.lines import outcome_of
from arena.plan.schedule import Format, schedule
from arena.tournament.ledger import Ledger, planned_matches
from engine.cards import Seat
from engine.ruleset import PRESETS
from engine.scoring import Score
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

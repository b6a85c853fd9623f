"""Points over several rounds, and who begins."""

from engine.cards import SEATS
from engine.ruleset import PRESETS
from engine.scoring import Ending, Outcome, Score


def won_by(winner: int | None) -> Outcome:
    owners = [SEATS[1], SEATS[1], None, SEATS[0], SEATS[0], SEATS[0], None, None, None]
    return Outcome.of(None if winner is None else SEATS[winner], Ending.BLOCKED, owners)


def test_the_winner_scores_five_and_the_loser_its_stones() -> None:
    assert won_by(0).points == (5, 2)
    assert won_by(1).points == (3, 5)
    assert won_by(None).points == (3, 2)


def test_the_points_of_a_match_add_up_and_the_other_player_begins() -> None:
    score = Score(PRESETS["base"], first=SEATS[0]).after(won_by(0))
    assert (score.points, score.first, score.leader) == ((5, 2), 1, 0)
    score = score.after(won_by(1))
    assert (score.points, score.first, score.leader) == ((8, 7), 0, 0)


def test_equal_points_lead_for_nobody() -> None:
    assert Score(PRESETS["base"], first=SEATS[0]).leader is None


def test_the_winner_begins_the_next_round_of_classic_and_a_draw_alternates() -> None:
    score = Score(PRESETS["classic"], first=SEATS[0])
    assert score.after(won_by(0)).first == 0
    assert score.after(won_by(1)).first == 1
    assert score.after(won_by(None)).first == 1


def test_a_schedule_can_say_who_begins_a_round_and_the_next_one_follows_from_it() -> None:
    score = Score(PRESETS["base"], first=SEATS[0], points=(5, 2))
    assert score.begun_by(None) == score
    assert score.begun_by(SEATS[1]).after(won_by(0)) == Score(PRESETS["base"], first=SEATS[0], points=(10, 4))

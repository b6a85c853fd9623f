"""The evaluation of a round: curves, decisions, and what an evaluator gets to see."""

from collections.abc import Sequence

import attrs
import pytest

from arena.evaluation.counting import bundled_evaluator
from arena.evaluation.evaluator import Opinion
from arena.replay.analysis import Analysis, JudgedDecision, analyse
from arena.replay.build import replay_of
from arena.replay.opinion import lost, percent
from arena.replay.positions import Replay
from engine.actions import Action
from engine.cards import CLAN_BACK, SEATS, TACTIC_BACK, Seat, other
from engine.game import Game
from engine.position import Position
from engine.ruleset import PRESETS
from tests.golden.replay import golden_round
from tests.helpers.rounds import random_round

BACKS = {CLAN_BACK, TACTIC_BACK}


@attrs.define
class Spy:
    """An evaluator that notes what it is shown, and values moves by their length."""

    name: str = "a spy"
    shown: list[tuple[Position, Seat]] = attrs.field(factory=list)
    asked: list[tuple[Position, list[str]]] = attrs.field(factory=list)

    def expected(self, position: Position, seat: Seat) -> float:
        self.shown.append((position, seat))
        return 0.25 if seat == SEATS[0] else 0.75

    def opinion(self, position: Position, legal: Sequence[Action]) -> Opinion:
        texts = [action.text for action in legal]
        self.asked.append((position, texts))
        values = {text: len(text) / 100 for text in texts}
        return Opinion(max(texts, key=len), values)


def whole(preset: str = "tactics") -> Replay:
    return replay_of(golden_round(preset))


@pytest.mark.parametrize("preset", PRESETS)
def test_an_evaluator_sees_of_decks_only_what_the_seat_returned_and_in_its_view_only_its_hand(preset: str) -> None:
    spy, replay = Spy(), whole(preset)
    analyse(replay, spy)
    open_views = 0
    for position, seat in spy.shown:
        for deck, back in ((position.clan_deck, CLAN_BACK), (position.tactic_deck, TACTIC_BACK)):
            returned = position.returned[seat].count(back)  # by the seat, which knows them
            assert set(deck[: len(deck) - returned]) <= {back}
        hidden = set(position.hands[other(seat)]) <= BACKS
        open_views += not hidden
        assert hidden or (seat == SEATS[0] and BACKS.isdisjoint(position.hands[1]))
        assert BACKS.isdisjoint(position.hands[seat])
    assert open_views == len(replay.steps) - 1  # all but the end
    for position, _ in spy.asked:
        assert position == position.seen_by(position.to_move)


def test_every_position_has_a_value_in_each_view_and_the_last_is_the_result() -> None:
    replay = whole()
    found = analyse(replay, bundled_evaluator())
    for view, seat in ((None, 0), (0, 0), (1, 1)):
        curve = found.curve(view)
        assert len(curve) == len(replay.steps)
        assert curve[-1] == (1.0 if replay.winner == seat else 0.0)
        assert all(0 < value < 1 for value in curve[:-1])
    assert found.evaluator == "the bundled counting bot"


def test_a_fault_ends_the_curve_with_the_result_and_is_not_a_decision() -> None:
    replay = replay_of(random_round(PRESETS["base"], 8, id="1.1-3.1", bots=("ann", "cy"), stop_after=9))
    found = analyse(replay, bundled_evaluator())
    last = replay.steps[-1]
    assert last.fault is not None
    assert found.at(last.number) is None
    assert found.curve(None)[-1] == float(replay.winner == 0)


@pytest.mark.parametrize("preset", PRESETS)
def test_only_decisions_are_judged(preset: str) -> None:
    replay, spy = whole(preset), Spy()
    found = analyse(replay, spy)
    expected = []
    for before, step in zip(replay.steps, replay.steps[1:], strict=False):
        legal = Game.from_position(before.position).legal_actions()
        if len(legal) > 1:
            expected.append((step.number, step.seat, step.move))
    assert [(each.number, each.seat, each.move) for each in found.decisions] == expected
    for each, (_, legal_texts) in zip(found.decisions, spy.asked, strict=True):
        assert each.best == max(legal_texts, key=len)
        assert each.loss == pytest.approx((len(each.best) - len(each.move)) / 100)


def analysis(*losses: tuple[int, float]) -> Analysis:
    """With one decision for each seat and loss, numbered from 1."""
    decisions = [
        JudgedDecision(n, seat, "done", 0.2, "claim 1", 0.2 + loss) for n, (seat, loss) in enumerate(losses, 1)
    ]
    return Analysis("somebody", (0.5,), ((0.5,), (0.5,)), tuple(decisions))


def test_the_three_worst_of_each_seat_are_marked_if_they_lost_enough() -> None:
    found = analysis((0, 0.1), (1, 0.3), (0, 0.2), (0, 0.06), (0, 0.3), (1, 0.04), (1, 0.2))
    assert [each.number for each in found.worst()] == [1, 2, 3, 5, 7]
    assert analysis((0, 0.04), (1, 0.0)).worst() == ()


def test_the_view_of_a_seat_has_neither_the_others_curve_nor_its_decisions() -> None:
    found = analysis((0, 0.1), (1, 0.3)).seen_by(1)
    assert found.both is None
    assert found.own == (None, (0.5,))
    assert [each.seat for each in found.decisions] == [1]
    assert found.curve(1) == (0.5,)
    for view in (0, None):
        with pytest.raises(ValueError, match="left out"):
            found.curve(view)


def test_what_a_decision_lost_is_the_difference_of_what_is_shown_beside_it() -> None:
    decision = JudgedDecision(1, SEATS[0], "done", 0.555, "claim 1", 0.624)  # 6.9 % in fact
    assert (percent(decision.best_expected), percent(decision.expected), lost(decision)) == ("62 %", "56 %", "6 %")

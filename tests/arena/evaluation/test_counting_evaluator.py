"""The bundled evaluator: whose opinion it is, what it may see, and that its numbers mean what they say."""

from collections.abc import Iterator, Sequence

import attrs
import pytest

from arena.evaluation.calibration import Curve, Features
from arena.evaluation.counting import bundled_evaluator, curve_of
from arena.match.referee import Referee
from engine.actions import Action, Kind
from engine.cards import SEATS, Seat, is_clan, other
from engine.deal import Deal
from engine.phase import Phase
from engine.position import Position
from engine.ruleset import PRESETS, RULE_SETS, RuleSet
from example_bots import counting
from protocol.messages import Clock, Points
from tests.helpers.positions import position as game_at
from tests.helpers.sampling import sampled
from tests.helpers.walks import walk
from tests.tools.calibration import LEAST_SLOPE, Sample, fitted, samples

EVALUATOR = bundled_evaluator()


def decisions(rules: RuleSet, seed: int) -> Iterator[tuple[Position, Sequence[Action]]]:
    for game, _ in walk(rules, seed):
        legal = game.legal_actions()
        if len(legal) > 1:
            yield game.position(), legal


@pytest.mark.parametrize("preset", sampled(PRESETS, "classic", "tactics"))
def test_it_would_play_what_the_counting_bot_plays(preset: str) -> None:
    rules, asked = PRESETS[preset], set()
    for seed in range(3):
        referee = Referee(rules, Deal.from_seed(str(seed), rules.tactics), SEATS[0])
        while ask := referee.ask():
            seen = referee.game.position().seen_by(ask.seat)
            move = counting.choose(ask.request(1, Points(0, 0), Clock(None, None)).decoded())
            assert EVALUATOR.opinion(seen, ask.legal).best == move
            asked.add(seen.phase)
            referee.answer(move, 0)
    assert {Phase.PLAY, Phase.CLAIM} <= asked
    assert (Phase.DRAW in asked) is rules.tactics


@pytest.mark.parametrize("name", sampled(RULE_SETS, "base", "tactics-expert"))
def test_every_action_has_a_value_and_none_is_better_than_the_best(name: str) -> None:
    phases = set()
    for seed in range(4):
        for position, legal in decisions(RULE_SETS[name], seed):
            opinion = EVALUATOR.opinion(position.seen_by(position.to_move), legal)
            assert list(opinion.values) == [action.text for action in legal]
            assert all(0 < value < 1 and opinion.loss(move) >= 0 for move, value in opinion.values.items())
            assert opinion.loss(opinion.best) == 0
            phases.add(position.phase)
    assert len(phases) >= (4 if RULE_SETS[name].tactics else 2)


def with_other_hidden_cards(position: Position, seat: Seat) -> Position:
    """The same to the seat: the opponent's cards and those in the decks have changed places."""
    rival = other(seat)
    hands, decks = list(position.hands), [position.clan_deck, position.tactic_deck]
    for place, clan in enumerate((True, False)):
        theirs, others = ([card for card in hands[rival] if is_clan(card) is wanted] for wanted in (clan, not clan))
        hidden = [*decks[place], *theirs][::-1]
        decks[place] = tuple(hidden[len(theirs) :])
        hands[rival] = tuple(sorted(others + hidden[: len(theirs)]))
    a, b = hands
    return attrs.evolve(position, hands=(a, b), clan_deck=decks[0], tactic_deck=decks[1])


@pytest.mark.parametrize("preset", ["base", "tactics"])
def test_hidden_cards_have_no_influence_on_the_view_of_a_seat(preset: str) -> None:
    changed = 0
    for position, legal in decisions(PRESETS[preset], 5):
        for seat in SEATS:
            same = with_other_hidden_cards(position, seat)
            changed += same != position
            assert EVALUATOR.expected(same.seen_by(seat), seat) == EVALUATOR.expected(position.seen_by(seat), seat)
        seat = position.to_move
        same = with_other_hidden_cards(position, seat)
        assert EVALUATOR.opinion(same.seen_by(seat), legal) == EVALUATOR.opinion(position.seen_by(seat), legal)
    assert changed > 20


def test_the_order_of_the_decks_has_no_influence_even_if_it_is_shown() -> None:
    for position, _ in decisions(PRESETS["tactics"], 6):
        decks = position.clan_deck[::-1], position.tactic_deck[::-1]
        turned = attrs.evolve(position, clan_deck=decks[0], tactic_deck=decks[1])
        assert EVALUATOR.expected(turned, SEATS[0]) == EVALUATOR.expected(position, SEATS[0])


def test_who_sees_both_hands_uses_both() -> None:
    """The opponent completes stone 1 with r9 and then beats the claimant's side; where r9 is makes the difference."""
    sides = "stone 1 g5 g6 g7 | r7 r8\nstone 2 o1 o2 o3 | owner:you\nstone 3 p1 p2 p3 | owner:you"
    held, not_held = (game_at(f"hand b1\ntheir-hand {card}\n{sides}").position() for card in ("r9", "y1"))
    assert EVALUATOR.expected(held, SEATS[0]) < EVALUATOR.expected(not_held, SEATS[0]) - 0.03
    seen = [each.seen_by(SEATS[0]) for each in (held, not_held)]
    assert EVALUATOR.expected(seen[0], SEATS[0]) == EVALUATOR.expected(seen[1], SEATS[0])


def test_a_nearly_won_position_is_expected_to_be_won() -> None:
    stones = "\n".join(f"stone {n} {c}9 {c}8 {c}7 | owner:you" for n, c in zip((1, 3, 5, 7), "royg", strict=True))
    position = game_at(f"hand b9 b8\nstone 9 p9 p8 |\n{stones}").position()
    assert EVALUATOR.expected(position.seen_by(SEATS[0]), SEATS[0]) > 0.7
    assert EVALUATOR.expected(position.seen_by(SEATS[1]), SEATS[1]) < 0.3


def test_whoever_sees_both_hands_expects_about_the_same_for_both_seats() -> None:
    for position, _ in decisions(PRESETS["base"], 7):
        a, b = (EVALUATOR.expected(position, seat) for seat in SEATS)
        assert a + b == pytest.approx(1, abs=0.2)


def test_a_claim_is_worth_no_less_than_to_leave_it() -> None:
    claims = 0
    for position, legal in decisions(PRESETS["base"], 8):
        if position.phase is Phase.CLAIM:
            opinion = EVALUATOR.opinion(position.seen_by(position.to_move), legal)
            assert len({opinion.values[action.text] for action in legal if action.kind is Kind.CLAIM}) == 1
            assert opinion.best != "done"
            claims += 1
    assert claims


# The curves.


@pytest.mark.extended
@pytest.mark.parametrize("preset", ["base", "expert", "tactics", "tactics-expert"])
def test_of_the_positions_with_a_given_expectation_about_that_share_is_won(preset: str) -> None:
    """On other rounds than those that the curves were fitted to. Positions of one round are alike, so the shares of 60
    rounds are rough."""
    rules = PRESETS[preset]
    found = samples(rules, [f"held out/{number}" for number in range(60)])
    for both in (False, True):
        curve = curve_of(rules, both)
        chosen = [(curve.expected(each.at), each.result) for each in found if each.both_hands is both]
        for low, high in ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0)):
            inside = [(said, won) for said, won in chosen if low <= said < high]
            said, won = (sum(column) / len(inside) for column in zip(*inside, strict=True))
            assert won == pytest.approx(said, abs=0.12), (both, low, high, len(inside))


@pytest.mark.parametrize("slope", [2.5, 0.5])
def test_the_fit_finds_a_curve_again_from_results_that_follow_it(slope: float) -> None:
    curve = Curve(constant=0.1, raw=slope, raw_later=4.0)
    at = [Features(raw / 20, later / 5) for raw in range(-20, 21) for later in range(6)]
    found = fitted([Sample(True, each, curve.expected(each)) for each in at])
    assert attrs.astuple(found) == pytest.approx(attrs.astuple(curve), abs=0.002)


def test_the_fit_never_turns_the_order_of_moves_around() -> None:
    wrong = Curve(constant=0.0, raw=-1.0, raw_later=4.0)
    at = [Features(raw / 20, later / 5) for raw in range(-20, 21) for later in range(6)]
    found = fitted([Sample(True, each, wrong.expected(each)) for each in at])
    assert found.raw == LEAST_SLOPE
    assert 0 < found.raw_later < 4


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", RULE_SETS)
def test_a_curve_rises_with_the_value(name: str, both: bool) -> None:
    curve = curve_of(RULE_SETS[name], both)
    for progress in (0.0, 0.5, 1.0):
        values = [curve.expected(Features(raw / 10, progress)) for raw in range(-10, 11)]
        assert values == sorted(values)
    assert values[0] < 0.1 < 0.9 < values[-1]

"""What a person knows: exactly what the requests say, and the engine's reasons for it."""

import random
from collections.abc import Iterator
from typing import TypeVar

import msgspec
import pytest
from hypothesis import given, settings

from arena.human.view import ME, last_view, opening, view_of
from arena.match.referee import Referee
from arena.replay.claim_reasons import Ground, Reason, reason_for
from engine.actions import Kind, every_action, parse
from engine.cards import CLAN_BACK, SEATS, TACTIC_BACK, Seat, card_texts
from engine.deal import Deal
from engine.errors import EngineError
from engine.game import Game
from engine.legality import reason_illegal
from engine.phase import Phase
from engine.ruleset import PRESETS, RuleSet
from protocol.messages import Clock, Points, Request, RoundStart
from tests.helpers.walks import rule_sets, seeds

UNTIMED = Clock(None, None)
T = TypeVar("T")


def decisions(rules: RuleSet, seed: int) -> Iterator[tuple[Referee, Request]]:
    """Every decision of a round that is played at random."""
    rng = random.Random(seed)
    referee = Referee(rules, Deal.from_seed(str(seed), rules.tactics), SEATS[seed % 2])
    while ask := referee.ask():
        request = ask.request(1, Points(0, 0), UNTIMED).decoded()
        yield referee, request
        tactics = [move for move in request.legal if "tactic" in move or len(move.split()[-2:][0]) > 2]
        referee.answer(rng.choice(tactics if tactics and rng.random() < 0.5 else request.legal), 0)


def seen(game: Game) -> object:
    """The position as the player to move sees it, turned so that the player is seat 0."""
    position = game.position().seen_by(game.to_move)
    turn = slice(None, None, -1 if game.to_move else 1)
    return position.hands[turn], position.tactics_played[turn], [s.sides[turn] for s in position.stones]


@settings(max_examples=20, deadline=None)
@given(rule_sets, seeds)
def test_a_view_has_the_legal_moves_and_the_position_of_the_request(rules: RuleSet, seed: int) -> None:
    for referee, request in decisions(rules, seed):
        view = view_of(rules, request)
        silent = view_of(rules, msgspec.structs.replace(request, legal=()))  # as from a server that lists no moves
        assert silent.legal == view.legal == request.legal
        assert (view.position.hands, view.position.tactics_played, [s.sides for s in view.position.stones]) == seen(
            referee.game
        )
        assert set(view.position.hands[1] + view.position.clan_deck + view.position.tactic_deck) <= {
            CLAN_BACK,
            TACTIC_BACK,
        }


@settings(max_examples=10, deadline=None)
@given(rule_sets, seeds)
def test_reasons_are_those_of_the_real_game(rules: RuleSet, seed: int) -> None:
    rng = random.Random(seed)
    for referee, request in decisions(rules, seed):
        view = view_of(rules, request)
        for action in rng.sample(list(every_action()), 30):
            if why := reason_illegal(referee.game, action):
                assert view.refusal(action.text) == f"{action.text}: {why}"
            else:
                assert action.text in request.legal
        assert view.refusal("foo").startswith("'foo' is not an action: ")


@settings(max_examples=10, deadline=None)
@given(rule_sets, seeds)
def test_after_a_move_no_card_is_shown_that_nobody_has_told(rules: RuleSet, seed: int) -> None:
    for referee, request in decisions(rules, seed):
        view = view_of(rules, request)
        for move in request.legal[:: max(1, len(request.legal) // 5)]:
            after, game = view.after(move), referee.game.copy()
            game.apply(parse(move))
            assert set(after.hands[ME]) <= set(view.position.hands[ME])
            assert set(after.hands[1]) <= {CLAN_BACK, TACTIC_BACK}
            assert [stone.sides for stone in after.stones] == [
                stone.sides[:: -1 if referee.game.to_move else 1] for stone in game.position().stones
            ]


def test_a_claim_comes_with_its_reason_and_other_moves_do_not() -> None:
    rules = PRESETS["base"]
    found = 0
    for seed in range(10):
        for _, request in decisions(rules, seed):
            view = view_of(rules, request)
            reasons = {move: view.why_claim(move, "rival") for move in (*request.legal, "claim 9")}
            claims = {move for move in request.legal if move.startswith("claim")}
            assert {move for move, why in reasons.items() if why} == claims
            found += len(claims)
    assert found


@settings(max_examples=10, deadline=None)
@given(rule_sets, seeds)
def test_the_last_view_is_the_last_position_wherever_the_round_ended(rules: RuleSet, seed: int) -> None:
    for referee, _ in decisions(rules, seed):
        check_last_views(referee)  # a fault can end the round here
    check_last_views(referee)


def check_last_views(referee: Referee) -> None:
    for seat in SEATS:
        last = last_view(referee.game.rules, referee.last_news(seat, Points(0, 0)).decoded().state).position
        real = referee.game.position().seen_by(seat)
        assert (last.hands, last.phase) == (turned(real.hands, seat), Phase.OVER)
        assert [stone.sides for stone in last.stones] == [turned(stone.sides, seat) for stone in real.stones]
        assert last.stones_held == turned(real.stones_held, seat)


def turned(both: tuple[T, T], seat: Seat) -> tuple[T, T]:
    return both if seat == ME else (both[1], both[0])


@settings(max_examples=15, deadline=None)
@given(rule_sets, seeds)
def test_the_reason_of_an_opponents_claim_is_that_of_the_real_game(rules: RuleSet, seed: int) -> None:
    """Each seat hears it with its next request, or when the round is over: then other cards may lie face up."""
    rng = random.Random(seed)
    referee = Referee(rules, Deal.from_seed(str(seed), rules.tactics), SEATS[seed % 2])
    expected: list[list[str]] = [[], []]
    heard: list[list[str]] = [[], []]
    while ask := referee.ask():
        request = ask.request(1, Points(0, 0), UNTIMED).decoded()
        heard[ask.seat] += [*view_of(rules, request).why_claimed(request.events).values()][::-1]
        claims = [action for action in ask.legal if action.kind is Kind.CLAIM]
        action = rng.choice(claims or ask.legal)
        if claims:
            expected[1 - ask.seat].append(reason_for(referee.game, ask.seat, action.stone).text("you"))
        referee.answer(action.text, 0)
    for seat in SEATS:
        last = referee.last_news(seat, Points(0, 0)).decoded()
        heard[seat] += [*last_view(rules, last.state).why_claimed(last.events).values()][::-1]
    assert heard == expected


@pytest.mark.parametrize("ground", Ground)
def test_a_reason_reads_well_about_a_person(ground: Ground) -> None:
    text = Reason(3, ground, "sum 9", "sum 8", ("r5",)).text("you")
    assert "its" not in text.split()


@pytest.mark.parametrize("name", PRESETS)
def test_the_opening_is_the_position_after_the_deal(name: str) -> None:
    rules = PRESETS[name]
    referee = Referee(rules, Deal.from_seed("x", rules.tactics), SEATS[1])
    start = start_of(referee)
    position = opening(rules, start)
    real = referee.game.position().seen_by(SEATS[0])
    assert (position.hands, position.clan_deck, position.tactic_deck) == (real.hands, real.clan_deck, real.tactic_deck)
    assert position.to_move == SEATS[1]


def start_of(referee: Referee) -> RoundStart:
    hand = card_texts(tuple(referee.game.hands[0]))
    return RoundStart(round=1, seat=0, first="opponent", hand=hand, points=Points(0, 0), deal_hash="")


def test_a_request_that_cannot_come_from_a_round_is_refused() -> None:
    rules = PRESETS["base"]
    _, request = next(decisions(rules, 1))
    wrong = msgspec.structs.replace(request.state, hand=("r1", "r1"))
    with pytest.raises(EngineError):
        view_of(rules, msgspec.structs.replace(request, state=wrong))
    with pytest.raises(EngineError):
        view_of(rules, msgspec.structs.replace(request, state=msgspec.structs.replace(request.state, hand=("x9",))))

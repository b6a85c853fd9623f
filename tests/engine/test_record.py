"""Deals from seeds, records, and where a record breaks the rules."""

import attrs
import pytest

from engine.cards import SEATS, Card, Seat, cards_from_texts
from engine.deal import Deal
from engine.errors import DealError, RecordError
from engine.record import GameRecord, replay, steps, verify
from engine.ruleset import PRESETS
from engine.scoring import Forfeit, Outcome
from tests.helpers.walks import played


def record(seed: int = 7, rules: str = "tactics") -> GameRecord:
    return played(PRESETS[rules], seed)[1]


def problem(broken: GameRecord) -> str:
    with pytest.raises(RecordError) as caught:
        verify(broken)
    return str(caught.value)


def test_a_seed_always_gives_the_same_deal() -> None:
    """These orders are a promise: a seed means the same deal in every version."""
    deal = Deal.from_seed("promise", tactics=True)
    assert deal.clan[:8] == cards_from_texts(["b7", "r7", "b4", "p8", "o9", "b2", "r9", "p9"])
    assert deal.tactics == cards_from_texts(
        [
            "traitor",
            "spy",
            "banshee",
            "joker",
            "mud-fight",
            "strategist",
            "joker",
            "shield-bearer",
            "recruiter",
            "blind-mans-bluff",
        ]
    )


def test_every_place_of_the_deck_sees_every_card() -> None:
    deals = [Deal.from_seed(str(n), tactics=False).clan for n in range(2000)]
    for place in (0, 27, 53):
        assert len({deal[place] for deal in deals}) == 54


def test_a_deal_of_other_cards_is_refused() -> None:
    deal = Deal.from_seed("x", tactics=False)
    with pytest.raises(
        DealError, match=r"the clan deck is not the game's 54 cards: .* is missing, .* appears too often"
    ):
        attrs.evolve(deal, clan=(deal.clan[1], *deal.clan[1:])).check(tactics=False)
    with pytest.raises(
        DealError, match="the tactic deck is not the game's 10 cards: joker is missing, joker is missing, spy"
    ):
        deal.check(tactics=True)
    with pytest.raises(DealError, match="these rules have no tactic cards, but the deal has 10"):
        Deal.from_seed("x", tactics=True).check(tactics=False)


@pytest.mark.parametrize("rules", PRESETS)
def test_a_sound_record_is_verified(rules: str) -> None:
    verify(record(rules=rules))


def test_the_steps_show_the_game_before_each_move() -> None:
    sound = record()
    assert [(step.game.to_move, step.action.text) for step in steps(sound)] == list(sound.moves)


def test_a_record_without_moves_is_the_deal() -> None:
    bare = attrs.evolve(record(), moves=(), outcome=None)
    assert replay(bare).to_move == bare.first


def changed(sound: GameRecord, index: int, seat: Seat, text: str) -> GameRecord:
    return attrs.evolve(sound, moves=(*sound.moves[:index], (seat, text), *sound.moves[index + 1 :]))


def test_verify_says_which_move_is_illegal_and_why() -> None:
    sound = record()
    seat = sound.moves[0][0]
    assert problem(changed(sound, 0, seat, "claim 1")).startswith(
        f"move 1: seat {seat}, 'claim 1': not now: stones are claimed after playing"
    )


def test_verify_says_which_move_is_no_action() -> None:
    sound = record()
    seat = sound.moves[4][0]
    assert problem(changed(sound, 4, seat, "play z9 1")).startswith(
        f"move 5: seat {seat}: 'play z9 1' is not an action: 'z9' is not a card"
    )


def test_verify_says_when_the_wrong_seat_moves() -> None:
    sound = record()
    seat, text = sound.moves[0]
    assert problem(changed(sound, 0, SEATS[1 - seat], text)) == (
        f"move 1: {text!r} is by seat {1 - seat}, but seat {seat} is to decide"
    )


def test_verify_says_when_moves_go_on_after_the_end() -> None:
    sound = record()
    assert sound.outcome is not None
    longer = attrs.evolve(sound, moves=(*sound.moves, (SEATS[0], "pass")))
    assert problem(longer) == (
        f"move {len(sound.moves) + 1}: 'pass' comes after the end of the round ({sound.outcome.ending.value})"
    )


def test_verify_says_when_moves_are_missing() -> None:
    sound = record()
    count = len(sound.moves) - 1
    assert f"but after its {count} moves the round is not over" in problem(attrs.evolve(sound, moves=sound.moves[:-1]))


def test_verify_says_what_the_result_should_have_been() -> None:
    sound = record()
    said = sound.outcome
    assert said is not None
    assert said.winner is not None
    loser = SEATS[1 - said.winner]
    assert problem(attrs.evolve(sound, outcome=attrs.evolve(said, winner=loser))) == (
        f"the record says winner {loser}, but the moves give {said.winner}"
    )
    assert problem(attrs.evolve(sound, outcome=attrs.evolve(said, points=(9, 9)))).startswith(
        "the record says points [9, 9], but the moves give ["
    )
    assert "the record says owners [none, " in problem(
        attrs.evolve(sound, outcome=attrs.evolve(said, owners=(None,) * 9))
    )
    assert problem(attrs.evolve(sound, outcome=None)) == "the record has no result"


class Stopped(Forfeit):
    RESIGNED = "resigned"


def test_a_forfeited_round_is_verified_up_to_where_it_stopped() -> None:
    sound = record()
    moves = sound.moves[: len(sound.moves) // 2]
    game = replay(attrs.evolve(sound, moves=moves))
    for winner in (*SEATS, None):
        outcome = Outcome.of(winner, Stopped.RESIGNED, game.owners)
        forfeited = attrs.evolve(sound, moves=moves, outcome=outcome)
        verify(forfeited)
        assert problem(attrs.evolve(forfeited, outcome=attrs.evolve(outcome, points=(9, 9)))).startswith(
            "the record says points [9, 9], but the moves give ["
        )
        assert problem(attrs.evolve(sound, outcome=outcome)).startswith(
            "the record says resigned, but the moves end the round by "
        )
    nobody = Outcome.of(Seat(5), Stopped.RESIGNED, game.owners)
    assert problem(attrs.evolve(sound, moves=moves, outcome=nobody)) == (
        "the record says resigned, but names no seat as the winner"
    )


def test_numbers_that_are_no_seat_or_no_card_are_refused() -> None:
    sound = record()
    assert problem(attrs.evolve(sound, first=Seat(2))) == "seat 2 cannot begin: seats are 0 and 1"
    strange = attrs.evolve(sound.deal, clan=(Card(99), *sound.deal.clan[1:]))
    assert problem(attrs.evolve(sound, deal=strange)) == (
        "the clan deck has a card numbered 99; cards are numbered 0 to 62"
    )


def test_a_huge_move_makes_a_short_error() -> None:
    sound = record()
    assert len(problem(changed(sound, 0, sound.first, "x" * 100_000))) < 600


def test_a_record_of_other_cards_is_refused() -> None:
    sound = record()
    assert problem(attrs.evolve(sound, deal=attrs.evolve(sound.deal, clan=sound.deal.clan[:53]))).startswith(
        "the clan deck is not the game's 54 cards"
    )

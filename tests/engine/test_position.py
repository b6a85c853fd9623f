"""What a position holds, what each seat sees of it, and how a game continues from one."""

import attrs
import pytest
from hypothesis import given

from engine.actions import parse
from engine.cards import CLAN_BACK, SEATS, TACTIC_BACK
from engine.errors import PositionError
from engine.game import Game
from engine.phase import Phase
from tests.helpers.positions import cards, do, position
from tests.helpers.walks import positions


def test_a_seat_sees_all_that_is_public_and_its_own_hand() -> None:
    game = position(
        "rules tactics\nhand r5 joker\ntheir-hand g1 g2 spy\nstone 3 r1 r2 r3 | g9 mode:mud-fight\n"
        "stone 4 p1 p2 p3 | b1 b2 b3 first:theirs owner:opponent\ndiscard banshee\nplayed mud-fight | banshee\n"
        "deck o1 o2\ntactic-deck recruiter"
    )
    whole, mine, theirs = game.position(), game.position().seen_by(SEATS[0]), game.position().seen_by(SEATS[1])
    assert whole.hands == (tuple(cards(["r5", "joker"])), tuple(cards(["g1", "g2", "spy"])))
    assert mine.hands == (whole.hands[0], (CLAN_BACK, CLAN_BACK, TACTIC_BACK))
    assert theirs.hands == ((CLAN_BACK, TACTIC_BACK), whole.hands[1])
    assert whole.seen_by(None).hands == (theirs.hands[0], mine.hands[1])
    assert (mine.clan_deck, mine.tactic_deck) == ((CLAN_BACK, CLAN_BACK), (TACTIC_BACK,))
    assert (mine.phase, mine.to_move) == (Phase.PLAY, 0)
    assert mine.stones[2].sides == (tuple(cards(["r1", "r2", "r3"])), tuple(cards(["g9"])))
    assert (mine.stones[2].needs, mine.stones[2].complete_first) == (4, None)
    assert (mine.stones[3].owner, mine.stones[3].complete_first) == (1, 1)
    assert mine.tactics_played == (tuple(cards(["mud-fight"])), tuple(cards(["banshee"])))
    assert mine.discard == tuple(cards(["banshee"]))


@given(positions())
def test_nothing_but_hands_and_decks_is_hidden(game: Game) -> None:
    whole = game.position()
    for seat in (None, *SEATS):
        seen = whole.seen_by(seat)
        hidden = {name: getattr(whole, name) for name in ("hands", "clan_deck", "tactic_deck")}
        assert attrs.evolve(seen, **hidden) == whole
        assert seen.seen_by(None) == whole.seen_by(None)


def test_a_position_tells_how_far_a_recruiter_is() -> None:
    game = position("rules tactics\nhand recruiter r1\ndeck g1 g2 g3\ntactic-deck spy")
    do(game, "play recruiter", "draw clan")
    assert (game.position().draws_left, game.position().returns_left) == (2, 2)
    do(game, "draw clan", "draw clan", "return r1")
    assert (game.position().draws_left, game.position().returns_left) == (0, 1)


def test_the_discard_is_seen_in_its_order() -> None:
    game = position("rules tactics\nhand banshee r1\nstone 1 | r2")
    do(game, "play banshee r2 1")
    assert game.position().discard == tuple(cards(["banshee", "r2"]))


def test_a_side_that_is_complete_alone_has_been_so_for_longer() -> None:
    assert position("stone 1 r1 r2 r4 | g9").position().stones[0].complete_first == 0
    assert position("stone 1 g9 | r1 r2 r4").position().stones[0].complete_first == 1


def test_the_opponent_hears_of_a_returned_card_only_which_deck_it_went_to() -> None:
    assert parse("return r5").public_text == "return clan"
    assert parse("return joker").public_text == "return tactic"
    assert parse("draw tactic").public_text == "draw tactic"
    assert parse("play strategist r5 3 6").public_text == "play strategist r5 3 6"


def test_a_position_does_not_change_when_the_game_goes_on() -> None:
    game = position("hand r5 r6\ndeck b1 b2")
    before = game.position()
    do(game, "play r5 1")
    assert before.stones[0].sides == ((), ())
    assert before.hands[0] == tuple(cards(["r5", "r6"]))


def test_nobody_decides_once_the_round_is_over() -> None:
    game = position("phase claim\nstone 4 r1 r2 r3 | owner:you\nstone 5 o7 o8 o9 |\nstone 6 y1 y2 y3 | owner:you")
    assert game.position().decides == 0
    do(game, "claim 5")
    assert (game.position().decides, game.position().stones_held) == (None, (3, 0))


@given(positions())
def test_a_game_continues_from_its_position(game: Game) -> None:
    assert Game.from_position(game.position()) == game


@pytest.mark.parametrize("seat", [None, *SEATS])
def test_no_game_continues_from_cards_that_lie_face_down(seat: int | None) -> None:
    seen = position("hand r1\ntheir-hand g1").position().seen_by(None if seat is None else SEATS[seat])
    with pytest.raises(PositionError, match="cards lie face down here, so the round cannot be continued"):
        Game.from_position(seen)


@given(positions())
def test_in_a_turned_position_each_seat_has_what_the_other_had(game: Game) -> None:
    before = game.position()
    turned = before.turned()
    assert turned.hands == (before.hands[1], before.hands[0])
    assert {turned.to_move, before.to_move} == set(SEATS)
    for stone, was in zip(turned.stones, before.stones, strict=True):
        assert stone.sides == (was.sides[1], was.sides[0])
        assert (stone.owner is None) == (was.owner is None)
        assert stone.owner is None or stone.owner != was.owner
    assert turned.turned() == before

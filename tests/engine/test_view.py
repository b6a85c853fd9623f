"""What a seat sees in positions where it matters."""

from engine.actions import parse
from engine.cards import SEATS
from engine.phase import Phase
from engine.view import HandSize, text_for_opponent, view
from tests.helpers.positions import cards, do, position


def test_a_view_holds_all_that_is_public_and_ones_own_hand() -> None:
    game = position(
        "rules tactics\nhand r5 joker\ntheir-hand g1 g2 spy\nstone 3 r1 r2 r3 | g9 mode:mud-fight\n"
        "stone 4 p1 p2 p3 | b1 b2 b3 first:theirs owner:opponent\ndiscard banshee\nplayed mud-fight | banshee\n"
        "deck o1 o2\ntactic-deck recruiter"
    )
    mine, theirs = view(game, SEATS[0]), view(game, SEATS[1])
    assert mine.hand == tuple(cards(["r5", "joker"]))
    assert theirs.hand == tuple(cards(["g1", "g2", "spy"]))
    assert mine.opponent_hand == HandSize(clan=2, tactic=1)
    assert theirs.opponent_hand == HandSize(clan=1, tactic=1)
    assert (mine.clan_deck, mine.tactic_deck) == (2, 1)
    assert (mine.phase, mine.to_move) == (Phase.PLAY, 0)
    assert mine.stones[2].yours == theirs.stones[2].theirs == tuple(cards(["r1", "r2", "r3"]))
    assert (mine.stones[2].needs, mine.stones[2].complete_first) == (4, None)
    assert (mine.stones[3].owner, mine.stones[3].complete_first) == (1, 1)
    assert mine.your_tactics == theirs.their_tactics == tuple(cards(["mud-fight"]))
    assert mine.discard == tuple(cards(["banshee"]))


def test_a_view_tells_how_far_a_recruiter_is() -> None:
    game = position("rules tactics\nhand recruiter r1\ndeck g1 g2 g3\ntactic-deck spy")
    do(game, "play recruiter", "draw clan")
    assert (view(game, SEATS[1]).draws_left, view(game, SEATS[1]).returns_left) == (2, 2)
    do(game, "draw clan", "draw clan", "return r1")
    assert (view(game, SEATS[0]).draws_left, view(game, SEATS[0]).returns_left) == (0, 1)


def test_the_discard_is_seen_in_its_order() -> None:
    game = position("rules tactics\nhand banshee r1\nstone 1 | r2")
    do(game, "play banshee r2 1")
    assert view(game, SEATS[1]).discard == tuple(cards(["banshee", "r2"]))


def test_a_side_that_is_complete_alone_has_been_so_the_longer() -> None:
    assert view(position("stone 1 r1 r2 r4 | g9"), SEATS[1]).stones[0].complete_first == 0


def test_the_opponent_hears_of_a_returned_card_only_which_deck_it_went_to() -> None:
    assert text_for_opponent(parse("return r5")) == "return clan"
    assert text_for_opponent(parse("return joker")) == "return tactic"
    assert text_for_opponent(parse("draw tactic")) == "draw tactic"
    assert text_for_opponent(parse("play strategist r5 3 6")) == "play strategist r5 3 6"


def test_a_view_does_not_change_when_the_game_goes_on() -> None:
    game = position("hand r5 r6\ndeck b1 b2")
    before = view(game, SEATS[0])
    do(game, "play r5 1")
    assert before.stones[0].yours == ()
    assert before.hand == tuple(cards(["r5", "r6"]))

"""Tests of the bot: positions, and what it has to play there. Run them with `python3 -m unittest`.

Add a test for each decision that you want to change: write down the position, see the test fail, then change the bot.
"""

import importlib
import unittest
from typing import Literal

from protocol.messages import CardCounts, Clock, GameState, Points, Request, StoneState, TacticsPlayed

bot = importlib.import_module("example_bots.greedy_starter")


def request(
    hand: str,
    mine: dict[int, str] | None = None,
    theirs: dict[int, str] | None = None,
    phase: Literal["play", "claim", "draw", "return"] = "play",
    legal: tuple[str, ...] = (),
) -> Request:
    """A request with these cards in my hand and on each side of some stones, such as request("r5 g3", mine={1: "r4"}).
    Without `legal`, every card of the hand can be played on every stone with room."""
    stones = [sides(number, mine or {}, theirs or {}) for number in range(1, 10)]
    cards = tuple(hand.split())
    open_stones = [number for number, stone in enumerate(stones, 1) if len(stone.yours) < stone.needs]
    plays = tuple(f"play {card} {number}" for card in cards for number in open_stones)
    state = GameState(
        hand=cards,
        stones=tuple(stones),
        decks=CardCounts(30, 0),
        opponent_hand=CardCounts(6, 0),
        discard=(),
        tactics_played=TacticsPlayed((), ()),
        recruiter=None,
        points=Points(0, 0),
    )
    return Request(id=1, phase=phase, legal=legal or plays, state=state, events=(), clock=Clock(None, None))


def sides(number: int, mine: dict[int, str], theirs: dict[int, str]) -> StoneState:
    yours, opposite = (tuple(side.get(number, "").split()) for side in (mine, theirs))
    return StoneState(yours, opposite, owner=None, needs=3, modes=(), complete_first=None)


class PlayTest(unittest.TestCase):
    def test_it_continues_a_colour_run(self) -> None:
        self.assertEqual(bot.choose(request("b1 r7 g5", mine={4: "r8 r9"})), "play r7 4")

    def test_it_prefers_three_of_a_kind_to_a_colour(self) -> None:
        asked = request("g2", mine={2: "r2 b2", 7: "g5 g9"}, legal=("play g2 7", "play g2 2"))
        self.assertEqual(bot.choose(asked), "play g2 2")

    def test_it_does_not_spoil_a_hope(self) -> None:
        self.assertNotEqual(bot.choose(request("g2 y1", mine={4: "r8 r9"})).split()[-1], "4")


class OtherPhasesTest(unittest.TestCase):
    def test_it_claims_what_it_can(self) -> None:
        asked = request("r1", phase="claim", legal=("claim 3", "done"))
        self.assertEqual(bot.choose(asked), "claim 3")

    def test_it_returns_its_lowest_card(self) -> None:
        asked = request("r9 g2 joker", phase="return", legal=("return r9", "return g2", "return joker"))
        self.assertEqual(bot.choose(asked), "return g2")


if __name__ == "__main__":
    unittest.main()

"""Explain why a claim holds, in words and numbers. Pure; the proof itself is in the engine."""

import enum
from bisect import bisect_left
from typing import Final, assert_never

import attrs

from engine.cards import BLIND_MANS_BLUFF, CARD_TEXTS, CLAN_CARDS, Card, Seat, Stone, other, stone_number
from engine.formations import INCOMPLETE, Formation, Strength, formation_and_total, side_strength
from engine.game import Game
from engine.proof import can_still_beat

_WORDS: Final = {
    Formation.COLOUR_RUN: "colour-run",
    Formation.ALIKE: "of a kind",
    Formation.COLOUR: "colour",
    Formation.RUN: "run",
    Formation.SUM: "sum",
}
_STRENGTHS: Final = range((max(Formation) + 1) * 64)  # contains every possible strength


class Ground(enum.Enum):
    """The rule that makes a claim hold."""

    STRONGER = "stronger"  # both sides are complete
    EARLIER = "earlier"  # both sides are complete and equal
    PROVEN = "proven"  # the other side is incomplete, and no completion beats this one
    TOO_FEW_CARDS = "too-few-cards"  # the other side can never be completed


@attrs.frozen
class Reason:
    """Why a player may claim a stone."""

    stone: int  # as players number it, 1 to 9
    ground: Ground
    own: str  # formation and total of the claimant's side
    other: str | None  # formation and total of the other side, as it is or at its best completion
    completion: tuple[str, ...] = ()  # the unseen cards of that completion

    def text(self, opponent: str) -> str:
        """The reason in one sentence; `opponent` is the name of the other player."""
        match self.ground:
            case Ground.STRONGER:
                return f"complete and stronger: {self.own} against {self.other}"
            case Ground.EARLIER:
                return f"equal, complete first: {self.own} on both sides"
            case Ground.TOO_FEW_CARDS:
                return f"proven: {self.own}, and too few unseen cards are left for {opponent} to complete that side"
            case Ground.PROVEN:
                cards, later = " ".join(self.completion), " as well, but later" if self.own == self.other else ""
                best = f"the best {opponent} can still make, with {cards}, is {self.other}{later}"
                return f"proven: {self.own}; {best}"
            case never:
                assert_never(never)


def strength_text(strength: Strength, needs: int) -> str:
    """Formation and total of a side that needs `needs` cards, such as "three of a kind 21"."""
    formation, total = formation_and_total(strength)
    count = {3: "three ", 4: "four "}[needs] if formation is Formation.ALIKE else ""
    return f"{count}{_WORDS[formation]} {total}"


def reason_for(game: Game, seat: Seat, stone: Stone) -> Reason:
    """Why `seat` may claim `stone`. `game` is the position before the claim."""
    mine, theirs = game.strengths[seat][stone], game.strengths[other(seat)][stone]
    side, needs = game.sides[other(seat)][stone], game.needs[stone]
    number, own = stone_number(stone), strength_text(mine, needs)
    if theirs != INCOMPLETE:
        return Reason(number, Ground.EARLIER if mine == theirs else Ground.STRONGER, own, strength_text(theirs, needs))
    blind = BLIND_MANS_BLUFF in game.modes[stone]
    if game.unseen.bit_count() < needs - len(side):
        return Reason(number, Ground.TOO_FEW_CARDS, own, None)
    best = best_completion(side, needs, blind, game.unseen)
    cards = _cards_for(best, side, needs, blind, game.unseen)
    return Reason(number, Ground.PROVEN, own, strength_text(best, needs), tuple(CARD_TEXTS[card] for card in cards))


def best_completion(side: tuple[Card, ...], needs: int, blind: bool, unseen: int) -> Strength:
    """The highest strength that the incomplete side can reach with unseen cards, of which there must be enough.

    It is the lowest strength that the side cannot beat, so a binary search with the engine's proof finds it.
    """
    held = bisect_left(
        _STRENGTHS, True, key=lambda target: not can_still_beat(side, needs, blind, unseen, Strength(target))
    )
    return Strength(_STRENGTHS[held])


def _cards_for(best: Strength, side: tuple[Card, ...], needs: int, blind: bool, unseen: int) -> tuple[Card, ...]:
    """Unseen cards that complete the side with strength `best`, chosen one by one: each is the first with which `best`
    is still possible."""
    length = len(side)
    below = Strength(best - 1)
    while len(side) < needs:
        for card in reversed(CLAN_CARDS):
            if unseen >> card & 1:
                longer, left = (*side, card), unseen & ~(1 << card)
                if len(longer) == needs:
                    reached = side_strength(longer, blind) == best
                else:
                    reached = can_still_beat(longer, needs, blind, left, below)
                if reached:
                    side, unseen = longer, left
                    break
        else:
            raise AssertionError("the proof says that such cards exist")
    return side[length:]

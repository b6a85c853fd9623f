"""What the bot `counting` thinks of a position: the chance to win each stone, and what each move does to them.

1. A *supply* says which cards a player may still place: those in the hand, and the unseen ones, each with a chance.
2. A *hope* is a formation that a side can still become, with the cards it needs for that. From the supply follows how
   likely the hope comes true.
3. A side pursues one hope. So its chance to reach a strength is the chance of its likeliest hope that is at least that
   strong. (Adding hopes up would overrate an empty side: one of its 42 colour-runs is nearly certain, but the same few
   cards cannot serve nine stones.)
4. My outlook and theirs give the chance of each stone, and the chances of all stones say how much each one matters
   for winning five of them or three adjacent ones.

Every move, with a clan card or a tactic card, is valued by the chances it leads to. The arena evaluates recorded rounds
with the same numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import product
from math import comb
from typing import Final, NamedTuple

from engine.cards import CARD_BY_TEXT, CLAN_CARDS, JOKER, Card, colour_of, is_clan, value_of
from engine.formations import WILD_VALUES, Formation, highest_total, one_colour, side_strength, strength
from example_bots.reading import Stone, after, cards, clan_mask, face_down, stones_of
from protocol.messages import GameState

# Found by experiment. A card in the hand may be needed on another stone, and each player draws half of the deck, but
# not all of it in time.
HELD: Final = 0.8
DRAWN: Final = 0.45
# What a tactic card in the hand is worth, where a won round is 1 and a lost one -1. It can wait for its best moment.
TACTIC_CARD: Final = 0.1


def wants_tactic_card(hand: Iterable[Card], played: int, played_by_them: int) -> bool:
    """Whether to draw a tactic card: only one at a time, and only while I may play it, because it takes the place of a
    clan card in the hand. `played` is how many I have played, `played_by_them` how many the opponent has."""
    return played <= played_by_them and all(map(is_clan, hand))


class Supply(NamedTuple):
    held: int  # both are bit masks of clan cards
    unseen: int
    chance: float  # of each unseen card


def supplies_of(hand: int, unseen: int, deck: int, opponents: int) -> tuple[Supply, Supply]:
    """My supply and theirs. I hold the clan cards `hand`; of the `unseen` ones, `deck` lie in the deck and `opponents`
    are in a hand that I do not see."""
    from_deck, from_hand = DRAWN * deck, HELD * opponents
    count = max(1, unseen.bit_count())
    return Supply(hand, unseen, from_deck / count), Supply(0, unseen, (from_deck + from_hand) / count)


class Hope(NamedTuple):
    strength: int
    needed: tuple[tuple[int, int], ...]  # a number of cards, and the bit mask of the cards that will do


class Valuation:
    """Values the moves of a position by the chances they lead to, each weighted by how much its stone matters."""

    def __init__(self, stones: Sequence[Stone], me: Supply, them: Supply, joker_is_dead: bool = False):
        self.stones = stones
        self.me = me
        self.them = them
        self.joker_is_dead = joker_is_dead  # a player may play only one joker
        self.chances = [stone_chance(stone, me, them) for stone in stones]

    @staticmethod
    def of(state: GameState) -> "Valuation":
        hand = clan_mask(cards(state.hand))
        supplies = supplies_of(hand, face_down(state) & ~hand, state.decks.clan, state.opponent_hand.clan)
        return Valuation(stones_of(state), *supplies, joker_is_dead="joker" in state.tactics_played.yours)

    @cached_property
    def weights(self) -> list[float]:
        return weights(self.chances)

    def expected_result(self) -> float:
        """From -1, a lost round, to 1, a won one."""
        return expected_result(self.chances)

    def value_of_play(self, move: str) -> float:
        if move in ("pass", "play recruiter"):
            # The better hand makes up for the recruiter, so it is played when placing a card would not help.
            return self.value(self.stones)
        stones, played = after(self.stones, move), CARD_BY_TEXT[move.split()[1]]
        return self.value(stones, without=played) if is_clan(played) else self.value(stones) - TACTIC_CARD

    def value_of_return(self, move: str) -> float:
        card = CARD_BY_TEXT[move.split()[1]]
        if is_clan(card):
            return self.value(self.stones, without=card)
        return self.value(self.stones) - (0 if card == JOKER and self.joker_is_dead else TACTIC_CARD)

    def value(self, stones: Sequence[Stone], without: Card | None = None) -> float:
        me = self.me if without is None else self.me._replace(held=self.me.held & ~(1 << without))
        chances = [stone_chance(stone, me, self.them) for stone in stones]
        return sum(weight * chance for weight, chance in zip(self.weights, chances, strict=True))


def weights(chances: Sequence[float]) -> list[float]:
    """For each stone: how much the expected result improves by winning it, if the others are won by their chances."""
    found, results = [], _RESULTS
    for n in reversed(range(9)):  # in `results`, the stones after this one are already averaged
        lost, won = results[: 1 << n], results[1 << n :]
        [difference] = _averaged([b - a for a, b in zip(lost, won, strict=True)], chances[:n])
        found.append(difference)
        results = _averaged(results, chances[n : n + 1])
    return found[::-1]


def expected_result(chances: Sequence[float]) -> float:
    """From -1 to 1, if each stone is won by its chance."""
    [result] = _averaged(_RESULTS, chances)
    return result


def _averaged(results: Sequence[float], chances: Sequence[float]) -> Sequence[float]:
    """The results of all sets of won stones, averaged over the last stones, whose chances these are."""
    for chance in reversed(chances):
        half = len(results) // 2
        results = [a + chance * (b - a) for a, b in zip(results[:half], results[half:], strict=True)]
    return results


def _wins(stones: int) -> bool:
    return stones.bit_count() >= 5 or bool(stones & stones >> 1 & stones >> 2)


# By the set of stones that I win; the first stone is the lowest bit.
_RESULTS: Final[Sequence[float]] = [_wins(mine) - _wins(~mine & 0b111111111) for mine in range(512)]


@lru_cache(maxsize=1 << 12)
def stone_chance(stone: Stone, me: Supply, them: Supply) -> float:
    """The chance that I win the stone in the end."""
    if stone.owner is not None:
        return float(stone.owner == "you")
    theirs = outlook(stone.theirs, stone.needs, stone.blind, them)
    mine_wins = at_least_me = 0.0
    for reached, chance in outlook(stone.mine, stone.needs, stone.blind, me):
        to_beat_me = reached if stone.they_win_ties else reached + 1
        # Chances rise as strengths fall, so the lowest strength that beats me has the chance that any of them does.
        at_least_them = next((c for s, c in reversed(theirs) if s >= to_beat_me), 0.0)
        mine_wins += (chance - at_least_me) * (1 - at_least_them)
        at_least_me = chance
    return mine_wins


@lru_cache(maxsize=1 << 12)
def outlook(side: tuple[Card, ...], needs: int, blind: bool, supply: Supply) -> tuple[tuple[int, float], ...]:
    """Strengths in descending order, each with the chance that the side becomes at least that strong."""
    held, unseen, of_each = supply
    steps, best = [], 0.0
    for reached, needed in hopes(side, needs, blind):
        chance = 1.0
        for count, of in needed:
            chance *= chance_of(count, (of & held).bit_count(), (of & unseen).bit_count(), of_each)
            if chance <= best:
                break  # a stronger hope is at least as likely
        else:
            best = chance
            steps.append((reached, best))
    return tuple(steps)


@lru_cache(maxsize=1 << 12)
def chance_of(count: int, held: int, unseen: int, chance: float) -> float:
    """The chance to place `count` cards from `held` ones in the hand and `unseen` ones, each drawn with `chance`."""
    from_hand = min(count, held)
    too_few = range(min(count - from_hand, unseen + 1))
    fails = sum(comb(unseen, n) * chance**n * (1 - chance) ** (unseen - n) for n in too_few)
    return HELD**from_hand * (1 - fails)


@lru_cache(maxsize=1 << 14)
def hopes(side: tuple[Card, ...], needs: int, blind: bool) -> tuple[Hope, ...]:
    """All hopes of a side, the strongest first."""
    if len(side) == needs:
        return (Hope(side_strength(side, blind), ()),)
    return tuple(sorted(_sums(side, needs) if blind else _hopes(side, needs), reverse=True))


def _sums(side: tuple[Card, ...], needs: int) -> Iterator[Hope]:
    missing, total = needs - len(side), highest_total(side)
    for value in range(1, 10):
        yield Hope(strength(Formation.SUM, total + missing * value), ((missing, _cards(None, value, 9)),))


def _hopes(side: tuple[Card, ...], needs: int) -> Iterator[Hope]:
    yield from _sums(side, needs)
    missing, total = needs - len(side), highest_total(side)
    colours = {colour_of(card) for card in side if is_clan(card)} or set(range(6))
    if not one_colour(side):
        colours = set()
    for colour, value in product(colours, range(1, 10)):
        yield Hope(strength(Formation.COLOUR, total + missing * value), ((missing, _cards(colour, value, 9)),))
    for values in product(*([value_of(card)] if is_clan(card) else WILD_VALUES[card] for card in side)):
        for value in range(1, 10):
            if set(values) <= {value}:
                yield Hope(strength(Formation.ALIKE, needs * value), ((missing, _cards(None, value, value)),))
        for low in range(1, 11 - needs):
            span = range(low, low + needs)
            gaps = set(span) - set(values)
            if len(gaps) == missing:
                yield Hope(strength(Formation.RUN, sum(span)), tuple((1, _cards(None, v, v)) for v in gaps))
                for colour in colours:
                    needed = tuple((1, _cards(colour, v, v)) for v in gaps)
                    yield Hope(strength(Formation.COLOUR_RUN, sum(span)), needed)


@cache
def _cards(colour: int | None, low: int, high: int) -> int:
    """The cards of a colour, or of all colours, with a value from `low` to `high`."""
    return clan_mask(c for c in CLAN_CARDS if colour in (None, colour_of(c)) and low <= value_of(c) <= high)

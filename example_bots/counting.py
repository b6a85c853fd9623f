"""A bot that counts cards: it estimates the chance to win each stone, and makes the move that raises them the most.

1. A *supply* says which cards a player may still place: those in the hand, and the unseen ones, each with a chance.
2. A *hope* is a formation that a side can still become, with the cards it needs for that. From the supply follows how
   likely the hope comes true.
3. A side pursues one hope. So its chance to reach a strength is the chance of its likeliest hope that is at least that
   strong. (Adding hopes up would overrate an empty side: one of its 42 colour-runs is nearly certain, but the same few
   cards cannot serve nine stones.)
4. My outlook and theirs give the chance of each stone, and the chances of all stones say how much each one matters
   for winning five of them or three adjacent ones.

Every move, with a clan card or a tactic card, is valued by the chances it leads to.
"""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import product
from math import comb
from typing import Final, NamedTuple

from engine.cards import CARD_BY_TEXT, CLAN_CARDS, JOKER, Card, colour_of, is_clan, value_of
from engine.formations import WILD_VALUES, Formation, highest_total, one_colour, side_strength, strength
from example_bots.reading import Stone, after, cards, clan_mask, face_down, stones_of
from protocol.bot_runner import Request, run
from protocol.messages import GameState

# Found by experiment. A card in the hand may be needed on another stone, and each player draws half of the deck, but
# not all of it in time.
HELD: Final = 0.8
DRAWN: Final = 0.45
# What a tactic card in the hand is worth, where a won round is 1 and a lost one -1. It can wait for its best moment.
TACTIC_CARD: Final = 0.1


def choose(request: Request) -> str:
    match request.phase:
        case "claim":
            return next(move for move in request.legal if move != "done")
        case "play":
            return max(request.legal, key=Position(request.state).value_of_play)
        case "draw":
            return "draw tactic" if wants_tactic_card(request.state) else "draw clan"
        case "return":
            return max(request.legal, key=Position(request.state).value_of_return)


def wants_tactic_card(state: GameState) -> bool:
    """Whether to draw a tactic card: only one at a time, and only while I may play it, because it takes the place of a
    clan card in the hand."""
    may_play = len(state.tactics_played.yours) <= len(state.tactics_played.theirs)
    return may_play and all(map(is_clan, cards(state.hand)))


class Supply(NamedTuple):
    held: int  # both are bit masks of clan cards
    unseen: int
    chance: float  # of each unseen card


class Hope(NamedTuple):
    strength: int
    needed: tuple[tuple[int, int], ...]  # a number of cards, and the bit mask of the cards that will do


class Position:
    """Values the moves of a state by the chances they lead to, each weighted by how much its stone matters."""

    def __init__(self, state: GameState):
        self.stones = stones_of(state)
        self.joker_is_dead = "joker" in state.tactics_played.yours  # a player may play only one joker
        hand = clan_mask(cards(state.hand))
        unseen = face_down(state) & ~hand
        from_deck, from_hand = DRAWN * state.decks.clan, HELD * state.opponent_hand.clan
        count = max(1, unseen.bit_count())
        self.me = Supply(hand, unseen, from_deck / count)
        self.them = Supply(0, unseen, (from_deck + from_hand) / count)
        self.weights = weights([stone_chance(stone, self.me, self.them) for stone in self.stones])

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

    def expected_result(chances: Sequence[float]) -> float:
        likelihoods = [1.0]  # of each set of won stones; the first stone is the lowest bit
        for chance in chances:
            likelihoods = [x * (1 - chance) for x in likelihoods] + [x * chance for x in likelihoods]
        return sum(x * result for x, result in zip(likelihoods, _RESULTS, strict=True))

    return [
        expected_result([*chances[:n], 1, *chances[n + 1 :]]) - expected_result([*chances[:n], 0, *chances[n + 1 :]])
        for n in range(9)
    ]


def _wins(stones: int) -> bool:
    return stones.bit_count() >= 5 or bool(stones & stones >> 1 & stones >> 2)


_RESULTS: Final = [_wins(mine) - _wins(~mine & 0b111111111) for mine in range(512)]


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
    steps, best = [], 0.0
    for hope in hopes(side, needs, blind):
        chance = 1.0
        for count, of in hope.needed:
            held, unseen = (of & supply.held).bit_count(), (of & supply.unseen).bit_count()
            chance *= chance_of(count, held, unseen, supply.chance)
        if chance > best:
            best = chance
            steps.append((hope.strength, best))
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


if __name__ == "__main__":
    run(choose, name="counting")

"""A bot that counts: for each stone, how likely is it mine in the end? It plays the move that raises this the most."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import comb, prod
from typing import NamedTuple

import attrs

from engine.actions import Kind, parse
from engine.cards import CLAN_CARDS, Card, colour_of, is_clan, value_of
from engine.formations import WILD_VALUES, Formation, side_strength, strength
from example_bots.reading import STRENGTHS, Stone, after, cards, clan_mask, face_down, stones_of
from protocol.bot import Request, run

import os
MINE = float(os.environ.get("MINE", 0.5))
THEIRS = float(os.environ.get("THEIRS", 0.5))
HAND = float(os.environ.get("HAND", 0.9))
KEEP = float(os.environ.get("KEEP", 0.03))
LIMIT = int(os.environ.get("LIMIT", 1))


class Supply(NamedTuple):
    sure: int
    likely: int
    chance: float


class Hope(NamedTuple):
    strength: int
    family: tuple[int, int]
    needed: tuple[tuple[int, int], ...]


def mask_where(test) -> int:
    return clan_mask(card for card in CLAN_CARDS if test(card))

def _ms(colour, low, high):
    return mask_where(lambda c: low <= value_of(c) <= high and colour in (None, colour_of(c)))
MASKS = {(colour, low, high): _ms(colour, low, high) for colour in (None, *range(6)) for low in range(1, 10) for high in {low, 9}}


@lru_cache(maxsize=1 << 14)
def hopes(side: tuple[Card, ...], needs: int, blind: bool) -> tuple[Hope, ...]:
    missing = needs - len(side)
    if not missing:
        return (Hope(side_strength(side, blind), (0, 0), ()),)
    colours = {colour_of(c) for c in side if is_clan(c)} or set(range(6))
    if len(colours) > 1 and any(is_clan(c) for c in side):
        colours = set()
    found = {}
    def add(formation, total, family, *needed):
        h = Hope(strength(formation, total), (formation, family), needed)
        found[h] = None
    for values in product(*((value_of(c),) if is_clan(c) else WILD_VALUES[c] for c in side)):
        for floor in range(1, 10):
            add(Formation.SUM, sum(values) + missing * floor, 0, (missing, MASKS[None, floor, 9]))
        if blind:
            continue
        for floor in range(1, 10):
            for colour in colours:
                add(Formation.COLOUR, sum(values) + missing * floor, colour, (missing, MASKS[colour, floor, 9]))
        for v in range(1, 10):
            if set(values) <= {v}:
                add(Formation.ALIKE, needs * v, v, (missing, MASKS[None, v, v]))
        for low in range(1, 11 - needs):
            span = range(low, low + needs)
            gaps = set(span) - set(values)
            if len(gaps) == missing:
                for colour in colours:
                    add(Formation.COLOUR_RUN, sum(span), 10 * low + colour, *((1, MASKS[colour, g, g]) for g in gaps))
                add(Formation.RUN, sum(span), low, *((1, MASKS[None, g, g]) for g in gaps))
    return tuple(sorted(found, reverse=True))


@lru_cache(maxsize=1 << 14)
def at_least(count: int, sure: int, likely: int, chance: float) -> float:
    p = 0.0
    if count <= 0:
        return 1.0
    used = min(count, sure)
    count -= used
    return HAND**used * (1 - sum(comb(likely, k) * chance**k * (1 - chance) ** (likely - k) for k in range(count)))


@lru_cache(maxsize=1 << 12)
def reach(side: tuple[Card, ...], needs: int, blind: bool, supply: Supply) -> tuple[tuple[int, float], ...]:
    """strength, chance to reach at least it; strongest first"""
    fail = 1.0
    by_family = {}
    result = []
    for hope in hopes(side, needs, blind):
        p = 1.0
        for count, mask in hope.needed:
            p *= at_least(count, (mask & supply.sure).bit_count(), (mask & supply.likely).bit_count(), supply.chance)
        before = by_family.get(hope.family, 0.0)
        if p > before:
            fail *= (1 - p) / (1 - before)
            by_family[hope.family] = p
            result.append((hope.strength, 1 - fail))
            if fail < 0.001:
                break
    return tuple(result)


@lru_cache(maxsize=1 << 12)
def loses_to(side, needs, blind, supply) -> list[float]:
    """By strength: chance that the side ends at least that strong."""
    table = [0.0] * (STRENGTHS + 1)
    levels = reach(side, needs, blind, supply)
    lows = [s for s, _ in levels[1:]] + [-1]
    for (s, p) , low in zip(levels, lows):
        table[low+1:s+1] = [p] * (s - low)
    return table


def stone_chance(stone: Stone, me: Supply, them: Supply) -> float:
    if stone.mine_to_keep is not None:
        return float(stone.mine_to_keep)
    theirs = loses_to(stone.theirs, stone.needs, stone.blind, them)
    tie = 0 if stone.they_lead_ties else 1
    total = before = 0.0
    for s, p in reach(stone.mine, stone.needs, stone.blind, me):
        total += (p - before) * (1 - theirs[s + tie])
        before = p
    return total


def _result(mask: int) -> float:
    def won(m): return m.bit_count() >= 5 or bool(m & m >> 1 & m >> 2)
    return float(won(mask)) - float(won(511 & ~mask))
RESULTS = [_result(m) for m in range(512)]


def importance(chances: list[float]) -> list[float]:
    """how much winning this stone changes the round's expected result"""
    def worth(ps):
        weights = [1.0]
        for p in ps:
            weights = [w * (1 - p) for w in weights] + [w * p for w in weights]
        return sum(map(lambda w, r: w * r, weights, RESULTS))
    return [worth([*chances[:n], 1.0, *chances[n+1:]]) - worth([*chances[:n], 0.0, *chances[n+1:]]) for n in range(9)]


class Table:
    def __init__(self, state):
        self.stones = stones_of(state)
        self.hand = cards(state.hand)
        sure = clan_mask(self.hand)
        unseen = face_down(state) & ~sure
        count = max(unseen.bit_count(), 1)
        self.me = Supply(sure, unseen, MINE * state.decks.clan / count)
        self.them = Supply(0, unseen, min(1, (THEIRS * state.decks.clan + state.opponent_hand.clan * HAND) / count))
        self.weights = importance([stone_chance(s, self.me, self.them) for s in self.stones])

    def value(self, stones, without=0):
        me = self.me._replace(sure=self.me.sure & ~without)
        return sum(w * stone_chance(s, me, self.them) for w, s in zip(self.weights, stones))

    def play_value(self, move):
        words = move.split()
        if move == "pass":
            return self.value(self.stones)
        a = parse(move)
        if a.kind == Kind.PLACE and is_clan(a.card):
            return self.value(after(self.stones, move), 1 << a.card)
        return self.value(after(self.stones, move)) - KEEP


def choose(request: Request) -> str:
    if request.phase == "claim":
        return next(m for m in request.legal if m != "done")
    table = Table(request.state)
    if request.phase == "play":
        return max(request.legal, key=table.play_value)
    if request.phase == "draw":
        t = sum(not is_clan(c) for c in table.hand)
        return "draw tactic" if t < LIMIT else "draw clan"
    def ret(move):
        c = cards([move.split()[1]])[0]
        return table.value(table.stones, 1 << c) if is_clan(c) else table.value(table.stones) - KEEP
    return max(request.legal, key=ret)


if __name__ == "__main__":
    run(choose, name="counting")

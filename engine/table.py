"""All cards of a round and what follows from them. This module knows nothing about turns and phases.

What follows from the cards and is needed at every decision (`unclaimed`, `room`, `complete`, `strengths`, `unseen`) is
stored; `_side_changed`, `_show` and `_set_owner` keep it up to date, and `_derive` computes it for a new table.
"""

from bisect import insort

from engine.cards import ALL_CLAN_MASK, BLIND_MANS_BLUFF, MUD_FIGHT, SEATS, STONES, Card, Seat, Stone, is_clan, other
from engine.formations import INCOMPLETE, side_strength
from engine.legality import stones_in
from engine.proof import beating_cards

_ALL_STONES = (1 << 9) - 1


class Table:
    """The cards of a round, in hands, decks and on stones, and what follows from them."""

    def __init__(self, model: "Table | None" = None):
        """A table before the deal, or a copy of another one."""
        if model is not None:
            self._copy(model)
            return
        self.clan_deck: list[Card] = []  # top card last
        self.tactic_deck: list[Card] = []  # top card last
        self.hands: list[list[Card]] = [[], []]  # sorted
        self.sides: list[list[tuple[Card, ...]]] = [[()] * 9, [()] * 9]  # [seat][stone]
        self.modes: list[tuple[Card, ...]] = [()] * 9
        self.needs = [3] * 9
        self.owners: list[Seat | None] = [None] * 9
        self.complete_first: list[Seat | None] = [None] * 9
        self.discard: list[Card] = []
        self.tactics_played: list[list[Card]] = [[], []]
        # Derived. Sets of stones and of clan cards are bit masks.
        self.unclaimed = _ALL_STONES
        self.room = [_ALL_STONES, _ALL_STONES]  # unclaimed stones not full, by seat
        self.complete = [0, 0]  # stones with a complete side, by seat
        self.strengths = [[INCOMPLETE] * 9, [INCOMPLETE] * 9]
        self.unseen = ALL_CLAN_MASK  # clan cards that do not lie face up anywhere
        # By seat and stone: cards with which the rival could beat the seat's complete side when that was last asked; 0
        # if it was not, or could not. While they are unseen, the stone cannot be proven.
        self._doubts = [[0] * 9, [0] * 9]
        # The stones that changed, in order: not a part of the position, but tells what to update to those who show it.
        self.changes: list[Stone] = []

    def _copy(self, model: "Table") -> None:
        self.clan_deck = model.clan_deck.copy()
        self.tactic_deck = model.tactic_deck.copy()
        self.hands = [model.hands[0].copy(), model.hands[1].copy()]
        self.sides = [model.sides[0].copy(), model.sides[1].copy()]
        self.modes = model.modes.copy()
        self.needs = model.needs.copy()
        self.owners = model.owners.copy()
        self.complete_first = model.complete_first.copy()
        self.discard = model.discard.copy()
        self.tactics_played = [model.tactics_played[0].copy(), model.tactics_played[1].copy()]
        self.unclaimed = model.unclaimed
        self.room = model.room.copy()
        self.complete = model.complete.copy()
        self.strengths = [model.strengths[0].copy(), model.strengths[1].copy()]
        self.unseen = model.unseen
        self._doubts = [model._doubts[0].copy(), model._doubts[1].copy()]
        self.changes = model.changes.copy()

    def _take(self, seat: Seat, deck: list[Card]) -> None:
        """Move the top card of the deck to the hand."""
        insort(self.hands[seat], deck.pop())

    def _spend_tactic(self, seat: Seat, card: Card) -> None:
        self.hands[seat].remove(card)
        self.tactics_played[seat].append(card)

    def _show(self, card: Card) -> None:
        """Note that the card lies face up. A clan card that was seen once never counts as unseen again."""
        if is_clan(card):
            self.unseen &= ~(1 << card)

    def _add(self, seat: Seat, card: Card, stone: Stone) -> None:
        self.sides[seat][stone] += (card,)
        self._side_changed(seat, stone)

    def _remove(self, seat: Seat, card: Card, stone: Stone) -> None:
        self.sides[seat][stone] = tuple(c for c in self.sides[seat][stone] if c != card)
        self._side_changed(seat, stone)

    def _lay_mode(self, card: Card, stone: Stone) -> None:
        self.modes[stone] += (card,)
        if card == MUD_FIGHT:
            self.needs[stone] = 4
        for seat in SEATS:
            self._side_changed(seat, stone)

    def _set_owner(self, seat: Seat, stone: Stone) -> None:
        self.owners[stone] = seat
        self.changes.append(stone)
        self.unclaimed &= ~(1 << stone)
        for each in SEATS:
            self.room[each] &= ~(1 << stone)

    def _side_changed(self, seat: Seat, stone: Stone) -> None:
        """Update what follows from one side, after its cards or the stone's modes have changed."""
        self.changes.append(stone)
        self._doubts[0][stone] = self._doubts[1][stone] = 0
        side, bit = self.sides[seat][stone], 1 << stone
        if len(side) < self.needs[stone]:
            self.room[seat] |= bit
            self.complete[seat] &= ~bit
            self.strengths[seat][stone] = INCOMPLETE
            if self.complete_first[stone] == seat:
                still_complete = self.complete[other(seat)] & bit
                self.complete_first[stone] = other(seat) if still_complete else None
        else:
            self.room[seat] &= ~bit
            self.complete[seat] |= bit
            self.strengths[seat][stone] = side_strength(side, BLIND_MANS_BLUFF in self.modes[stone])
            if self.complete_first[stone] is None:
                self.complete_first[stone] = seat

    def _derive(self) -> None:
        """Compute everything that follows from the cards and the owners, for a table made from a position."""
        self.unclaimed = sum(1 << stone for stone, owner in enumerate(self.owners) if owner is None)
        for seat in SEATS:
            for stone in STONES:
                self._side_changed(seat, stone)
            self.room[seat] &= self.unclaimed
        for card in (*self.discard, *(card for sides in self.sides for side in sides for card in side)):
            self._show(card)


def provable_stones(table: Table, seat: Seat) -> int:
    """The stones that the seat can prove as the cards lie, as a bit mask, whether or not it may claim now."""
    rival, provable, unseen = other(seat), 0, table.unseen
    strengths, doubts = table.strengths, table._doubts[seat]
    for stone in stones_in(table.complete[seat] & table.unclaimed):
        if (doubt := doubts[stone]) and doubt & unseen == doubt:
            continue
        mine, theirs = strengths[seat][stone], strengths[rival][stone]
        if theirs == INCOMPLETE:
            blind = BLIND_MANS_BLUFF in table.modes[stone]
            doubts[stone] = beating_cards(table.sides[rival][stone], table.needs[stone], blind, unseen, mine)
            proven = not doubts[stone]
        else:
            proven = mine > theirs or (mine == theirs and table.complete_first[stone] == seat)
        if proven:
            provable |= 1 << stone
    return provable

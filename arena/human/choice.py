"""Choose a move step by step: a card, a stone, and for a ruse the card that it moves. Pure.

A choice is a row of slots, such as card and stone, of which one has the focus. Illegal options can be chosen too, so
that the player can ask why they are illegal.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from arena.human.view import ME, RIVAL, DecisionView
from engine.cards import CARD_TEXTS, STONES, card_texts, stone_number
from engine.phase import Phase
from engine.position import Position

PASS, DONE, DISCARD = "pass", "done", "discard"
_STONES: Final = tuple(str(stone_number(stone)) for stone in STONES)
_WORDS: Final = {Phase.PLAY: "play", Phase.CLAIM: "claim", Phase.DRAW: "draw", Phase.RETURN: "return"}
_CLAIM: Final = "claim"  # the label of that slot
_ALONE: Final = (PASS, DONE)  # moves without a word before them


@attrs.frozen
class Slot:
    label: str
    options: tuple[str, ...]
    chosen: str
    closed: frozenset[str]  # options with which the move cannot become legal


@attrs.frozen
class Cursor:
    """Where the player was at the last decision: the place of what was chosen, by label of a slot, and the focus."""

    places: Mapping[str, int] = attrs.field(factory=dict)
    focus: int = 0


@attrs.frozen(eq=False)
class Choice:
    view: DecisionView
    cursor: Cursor = attrs.field(factory=Cursor)
    wanted: tuple[str, ...] = ()  # what the player chose so far, by slot; each counts only where it is an option
    focus: int = 0

    @classmethod
    def begun(cls, view: DecisionView, cursor: Cursor) -> "Choice":
        """A new decision, with the cursor where it was."""
        fresh = cls(view, cursor)
        return attrs.evolve(fresh, focus=min(cursor.focus, len(fresh.slots) - 1))

    @property
    def slots(self) -> list[Slot]:
        """The slots with what is chosen in each: what the player wants, else of the options that can be legal the one
        nearest to the cursor."""
        slots: list[Slot] = []
        chosen: list[str] = []
        while found := _next_slot(self.view.position, chosen):
            label, options = found
            is_open = [option for option in options if self._text([*chosen, option]) in self.view.beginnings]
            wanted = self.wanted[len(slots)] if len(slots) < len(self.wanted) else ""
            chosen.append(wanted if wanted in options else self._nearest(label, options, is_open))
            slots.append(Slot(label, options, chosen[-1], frozenset(options) - frozenset(is_open)))
        return slots

    def _nearest(self, label: str, options: Sequence[str], is_open: Sequence[str]) -> str:
        was = self.cursor.places.get(label, 0)
        return min(is_open or options, key=lambda option: abs(options.index(option) - was))

    @property
    def left_at(self) -> Cursor:
        """The cursor for the next decision. A claim always begins with the first stone that can be claimed: a cursor on
        `done` would give it away."""
        slots = self.slots
        places = {slot.label: slot.options.index(slot.chosen) for slot in slots if slot.label != _CLAIM}
        return Cursor({**self.cursor.places, **places}, self.focus if len(slots) > 1 else self.cursor.focus)

    @property
    def move(self) -> str:
        """The move that is chosen; it may be illegal."""
        return self._text([slot.chosen for slot in self.slots])

    @property
    def stone(self) -> str | None:
        """The stone in the slot that has the focus, or else in the last slot that names one."""
        slots = self.slots
        named = [slot.chosen.split()[-1] for slot in (*slots, slots[self.focus]) if slot.chosen.split()[-1] in _STONES]
        return named[-1] if named else None

    def pressed(self, key: str) -> "Choice":
        """The choice after an arrow key: left and right change what is chosen, up and down change the slot."""
        slots = self.slots
        if key in ("up", "down", "tab"):
            step = -1 if key == "up" else 1
            return attrs.evolve(self, focus=min(max(self.focus + step, 0), len(slots) - 1))
        slot = slots[self.focus]
        place = slot.options.index(slot.chosen) + (1 if key == "right" else -1)
        return self._with(self.focus, slot.options[place % len(slot.options)])

    def at_stone(self, number: str) -> "Choice":
        """The choice with this stone in the slot that has the focus, or else in the last slot that names stones. In a
        slot of cards that lie on stones it is the next card on this one."""
        slots = self.slots
        for place in (self.focus, *reversed(range(len(slots)))):
            slot = slots[place]
            if there := [option for option in slot.options if option.split()[-1] == number]:
                after = there.index(slot.chosen) + 1 if slot.chosen in there else 0
                return self._with(place, there[after % len(there)])
        return self

    def _with(self, place: int, option: str) -> "Choice":
        wanted = [slot.chosen for slot in self.slots]
        wanted[place] = option
        return attrs.evolve(self, wanted=tuple(wanted))

    def with_first(self, option: str) -> "Choice":
        return attrs.evolve(self, wanted=(option,), focus=0)

    def _text(self, chosen: Sequence[str]) -> str:
        if chosen[0] in _ALONE:
            return chosen[0]
        return " ".join([_WORDS[self.view.phase], *chosen])


def _next_slot(position: Position, chosen: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """The label and options of the slot after these; None if the move is complete."""
    hand = tuple(dict.fromkeys(card_texts(position.hands[ME])))
    if not chosen:
        match position.phase:
            case Phase.PLAY:
                return "card", (*hand, PASS)
            case Phase.CLAIM:
                return _CLAIM, (*_STONES, DONE)
            case Phase.DRAW:
                return "draw", ("clan", "tactic")
            case _:
                return "return", hand
    if position.phase is not Phase.PLAY:
        return None
    match chosen:
        case ["pass" | "recruiter"]:
            return None
        case ["strategist"]:
            return _slot_of("move", _cards_on_stones(position, ME))
        case ["banshee"]:
            return _slot_of("remove", _cards_on_stones(position, RIVAL))
        case ["traitor"]:
            return _slot_of("take", _cards_on_stones(position, RIVAL))
        case ["strategist", _]:
            return "to", (*_STONES, DISCARD)
        case ["traitor", _]:
            return "to", _STONES
        case [_]:
            return "stone", _STONES
    return None


def _slot_of(label: str, options: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
    """The slot of a ruse; None if there is no card that it could move."""
    return (label, options) if options else None


def _cards_on_stones(position: Position, seat: int) -> tuple[str, ...]:
    """Cards on unclaimed stones, each with its stone, as moves name them."""
    return tuple(
        f"{CARD_TEXTS[card]} {number}"
        for number, stone in zip(_STONES, position.stones, strict=True)
        if stone.owner is None
        for card in stone.sides[seat]
    )

"""Choose a move step by step: a card, a stone, and for a ruse the card that it moves. Pure.

A choice is a row of slots, such as card and stone, of which one has the focus. Illegal options can be chosen too, so
that the player can ask why they are illegal.
"""

from collections.abc import Sequence
from typing import Final

import attrs

from arena.human.view import ME, RIVAL, View
from engine.cards import CARD_TEXTS, STONES, card_texts, stone_number
from engine.phase import Phase
from engine.position import Position

PASS, DONE, DISCARD = "pass", "done", "discard"
_STONES: Final = tuple(str(stone_number(stone)) for stone in STONES)
_WORDS: Final = {Phase.PLAY: "play", Phase.CLAIM: "claim", Phase.DRAW: "draw", Phase.RETURN: "return"}
_ALONE: Final = (PASS, DONE)  # moves without a word before them


@attrs.frozen
class Slot:
    label: str
    options: tuple[str, ...]
    chosen: str
    closed: frozenset[str]  # options with which the move cannot become legal


@attrs.frozen(eq=False)
class Choice:
    view: View
    wanted: tuple[str, ...] = ()  # what the player chose so far, by slot; each counts only where it is an option
    focus: int = 0

    @property
    def slots(self) -> list[Slot]:
        """The slots with what is chosen in each: what the player wants, else the first option that can be legal."""
        slots: list[Slot] = []
        chosen: list[str] = []
        while found := _next_slot(self.view.position, chosen):
            label, options = found
            is_open = [option for option in options if self._text([*chosen, option]) in self.view.beginnings]
            wanted = self.wanted[len(slots)] if len(slots) < len(self.wanted) else ""
            chosen.append(wanted if wanted in options else next(iter(is_open), options[0]))
            slots.append(Slot(label, options, chosen[-1], frozenset(options) - frozenset(is_open)))
        return slots

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
        wanted = [each.chosen for each in slots]
        wanted[self.focus] = slot.options[place % len(slot.options)]
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
                return "claim", (*_STONES, DONE)
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

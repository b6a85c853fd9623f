"""All actions of the game, and their text (the notation).

Actions are interned: equal actions are the same object, so they are compared by identity, and listing legal actions
allocates none.
"""

import enum
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import Final

import attrs

from engine.arguments import A_TEXT, Given, checked
from engine.cards import (
    BANSHEE,
    CARD_BY_TEXT,
    CARD_TEXTS,
    CLAN_CARDS,
    COMBAT_MODES,
    ELITE_TROOPS,
    RECRUITER,
    STONES,
    STRATEGIST,
    TACTIC_CARDS,
    TRAITOR,
    Card,
    Stone,
    is_clan,
    stone_number,
)
from engine.errors import NotationError


class Kind(enum.Enum):
    """What an action does. A place, for one, is a card played on a stone."""

    PLACE = "place"  # a clan card or an elite troop
    MODE = "mode"
    RECRUITER = "recruiter"
    STRATEGIST = "strategist"
    BANSHEE = "banshee"
    TRAITOR = "traitor"
    PASS = "pass"
    CLAIM = "claim"
    DONE = "done"
    DRAW_CLAN = "draw clan"
    DRAW_TACTIC = "draw tactic"
    RETURN = "return"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is written in Python and slow


_NO_CARD: Final = Card(-1)
_NO_STONE: Final = Stone(-1)


@attrs.frozen(eq=False, repr=False)
class Action:
    """One action of a player. There is one instance for each text; use `parse` or the tables of this module."""

    kind: Kind
    text: str
    card: Card = _NO_CARD  # the card that is placed, moved, removed or returned
    stone: Stone = _NO_STONE  # where the card goes, or where a ruse takes it from
    target: Stone | None = None  # where a ruse moves the card; None means to the discard

    @property
    def public_text(self) -> str:
        """The action as the opponent and spectators may see it: for a returned card, only the deck that it goes to."""
        if self.kind is Kind.RETURN:
            return "return clan" if is_clan(self.card) else "return tactic"
        return self.text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.text}>"

    def __reduce__(self) -> tuple[object, ...]:
        """Make copying and unpickling return the interned action."""
        return parse, (self.text,)


PLACEABLE: Final = (*CLAN_CARDS, *ELITE_TROOPS)
# Some of these moves are never legal: a combat mode cannot be moved, the traitor cannot take an elite troop, the
# strategist must choose another stone. They are actions nevertheless, so that the error names the rule.
MOVABLE: Final = (*PLACEABLE, *COMBAT_MODES)


def _on_stones(kind: Kind, verb: str, card: Card) -> tuple[Action, ...]:
    return tuple(Action(kind, f"{verb} {CARD_TEXTS[card]} {stone_number(s)}", card, s) for s in STONES)


PASS: Final = Action(Kind.PASS, "pass")
DONE: Final = Action(Kind.DONE, "done")
DRAW_CLAN: Final = Action(Kind.DRAW_CLAN, "draw clan")
DRAW_TACTIC: Final = Action(Kind.DRAW_TACTIC, "draw tactic")
DRAWS: Final = (DRAW_CLAN, DRAW_TACTIC)
PLAY_RECRUITER: Final = Action(Kind.RECRUITER, "play recruiter", RECRUITER)
CLAIMS: Final = tuple(Action(Kind.CLAIM, f"claim {stone_number(s)}", stone=s) for s in STONES)
RETURNS: Final = tuple(Action(Kind.RETURN, f"return {CARD_TEXTS[card]}", card) for card in (*CLAN_CARDS, *TACTIC_CARDS))
PLACES: Final = {card: _on_stones(Kind.PLACE, "play", card) for card in PLACEABLE}
MODES: Final = {card: _on_stones(Kind.MODE, "play", card) for card in COMBAT_MODES}


BANSHEES: Final = {card: _on_stones(Kind.BANSHEE, f"play {CARD_TEXTS[BANSHEE]}", card) for card in MOVABLE}


# There are many ruses that name two stones, and they are rarely needed: each row is made on first use.
@cache
def strategist_actions(card: Card, stone: Stone) -> tuple[Action, ...]:
    """Strategist plays that move `card` from `stone`, indexed by the target stone; the tenth is to the discard."""
    moved = f"play {CARD_TEXTS[STRATEGIST]} {CARD_TEXTS[card]} {stone_number(stone)}"
    to_stones = (Action(Kind.STRATEGIST, f"{moved} {stone_number(to)}", card, stone, to) for to in STONES)
    return (*to_stones, Action(Kind.STRATEGIST, f"{moved} discard", card, stone))


@cache
def traitors(card: Card, stone: Stone) -> tuple[Action, ...]:
    """Traitor plays that take `card` from `stone`, indexed by the target stone."""
    taken = f"play {CARD_TEXTS[TRAITOR]} {CARD_TEXTS[card]} {stone_number(stone)}"
    return tuple(Action(Kind.TRAITOR, f"{taken} {stone_number(to)}", card, stone, to) for to in STONES)


def every_action() -> Iterator[Action]:
    """Each action that has a text, whether or not it can ever be legal, in a fixed order."""
    yield from (PASS, DONE, *DRAWS, PLAY_RECRUITER, *CLAIMS, *RETURNS)
    for table in (PLACES, MODES, BANSHEES):
        for actions in table.values():
            yield from actions
    for card in MOVABLE:
        for stone in STONES:
            yield from strategist_actions(card, stone)
            yield from traitors(card, stone)


def grouped(actions: Iterable[Action]) -> list[str]:
    """`play r5 1 2 3` for three actions in a row that differ in the last word only."""
    parts = (action.text.rpartition(" ") for action in actions)
    groups = groupby(parts, key=lambda each: each[0])
    return [" ".join([start, *(last for *_, last in group)]).strip() for start, group in groups]


@cache
def _by_text() -> dict[str, Action]:
    return {action.text: action for action in every_action()}


def parse(text: Given[str]) -> Action:
    """The action with this text. Each action has exactly one text: lower case, single spaces, nothing around it. Raises
    NotationError, which says what is wrong with the text."""
    try:
        return _by_text()[text]  # type: ignore[index]
    except (KeyError, TypeError):  # a TypeError for what cannot be hashed
        raise NotationError(_explain(checked(text, str, A_TEXT))) from None


_FORMS: Final = {
    "play": "play r5 3, play joker 3, play mud-fight 3, play recruiter, play strategist r5 3 6, "
    "play strategist r5 3 discard, play banshee b7 4, play traitor b7 4 2",
    "claim": "claim 4",
    "done": "done",
    "draw": "draw clan, draw tactic",
    "return": "return r5",
    "pass": "pass",
}
_FORMS_OF_RUSES: Final = {
    "recruiter": "play recruiter",
    "strategist": "play strategist r5 3 6, play strategist r5 3 discard",
    "banshee": "play banshee b7 4",
    "traitor": "play traitor b7 4 2",
}
_LONGEST_QUOTE: Final = 60  # characters of an invalid text, so that an error stays one readable line


def quoted(text: str) -> str:
    """An untrusted text, escaped and shortened for an error message."""
    return ascii(text) if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]!a}... ({len(text)} characters)"


def _explain(text: str) -> str:
    """Why `text` is not an action, and what would have been right."""
    verb, *words = text.split(" ")
    tidy = " ".join(text.lower().split()) if len(text) <= _LONGEST_QUOTE else ""
    if tidy in _by_text():
        hint = f"write it in lower case with single spaces, {tidy!r}"
    elif verb not in _FORMS:
        hint = f"actions look like {', '.join(_FORMS.values())}"
    elif verb in ("play", "return") and words and words[0] not in CARD_BY_TEXT:
        tactics = ", ".join(CARD_TEXTS[card] for card in TACTIC_CARDS)
        cards = f"cards are a colour of r o y g b p and a value of 1 to 9, like r5, and {tactics}"
        hint = f"{quoted(words[0])} is not a card; {cards}"
    elif wrong := [word for word in words if word.isdigit() and word not in _STONE_TEXTS]:
        hint = f"stones are numbered 1 to 9, not {quoted(wrong[0])}"
    elif verb == "play" and words:
        hint = f"it is written {_FORMS_OF_RUSES.get(words[0], f'play {words[0]} 3')}"
    else:
        hint = f"it is written {_FORMS[verb]}"
    return f"{quoted(text)} is not an action: {hint}"


_STONE_TEXTS: Final = {str(stone_number(stone)) for stone in STONES}

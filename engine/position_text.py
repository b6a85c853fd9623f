"""A position as a text that people can read and write: one line for each thing, in any order.

    rules tactics            the rule set; base if there is no such line
    to-move opponent         who decides; you (seat 0) if there is no such line
    phase claim              what has to be decided: claim, play, draw, return, or over; play if there is no such line
    hand r5 joker            your hand
    their-hand g1 g2         the opponent's hand
    stone 3 r1 r2 r3 | g9    your cards on stone 3 | the opponent's, in the order in which they were placed
    stone 3 r1 r2 r3 | g9 g8 g7 first:theirs mode:mud-fight owner:you
    discard banshee r9
    face-up y1 y2            clan cards that count as seen: they are put on the discard
    face-down o9             the opposite: every other clan card counts as seen
    played joker | banshee   the tactic cards that you | the opponent played
    deck r1 r2               the clan deck, top first; `deck` alone is an empty deck
    tactic-deck spy          likewise
    draws-left 2             of a recruiter that is being played
    returns-left 2           likewise
    returned clan tactic |   what you | the opponent returned with a recruiter and is still at the bottom of its deck
    idle 1                   turns without effect just before this one
    effect no                whether something was played, claimed or drawn in this turn

Without a line for a deck, it holds all cards that are not named elsewhere. A card that lies face down is written `clan`
or `tactic`, several as `31*clan`. Empty lines and lines that begin with # are ignored.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Final, TypeVar

import attrs

from engine.actions import quoted
from engine.arguments import A_POSITION, A_TEXT, Given, checked
from engine.cards import BACK_BY_TEXT, CLAN_CARDS, SEATS, TACTIC_DECK, Card, Seat, card_texts, cards_from_texts
from engine.errors import NotationError, PositionError
from engine.phase import Phase
from engine.position import Cards, Position, StonePosition
from engine.position_check import HANDS, check
from engine.ruleset import RULE_SETS, ClaimTime, RuleSet

_SEATS: Final = {"you": SEATS[0], "opponent": SEATS[1]}
_SEAT_WORDS: Final = {seat: word for word, seat in _SEATS.items()}
_SIDES: Final = {"yours": SEATS[0], "theirs": SEATS[1]}
_PHASES: Final = {phase.value: phase for phase in Phase}
_YES_NO: Final = {"yes": True, "no": False}
_WORDS: Final = (
    "rules", "to-move", "phase", *HANDS, "stone", "discard", "face-up", "face-down", "played", "deck", "tactic-deck",
    "draws-left", "returns-left", "returned", "idle", "effect",
)  # fmt: skip
_TAGS: Final = "first:yours, first:theirs, owner:you, owner:opponent, mode:mud-fight, mode:blind-mans-bluff"
_STONE_FORM: Final = "a stone is written like: stone 3 r1 r2 | g9 owner:you"
_EMPTY_STONE: Final = StonePosition()
_FACE_DOWN: Final = r"(?:([1-9][0-9]?)\*)?(clan|tactic)"
_PLAYED_FORM: Final = "tactic cards played are written like: played joker | banshee"
_RETURNED_FORM: Final = "returned cards are written face down, like: returned clan tactic |"

T = TypeVar("T")


def position_from_text(text: Given[str]) -> Position:
    """The position that the text describes. Raises PositionError, which names the line that is wrong."""
    lines = _Lines(checked(text, str, A_TEXT))
    try:
        position = _read(lines)
        check(position)
    except PositionError as error:
        raise lines.located(error) from None
    return position


def with_line(error: PositionError, text: str) -> PositionError:
    """The same error with the number of the line in the text that it is about, if there is such a line."""
    return error if error.line is not None else _Lines(text).located(error)


class _Lines:
    """The lines of a text by how they begin ("hand", "stone 3")."""

    def __init__(self, text: str):
        self._found: dict[str, tuple[int, list[str]]] = {}
        for number, line in enumerate(text.split("\n"), 1):
            words = line.split()
            if words and not words[0].startswith("#"):
                self._add(number, words)

    def _add(self, number: int, words: list[str]) -> None:
        start, rest = words[0], words[1:]
        if start not in _WORDS:
            problem = f"{quoted(start)} does not begin a line of a position; lines begin with {', '.join(_WORDS)}"
            raise PositionError(problem, line=number)
        if start == "stone":
            if not rest or rest[0] not in tuple("123456789"):
                raise PositionError(f"stones are numbered 1 to 9; {_STONE_FORM}", line=number)
            start, rest = f"stone {rest[0]}", rest[1:]
        if start in self._found:
            raise PositionError(f"{start} already stands in line {self._found[start][0]}; write it once", line=number)
        self._found[start] = number, rest

    def __contains__(self, start: str) -> bool:
        return start in self._found

    def words(self, start: str) -> list[str]:
        return self._found.get(start, (0, []))[1]

    def located(self, error: PositionError) -> PositionError:
        if error.where not in self._found:
            return error
        return PositionError(error.problem, error.where, self._found[error.where][0])

    # What follows the first word of a line.

    def choice(self, start: str, choices: Mapping[str, T], default: T) -> T:
        if start not in self:
            return default
        words = self.words(start)
        if len(words) != 1 or words[0] not in choices:
            found = quoted(" ".join(words)) if words else "nothing"
            raise PositionError(f"{start} is one of {', '.join(choices)}, not {found}", start)
        return choices[words[0]]

    def number(self, start: str) -> int:
        return self.choice(start, {str(number): number for number in range(4)}, 0)

    def cards(self, start: str) -> list[Card]:
        return self.read_cards(start, self.words(start))

    def read_cards(self, start: str, words: Iterable[str]) -> list[Card]:
        try:
            return [card for word in words for card in _cards(word)]
        except NotationError as error:
            raise PositionError(str(error), start) from None

    def halves(self, start: str, words: list[str], form: str) -> tuple[Cards, Cards]:
        if words.count("|") != 1:
            raise PositionError(f"there is {'no' if '|' not in words else 'more than one'} bar; {form}", start)
        bar = words.index("|")
        return tuple(self.read_cards(start, words[:bar])), tuple(self.read_cards(start, words[bar + 1 :]))

    def stone(self, start: str) -> StonePosition:
        if start not in self:
            return StonePosition()
        words = self.words(start)
        modes: list[Card] = []
        owner: Seat | None = None
        first: Seat | None = None
        for tag, _, value in [word.partition(":") for word in words if ":" in word]:
            match tag:
                case "mode":
                    modes += self.read_cards(start, [value])
                case "owner" if value in _SEATS:
                    owner = _SEATS[value]
                case "first" if value in _SIDES:
                    first = _SIDES[value]
                case _:
                    raise PositionError(f"{quoted(f'{tag}:{value}')} is not one of {_TAGS}", start)
        sides = self.halves(start, [word for word in words if ":" not in word], _STONE_FORM)
        stone = StonePosition(sides, tuple(modes), owner, first)
        if first is None:
            first = next((seat for seat in SEATS if stone.is_complete(seat)), None)
        return attrs.evolve(stone, complete_first=first)


def _cards(word: str) -> Iterable[Card]:
    """The card that the word names, or the cards that lie face down."""
    if found := re.fullmatch(_FACE_DOWN, word):
        return [BACK_BY_TEXT[found[2]]] * int(found[1] or 1)
    return cards_from_texts([word])


def _read(lines: _Lines) -> Position:
    rules = lines.choice("rules", RULE_SETS, RuleSet())
    phase = lines.choice("phase", _PHASES, Phase.PLAY)
    idle = lines.number("idle")
    stones = tuple(lines.stone(f"stone {number}") for number in range(1, 10))
    hands = tuple(sorted(lines.cards("hand"))), tuple(sorted(lines.cards("their-hand")))
    placed = [card for stone in stones for card in (*stone.sides[0], *stone.sides[1], *stone.modes)]
    discard = [*lines.cards("discard"), *lines.cards("face-up")]
    if "face-down" in lines:
        face_down = lines.cards("face-down")
        discard += [card for card in CLAN_CARDS if card not in (*face_down, *placed, *discard)]
    played = lines.halves("played", lines.words("played"), _PLAYED_FORM) if "played" in lines else ((), ())
    returned = lines.halves("returned", lines.words("returned"), _RETURNED_FORM) if "returned" in lines else ((), ())
    lying = Counter(placed) + Counter(discard)
    used = Counter(hands[0]) + Counter(hands[1]) + (lying | Counter(played[0]) + Counter(played[1]))
    return Position(
        rules=rules,
        stones=stones,
        hands=hands,
        clan_deck=_deck(lines, "deck", CLAN_CARDS, used),
        tactic_deck=_deck(lines, "tactic-deck", TACTIC_DECK if rules.tactics else (), used),
        discard=tuple(discard),
        tactics_played=played,
        phase=phase,
        to_move=lines.choice("to-move", _SEATS, SEATS[0]),
        draws_left=lines.number("draws-left"),
        returns_left=lines.number("returns-left"),
        turn_had_effect=lines.choice("effect", _YES_NO, _usual_effect(rules, phase, idle)),
        idle_turns=idle,
        returned=returned,
    )


def _deck(lines: _Lines, start: str, all_cards: Iterable[Card], used: Counter[Card]) -> Cards:
    if start in lines:
        return tuple(lines.cards(start))
    return tuple(reversed(list((Counter(all_cards) - used).elements())))


def _usual_effect(rules: RuleSet, phase: Phase, idle: int) -> bool:
    """The default of `effect`: whether a turn that has reached this phase has usually had an effect."""
    if phase is Phase.OVER:
        return idle < 2
    return phase in (Phase.DRAW, Phase.RETURN) or (phase is Phase.CLAIM and rules.claims is ClaimTime.AFTER_PLAY)


def position_to_text(position: Given[Position]) -> str:
    """The text that `position_from_text` reads, without lines that only state a default."""
    return "\n".join(_lines(checked(position, Position, A_POSITION))) + "\n"


def _lines(position: Position) -> Iterator[str]:
    yield f"rules {position.rules.name}"
    if position.to_move != SEATS[0]:
        yield "to-move opponent"
    yield f"phase {position.phase.value}"
    for start, hand in zip(HANDS, position.hands, strict=True):
        yield _line(start, hand)
    for number, stone in enumerate(position.stones, 1):
        if stone != _EMPTY_STONE:
            yield _stone_line(number, stone)
    if position.discard:
        yield _line("discard", position.discard)
    if any(position.tactics_played):
        yield _line("played", position.tactics_played[0]) + _line(" |", position.tactics_played[1])
    yield _line("deck", position.clan_deck)
    if position.rules.tactics:
        yield _line("tactic-deck", position.tactic_deck)
    for start, value in (("draws-left", position.draws_left), ("returns-left", position.returns_left)):
        if value:
            yield f"{start} {value}"
    if any(position.returned):
        yield _line("returned", position.returned[0]) + _line(" |", position.returned[1])
    if position.idle_turns:
        yield f"idle {position.idle_turns}"
    if position.turn_had_effect is not _usual_effect(position.rules, position.phase, position.idle_turns):
        yield f"effect {'yes' if position.turn_had_effect else 'no'}"


@lru_cache(maxsize=1 << 12)  # in the next position of a round, most lines are the same; about 1 MB when full
def _line(start: str, cards: Cards) -> str:
    return " ".join([start, *_words(cards)])


def _words(cards: Cards) -> Iterable[str]:
    """The words for cards; those that lie face down are counted, as in `31*clan`."""
    texts = card_texts(cards)
    if BACK_BY_TEXT.keys().isdisjoint(texts):
        return texts
    words: list[str] = []
    for text, alike in groupby(texts):
        count = len(list(alike))
        words += [f"{count}*{text}"] if count > 1 and text in BACK_BY_TEXT else [text] * count
    return words


def _stone_line(number: int, stone: StonePosition) -> str:
    text = _line(f"stone {number}", stone.sides[0]) + _line(" |", stone.sides[1])
    if stone.complete_first == SEATS[1] and stone.is_complete(SEATS[0]):
        text += " first:theirs"
    text += "".join(f" mode:{mode}" for mode in card_texts(stone.modes))
    return text if stone.owner is None else f"{text} owner:{_SEAT_WORDS[stone.owner]}"

"""Which positions are refused because they cannot come up in a round. Not every such position is recognised. Every
problem says what is wrong and what would be right.

A position may leave out cards that do not matter, as the examples of SPEC.md do.
Seat 0 is "you", as in the text of a position.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Final

from engine.actions import PLACEABLE
from engine.cards import (
    CLAN_BACK,
    CLAN_CARDS,
    COMBAT_MODES,
    JOKER,
    SEATS,
    TACTIC_BACK,
    TACTIC_DECK,
    Card,
    Stone,
    back_of,
    card_texts,
    other,
    stone_number,
)
from engine.errors import PositionError
from engine.phase import Phase
from engine.position import Cards, Position, StonePosition
from engine.scoring import won_by_stones

Problem = tuple[str, str]  # how the line of the text begins, and what is wrong with it

HANDS: Final = ("hand", "their-hand")  # by seat
_WHOSE: Final = ("you", "the opponent")
_SIDES: Final = ("your side", "the opponent's side")
_COPIES: Final = Counter(CLAN_CARDS) + Counter(TACTIC_DECK)
BLOCKED_AFTER: Final = 2  # turns without effect
MOST_DRAWS, MOST_RETURNS = 3, 2  # what a recruiter draws and returns


def check(position: Position) -> None:
    """Check what a single position shows of being possible. Raises PositionError for the first problem."""
    for problems in (_decks, _cards, _hands, _stones, _tactics_played, _phase, _recruiter, _returned, _course):
        for where, problem in problems(position):
            raise PositionError(problem, where)


def check_face_up(position: Position) -> None:
    """Check that all cards lie face up. Raises PositionError if the position hides cards."""
    if hidden := face_down(position):
        raise PositionError("cards lie face down here, so the round cannot be continued; name them", hidden[0])


def face_down(position: Position) -> list[str]:
    """The places where cards lie face down, named as in the text of a position."""
    return [where for where, _, cards in _places(position) if CLAN_BACK in cards or TACTIC_BACK in cards]


def _text(card: Card) -> str:
    return card_texts((card,))[0]


def _places(position: Position) -> Iterator[tuple[str, str, Cards]]:
    """For each place: how its line of the text begins, the place in words, and the cards there."""
    yield HANDS[0], "in your hand", position.hands[0]
    yield HANDS[1], "in the opponent's hand", position.hands[1]
    for number, stone in enumerate(position.stones, 1):
        yield f"stone {number}", f"on stone {number}", (*stone.sides[0], *stone.sides[1], *stone.modes)
    yield "discard", "on the discard", position.discard
    yield "deck", "in the clan deck", position.clan_deck
    yield "tactic-deck", "in the tactic deck", position.tactic_deck


def _decks(position: Position) -> Iterator[Problem]:
    for where, deck, back in (
        ("deck", position.clan_deck, CLAN_BACK),
        ("tactic-deck", position.tactic_deck, TACTIC_BACK),
    ):
        for card in deck:
            if back_of(card) != back:
                yield where, f"{_text(card)} is not a {_text(back)} card, so it belongs in the other deck"


def _cards(position: Position) -> Iterator[Problem]:
    places = list(_places(position))
    counts = Counter([card for _, _, cards in places for card in cards])
    for card, count in counts.items():
        most = _COPIES.get(card, count)
        holders = ((where, place) for where, place, cards in places for each in cards if each == card)
        if back_of(card) == TACTIC_BACK and not position.rules.tactics:
            yield next(holders)[0], f"{_text(card)} is a tactic card, but the rules {position.rules.name} have none"
        if count > most:
            # The problem is where the first copy is that is one too many; the text names the place of the first copy.
            (_, first), *_, (where, _) = islice(holders, most + 1)
            yield where, f"{_text(card)} is already {first}; {_there_is(most)}"
    # Nobody knows which card a back is; but backs and open cards together are at most all cards.
    for where, back, every in (("deck", CLAN_BACK, CLAN_CARDS), ("tactic-deck", TACTIC_BACK, TACTIC_DECK)):
        if counts[back] and (total := counts[back] + sum(counts[card] for card in {*every})) > len(every):
            yield where, f"{total} {_text(back)} cards are in this position, but there are only {len(every)}"


def _there_is(copies: int) -> str:
    return "there is only one" if copies == 1 else f"there are only {copies}"


def _hands(position: Position) -> Iterator[Problem]:
    for seat in SEATS:
        most = position.rules.hand_limit
        if seat == position.to_move and position.returns_left:
            most += position.returns_left - position.draws_left
        if len(position.hands[seat]) > most:
            yield HANDS[seat], f"the hand has {len(position.hands[seat])} cards, but at most {most} are possible here"


def _stones(position: Position) -> Iterator[Problem]:
    if len(position.stones) != 9:
        yield "stone", f"there are {len(position.stones)} stones instead of 9"
    for index, stone in enumerate(position.stones):
        number = stone_number(Stone(index))
        for problem in _stone(stone, number):
            yield f"stone {number}", problem


def _stone(stone: StonePosition, number: int) -> Iterator[str]:
    for card in stone.modes:
        if card not in COMBAT_MODES:
            yield f"{_text(card)} is not a combat mode; combat modes are {' and '.join(card_texts(COMBAT_MODES))}"
    for seat in SEATS:
        side = stone.sides[seat]
        for card in side:
            if card not in PLACEABLE:
                yield f"{_text(card)} cannot lie on a side; clan cards and elite troops can"
        if len(side) > stone.needs:
            hint = "" if stone.needs == 4 else " without mud-fight"
            yield f"{_SIDES[seat]} of stone {number} has {len(side)} cards, but the limit is {stone.needs}{hint}"
        if stone.owner == seat and not stone.is_complete(seat):
            state = f"with {len(side)} of {stone.needs} cards on {_SIDES[seat]}"
            yield f"{_WHOSE[seat]} cannot own stone {number} {state}; a claim needs all of them"
    complete = [seat for seat in SEATS if stone.is_complete(seat)]
    if stone.complete_first not in complete and (complete or stone.complete_first is not None):
        if stone.complete_first is None:
            yield f"a side of stone {number} is complete, so one of them was complete first"
        else:
            yield f"{_SIDES[stone.complete_first]} of stone {number} is not complete, so it was not complete first"


def _tactics_played(position: Position) -> Iterator[Problem]:
    unplayed = Counter([*position.hands[0], *position.hands[1], *position.tactic_deck])
    for seat in SEATS:
        mine, theirs = position.tactics_played[seat], position.tactics_played[other(seat)]
        for card in mine:
            if card not in TACTIC_DECK or not position.rules.tactics:
                yield "played", f"{_text(card)} is not a tactic card of the rules {position.rules.name}"
            unplayed[card] += 1
            if unplayed[card] > _COPIES[card]:
                yield "played", f"{_text(card)} was played, but is also in a hand or in the deck"
        if mine.count(JOKER) > 1:
            yield "played", f"{_WHOSE[seat]} played two jokers, but each player may play only one"
        if len(mine) > len(theirs) + 1:
            ahead = f"{_WHOSE[seat]} played {len(mine)} tactic cards and the other player {len(theirs)}"
            yield "played", f"{ahead}, but a player may be at most one ahead"


def _phase(position: Position) -> Iterator[Problem]:
    if position.phase is not Phase.DRAW:
        return
    if not (position.clan_deck and position.tactic_deck):
        yield "phase", "there is nothing to choose in a draw while a deck is empty; the card is drawn automatically"
    if not position.draws_left and len(position.hands[position.to_move]) >= position.rules.hand_limit:
        yield "phase", f"a hand of {position.rules.hand_limit} cards is full, so nothing is drawn"


def _recruiter(position: Position) -> Iterator[Problem]:
    draws, returns = position.draws_left, position.returns_left
    if not position.rules.tactics and (draws or returns or position.phase is Phase.RETURN):
        yield "rules", f"there is no recruiter in {position.rules.name}: it is a tactic card"
    if not 0 <= draws <= MOST_DRAWS:
        yield "draws-left", f"a recruiter has 0 to {MOST_DRAWS} draws left, not {draws}"
    if not 0 <= returns <= MOST_RETURNS:
        yield "returns-left", f"a recruiter has 0 to {MOST_RETURNS} returns left, not {returns}"
    if draws and (position.phase is not Phase.DRAW or returns != MOST_RETURNS):
        yield "draws-left", f"draws are left only in the phase draw, and then {MOST_RETURNS} returns as well"
    if position.phase is Phase.RETURN:
        if not returns:
            yield "phase", "cards are returned only by a recruiter; say how many with returns-left 1 or returns-left 2"
        if not position.hands[position.to_move]:
            yield "phase", f"{_WHOSE[position.to_move]} cannot return a card from an empty hand"
    elif returns and not draws:
        yield "returns-left", "returns are left only in the phase return, or while draws are left"


def _returned(position: Position) -> Iterator[Problem]:
    if not any(position.returned):
        return
    cards = [*position.returned[0], *position.returned[1]]
    if strange := [card for card in cards if card not in (CLAN_BACK, TACTIC_BACK)]:
        yield (
            "returned",
            f"a returned card is written face down, clan or tactic; {_text(strange[0])} belongs to its deck",
        )
    if all(position.returned):
        yield "returned", "only one player can have returned cards: there is one recruiter"
    if not position.rules.tactics:
        yield "returned", f"nothing is returned in {position.rules.name}: the recruiter is a tactic card"
    if len(cards) > MOST_RETURNS - position.returns_left:
        yield (
            "returned",
            f"{len(cards)} cards are returned, but only {MOST_RETURNS - position.returns_left} can be here",
        )
    for deck, back in ((position.clan_deck, CLAN_BACK), (position.tactic_deck, TACTIC_BACK)):
        if cards.count(back) > len(deck):
            yield "returned", f"{cards.count(back)} {_text(back)} cards are returned, but the deck has {len(deck)}"


def _course(position: Position) -> Iterator[Problem]:
    """Problems of a round that is over though the rules do not end it, or the other way round."""
    blocked = position.idle_turns == BLOCKED_AFTER
    if not 0 <= position.idle_turns <= BLOCKED_AFTER:
        yield "idle", f"0 to {BLOCKED_AFTER} turns in a row can be without effect, not {position.idle_turns}"
    winners = [seat for seat in SEATS if won_by_stones(position.owners, seat)]
    if len(winners) == 2:
        yield "stone", "both players hold enough stones to win, but the round ends when the first of them does"
    if position.phase is Phase.OVER:
        if not winners and not blocked:
            yield "phase", f"the round is not over: neither player has won, and there is no line idle {BLOCKED_AFTER}"
        if len(winners) == 1 and winners[0] != position.to_move:
            yield "to-move", f"{_WHOSE[winners[0]]} won by a claim, so it was the winner's turn"
    elif winners:
        yield "phase", f"{_WHOSE[winners[0]]} won with these stones, so the phase is over"
    elif blocked:
        yield "idle", f"after {BLOCKED_AFTER} turns without effect the round is blocked, so the phase is over"

"""One moment of a round as a frozen value: all that decides how the round continues, and what each seat may see of it.

`Game.position()` makes one, `Game.from_position()` continues from it, `engine.position_text` writes it as a text.
`seen_by` hides cards by replacing each card that may not be seen by its back.
"""

from typing import TYPE_CHECKING

import attrs

from engine.arguments import Given, checked_seat
from engine.cards import CLAN_BACK, MUD_FIGHT, SEATS, TACTIC_BACK, Card, Seat, back_of, other
from engine.phase import Phase
from engine.ruleset import RuleSet

if TYPE_CHECKING:
    from engine.game import Game

Cards = tuple[Card, ...]


@attrs.frozen
class StonePosition:
    """One stone: the cards on its sides, the combat modes on it, who has claimed it."""

    sides: tuple[Cards, Cards] = ((), ())  # by seat, the newest card last
    modes: Cards = ()
    owner: Seat | None = None
    complete_first: Seat | None = None  # the seat whose side has been complete for longer

    @property
    def needs(self) -> int:
        """The number of cards that makes a side complete."""
        return 4 if MUD_FIGHT in self.modes else 3

    def is_complete(self, seat: Seat) -> bool:
        """Whether the side of this seat has as many cards as the stone needs."""
        return len(self.sides[seat]) >= self.needs

    def turned(self) -> "StonePosition":
        """The same stone with the seats exchanged."""
        owner, first = (None if seat is None else other(seat) for seat in (self.owner, self.complete_first))
        return StonePosition((self.sides[1], self.sides[0]), self.modes, owner, first)


@attrs.frozen(kw_only=True)
class Position:
    """One moment of a round, from which `Game.from_position` continues. A card that lies face down is its back."""

    rules: RuleSet
    stones: tuple[StonePosition, ...]
    hands: tuple[Cards, Cards]  # sorted
    clan_deck: Cards  # top card first
    tactic_deck: Cards  # top card first
    discard: Cards
    tactics_played: tuple[Cards, Cards]
    phase: Phase
    to_move: Seat  # who decides; once the round is over, who decided last
    draws_left: int = 0  # of a recruiter that is being played
    returns_left: int = 0
    turn_had_effect: bool = False  # something was played, claimed or drawn in this turn
    idle_turns: int = 0  # in a row, before this turn
    # By seat, the backs of the cards that it returned with a recruiter and that still lie at the bottom of their decks:
    # only that seat knows them.
    returned: tuple[Cards, Cards] = ((), ())

    @staticmethod
    def of(game: "Game") -> "Position":
        """The position in which the game stands."""
        stones = zip(*game.sides, game.modes, game.owners, game.complete_first, strict=True)
        return Position(
            rules=game.rules,
            stones=tuple([StonePosition((a, b), modes, owner, first) for a, b, modes, owner, first in stones]),
            hands=(tuple(game.hands[0]), tuple(game.hands[1])),
            clan_deck=tuple(reversed(game.clan_deck)),
            tactic_deck=tuple(reversed(game.tactic_deck)),
            discard=tuple(game.discard),
            tactics_played=(tuple(game.tactics_played[0]), tuple(game.tactics_played[1])),
            phase=game.phase,
            to_move=game.to_move,
            draws_left=game.draws_left,
            returns_left=game.returns_left,
            turn_had_effect=game.turn_had_effect,
            idle_turns=game.idle_turns,
            returned=_undrawn(game) if any(game.returned) else game.returned,
        )

    def seen_by(self, seat: Given[Seat | None]) -> "Position":
        """What the seat may see: everything public, its own hand, and the cards that it returned with a recruiter, as
        long as they lie at the bottom of their decks. None sees only what is public."""
        if seat is not None:
            seat = checked_seat(seat)
        a, b = (hand if seat == holder else _face_down(hand) for holder, hand in zip(SEATS, self.hands, strict=True))
        known = () if seat is None else self.returned[seat]
        return attrs.evolve(
            self,
            hands=(a, b),
            clan_deck=_face_down(self.clan_deck, known.count(CLAN_BACK)),
            tactic_deck=_face_down(self.tactic_deck, known.count(TACTIC_BACK)),
        )

    def turned(self) -> "Position":
        """The same position with the seats exchanged."""
        return attrs.evolve(
            self,
            stones=tuple([stone.turned() for stone in self.stones]),
            hands=(self.hands[1], self.hands[0]),
            tactics_played=(self.tactics_played[1], self.tactics_played[0]),
            to_move=other(self.to_move),
            returned=(self.returned[1], self.returned[0]),
        )

    @property
    def decides(self) -> Seat | None:
        """The seat that has to decide; None once the round is over."""
        return None if self.phase is Phase.OVER else self.to_move

    @property
    def owners(self) -> tuple[Seat | None, ...]:
        """The seats that have claimed the stones, left to right; None for a stone that nobody has claimed."""
        return tuple([stone.owner for stone in self.stones])

    @property
    def stones_held(self) -> tuple[int, int]:
        """The number of stones that each seat has claimed."""
        return self.owners.count(SEATS[0]), self.owners.count(SEATS[1])


def _face_down(cards: Cards, known: int = 0) -> Cards:
    """The cards face down, except for the last ones, which are known."""
    hidden = len(cards) - known
    return (*sorted(map(back_of, cards[:hidden])), *cards[hidden:])


def _undrawn(game: "Game") -> tuple[Cards, Cards]:
    """The returned cards that have not been drawn: nothing is ever put below them, so that they are drawn last."""
    clan, tactic = len(game.clan_deck), len(game.tactic_deck)
    a, b = (
        (CLAN_BACK,) * min(clan, backs.count(CLAN_BACK)) + (TACTIC_BACK,) * min(tactic, backs.count(TACTIC_BACK))
        for backs in game.returned
    )
    return a, b

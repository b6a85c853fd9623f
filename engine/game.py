"""One round of Schotten Totten: who must decide what, and what each decision does.

`Game` is the one mutable object of the engine: the table with its cards, and the course of the turns.
"""

from collections.abc import Callable
from typing import Final

from engine.actions import Action, Kind
from engine.arguments import A_POSITION, A_RULE_SET, A_TEXT, AN_ACTION, Given, checked, checked_seat, unexpected
from engine.cards import BANSHEE, SEATS, STRATEGIST, TRAITOR, Card, Seat, back_of, is_clan, other
from engine.deal import Deal
from engine.drawing import drawing
from engine.errors import IllegalActionError, PositionError
from engine.legality import legal_rows, reason_illegal
from engine.phase import CLAIM, DRAW, PLAY, Phase
from engine.position import Cards, Position
from engine.position_check import MOST_DRAWS, MOST_RETURNS, check, check_face_up
from engine.position_text import position_from_text, position_to_text, with_line
from engine.ruleset import ClaimTime, RuleSet
from engine.scoring import Ending, Outcome, won_by_stones
from engine.table import Table, provable_stones

_TURN_START: Final = ClaimTime.TURN_START  # as in phase.py


class Game(Table):
    """A round being played. `new` deals one, `from_position` and `from_text` continue from a position.

    Its attributes, such as `hands`, `phase` and `outcome`, are there to be read; only `apply` changes them, and only as
    the rules allow. It keeps no history: a `GameRecord` holds the actions of a round.
    """

    def __init__(self, model: object = None, *more: object):
        """A copy of another game, or, if the model is only a table, a game before the deal."""
        if more or not isinstance(model, Table):
            raise TypeError(f"a game begins with a deal or in a position: use {_WAYS_TO_BEGIN}")
        super().__init__(model)
        game = model if isinstance(model, Game) else None
        self.rules: RuleSet = game.rules if game else RuleSet()
        self.to_move: Seat = game.to_move if game else SEATS[0]
        self.phase: Phase = game.phase if game else PLAY
        self.draws_left: int = game.draws_left if game else 0  # of a recruiter
        self.returns_left: int = game.returns_left if game else 0  # of a recruiter
        self.returned: tuple[Cards, Cards] = game.returned if game else ((), ())  # by seat, the backs, drawn or not
        # Whether something was played, claimed or drawn in this turn, and the turns in a row without that, before it.
        self.turn_had_effect: bool = game.turn_had_effect if game else False
        self.idle_turns: int = game.idle_turns if game else 0
        # The stones that the player to move can prove, in a claim phase; a bit mask.
        self.claimable: int = game.claimable if game else 0
        self.outcome: Outcome | None = game.outcome if game else None

    @staticmethod
    def new(rules: Given[RuleSet], deal: Given[Deal], first: Given[Seat]) -> "Game":
        """The game after the deal; the seat `first` begins. Raises DealError if these are not the cards of the game."""
        rules, first = checked(rules, RuleSet, A_RULE_SET), checked_seat(first)
        deal = checked(deal, Deal, "a Deal, such as Deal.from_seed('7', rules.tactics)")
        deal.check(rules.tactics)
        game = Game(_UNDEALT)
        game.rules = rules
        game.clan_deck, game.tactic_deck = list(reversed(deal.clan)), list(reversed(deal.tactics))
        for _ in range(rules.hand_limit):
            for seat in (first, other(first)):
                game._take(seat, game.clan_deck)
        game._start_turn(first)
        return game

    @staticmethod
    def from_position(position: Given[Position]) -> "Game":
        """A game that continues exactly like the one that the position was taken from.

        Raises PositionError for a position that cannot come up, and for one in which cards lie face down.
        """
        position = checked(position, Position, A_POSITION)
        check(position)
        check_face_up(position)
        return standing_at(position)

    @staticmethod
    def from_text(text: Given[str]) -> "Game":
        """The game in the position that the text describes (see `engine.position_text`). Raises PositionError."""
        text = checked(text, str, A_TEXT)
        try:
            return Game.from_position(position_from_text(text))
        except PositionError as error:
            raise with_line(error, text) from None

    def position(self) -> Position:
        """All that decides how the game continues, as a frozen value. Its method `seen_by` hides what is secret."""
        return Position.of(self)

    def to_text(self) -> str:
        """The text of the position, which `from_text` reads."""
        return position_to_text(self.position())

    def legal_actions(self) -> list[Action]:
        """All actions that the player to move may take, in a fixed order; none once the round is over."""
        return [action for row in legal_rows(self) for action in row.actions]

    def is_legal(self, action: Given[Action]) -> bool:
        """Whether the player to move may take this action."""
        return reason_illegal(self, checked(action, Action, AN_ACTION)) is None

    def apply(self, action: Given[Action]) -> None:
        """Apply the action of the player to move, and everything that follows automatically up to the next decision.

        Raises IllegalActionError, and changes nothing, if the rules do not allow it.
        """
        try:
            handler = _HANDLERS[action.kind]  # type: ignore[union-attr]
        except (AttributeError, KeyError):  # asking for its type instead would take two hundredths of the time
            raise unexpected(action, AN_ACTION) from None
        if reason := reason_illegal(self, action):  # type: ignore[arg-type]
            raise IllegalActionError(reason)
        handler(self, action)  # type: ignore[arg-type]

    def copy(self) -> "Game":
        """Another game that stands the same. What is applied to one does not change the other."""
        return Game(self)

    def __reduce__(self) -> tuple[object, ...]:
        """Let games be pickled and copied by `copy.copy`, although they cannot be made without arguments."""
        return standing_at, (self.position(),)

    def __eq__(self, game: object) -> bool:
        """Whether both games stand the same and continue in the same way, however they came about."""
        return isinstance(game, Game) and self.position() == game.position() and self._derived() == game._derived()

    def _derived(self) -> tuple[object, ...]:
        """What follows from the position, but is stored."""
        derived = self.needs, self.unclaimed, self.room, self.complete, self.strengths, self.unseen
        return *derived, self.claimable, self.outcome

    def __str__(self) -> str:
        """The board, with all cards."""
        return drawing(self.position())

    def __repr__(self) -> str:
        return f"Game.from_text({self.to_text()!r})"

    def _enter_phase(self) -> None:
        """Compute what follows from the phase, for a game that was made from a position."""
        if self.phase is CLAIM:
            self.claimable = provable_stones(self, self.to_move)
            if not self.claimable:
                raise PositionError("no stone can be claimed, so there is no claim phase", "phase")
        elif self.phase is Phase.OVER:
            for seat in SEATS:
                if ending := won_by_stones(self.owners, seat):
                    self._finish(seat, ending)
                    return
            self._finish_blocked()

    # The course of a turn: each step leads to the next one until a player has to decide.

    def _start_turn(self, seat: Seat) -> None:
        self.to_move = seat
        self.turn_had_effect = False
        if self.rules.claims is _TURN_START:
            self._enter_claims()
        else:
            self.phase = PLAY

    def _after_play(self) -> None:
        if self.rules.claims is _TURN_START:
            self._enter_draw()
        else:
            self._enter_claims()

    def _enter_claims(self) -> None:
        self.claimable = provable_stones(self, self.to_move)
        if self.claimable:
            self.phase = CLAIM
        else:
            self._after_claims()

    def _after_claims(self) -> None:
        self.claimable = 0
        if self.rules.claims is _TURN_START:
            self.phase = PLAY
        else:
            self._enter_draw()

    def _enter_draw(self) -> None:
        if len(self.hands[self.to_move]) < self.rules.hand_limit:
            if self.clan_deck and self.tactic_deck:
                self.phase = DRAW
                return
            if deck := self.clan_deck or self.tactic_deck:
                self._take(self.to_move, deck)
                self.turn_had_effect = True
        self._end_turn()

    def _end_turn(self) -> None:
        self.idle_turns = 0 if self.turn_had_effect else self.idle_turns + 1
        if self.idle_turns == 2:
            self._finish_blocked()
        else:
            self._start_turn(other(self.to_move))

    def _finish_blocked(self) -> None:
        held = [self.owners.count(seat) for seat in SEATS]
        winner = None if held[0] == held[1] else SEATS[held[1] > held[0]]
        self._finish(winner, Ending.BLOCKED)

    def _finish(self, winner: Seat | None, ending: Ending) -> None:
        self.phase = Phase.OVER
        self.claimable = 0
        self.outcome = Outcome.of(winner, ending, self.owners)

    # One handler for each kind of action, called after `reason_illegal` found no reason.

    def _spend_ruse(self, card: Card) -> None:
        self._spend_tactic(self.to_move, card)
        self.discard.append(card)
        self.turn_had_effect = True

    def _place(self, action: Action) -> None:
        card, seat = action.card, self.to_move
        if is_clan(card):
            self.hands[seat].remove(card)
            self.unseen &= ~(1 << card)
        else:
            self._spend_tactic(seat, card)
        self._add(seat, card, action.stone)
        self.turn_had_effect = True
        self._after_play()

    def _mode(self, action: Action) -> None:
        self._spend_tactic(self.to_move, action.card)
        self._lay_mode(action.card, action.stone)
        self.turn_had_effect = True
        self._after_play()

    def _recruiter(self, action: Action) -> None:
        self._spend_ruse(action.card)
        self.draws_left = MOST_DRAWS
        self.returns_left = MOST_RETURNS
        self._recruit()

    def _recruit(self) -> None:
        """Draw while there is no choice of deck, then wait for the returns."""
        while self.draws_left and (self.clan_deck or self.tactic_deck):
            if self.clan_deck and self.tactic_deck:
                self.phase = DRAW
                return
            self._take(self.to_move, self.clan_deck or self.tactic_deck)
            self.draws_left -= 1
        self.draws_left = 0
        self.phase = Phase.RETURN

    def _draw(self, action: Action) -> None:
        self._take(self.to_move, self.clan_deck if action.kind is Kind.DRAW_CLAN else self.tactic_deck)
        self.turn_had_effect = True
        if self.draws_left:
            self.draws_left -= 1
            self._recruit()
        else:
            self._end_turn()

    def _return(self, action: Action) -> None:
        hand = self.hands[self.to_move]
        hand.remove(action.card)
        deck = self.clan_deck if is_clan(action.card) else self.tactic_deck
        deck.insert(0, action.card)  # the bottom
        first, second = self.returned
        back = (back_of(action.card),)
        self.returned = (first, second + back) if self.to_move else (first + back, second)
        self.returns_left -= 1
        if not self.returns_left or not hand:
            self.returns_left = 0
            self._after_play()

    def _strategist(self, action: Action) -> None:
        self._spend_ruse(STRATEGIST)
        self._remove(self.to_move, action.card, action.stone)
        if action.target is None:
            self.discard.append(action.card)
        else:
            self._add(self.to_move, action.card, action.target)
        self._after_play()

    def _banshee(self, action: Action) -> None:
        self._spend_ruse(BANSHEE)
        self._remove(other(self.to_move), action.card, action.stone)
        self.discard.append(action.card)
        self._after_play()

    def _traitor(self, action: Action) -> None:
        assert action.target is not None
        self._spend_ruse(TRAITOR)
        self._remove(other(self.to_move), action.card, action.stone)
        self._add(self.to_move, action.card, action.target)
        self._after_play()

    def _claim(self, action: Action) -> None:
        seat = self.to_move
        self._set_owner(seat, action.stone)
        self.turn_had_effect = True
        if ending := won_by_stones(self.owners, seat):
            self._finish(seat, ending)
        else:
            self._enter_claims()


_UNDEALT: Final = Table()
_WAYS_TO_BEGIN: Final = "Game.new(rules, deal, first), Game.from_position(position) or Game.from_text(text)"


def standing_at(position: Position) -> Game:
    """The game in this position, which is not checked. Cards that lie face down stay so."""
    game = Game(_UNDEALT)
    game.rules = position.rules
    game.to_move = position.to_move
    game.clan_deck, game.tactic_deck = list(reversed(position.clan_deck)), list(reversed(position.tactic_deck))
    game.hands = [sorted(hand) for hand in position.hands]
    game.sides = [[stone.sides[seat] for stone in position.stones] for seat in SEATS]
    game.modes = [stone.modes for stone in position.stones]
    game.needs = [stone.needs for stone in position.stones]
    game.owners = list(position.owners)
    game.complete_first = [stone.complete_first for stone in position.stones]
    game.discard = list(position.discard)
    game.tactics_played = [list(played) for played in position.tactics_played]
    game.phase = position.phase
    game.draws_left = position.draws_left
    game.returns_left = position.returns_left
    game.returned = position.returned
    game.turn_had_effect = position.turn_had_effect
    game.idle_turns = position.idle_turns
    game._derive()
    game._enter_phase()
    return game


_HANDLERS: dict[Kind, Callable[[Game, Action], None]] = {
    Kind.PLACE: Game._place,
    Kind.MODE: Game._mode,
    Kind.RECRUITER: Game._recruiter,
    Kind.STRATEGIST: Game._strategist,
    Kind.BANSHEE: Game._banshee,
    Kind.TRAITOR: Game._traitor,
    Kind.PASS: lambda game, _: game._after_play(),
    Kind.CLAIM: Game._claim,
    Kind.DONE: lambda game, _: game._after_claims(),
    Kind.DRAW_CLAN: Game._draw,
    Kind.DRAW_TACTIC: Game._draw,
    Kind.RETURN: Game._return,
}

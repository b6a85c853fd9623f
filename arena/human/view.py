"""What a player knows of a round, from the messages of the protocol alone. Pure. The player is always seat 0 here.

The engine can explain moves only in a complete game. So the cards that the player does not see are put where they might
be, in any order: which moves are legal, and why others are not, does not depend on them. They are never shown.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import attrs

from arena.replay.claim_reasons import reason_for
from engine.actions import Kind, parse
from engine.cards import (
    CLAN_CARDS,
    SEATS,
    TACTIC_DECK,
    Card,
    Seat,
    cards_from_texts,
    is_clan,
)
from engine.errors import EngineError
from engine.game import Game
from engine.legality import reason_illegal
from engine.phase import Phase
from engine.position import Position, StonePosition
from engine.position_check import BLOCKED_AFTER
from engine.ruleset import RuleSet
from engine.scoring import won_by_stones
from protocol.messages import GameState, MoveEvent, Request, RoundStart, Side

ME, RIVAL = SEATS
_SEATS: Final[dict[Side | None, Seat | None]] = {"you": ME, "opponent": RIVAL, None: None}


@attrs.frozen(eq=False)
class DecisionView:
    """A decision, as the player sees it."""

    legal: tuple[str, ...]
    beginnings: frozenset[str]  # of legal moves, word by word, and the moves themselves
    position: Position  # with hidden cards face down
    _game: Game  # with hidden cards where they might be

    @property
    def phase(self) -> Phase:
        return self._game.phase

    def refusal(self, move: str) -> str:
        """Why a move that is not among the legal ones cannot be played."""
        try:
            why = reason_illegal(self._game, parse(move)) or "the server does not allow it now"
        except EngineError as error:
            return str(error)  # it quotes the move
        return f"{move}: {why}"

    def why_claim(self, move: str, opponent: str) -> str | None:
        """Why the claim holds; None if the move is not a legal claim."""
        if move not in self.legal or (action := parse(move)).kind is not Kind.CLAIM:
            return None
        return reason_for(self._game, ME, action.stone).text(opponent)

    def why_claimed(self, events: Sequence[MoveEvent]) -> dict[int, str]:
        """Why the opponent's claims among these events held, by the place of the event. The last event led to this
        position. Raises EngineError if an event is not a move."""
        before, reasons = self._game.copy(), {}
        for place, event in reversed([*enumerate(events)]):
            if event.move.startswith("return "):
                continue  # its card may be hidden
            action = parse(event.move)
            if action.kind is Kind.PLACE and is_clan(action.card):
                before.unseen |= 1 << action.card
            elif action.kind is Kind.CLAIM and event.by == "opponent" and before.owners[action.stone] == RIVAL:
                reasons[place] = reason_for(before, RIVAL, action.stone).text("you")  # no card moves on a claimed stone
        return reasons

    def after(self, move: str) -> Position:
        """The position after a legal move, without the cards that the player draws: nobody has told them yet."""
        game = self._game.copy()
        game.apply(parse(move))
        known = Counter(self._game.hands[ME]) & Counter(game.hands[ME])
        seen = game.position().seen_by(ME)
        return attrs.evolve(seen, hands=(tuple(sorted(known.elements())), seen.hands[RIVAL]))


def view_of(rules: RuleSet, request: Request) -> DecisionView:
    """The view of the player who gets this request. Raises EngineError if it cannot come from a round."""
    game = Game.from_position(_possible(rules, Phase(request.phase), request.state))
    legal = request.legal or tuple(action.text for action in game.legal_actions())
    beginnings = frozenset(" ".join(move.split()[:words]) for move in legal for words in range(1, 6))
    return DecisionView(legal, beginnings, game.position().seen_by(ME), game)


def last_view(rules: RuleSet, state: GameState) -> DecisionView:
    """The view when the round is over. Raises EngineError if it cannot come from a round."""
    owners = [_SEATS[stone.owner] for stone in state.stones]
    winner = next((seat for seat in SEATS if won_by_stones(owners, seat)), None)
    over = attrs.evolve(
        _possible(rules, Phase.OVER, state),
        to_move=ME if winner is None else winner,
        idle_turns=BLOCKED_AFTER if winner is None else 0,  # the engine knows nothing of rounds that end by a fault
        draws_left=0,
        returns_left=0,
    )
    game = Game.from_position(attrs.evolve(over, hands=((), ())))  # a recruiter may have left too many cards there
    return DecisionView((), frozenset(), over.seen_by(ME), game)


def opening(rules: RuleSet, start: RoundStart) -> Position:
    """The position after the deal. Raises EngineError if it cannot come from a round."""
    hand = _sorted(start.hand)
    hidden = [card for card in CLAN_CARDS if card not in hand]
    position = Position(
        rules=rules,
        stones=(StonePosition(),) * 9,
        hands=(hand, tuple(hidden[: rules.hand_limit])),
        clan_deck=tuple(hidden[rules.hand_limit :]),
        tactic_deck=TACTIC_DECK if rules.tactics else (),
        discard=(),
        tactics_played=((), ()),
        phase=Phase.PLAY,
        to_move=ME if start.first == "you" else RIVAL,
    )
    return position.seen_by(ME)


def _possible(rules: RuleSet, phase: Phase, state: GameState) -> Position:
    """A position that agrees with everything in the state."""
    hand, discard = _sorted(state.hand), cards_from_texts(state.discard)
    stones = tuple(
        StonePosition(
            sides=(cards_from_texts(stone.yours), cards_from_texts(stone.theirs)),
            modes=cards_from_texts(stone.modes),
            owner=_SEATS[stone.owner],
            complete_first=_SEATS[stone.complete_first],
        )
        for stone in state.stones
    )
    seen = [*hand, *discard, *(card for stone in stones for cards in (*stone.sides, stone.modes) for card in cards)]
    clan = _hidden(CLAN_CARDS, seen)
    tactics = _hidden(TACTIC_DECK, seen) if rules.tactics else []
    theirs = state.opponent_hand
    played = state.tactics_played
    return Position(
        rules=rules,
        stones=stones,
        hands=(hand, tuple(sorted((*clan[: theirs.clan], *tactics[: theirs.tactic])))),
        clan_deck=tuple(clan[theirs.clan :]),
        tactic_deck=tuple(tactics[theirs.tactic :]),
        discard=discard,
        tactics_played=(cards_from_texts(played.yours), cards_from_texts(played.theirs)),
        phase=phase,
        to_move=ME,
        draws_left=state.recruiter.draws_left if state.recruiter else 0,
        returns_left=state.recruiter.returns_left if state.recruiter else 0,
    )


def _hidden(deck: Sequence[Card], seen: Sequence[Card]) -> list[Card]:
    return sorted((Counter(deck) - Counter(seen)).elements())


def _sorted(texts: Sequence[str]) -> tuple[Card, ...]:
    return tuple(sorted(cards_from_texts(texts)))

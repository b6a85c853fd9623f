"""All messages for one bot in a match. Pure.

Theory of operation. A MatchMessages makes the messages for the bot at one seat, in the order of the protocol:
`start_match`, for each round `start_round`, then `ask` for each decision and `end_round`, and at last `end_match`. It
owns the hash that promises a deal. The session of the bot's connection numbers requests, and says what the bot has
received. So a bot that reconnected gets the start of the match again, and a bot for which a round never began does not
get its end: where there is nothing to send, the message is None. It never waits: the caller sends the messages and
keeps the time. A match does so through players, the checker through a probe.
"""

from collections.abc import Sequence
from typing import Protocol

from arena.match import translate
from arena.match.referee import Question, Referee
from engine.cards import Seat, card_texts
from engine.scoring import Outcome, Score
from protocol.fairness import hash_of
from protocol.messages import (
    Clock,
    EncodedRequest,
    MatchClock,
    MatchEnd,
    MatchStart,
    RevealedDeal,
    RoundEnd,
    RoundStart,
)
from protocol.session import Session, State


class Recipient(Protocol):
    """The bot that the messages are for."""

    @property
    def session(self) -> Session | None:
        """The session of the bot's connection; None while the bot is not connected."""

    @property
    def wants_legal(self) -> bool:
        """Whether requests to the bot shall list the legal moves."""


class MatchMessages:
    """Makes the messages for the bot at `seat` in the match named `match`."""

    def __init__(
        self, recipient: Recipient, seat: Seat, *, match: str, opponent: str, rounds: int, rules: str, clock: MatchClock
    ):
        self.seat = seat
        self._recipient = recipient
        self._match_start = MatchStart(match, opponent, rounds, rules, clock)

    @property
    def _state(self) -> State | None:
        session = self._recipient.session
        return None if session is None else session.state

    @property
    def between_rounds(self) -> bool:
        """Whether the bot is connected, has received the start of the match, and is not in a round."""
        return self._state is State.MATCH

    def start_match(self) -> MatchStart | None:
        """The start of the match; None if the bot has received it already."""
        return None if self.between_rounds else self._match_start

    def start_round(
        self,
        referee: Referee,
        deal: RevealedDeal,
        score: Score,
        seed: int | None = None,
        *,
        deal_hash: str | None = None,
    ) -> RoundStart:
        """The start of a round. `referee` has dealt but not asked yet; `score` is the score before the round, and its
        `first` begins. `seed` is for the bot's own randomness; `deal_hash` is that of the deal, if it is known."""
        self._referee = referee
        self._round_start = RoundStart(
            round=deal.round,
            seat=translate.seat_number(self.seat),
            first="you" if self.seat == score.first else "opponent",
            hand=card_texts(tuple(referee.game.hands[self.seat])),
            points=translate.points(score.points, self.seat),
            deal_hash=deal_hash or hash_of(deal),
            attempt=deal.attempt,
            seed=seed,
        )
        return self._round_start

    def start_again(self) -> tuple[MatchStart, RoundStart]:
        """The messages for a bot that lost its connection in a round and has reconnected."""
        return self._match_start, self._round_start

    def ask(self, question: Question, clock: Clock) -> EncodedRequest:
        """The request for a decision."""
        recipient = self._recipient
        return question.request(self._next_id(), self._round_start.points, clock, with_legal=recipient.wants_legal)

    def ask_again(self, request: EncodedRequest) -> EncodedRequest:
        """The same request for another connection, which may have been used before and then has ids of its own."""
        return request.with_id(max(request.id, self._next_id()))

    def _next_id(self) -> int:
        session = self._recipient.session
        assert session is not None  # the bot is connected
        return session.next_id

    def end_round(self, outcome: Outcome, deals: Sequence[RevealedDeal]) -> RoundEnd | None:
        """The end of the round; None if the bot is not in a round."""
        if self._state not in (State.ROUND, State.THINKING):
            return None
        last = self._referee.last_news(self.seat, self._round_start.points)
        return translate.round_end(self._round_start.round, outcome, self.seat, deals, last)

    def end_match(self, score: Score) -> MatchEnd | None:
        """The end of the match; None if the bot is not in a match, or still in a round."""
        if not self.between_rounds:
            return None
        result = translate.result(score.leader, self.seat)
        return MatchEnd(self._match_start.match, result, translate.points(score.points, self.seat))

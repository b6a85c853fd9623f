"""The engine's facts as parts of the protocol's messages, as one seat sees them. Pure."""

from bisect import bisect
from collections.abc import Iterable, Sequence

from engine.actions import Action
from engine.cards import CLAN_CARDS, SEATS, Seat, card_texts, other
from engine.game import Game
from engine.scoring import Outcome
from protocol import messages


def seat_number(seat: int) -> messages.Seat:
    """The seat as messages show it."""
    return 0 if seat == SEATS[0] else 1


def side_of(whose: Seat | None, seat: Seat) -> messages.Side | None:
    if whose is None:
        return None
    return "you" if whose == seat else "opponent"


def points(both: tuple[int, int], seat: Seat) -> messages.Points:
    return messages.Points(both[seat], both[1 - seat])


def result(winner: Seat | None, seat: Seat) -> messages.Result:
    if winner is None:
        return "draw"
    return "win" if winner == seat else "loss"


class Translator:
    """The `state` of each request to one seat: what the seat may see of the game.

    It reads the game itself instead of a Position, and translates a stone only when it has changed, because this runs
    for every decision. A test compares the result with `Position.seen_by`.
    """

    def __init__(self, game: Game, seat: Seat):
        self._game = game
        self._seat = seat
        self._seen_versions = [-1] * len(game.stone_versions)
        self._stones: list[messages.StoneState] = [_UNSEEN_STONE] * len(game.stone_versions)

    def state(self, match_points: messages.Points) -> messages.GameState:
        game, seat, rival = self._game, self._seat, other(self._seat)
        if self._seen_versions != game.stone_versions:
            self._refresh_changed_stones()
        theirs, played = game.hands[rival], game.tactics_played
        clan = bisect(theirs, CLAN_CARDS[-1])
        return messages.GameState(
            card_texts(tuple(game.hands[seat])),
            tuple(self._stones),
            messages.CardCounts(len(game.clan_deck), len(game.tactic_deck)),
            messages.CardCounts(clan, len(theirs) - clan),
            card_texts(tuple(game.discard)),
            messages.TacticsPlayed(card_texts(tuple(played[seat])), card_texts(tuple(played[rival]))),
            messages.Recruiter(game.draws_left, game.returns_left) if game.returns_left else None,
            match_points,
        )

    def _refresh_changed_stones(self) -> None:
        game, seat, rival = self._game, self._seat, other(self._seat)
        for stone, change in enumerate(game.stone_versions):
            if self._seen_versions[stone] != change:
                self._seen_versions[stone] = change
                self._stones[stone] = messages.StoneState(
                    card_texts(game.sides[seat][stone]),
                    card_texts(game.sides[rival][stone]),
                    side_of(game.owners[stone], seat),
                    game.needs[stone],
                    card_texts(game.modes[stone]),
                    side_of(game.complete_first[stone], seat),
                )


_UNSEEN_STONE = messages.StoneState((), (), None, 0, (), None)


def events(happened: Iterable[tuple[Seat, Action]], seat: Seat) -> tuple[messages.Event, ...]:
    """The actions as this seat may see them."""
    return tuple(
        [
            messages.Event("you", action.text) if by == seat else messages.Event("opponent", action.public_text)
            for by, action in happened
        ]
    )


def round_end(number: int, outcome: Outcome, seat: Seat, deals: Sequence[messages.RevealedDeal]) -> messages.RoundEnd:
    return messages.RoundEnd(
        round=number,
        result=result(outcome.winner, seat),
        ending=outcome.ending.value,
        points=points(outcome.points, seat),
        stones=tuple(side_of(owner, seat) for owner in outcome.owners),
        deals=tuple(deals),
    )

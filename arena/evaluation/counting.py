"""The bundled evaluator: it thinks of a position what the bot `counting` thinks of it. Pure.

The bot estimates the chance to win each stone, and from these chances follows a raw value of the position. The bot
takes stones as independent and early chances as seriously as late ones, so the raw value is not yet an expected result:
a curve that was fitted to many rounds (calibration.py) turns it into one.

The bot has a rule for the choice of a deck, but no value: both decks have the value of the position. It claims whatever
it can, one stone after the other: each claim has the value of all of them.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from arena.evaluation.calibration import Curve, Features
from arena.evaluation.curves import CURVES
from arena.evaluation.evaluator import Evaluator, Opinion
from engine.actions import Action, Kind
from engine.cards import ALL_CLAN_MASK, BLIND_MANS_BLUFF, CLAN_BACK, CLAN_CARDS, JOKER, TACTIC_BACK, Seat, other
from engine.phase import Phase
from engine.position import Position, StonePosition
from engine.ruleset import RuleSet
from example_bots.reading import Stone, clan_mask
from example_bots.valuation import Valuation, expected_result, supplies_of, wants_tactic_card

_BACKS: Final = frozenset((CLAN_BACK, TACTIC_BACK))


@attrs.frozen
class CountingEvaluator:
    name: str = "the bundled counting bot"

    def expected(self, position: Position, seat: Seat) -> float:
        return curve_of(position.rules, sees_both_hands(position, seat)).expected(features(position, seat))

    def opinion(self, position: Position, legal: Sequence[Action]) -> Opinion:
        seat = position.to_move
        curve = curve_of(position.rules, sees_both_hands(position, seat))
        before, progress = _valuation(position, seat), _progress(position)
        raw = _raw_values(before, position.phase, legal)
        values = {move: curve.expected(Features(_limited(value), progress)) for move, value in raw.items()}
        return Opinion(_preferred(position, raw), values)


def bundled_evaluator() -> Evaluator:
    """The evaluator that commands use."""
    return CountingEvaluator()


def features(position: Position, seat: Seat) -> Features:
    """What the curve has to know of a position, as it lies before the seat."""
    return Features(_valuation(position, seat).expected_result(), _progress(position))


def curve_of(rules: RuleSet, both_hands: bool) -> Curve:
    """Who begins the next round does not matter to this one, so that is left out."""
    return CURVES[rules.tactics, rules.claims, both_hands]


def sees_both_hands(position: Position, seat: Seat) -> bool:
    return _BACKS.isdisjoint(position.hands[other(seat)])


def _raw_values(before: Valuation, phase: Phase, legal: Sequence[Action]) -> dict[str, float]:
    """For each move the value that it leads to; a sum of estimates, which can exceed 1 a little."""
    now = before.expected_result()
    match phase:
        case Phase.CLAIM:
            stones = {action.stone for action in legal if action.kind is Kind.CLAIM}
            claimed = expected_result([1.0 if n in stones else chance for n, chance in enumerate(before.chances)])
            return {action.text: claimed if action.kind is Kind.CLAIM else now for action in legal}
        case Phase.PLAY:
            value = before.value_of_play
        case Phase.RETURN:
            value = before.value_of_return
        case _:
            return {action.text: now for action in legal}
    # The bot compares moves by the change that they make to the value, stone by stone.
    unchanged = now - before.value(before.stones)
    return {action.text: unchanged + value(action.text) for action in legal}


def _limited(value: float) -> float:
    return min(1.0, max(-1.0, value))


def _preferred(position: Position, values: Mapping[str, float]) -> str:
    """The first of the best moves; among decks, the one that the bot would draw from."""
    if position.phase is Phase.DRAW and len(values) > 1:
        seat, played = position.to_move, [len(each) for each in position.tactics_played]
        wanted = wants_tactic_card(position.hands[seat], played[seat], played[other(seat)])
        return "draw tactic" if wanted else "draw clan"
    return max(values, key=values.__getitem__)


def _valuation(position: Position, seat: Seat) -> Valuation:
    rival = other(seat)
    hand, theirs = clan_mask(position.hands[seat]), position.hands[rival]
    face_up = [card for stone in position.stones for side in stone.sides for card in side]
    unseen = ALL_CLAN_MASK & ~clan_mask(face_up) & ~clan_mask(position.discard) & ~hand
    if sees_both_hands(position, seat):
        held = clan_mask(theirs)
        unseen &= ~held
        me, _ = supplies_of(hand, unseen, len(position.clan_deck), 0)
        them = me._replace(held=held)
    else:
        me, them = supplies_of(hand, unseen, len(position.clan_deck), theirs.count(CLAN_BACK))
    stones = [_stone(stone, seat) for stone in position.stones]
    return Valuation(stones, me, them, joker_is_dead=JOKER in position.tactics_played[seat])


def _stone(stone: StonePosition, seat: Seat) -> Stone:
    rival = other(seat)
    return Stone(
        mine=tuple(sorted(stone.sides[seat])),
        theirs=tuple(sorted(stone.sides[rival])),
        owner=None if stone.owner is None else "you" if stone.owner == seat else "opponent",
        needs=stone.needs,
        blind=BLIND_MANS_BLUFF in stone.modes,
        they_win_ties=stone.complete_first == rival,
    )


def _progress(position: Position) -> float:
    """The share of the clan cards that lie on stones; wild cards count as well."""
    return sum(len(side) for stone in position.stones for side in stone.sides) / len(CLAN_CARDS)

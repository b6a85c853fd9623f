"""A round of a journal as its rows show it: what the journal knows, and what playing it again finds. Pure."""

import attrs
from msgspec import Struct

from arena.evaluation.counting import bundled_evaluator
from arena.evaluation.evaluator import Evaluator
from arena.journal.endings import ENDINGS, Fault, seats_at_fault
from arena.journal.identity import BotLine
from arena.journal.lines import Milliseconds, RoundLine, SeatNumber, game_record, is_forfeit
from arena.replay.analysis import JudgedDecision, judged
from arena.support.text import printable
from engine.cards import SEATS, Seat
from engine.errors import EngineError
from engine.game import Game
from engine.position_text import position_to_text
from engine.record import dealt, steps

_DIGITS = 4  # of an opinion; it has no more


class ReadRound(RoundLine, frozen=True, tag_field="type", tag="round", kw_only=True):
    """A RoundLine with sound numbers."""

    round: Milliseconds
    moves: tuple[tuple[SeatNumber, str, Milliseconds | None], ...]


class ReplayedRound(Struct, frozen=True, array_like=True, gc=False):
    """What the engine and the evaluator say of the decisions of a round: one for each move, and one more if a fault
    prevented it. All lists are empty if the journal does not know the deal."""

    phases: tuple[str, ...] = ()
    legal: tuple[int, ...] = ()  # how many actions were
    positions: tuple[str, ...] = ()  # empty if they are not wanted
    opinions: tuple[JudgedDecision | None, ...] = ()  # likewise; None without a choice or a move
    prevented: int | None = None  # the seat that was to decide when a fault ended the round
    problem: str = ""  # why the round cannot be replayed, if so


def replayed(line: RoundLine, *wanted: str) -> ReplayedRound:
    """Play a round again. Positions and opinions are found if their names are among `wanted`."""
    if not line.deck:
        return ReplayedRound()
    try:
        return _replayed(line, "positions" in wanted, bundled_evaluator() if "opinions" in wanted else None)
    except (EngineError, ValueError) as error:
        return ReplayedRound(problem=printable(str(error)))


def _replayed(line: RoundLine, shows_positions: bool, evaluator: Evaluator | None) -> ReplayedRound:
    phases: list[str] = []
    numbers: list[int] = []
    positions: list[str] = []
    opinions: list[JudgedDecision | None] = []
    record = game_record(line)
    game = dealt(record)

    def note(move: str | None) -> None:
        legal = game.legal_actions()
        phases.append(game.phase.value)
        numbers.append(len(legal))
        if shows_positions:
            positions.append(position_to_text(game.position()))
        if evaluator is not None:
            known = any(move == action.text for action in legal)  # the engine is about to refuse any other
            opinion = judged(evaluator, game.position(), legal, move, len(numbers)) if move and known else None
            opinions.append(opinion)

    for step in steps(record, game):
        note(step.action.text)
    prevented = _to_move(game)
    if prevented is not None:
        note(None)
    return ReplayedRound(tuple(phases), tuple(numbers), tuple(positions), tuple(opinions), prevented)


def _to_move(game: Game) -> Seat | None:
    return game.to_move if game.outcome is None else None


@attrs.frozen
class ExportedRound:
    journal: str
    line_number: int
    tournament: str
    event: str | None
    voids: int
    players: tuple[BotLine | None, BotLine | None]  # by seat
    line: RoundLine
    replayed: ReplayedRound

    @property
    def is_rated(self) -> bool:
        """Whether the table rates it."""
        result, fault = self.line.result, self.line.fault
        charged = seats_at_fault(ENDINGS[result.ending], result.winner, fault.seat if fault else None)
        return self.line.assisted is None and charged != SEATS

    @property
    def is_forfeit(self) -> bool:
        return is_forfeit(self.line)

    @property
    def fault_seat(self) -> int | None:
        return self.line.fault.seat if self.line.fault else None

    @property
    def fault_detail(self) -> str | None:
        return self.line.fault.detail if self.line.fault else None

    def version(self, seat: Seat) -> str | None:
        player = self.players[seat]
        return player.version if player else None

    def program(self, seat: Seat) -> str | None:
        player = self.players[seat]
        return player.fingerprint.short if player and player.fingerprint else None

    def result(self, seat: Seat) -> float | None:
        """None if neither bot could play."""
        winner = self.line.result.winner
        if winner is None:
            return None if isinstance(ENDINGS[self.line.result.ending], Fault) else 0.5
        return float(winner == seat)

    def points(self, seat: Seat) -> int:
        return self.line.result.points[seat]

    def stones(self, seat: Seat) -> int:
        return self.line.result.owners.count(seat)

    def times(self, seat: Seat) -> list[int]:
        """How long each answer of the seat took."""
        return [ms for mover, _, ms in self.line.moves if mover == seat and ms is not None]

    def loss(self, seat: Seat) -> float | None:
        """What the decisions of the seat lost in all; None if no decision was judged."""
        found = self.replayed.opinions
        return round(sum(each.loss for each in found if each and each.seat == seat), _DIGITS) if found else None

    def deciders(self, with_prevented: bool) -> list[Seat]:
        """Who decided, in order; on request also who could not because of a fault."""
        prevented = self.replayed.prevented
        last = [Seat(prevented)] if with_prevented and prevented is not None else []
        return [*(Seat(seat) for seat, _, _ in self.line.moves), *last]

    # Of a decision. A fault can have prevented the last one, so that it has no move.

    def move(self, index: int) -> str | None:
        return self.line.moves[index][1] if index < len(self.line.moves) else None

    def ms(self, index: int) -> int | None:
        return self.line.moves[index][2] if index < len(self.line.moves) else None

    def phase(self, index: int) -> str | None:
        return self.replayed.phases[index] if self.replayed.phases else None

    def legal(self, index: int) -> int | None:
        return self.replayed.legal[index] if self.replayed.legal else None

    def position(self, index: int) -> str:
        return self.replayed.positions[index]

    def expected(self, index: int) -> float | None:
        found = self._opinion(index)
        return round(found.expected, _DIGITS) if found else None

    def best(self, index: int) -> str | None:
        found = self._opinion(index)
        return found.best if found else None

    def best_expected(self, index: int) -> float | None:
        found = self._opinion(index)
        return round(found.best_expected, _DIGITS) if found else None

    def _opinion(self, index: int) -> JudgedDecision | None:
        return self.replayed.opinions[index] if self.replayed.opinions else None

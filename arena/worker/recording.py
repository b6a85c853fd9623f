"""Make the journal line of a round that was played. Pure."""

from msgspec import UNSET

from arena.journal.lines import VERSION, FaultLine, PlayerIds, ResultLine, RoundLine, VoidLine
from arena.match.match import PlayedRound
from arena.match.referee import ChargedFault
from arena.match.round_play import Void
from arena.plan.schedule import MatchId, PlannedRound
from engine.cards import card_texts
from engine.ruleset import RuleSet


def round_line(
    played: PlayedRound, match: MatchId, bots: tuple[str, str], rules: RuleSet, players: PlayerIds
) -> RoundLine:
    planned, dealt, referee = played.planned, played.dealt, played.referee
    outcome, fault = referee.outcome, referee.fault
    assert outcome is not None
    return RoundLine(
        v=VERSION,
        id=planned.id,
        match=match,
        round=planned.number,
        pair=planned.pair,
        rules=rules.name,
        seed=dealt.seed,
        bots=bots,
        first=played.first,
        deck=card_texts(dealt.deal.clan),
        tactics=card_texts(dealt.deal.tactics),
        moves=tuple(referee.moves),
        notes={str(index): note for index, note in referee.notes.items()},
        result=ResultLine(outcome.winner, outcome.ending.value, outcome.points, outcome.owners),
        started=played.started,
        fault=None if fault is None else _fault_line(fault, played),
        salt=dealt.salt,
        players=players,
        assisted=played.assisted,
    )


def _fault_line(fault: ChargedFault, played: PlayedRound) -> FaultLine:
    return FaultLine(
        fault.seat,
        fault.detail,
        bundle=played.bundle,
        other_detail=fault.other_detail,
        withdrawn=played.withdrawn,
        between_rounds=fault.between_rounds,
    )


def void_line(planned: PlannedRound, match: MatchId, bots: tuple[str, str], void: Void, started: str) -> VoidLine:
    return VoidLine(
        id=planned.id,
        match=match,
        round=planned.number,
        bots=bots,
        reason=void.reason,
        started=started,
        excused=void.excused,
        killed=void.killed or UNSET,
    )

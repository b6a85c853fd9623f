"""Rounds as a journal has them, made without playing a tournament."""

import random
from pathlib import Path

from arena.journal.endings import Fault
from arena.journal.lines import FaultLine, ResultLine, RoundLine, TournamentLine, encoded
from arena.plan.recorded_config import RecordedConfig
from engine.cards import SEATS, card_texts
from engine.deal import Deal
from engine.game import Game
from engine.ruleset import RuleSet
from engine.scoring import Outcome
from tests.helpers.walks import TEMPERS, choose

OPENING = encoded(TournamentLine(config=RecordedConfig(rounds=5, seed="x"), started="2026-01-31T12:00:00Z"))


def random_round(
    rules: RuleSet,
    seed: int,
    *,
    id: str = "1.1-2.1",
    bots: tuple[str, str] = ("ann", "ben"),
    stop_after: int | None = None,
    fault: str = "it stopped answering",
) -> RoundLine:
    """A round between two tempers; with `stop_after` the bot to move is too late after so many moves."""
    rng = random.Random(seed)
    deal = Deal.from_seed(str(seed), rules.tactics)
    game = Game.new(rules, deal, SEATS[seed % 2])
    tempers = [rng.choice(TEMPERS) for _ in SEATS]
    moves: list[tuple[int, str, int | None]] = []
    notes = {}
    while game.outcome is None and len(moves) != stop_after:
        action, asked = choose(game, tempers[game.to_move], rng), len(game.legal_actions()) > 1
        if asked and rng.random() < 0.2:
            notes[str(len(moves))] = f"{tempers[game.to_move]}: {rng.randrange(100)} %"
        moves.append((game.to_move, action.text, rng.randrange(400) if asked else None))
        game.apply(action)
    late = None if game.outcome else game.to_move
    outcome = game.outcome or Outcome.of(SEATS[1 - game.to_move], Fault.TIMEOUT, game.owners)
    return RoundLine(
        v=1,
        id=id,
        match=id.rpartition(".")[0],
        round=int(id.rpartition(".")[2]),
        pair=id,
        rules=rules.name,
        seed=str(seed),
        bots=bots,
        first=seed % 2,
        deck=card_texts(deal.clan),
        tactics=card_texts(deal.tactics),
        moves=tuple(moves),
        notes=notes,
        result=ResultLine(outcome.winner, outcome.ending.value, outcome.points, outcome.owners),
        started="2026-01-31T12:00:00Z",
        fault=None if late is None else FaultLine(late, fault),
    )


def written(path: Path, *lines: RoundLine | bytes) -> Path:
    """The journal of these rounds."""
    path.write_bytes(OPENING + b"".join(line if isinstance(line, bytes) else encoded(line) for line in lines))
    return path

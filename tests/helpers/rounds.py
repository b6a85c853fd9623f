"""Rounds as a journal has them, made without playing a tournament."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.journal.endings import Fault
from arena.journal.lines import FaultLine, ResultLine, RoundLine, TournamentLine, encoded
from arena.plan.deals import SCHEME
from arena.plan.recorded_config import RecordedConfig
from engine.cards import SEATS, Seat, card_texts
from engine.deal import Deal
from engine.game import Game
from engine.record import GameRecord, replay
from engine.ruleset import RuleSet
from engine.scoring import Outcome
from tests.helpers.walks import TEMPERS, choose

STARTED = "2026-01-31T12:00:00Z"
OPENING = encoded(TournamentLine(config=RecordedConfig(rounds=5, deals=SCHEME, seed="x"), started=STARTED))


def round_line(id: str, result: ResultLine, **fields: Any) -> RoundLine:
    """A round that was not played, only its result; `fields` are those that shall be different."""
    match, _, number = id.rpartition(".")
    named: dict[str, Any] = {
        "match": match,
        "round": int(number),
        "pair": id,
        "rules": "base",
        "seed": "x",
        "bots": ("ann", "ben"),
        "first": 0,
        "deck": (),
        "tactics": (),
        "moves": (),
        "notes": {},
        "started": STARTED,
    }
    return RoundLine(v=1, id=id, result=result, **named | fields)


def recorded_round(
    id: str, record: GameRecord, ms: Sequence[int | None], fault: Fault, detail: str, **fields: Any
) -> RoundLine:
    """The round of a record, with the milliseconds of each move. If the record has no outcome, the bot to move fails
    with `fault`."""
    outcome, broken = record.outcome, None
    if outcome is None:
        stopped = replay(record)
        outcome = Outcome.of(SEATS[1 - stopped.to_move], fault, stopped.owners)
        broken = FaultLine(stopped.to_move, detail)
    return round_line(
        id,
        ResultLine(outcome.winner, outcome.ending.value, outcome.points, outcome.owners),
        rules=record.rules.name,
        first=record.first,
        deck=card_texts(record.deal.clan),
        tactics=card_texts(record.deal.tactics),
        moves=tuple((seat, text, taken) for (seat, text), taken in zip(record.moves, ms, strict=True)),
        fault=broken,
        **fields,
    )


def random_round(
    rules: RuleSet,
    seed: int,
    *,
    id: str = "1.1-2.1",
    bots: tuple[str, str] = ("ann", "ben"),
    stop_after: int | None = None,
    fault: str = "it stopped answering",
) -> RoundLine:
    """A round between two tempers; with `stop_after` the bot to move is too late after this many moves."""
    rng = random.Random(seed)
    deal = Deal.from_seed(str(seed), rules.tactics)
    game = Game.new(rules, deal, SEATS[seed % 2])
    tempers = [rng.choice(TEMPERS) for _ in SEATS]
    moves: list[tuple[Seat, str]] = []
    ms: list[int | None] = []
    notes = {}
    while game.outcome is None and len(moves) != stop_after:
        action, asked = choose(game, tempers[game.to_move], rng), len(game.legal_actions()) > 1
        if asked and rng.random() < 0.2:
            notes[str(len(moves))] = f"{tempers[game.to_move]}: {rng.randrange(100)} %"
        moves.append((game.to_move, action.text))
        ms.append(rng.randrange(400) if asked else None)
        game.apply(action)
    record = GameRecord(rules, deal, SEATS[seed % 2], tuple(moves), game.outcome)
    return recorded_round(id, record, ms, Fault.TIMEOUT, fault, bots=bots, seed=str(seed), notes=notes)


def written(path: Path, *lines: RoundLine | bytes) -> Path:
    """The journal of these rounds."""
    path.write_bytes(OPENING + b"".join(line if isinstance(line, bytes) else encoded(line) for line in lines))
    return path

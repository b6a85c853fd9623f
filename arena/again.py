"""`arena again`: a round that ended by a fault, played once more from its bundle."""

import sys
from pathlib import Path
from typing import Any

import trio

from arena.bots import BotSpec, Restart
from arena.bundle import read_bundle
from arena.clock import Limits
from arena.match import Match, PlayedRound
from arena.player import Player
from arena.schedule import MatchId, PlannedMatch, PlannedRound, RoundId, recoloured
from arena.watch import Watch
from engine.cards import SEATS
from engine.deal import Deal
from engine.ruleset import RuleSet


def play_again(bundle: Path) -> str:
    """What came of it. Raises ValueError for a file that is no bundle."""
    facts = read_bundle(bundle)
    specs = [_spec(bot) for bot in facts["bots"]]
    played = trio.run(_play, facts, specs)
    before = facts["fault"]
    fault, outcome = played.referee.fault, played.referee.outcome
    if played.void is not None:
        now = f"void: {played.void}"
    elif fault is not None:
        now = f"{specs[fault.seat].name}: {fault.ending.value}: {fault.detail}"
    else:
        assert outcome is not None
        now = f"no fault; the round ended by {outcome.ending.value}, {outcome.points[0]} - {outcome.points[1]}"
    return f"Then: {before['bot']}: {before['ending']}: {before['detail']}\nNow:  {now}"


def _spec(recorded: dict[str, Any]) -> BotSpec:
    program, *words = recorded["cmd"]
    return BotSpec(
        name=recorded["name"],
        command=(sys.executable if program == "python" else program, *words),
        cwd=Path(recorded["dir"]) if recorded["dir"] else None,
        env=tuple(recorded["env"].items()),
        limits=Limits(**recorded["clock"]),
        restart=Restart(recorded["restart"]),
        memory=recorded["memory"],
        cpu_seconds=recorded["cpu"],
    )


async def _play(facts: dict[str, Any], specs: list[BotSpec]) -> PlayedRound:
    rules, seed, first, watch = RuleSet.named(facts["rules"]), facts["seed"], SEATS[facts["first"]], Watch()
    name = RoundId(facts["round"])
    planned = PlannedRound(name, 1, first, pair=name, recoloured=False)
    deal = Deal.from_seed(seed, rules.tactics)
    deal = recoloured(deal, seed) if facts["recoloured"] else deal
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        one, two = (Player(spec, nursery, _to_stderr) for spec in specs)
        match = Match(
            PlannedMatch(MatchId("again"), (0, 1), (planned,)), rules, seed, (one, two), watch, lambda *_: None
        )
        played = await match.play_dealt(planned, first, seed, deal)
        await one.leave()
        await two.leave()
        nursery.cancel_scope.cancel()
    return played


def _to_stderr(data: bytes) -> None:
    sys.stderr.buffer.write(data)
    sys.stderr.flush()

"""`arena again`: a round that ended by a fault, played once more from its bundle."""

import secrets
from pathlib import Path
from typing import Any

import attrs
import trio

from arena.bots.player import LocalPlayer
from arena.bots.stderr import PassedOn
from arena.match.match import Match, PlayedRound
from arena.match.watchdog import Watch
from arena.plan.bot_spec import BotError, BotSpec
from arena.plan.deals import Dealt
from arena.plan.legacy_deals import recoloured
from arena.plan.schedule import MatchId, PlannedMatch
from arena.support.signals import calling_on_signals
from arena.support.text import printable
from arena.tournament.fault_bundle import read_bundle
from engine.cards import SEATS
from engine.deal import Deal
from engine.ruleset import RuleSet
from engine.scoring import Score


def play_again(bundle: Path) -> str | None:
    """What came of it; None if it was stopped. Raises ValueError for a file that is no bundle."""
    facts = read_bundle(bundle)
    for bot in facts["bots"]:
        if isinstance(bot, dict) and bot.get("remote"):
            raise ValueError(
                f"{bot.get('name')} connected from outside, so the arena cannot start it; what was said is beside it"
            )
    try:
        specs = [BotSpec.from_record(bot) for bot in facts["bots"]]
    except BotError as error:
        raise ValueError(str(error)) from None
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this bundle is damaged: {type(error).__name__} {error}") from None
    specs = [attrs.evolve(spec, cwd=Path(facts["cwd"]) / (spec.cwd or "")) for spec in specs]
    played = trio.run(_until_stopped, facts, specs)
    if played is None:
        return None
    before = facts["fault"]
    fault, outcome = played.referee.fault, played.referee.outcome
    if played.void is not None:
        now = f"void: {played.void.reason}"
    elif fault is not None:
        now = f"{specs[fault.seat].name}: {fault.ending.value}: {printable(fault.detail)}"
    else:
        assert outcome is not None
        now = f"no fault; the round ended by {outcome.ending.value}, {outcome.points[0]} - {outcome.points[1]}"
    then = printable(f"{before['bot']}: {before['ending']}: {before['detail']}")
    return f"Then: {then}\nNow:  {now}"


async def _until_stopped(facts: dict[str, Any], specs: list[BotSpec]) -> PlayedRound | None:
    played = None
    with trio.CancelScope() as scope:
        async with calling_on_signals(scope.cancel):
            played = await _play(facts, specs)
    return played


async def _play(facts: dict[str, Any], specs: list[BotSpec]) -> PlayedRound:
    rules, seed, first, watch = RuleSet.named(facts["rules"]), facts["seed"], SEATS[facts["first"]], Watch()
    planned = PlannedMatch(MatchId("again"), (0, 1), first, 1, mirrored=False, paired=False, begins=rules.begins)
    deal = Deal.from_seed(seed, rules.tactics)
    if facts.get("recoloured"):  # a bundle of before 0.2
        deal = recoloured(deal, seed)
    dealt = Dealt(seed, secrets.token_hex(16), deal)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        one, two = (LocalPlayer(spec, nursery, PassedOn()) for spec in specs)
        match = Match(planned, rules, (one, two), watch, lambda *_: None, lambda _: True, {})
        played = await match.play_round(planned.rounds[0], Score(rules, first), dealt)
        await one.leave()
        await two.leave()
        nursery.cancel_scope.cancel()
    return played

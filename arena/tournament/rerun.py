"""`arena rerun`: play a round that ended by a fault again, with the same bots and the same deal."""

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs
import trio

from arena.bots.player import LocalPlayer
from arena.bots.stderr import PassedOn
from arena.bots.trio_driver import TrioProcesses, driven
from arena.bots.watchdog import Watchdog
from arena.match.match import Match, PlayedRound
from arena.plan.bot_spec import BotError, BotSpec
from arena.plan.deals import Dealt
from arena.plan.legacy_deals import recoloured
from arena.plan.recorded_config import spec_of
from arena.plan.schedule import MatchId, PlannedMatch
from arena.support.signals import calling_on_signals
from arena.support.text import printable
from arena.support.timestamps import utc_now
from arena.worker.fault_bundle import BundledFault, BundleError, FaultBundle, read_bundle
from engine.cards import SEATS
from engine.deal import Deal
from engine.errors import NotationError
from engine.ruleset import RuleSet
from engine.scoring import Score


@attrs.frozen
class Rerun:
    """What happened in the first run, and what in this one."""

    came_again: bool  # the same seat failed in the same way, whatever the details
    then: str
    now: str


def rerun(path: Path, started: Callable[[Sequence[BotSpec]], Sequence[BotSpec]]) -> Rerun | None:
    """Play the round of the bundle in this folder or file again, with the bots as `started` changes them. Returns None
    if a signal stopped it. Raises BundleError."""
    bundle = read_bundle(path)
    for bot in bundle.bots:
        if bot.remote:
            problem = f"{printable(bot.name)} connected from outside, so the arena cannot start it"
            raise BundleError(f"{path}: {problem}; the messages of the round are beside it")
    try:
        rules = RuleSet.named(bundle.rules)
        specs = started([_in_folder(spec_of(bot), bundle.cwd) for bot in bundle.bots])
    except (BotError, NotationError) as error:
        raise BundleError(f"{path}: {printable(str(error))}") from None
    played = trio.run(_until_stopped, bundle, rules, specs)
    return None if played is None else _compared(bundle.fault, played, specs)


def _in_folder(spec: BotSpec, cwd: str) -> BotSpec:
    return attrs.evolve(spec, cwd=Path(cwd) / (spec.cwd or ""))


def _compared(before: BundledFault, played: PlayedRound, specs: Sequence[BotSpec]) -> Rerun:
    fault, outcome = played.referee.fault, played.referee.outcome
    if played.void is not None:
        fault, now = None, f"void: {played.void.reason}"
    elif fault is not None:
        now = f"{specs[fault.seat].name}: {fault.ending.value}: {fault.detail}"
    else:
        assert outcome is not None
        now = f"no fault; the round ended by {outcome.ending.value}, {outcome.points[0]} - {outcome.points[1]}"
    came_again = fault is not None and (fault.seat, fault.ending.value) == (before.seat, before.ending)
    return Rerun(came_again, printable(f"{before.bot}: {before.ending}: {before.detail}"), printable(now))


async def _until_stopped(bundle: FaultBundle, rules: RuleSet, specs: Sequence[BotSpec]) -> PlayedRound | None:
    played = None
    with trio.CancelScope() as scope:
        async with calling_on_signals(scope.cancel):
            played = await _play(bundle, rules, specs)
    return played


async def _play(bundle: FaultBundle, rules: RuleSet, specs: Sequence[BotSpec]) -> PlayedRound:
    seed, first, watch = bundle.seed, SEATS[bundle.first], Watchdog()
    planned = PlannedMatch(MatchId("rerun"), (0, 1), first, 1, mirrored=False, paired=False, begins=rules.begins)
    deal = Deal.from_seed(seed, rules.tactics)
    if bundle.recoloured:
        deal = recoloured(deal, seed)
    dealt = Dealt(seed, secrets.token_hex(16), deal)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        one, two = (LocalPlayer(spec, TrioProcesses(nursery), PassedOn()) for spec in specs)
        match = Match(planned, rules, (one, two), watch, lambda *_: None, lambda _: True, {})
        playing = match.play_round(planned.rounds[0], Score(rules, first), dealt, utc_now())
        played = await driven(playing, watch)
        await driven(one.leave())
        await driven(two.leave())
        nursery.cancel_scope.cancel()
    return played

"""`arena rerun`: the round of a fault again, from its bundle.

By default only the bot that failed is started, or another one that the caller names in its place. It is led through the
recorded round (match/led_round.py) with the seed and the times that it had, up to the decision at which it failed, and
is asked for that decision with the clock as it was. Nothing of this depends on the opponent. With `--from-start` it is
led through all rounds that its process had played before, in the same way. `--live` plays the round freely instead,
with both bots.
"""

import enum
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path

import attrs
import trio
from msgspec.structs import replace

from arena.bots.player import LocalPlayer, StartError
from arena.bots.trio_driver import TrioProcesses, driven
from arena.bots.watchdog import Watchdog
from arena.devtools.earlier_rounds import EarlierMatch, earlier_matches
from arena.journal.endings import Fault
from arena.journal.lines import game_record
from arena.match.led_round import LedAnswer, LedReferee, RecordedClock, RecordedMove, led_play
from arena.match.match import Match, PlayedRound
from arena.match.match_messages import MatchMessages
from arena.match.referee import Referee
from arena.match.round_play import Void
from arena.plan.bot_spec import BotError, BotSpec
from arena.plan.deals import Dealt
from arena.plan.recorded_config import spec_of
from arena.plan.schedule import MatchId, PlannedMatch
from arena.processes.stderr import PassedOn
from arena.support.signals import calling_on_signals
from arena.support.text import counted, printable
from arena.support.timestamps import utc_now
from arena.worker.fault_bundle import BundleError, FaultBundle, opponents_folder, read_bundle
from engine.cards import SEATS, Seat, other
from engine.deal import Deal
from engine.errors import NotationError
from engine.ruleset import RuleSet
from engine.scoring import Score
from protocol.messages import Error, RevealedDeal

Started = Callable[[Sequence[BotSpec]], Sequence[BotSpec]]


class FaultOutcome(enum.Enum):
    """What became of a fault in another run."""

    AGAIN = "the same bot failed in the same way, at the same decision; whatever the details"
    ANOTHER = "another fault came"
    NONE = "no fault came"
    VOID = "the arena itself failed, so nothing is known"


@attrs.frozen
class Rerun:
    """What happened in the first run, and what in this one."""

    came: FaultOutcome
    then: str
    now: str
    remarks: tuple[str, ...] = ()  # on why the two may differ

    @property
    def came_again(self) -> bool:
        return self.came is FaultOutcome.AGAIN


class _Bundled:
    """A bundle, and what follows from it. Raises BundleError if the round cannot be played again."""

    def __init__(self, path: Path, *, both: bool):
        self.path = path
        self.facts: FaultBundle = _of_both(path) if both else read_bundle(path)
        try:
            self.rules = RuleSet.named(self.facts.rules)
        except NotationError as error:
            raise self.error(str(error)) from None
        self.seat: Seat = SEATS[self.facts.fault.seat]
        self.first: Seat = SEATS[self.facts.first]
        self.start = self.facts.start
        self.moves = tuple(RecordedMove(*move) for move in self.facts.moves)

    def error(self, problem: str) -> BundleError:
        return BundleError(f"{self.path}: {printable(problem)}")

    @property
    def dealt(self) -> Dealt:
        seed = self.facts.seed
        deal = Deal.from_seed(seed, self.rules.tactics)
        return Dealt(seed, self.start.salt, deal, self.start.attempt, self.start.bot_seeds)

    @property
    def score(self) -> Score:
        """Before the round."""
        return Score(self.rules, self.first, self.start.points)

    def compared(self, came: FaultOutcome, now: str, remarks: Iterable[str] = ()) -> Rerun:
        fault = self.facts.fault
        then = f"{fault.bot}: {fault.ending}: {fault.detail}"
        return Rerun(came, printable(then), printable(now), tuple(remarks))

    def specs(self, seats: Sequence[Seat], started: Started, instead: BotSpec | None) -> Sequence[BotSpec]:
        """How to start the bots on these seats again, the one at fault as `instead` says."""
        own = instead and self._replaced(instead)
        return started([own if own and seat == self.seat else self._spec(seat) for seat in seats])

    def _spec(self, seat: Seat) -> BotSpec:
        bot = self.facts.bots[seat]
        if bot.remote:
            problem = f"the arena did not start {bot.name}, a person or a bot that connected, and so cannot now"
            own = "; name a bot to start after the folder" if seat == self.seat else ""
            raise self.error(f"{problem}{own}; the messages of the round are beside it")
        try:
            spec = spec_of(bot)
        except BotError as error:
            raise self.error(str(error)) from None
        return attrs.evolve(spec, cwd=Path(self._cwd()) / (spec.cwd or ""))

    def _replaced(self, instead: BotSpec) -> BotSpec:
        """The bot at fault with another command, but with the limits that it had."""
        spec = spec_of(replace(self.facts.bots[self.seat], cmd=instead.command))
        return attrs.evolve(spec, cwd=instead.cwd, sandbox=attrs.evolve(spec.sandbox, own_dir=False))

    def not_given(self, specs: Sequence[BotSpec]) -> Iterator[str]:
        """What these bots had of their starter's in the first run, and do not have now."""
        recorded = {bot.name: bot for bot in self.facts.bots}
        for spec in specs:
            then = recorded[spec.name]
            options = [f"--env {name}=…" for name in then.env or () if name not in dict(spec.env)]
            options += ["--inherit-env"] if then.inherit_env and not spec.inherit_env else []
            box = then.sandbox or spec.sandbox
            shown, now = box.exposed(Path(self._cwd(), then.dir or "")), spec.sandbox.exposed(spec.cwd or Path())
            options += [f"--expose {path}" for path in shown if path not in now]
            options += [f"--sandbox-user {box.user}"] if box.user not in (None, spec.sandbox.user) else []
            if options:
                had = f"Then, {spec.name} was started with {' '.join(options)}"
                yield printable(f"{had}. These are not taken from a bundle: add what it needs.")

    def _cwd(self) -> str:
        """The folder in which the arena ran. Only the organiser has it; an author's own is the current one."""
        beside = _beside(self.path)
        return self.facts.cwd or (read_bundle(beside).cwd if beside.is_dir() else "")

    @property
    def is_of_start(self) -> bool:
        return self.facts.fault.ending == Fault.FAILED_TO_START.value

    def check_moves(self) -> None:
        """Raise BundleError unless the recorded moves lead to the decision at which the bot failed."""
        name = self.facts.fault.bot
        if not self.start.begun:
            problem = f"{name} failed between two rounds, before it was asked for a decision of this one"
            raise self.error(f"{problem}; there is no decision to ask for again, but --live plays the round freely")
        referee = Referee(self.rules, self.dealt.deal, self.first)
        while (ask := referee.ask()) and len(referee.moves) < len(self.moves):
            referee.answer(self.moves[len(referee.moves)].text, 0)
        same = [move[:2] for move in referee.moves] == [move[:2] for move in self.moves]
        if not same or ask is None or ask.seat != self.seat:
            at = "its recorded moves do not follow from its deal, or do not lead to a decision of"
            raise self.error(f"{at} {name}; --live plays the round freely")


def _of_both(path: Path) -> FaultBundle:
    """The bundle with the opponent, which is not in the folder that its author may get. Raises BundleError."""
    own = read_bundle(path)
    if all(bot.cmd or bot.remote for bot in own.bots):
        return own
    place = _beside(path)
    if place.is_dir():
        return read_bundle(place)
    problem = f"how its opponent was started is not in this folder but in {place}, which is missing"
    raise BundleError(printable(f"{path}: {problem}; without --live only {own.fault.bot} is started"))


def _beside(path: Path) -> Path:
    return opponents_folder(Path(os.path.abspath(path if path.is_dir() else path.parent)))


def rerun(
    path: Path, started: Started, *, instead: BotSpec | None = None, live: bool = False, from_start: bool = False
) -> Rerun | None:
    """Repeat the fault of the bundle in this folder or file, with the bots as `started` changes them, which may raise
    to start none. `instead`: start this one in place of the bot at fault. `live`: play the round freely, with both
    bots. `from_start`: lead the bot through the earlier rounds of its process first. Returns None if a signal stopped
    it. Raises BundleError."""
    bundle = _Bundled(path, both=live)
    if not live and not bundle.is_of_start:
        bundle.check_moves()
    earlier = earlier_matches(path, bundle.facts.fault.bot, bundle.start) if from_start else []
    specs = bundle.specs(SEATS if live else [bundle.seat], started, instead)
    found = _unless_void(lambda: _play_live(bundle, specs) if live else _lead(bundle, specs[0], earlier))
    if found is None:
        return None
    found = attrs.evolve(found, remarks=(*found.remarks, *bundle.not_given(specs)))
    return found if from_start else _alone(bundle, found)


def _alone(bundle: _Bundled, found: Rerun) -> Rerun:
    """What was found without the earlier rounds of the process, if there were any."""
    count = bundle.start.round_count
    if not count:
        return found
    before = f"Its process had played {counted(count, 'round')} before this one. Earlier rounds are not repeated"
    return attrs.evolve(found, remarks=(*found.remarks, f"{before}; --from-start leads the bot through them first."))


def _unless_void(play: Callable[[], Awaitable[Rerun]]) -> Rerun | None:
    """Run it, and once more if the arena itself failed: that says nothing about the bot."""
    found = _run(play)
    return _run(play) if found is not None and found.came is FaultOutcome.VOID else found


def _run(play: Callable[[], Awaitable[Rerun]]) -> Rerun | None:
    async def until_stopped() -> Rerun | None:
        found = None
        with trio.CancelScope() as scope:
            async with calling_on_signals(scope.cancel):
                found = await play()
        return found

    return trio.run(until_stopped)


# Led through the recorded round


async def _lead(bundle: _Bundled, spec: BotSpec, earlier: Sequence[EarlierMatch]) -> Rerun:
    watch = Watchdog()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        player = LocalPlayer(spec, TrioProcesses(nursery), PassedOn())
        try:
            await driven(player.arrive(bundle.start.welcome_seeds[bundle.seat]))
        except StartError as failure:
            now = f"{spec.name}: {Fault.FAILED_TO_START.value}: {failure}"
            found = bundle.compared(FaultOutcome.AGAIN if bundle.is_of_start else FaultOutcome.ANOTHER, now)
        else:
            led = _Led(bundle, player, watch)
            found = await led.through(earlier) or await led.to_the_fault()
            await driven(player.leave())
        nursery.cancel_scope.cancel()
    return found


class _Led:
    """Leads the bot, which has come, through recorded rounds."""

    def __init__(self, bundle: _Bundled, player: LocalPlayer, watch: Watchdog):
        self._bundle = bundle
        self._player = player
        self._watch = watch
        self._answers: list[LedAnswer] = []  # in all rounds

    async def through(self, earlier: Iterable[EarlierMatch]) -> Rerun | None:
        """Lead the bot through the rounds before that of the fault. Returns what was found if it fails there."""
        for each in earlier:
            match = each.recorded
            messages = self._messages(each.seat, match.id, match.bots[other(each.seat)], match.planned, match.rules)
            for recorded in match.rounds:
                record = game_record(recorded.line)
                score = Score(record.rules, record.first, recorded.points)
                moves = tuple(RecordedMove(*move) for move in recorded.line.moves)
                referee = Referee(record.rules, record.deal, record.first)
                seed = each.seeds[recorded.address]
                void = await self._lead(messages, referee, recorded.deal, score, seed, moves, asks_last=False)
                if void is not None or (self._answers and self._answers[-1].fault):
                    return self._found(void, f" in round {recorded.line.id} already")
                assert record.outcome is not None
                if end := messages.end_round(record.outcome, [recorded.deal]):
                    await driven(self._player.tell(end))
                score = score.after(record.outcome)
            if match.id != self._bundle.start.match and (over := messages.end_match(score)):
                await driven(self._player.tell(over))
        return None

    async def to_the_fault(self) -> Rerun:
        """Ask the bot for its decisions in the round of the fault, up to the one at which it failed."""
        bundle, start, dealt = self._bundle, self._bundle.start, self._bundle.dealt
        if bundle.is_of_start:
            return bundle.compared(FaultOutcome.NONE, f"no fault; {self._player.spec.name} started and said hello")
        opponent = bundle.facts.bots[other(bundle.seat)].name
        messages = self._messages(bundle.seat, start.match, opponent, start.rounds, bundle.rules.name)
        referee = Referee(bundle.rules, dealt.deal, bundle.first)
        deal, seed = dealt.revealed(start.number), dealt.bot_seed(bundle.seat)
        void = await self._lead(messages, referee, deal, bundle.score, seed, bundle.moves, asks_last=True)
        if void is None and (fault := self._answers[-1].fault):
            await driven(self._player.tell(Error(fault.code or fault.ending.value, fault.detail, fatal=True)))
        return self._found(void)

    def _messages(self, seat: Seat, match: str, opponent: str, rounds: int, rules: str) -> MatchMessages:
        clock = self._player.spec.limits.for_match()
        return MatchMessages(
            self._player, seat, match=match, opponent=opponent, rounds=rounds, rules=rules, clock=clock
        )

    async def _lead(
        self,
        messages: MatchMessages,
        referee: Referee,
        deal: RevealedDeal,
        score: Score,
        seed: int | None,
        moves: Sequence[RecordedMove],
        *,
        asks_last: bool,
    ) -> Void | None:
        """Lead the bot through one round. Returns why it is void."""
        if start_match := messages.start_match():
            await driven(self._player.tell(start_match))
        await driven(self._player.tell(messages.start_round(referee, deal, score, seed)))
        led = LedReferee(referee, messages.seat, moves, self._answers.append, asks_last=asks_last)
        clock = RecordedClock(self._player.spec.limits, messages.seat, moves)
        play = led_play(led, self._player, messages, self._watch, clock, excuses=True)
        return await driven(play.play(), self._watch)

    def _found(self, void: Void | None, when: str = "") -> Rerun:
        """Compare the last answer, which is the first that was a fault or that to the decision at which the bot failed.
        `when` is the round, if it is an earlier one."""
        bundle = self._bundle
        if void is not None:
            return bundle.compared(FaultOutcome.VOID, f"void: {void.reason}")
        fault, decision, last = bundle.facts.fault, len(bundle.moves), self._answers[-1]
        if last.fault is None:
            came, now = FaultOutcome.NONE, f"no fault; {fault.bot} answers {last.move!r} after {last.ms} ms"
        else:
            is_there = not when and last.position == decision
            came = FaultOutcome.AGAIN if is_there and last.fault.ending.value == fault.ending else FaultOutcome.ANOTHER
            if not when and not is_there:
                when = f" at position {last.position} already, instead of {decision}"
            now = f"{fault.bot}: {last.fault.ending.value}{when}: {last.fault.detail}"
        return bundle.compared(came, now, () if came is FaultOutcome.AGAIN else _reasons(bundle, self._answers))


def _reasons(bundle: _Bundled, answers: Sequence[LedAnswer]) -> Iterator[str]:
    """Why the bot may have decided otherwise."""
    if bundle.dealt.bot_seed(bundle.seat) is None:
        yield "The bundle does not say which seed the bot had, so it draws other lots."
    earlier = [answer for answer in answers if answer.recorded is not None and answer.fault is None]
    if unlike := sum(answer.move != answer.recorded for answer in earlier):
        yield (
            f"It answered {unlike} of {counted(len(earlier), 'earlier decision')} otherwise than recorded: it draws "
            "lots without the seed in round_start, or depends on time or on what it did in earlier rounds."
        )


# Freely, with both bots


async def _play_live(bundle: _Bundled, specs: Sequence[BotSpec]) -> Rerun:
    rules, first, watch = bundle.rules, bundle.first, Watchdog()
    planned = PlannedMatch(MatchId("rerun"), (0, 1), first, 1, rules.begins)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        one, two = (LocalPlayer(spec, TrioProcesses(nursery), PassedOn()) for spec in specs)
        match = Match(planned, rules, (one, two), watch, lambda *_: None, lambda _: True)
        played = await driven(match.play_round(planned.rounds[0], bundle.score, bundle.dealt, utc_now()), watch)
        await driven(one.leave())
        await driven(two.leave())
        nursery.cancel_scope.cancel()
    return _played(bundle, played, specs)


def _played(bundle: _Bundled, played: PlayedRound, specs: Sequence[BotSpec]) -> Rerun:
    fault, outcome, before = played.referee.fault, played.referee.outcome, bundle.facts.fault
    if played.void is not None:
        return bundle.compared(FaultOutcome.VOID, f"void: {played.void.reason}")
    if fault is not None:
        is_same = (fault.seat, fault.ending.value) == (before.seat, before.ending)
        now = f"{specs[fault.seat].name}: {fault.ending.value}: {fault.detail}"
        return bundle.compared(FaultOutcome.AGAIN if is_same else FaultOutcome.ANOTHER, now)
    assert outcome is not None
    ended = f"no fault; the round ended by {outcome.ending.value}, {outcome.points[0]} - {outcome.points[1]}"
    return bundle.compared(FaultOutcome.NONE, ended)

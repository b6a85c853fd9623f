"""What a journal says so far, and how a tournament goes on from there."""

from collections import Counter
from pathlib import Path

import attrs

from arena.journal.deal_secret import forget_secret, new_key, promised_key
from arena.journal.endings import ENDINGS, Fault
from arena.journal.lines import (
    Entry,
    Journal,
    JournalError,
    ResumeLine,
    RevealLine,
    RoundLine,
    TournamentLine,
    VoidLine,
    encoded,
    outcome_of,
)
from arena.journal.planned import Plan, plan_of
from arena.journal.reader import JournalReader
from arena.match.match import utc_now
from arena.plan.bot_spec import RemoteSpec
from arena.plan.config import Config, ConfigError
from arena.plan.deals import DealKey, is_recorded
from arena.plan.recorded_config import differences
from arena.plan.schedule import PlannedMatch, pairing_count, schedule
from arena.support.text import printable
from engine.cards import Seat
from engine.ruleset import RuleSet
from engine.scoring import Score


@attrs.define
class Ledger:
    """What the journal says so far."""

    max_faults: int
    outside: frozenset[str] = frozenset()  # bots that connect: being away is no fault that withdraws them
    finished: set[str] = attrs.field(factory=set)
    scores: dict[str, Score] = attrs.field(factory=dict)  # by match, of those under way
    faults_in_a_row: Counter[str] = attrs.field(factory=Counter)
    withdrawn: set[str] = attrs.field(factory=set)
    voids: Counter[str] = attrs.field(factory=Counter)  # by round, of matches that are not over
    excused: Counter[str] = attrs.field(factory=Counter)  # by bot: voids because it was late
    resumes: int = 0
    dealt: dict[str, tuple[str, str, int]] = attrs.field(factory=dict)  # seed, salt, attempt of rounds, likewise
    remarks: list[str] = attrs.field(factory=list)  # about the journal, for the organiser

    def add(self, line: RoundLine) -> list[str]:
        """Returns the bots that are withdrawn by this round."""
        self.finished.add(line.id)
        first = Seat(line.first)
        before = self.scores.get(line.match) or Score(RuleSet.named(line.rules), first)
        self.scores[line.match] = before.begun_by(first).after(outcome_of(line.result))
        self.dealt[line.id] = line.seed, line.salt, 1 + self.voids[line.id] + self.resumes
        return [name for seat, name in enumerate(line.bots) if self._count(name, self._failed(line, seat))]

    def add_void(self, line: VoidLine) -> None:
        self.voids[line.id] += 1
        if line.excused is not None:
            self.excused[line.bots[line.excused]] += 1

    def _failed(self, line: RoundLine, seat: int) -> bool | None:
        """Whether the bot did; None if it was not even there, which says nothing about it."""
        ending = ENDINGS[line.result.ending]
        nobody_started = line.result.winner is None and isinstance(ending, Fault)
        failed = nobody_started or (line.fault is not None and line.fault.seat == seat)
        away = ending in (Fault.FAILED_TO_START, Fault.DISCONNECTED) and line.bots[seat] in self.outside
        return None if failed and away else failed

    def _count(self, name: str, failed: bool | None) -> bool:
        if failed is None:
            return False
        self.faults_in_a_row[name] = self.faults_in_a_row[name] + 1 if failed else 0
        if not self.max_faults or self.faults_in_a_row[name] < self.max_faults or name in self.withdrawn:
            return False
        self.withdrawn.add(name)
        return True

    def close(self, match: PlannedMatch) -> None:
        """Forgets a match that is over, so that a long tournament does not grow."""
        self.scores.pop(match.id, None)
        for planned in match.rounds:
            self.finished.discard(planned.id)
            self.voids.pop(planned.id, None)
            self.dealt.pop(planned.id, None)


def planned_matches(config: Config) -> tuple[PlannedMatch, ...]:
    return schedule(
        len(config.bots),
        config.form,
        config.cycles,
        config.rounds,
        config.mirrored,
        config.rules,
        config.first_cycle,
        paired=config.paired,
    )


def planned_rounds(config: Config) -> int:
    """How many there are, without planning them."""
    return pairing_count(len(config.bots), config.form) * config.cycles * config.rounds


@attrs.define
class JournalSummary:
    """What a journal holds."""

    ledger: Ledger  # of the last tournament
    tournaments: int = 0
    opening: TournamentLine | None = None  # of the last one
    plan: Plan | None = None  # of the last one
    revealed: bool = False  # whether the secret of the last one is in the journal


def ledger_of(config: Config) -> Ledger:
    return Ledger(config.max_faults, frozenset(bot.name for bot in config.bots if isinstance(bot, RemoteSpec)))


def read_past(journal: Journal, max_faults: int) -> JournalSummary:
    """A torn last line is dropped. Raises JournalError, with the line, for any other damage, and for rounds that are
    not those of the tournament: nobody knows what they would do to what is still to be played."""
    past, reader = JournalSummary(Ledger(max_faults)), JournalReader(RoundLine)
    for _, entry in reader.read(journal.path):
        if entry.torn:
            journal.drop_torn_line(entry.start)
            continue
        try:
            _add(past, journal, entry)
        except (JournalError, ConfigError) as error:
            text = f"{printable(str(error))}; mend or remove the line to go on"
            raise JournalError(f"{journal.path}:{entry.number}: {text}") from None
    past.tournaments, past.ledger.remarks = reader.tournaments, reader.remarks()
    return past


def _add(past: JournalSummary, journal: Journal, entry: Entry) -> None:
    match entry.line:
        case TournamentLine() as opening:
            if entry.problem:
                raise JournalError(entry.problem)
            past.plan, past.opening, past.revealed = plan_of(opening.config), opening, False
            outside = frozenset(bot.name for bot in opening.config.bots or () if bot.remote)
            past.ledger = Ledger(past.ledger.max_faults, outside)
            journal.remember_line_at(entry.start)
        case RoundLine() as line:
            assert past.plan is not None  # the reader leaves out rounds of no tournament
            if different := next(past.plan.differences(line), None):
                raise JournalError(f"round {line.id}: {different}")
            past.ledger.add(line)
        case VoidLine() as line:
            assert past.plan is not None
            if different := next(past.plan.differences_of_void(line), None):
                raise JournalError(f"void round {line.id}: {different}")
            past.ledger.add_void(line)
            journal.remember_line_at(entry.start)
        case ResumeLine():
            past.ledger.resumes += 1
            journal.remember_line_at(entry.start)
        case RevealLine():
            past.revealed = True
        case None:
            raise JournalError(entry.problem)


def resume(journal: Journal, config: Config) -> tuple[Config, Ledger]:
    """Reads the journal, or begins it. Raises JournalError if it belongs to another tournament."""
    past = read_past(journal, config.max_faults)
    if past.tournaments > 1:
        raise JournalError(f"{journal.path}: this file holds several tournaments; none can go on in it")
    if past.opening is None:
        return begin(journal, config), past.ledger
    check_same(journal, past.opening, config)
    config = go_on(journal, config, past)
    if past.revealed or len(past.ledger.finished) < planned_rounds(config):
        return config, past.ledger
    end(journal, config)  # it was stopped between its last round and its end
    return config, past.ledger


def begin(journal: Journal, config: Config) -> Config:
    """Writes the opening line of another tournament. Returns the config with its key. Raises JournalError."""
    journal.check_not_rescued()
    config = with_new_key(config, journal.path)
    journal.append(encoded(TournamentLine(config=config.recorded(), started=utc_now())))
    return config


def with_new_key(config: Config, journal: Path | None) -> Config:
    """Raises JournalError."""
    return attrs.evolve(config, key=DealKey(config.seed, is_public=True) if config.seed else new_key(journal))


def go_on(journal: Journal, config: Config, past: JournalSummary) -> Config:
    """With the key of the tournament that the journal was left with, if it is still needed. Raises JournalError."""
    opening, ledger = past.opening, past.ledger
    assert opening is not None
    if config.seed:
        return attrs.evolve(config, key=DealKey(config.seed, is_public=True))
    missing = planned_rounds(config) - len(ledger.finished)
    if past.revealed and missing:
        rounds = "1 round is" if missing == 1 else f"{missing} rounds are"
        raise JournalError(
            f"{journal.path}: {rounds} missing, but the secret of the deals is revealed already, so nobody "
            "can play them. Restore the journal, or begin another one."
        )
    if past.revealed:
        return config
    promise = opening.config.seed_hash
    assert promise is not None  # or the deals come from a public seed, which check_same looks at
    config = attrs.evolve(config, key=promised_key(journal.path, promise))
    if missing:
        journal.append(encoded(ResumeLine(started=utc_now())))
        ledger.resumes += 1
    return config


def end(journal: Journal, config: Config) -> None:
    """Every round is played: reveals the secret of the deals. Raises JournalError."""
    if config.key is None or config.key.is_public:
        return
    journal.append(encoded(RevealLine(secret=config.key.text)))
    forget_secret(journal.path)


def check_same(journal: Journal, opening: TournamentLine, config: Config) -> None:
    """Raises JournalError if the journal's last tournament is another one."""
    if not is_recorded(opening.config):
        raise JournalError(
            f"{journal.path} was begun by an older version of the arena, which made deals in another way: it can be "
            "read and verified, but not resumed. Begin another journal."
        )
    different = differences(opening.config, config.recorded())
    before = opening.config.seed or ""
    if config.seed != before:
        was, now = (f"seed = {seed!r}" if seed else "a secret seed" for seed in (before, config.seed))
        different.append(f"the journal has {was}, now it is {now}")
    if different:
        lines = "\n".join(f"  {line}" for line in different)
        raise JournalError(
            f"{journal.path} is the journal of another tournament:\n{lines}\n"
            "Go on with the old configuration, or begin another journal."
        )

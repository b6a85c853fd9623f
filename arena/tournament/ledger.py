"""What a journal says so far, and how a tournament begins, resumes and ends in it."""

from collections import Counter
from pathlib import Path

import attrs

from arena.journal.deal_secret import forget_secret, new_key, promised_key
from arena.journal.endings import ENDINGS, Fault
from arena.journal.file import is_journal, not_a_journal
from arena.journal.lines import (
    AnyRound,
    BotLine,
    Entry,
    Journal,
    JournalError,
    RawRound,
    ReadmissionLine,
    ResumeLine,
    RevealLine,
    TournamentLine,
    VoidLine,
    encoded,
    outcome_of,
    unknown_settings,
)
from arena.journal.planned import Plan, plan_of
from arena.journal.reader import JournalReader
from arena.plan.bot_spec import RemoteSpec
from arena.plan.config import Config, ConfigError
from arena.plan.deals import DealKey, is_recorded
from arena.plan.recorded_config import differences, test_difference
from arena.plan.schedule import PlannedMatch, pairing_count, schedule
from arena.stats.recorded_test import recorded_test, tested
from arena.stats.sequential_test import SequentialTest
from arena.support.text import counted, printable
from arena.support.timestamps import utc_now
from arena.tournament.identities import Identities, check_unchanged, repaired
from engine.cards import Seat
from engine.ruleset import RuleSet
from engine.scoring import Score


@attrs.define
class Ledger:
    """The state of a tournament that follows from its journal so far."""

    max_faults: int
    outside: frozenset[str] = frozenset()  # bots that connect: absence does not withdraw them
    finished: set[str] = attrs.field(factory=set)
    scores: dict[str, Score] = attrs.field(factory=dict)  # by match, of matches under way
    faults_in_a_row: Counter[str] = attrs.field(factory=Counter)
    # By bot: the id of the player that made the last of too many faults, if it is known.
    withdrawn: dict[str, str | None] = attrs.field(factory=dict)
    readmitted: list[str] = attrs.field(factory=list)  # bots whose withdrawal this resume has lifted
    voids: Counter[str] = attrs.field(factory=Counter)  # by round, of matches under way
    excused: Counter[str] = attrs.field(factory=Counter)  # by bot: voids because it was late while the host was stalled
    lost: Counter[str] = attrs.field(
        factory=Counter
    )  # by bot: all other voids, which a bot without a sandbox can cause
    resumes: int = 0
    dealt: dict[str, tuple[str, str, int]] = attrs.field(factory=dict)  # by round, likewise: seed, salt, attempt
    remarks: list[str] = attrs.field(factory=list)  # about the journal, for the organiser
    identities: Identities = attrs.field(factory=Identities)
    mirrored: bool = True  # whether a round may repeat the deal of another; only then are deals kept
    test: SequentialTest | None = None  # if the tournament is one; then no bot is withdrawn

    def add(self, line: AnyRound) -> list[str]:
        """Add a finished round. Returns the bots that are withdrawn because of it."""
        self.finished.add(line.id)
        self.identities.unknown += line.players is None
        if self.test is not None:
            self.test.add(line.match, tested(line))
        first = Seat(line.first)
        before = self.scores.get(line.match) or Score(RuleSet.named(line.rules), first)
        self.scores[line.match] = before.begun_by(first).after(outcome_of(line.result))
        if self.mirrored:
            self.dealt[line.id] = line.seed, line.salt, 1 + self.voids.get(line.id, 0) + self.resumes
        if line.fault is None and not isinstance(ENDINGS[line.result.ending], Fault):  # the usual case, and quick
            self.faults_in_a_row[line.bots[0]] = self.faults_in_a_row[line.bots[1]] = 0
            return []
        players = line.players or (None, None)
        seats = range(len(line.bots))
        return [
            line.bots[seat] for seat in seats if self._count(line.bots[seat], players[seat], self._failed(line, seat))
        ]

    def add_void(self, line: VoidLine) -> None:
        self.voids[line.id] += 1
        if line.excused is not None:
            self.excused[line.bots[line.excused]] += 1
        elif line.along is not True:
            self.lost.update(line.bots)

    def _failed(self, line: AnyRound, seat: int) -> bool | None:
        """Whether the bot at this seat made a fault; None if it was not connected, which neither adds to its faults in
        a row nor ends them."""
        ending = ENDINGS[line.result.ending]
        neither_started = line.result.winner is None and isinstance(ending, Fault)
        failed = neither_started or (line.fault is not None and line.fault.seat == seat)
        away = ending in (Fault.FAILED_TO_START, Fault.DISCONNECTED) and line.bots[seat] in self.outside
        return None if failed and away else failed

    def _count(self, name: str, player: str | None, failed: bool | None) -> bool:
        if failed is None:
            return False
        self.faults_in_a_row[name] = self.faults_in_a_row[name] + 1 if failed else 0
        if (
            self.test is not None
            or not self.max_faults
            or self.faults_in_a_row[name] < self.max_faults
            or name in self.withdrawn
        ):
            return False
        self.withdrawn[name] = player
        return True

    def readmit(self, name: str) -> None:
        """Lift the withdrawal of a bot: it begins anew."""
        self.withdrawn.pop(name, None)
        self.faults_in_a_row[name] = 0

    @property
    def is_decided(self) -> bool:
        """Whether the tournament is a sequential test that is over, so that its other rounds are not needed."""
        return self.test is not None and self.test.state.end is not None

    def close(self, match: PlannedMatch) -> None:
        """Forget a match that is over, so that memory does not grow with the length of the tournament."""
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
    """The number of rounds of the whole tournament, computed without planning them."""
    return pairing_count(len(config.bots), config.form) * config.cycles * config.rounds


def missing_rounds(config: Config, ledger: Ledger) -> int:
    """How many rounds are left to play; at most so many, if the tournament is a sequential test."""
    return 0 if ledger.is_decided else planned_rounds(config) - len(ledger.finished)


def planned_test(config: Config) -> SequentialTest | None:
    """The sequential test that the tournament is, before its first round; None if it is none."""
    if config.sprt is None:
        return None
    new, base = config.bots
    return SequentialTest(
        config.sprt, (new.name, base.name), (match.id for match in planned_matches(config)), config.max_faults
    )


@attrs.define
class JournalSummary:
    """What a journal contains, with the state of its last tournament."""

    ledger: Ledger
    tournaments: int = 0
    opening: TournamentLine | None = None
    plan: Plan | None = None
    revealed: bool = False  # whether the secret of its deals is in the journal
    unknown: list[str] = attrs.field(factory=list)  # recorded settings that this version does not know
    under_way: Counter[str] = attrs.field(factory=Counter)  # by match: its rounds so far, if some are missing

    def add(self, line: RawRound) -> None:
        """Add a finished round of the last tournament. The score of a match that is over is not kept."""
        assert self.opening is not None
        self.ledger.add(line)
        self.under_way[line.match] += 1
        if self.under_way[line.match] == self.opening.config.rounds:
            del self.under_way[line.match], self.ledger.scores[line.match]


def ledger_of(config: Config) -> Ledger:
    """The ledger of a tournament that has not begun."""
    return Ledger(config.max_faults, frozenset(bot.name for bot in config.bots if isinstance(bot, RemoteSpec)))


def read_past(journal: Journal, max_faults: int) -> JournalSummary:
    """Read a journal to resume it, and cut off a torn last line. Raises JournalError, which names the line, for any
    other damage, and for rounds that are not in the schedule: the arena could not tell what is left to play."""
    past, reader = JournalSummary(Ledger(max_faults)), JournalReader(RawRound)
    for _, entry in () if journal.is_empty else reader.read(journal.path):
        if entry.torn:
            journal.drop_torn_line(entry.start)
            continue
        try:
            _add(past, journal, entry)
        except (JournalError, ConfigError) as error:
            if past.opening is None and not is_journal(journal.path):
                raise JournalError(f"{not_a_journal(journal.path)}; or name a new file") from None
            text = f"{printable(str(error))}; mend or remove the line to resume"
            raise JournalError(f"{journal.path}:{entry.number}: {text}") from None
    past.tournaments, past.ledger.remarks = reader.tournaments, reader.remarks()
    if past.ledger.test is not None:
        past.ledger.test.advance()
    return past


def _add(past: JournalSummary, journal: Journal, entry: Entry) -> None:
    match entry.line:
        case TournamentLine() as opening:
            if entry.problem:
                raise JournalError(entry.problem)
            past.unknown = unknown_settings(entry)
            past.plan, past.opening, past.revealed = plan_of(opening.config), opening, False
            outside = frozenset(bot.name for bot in opening.config.bots or () if bot.remote)
            past.ledger = Ledger(past.ledger.max_faults, outside, mirrored=opening.config.mirror is not False)
            past.ledger.test = recorded_test(opening.config, past.plan)
            past.under_way.clear()
            journal.remember_line_at(entry.start)
        case BotLine() as line:
            past.ledger.identities.add(line)
            if past.ledger.test is not None:
                past.ledger.test.meet(line)
            journal.remember_line_at(entry.start)
        case RawRound() as line:
            assert past.plan is not None  # the reader leaves out rounds without a tournament
            if different := next(past.plan.differences(line), None):
                raise JournalError(f"round {line.id}: {different}")
            past.add(line)
        case VoidLine() as line:
            assert past.plan is not None
            if different := next(past.plan.differences_of_void(line), None):
                raise JournalError(f"void round {line.id}: {different}")
            past.ledger.add_void(line)
            journal.remember_line_at(entry.start)
        case ResumeLine():
            past.ledger.resumes += 1
            journal.remember_line_at(entry.start)
        case ReadmissionLine(bot=name):
            past.ledger.readmit(name)
            journal.remember_line_at(entry.start)
        case RevealLine():
            past.revealed = True
        case None:
            raise JournalError(entry.problem)


def resume(journal: Journal, config: Config) -> tuple[Config, Ledger]:
    """Resume the tournament in the journal, or begin it if the journal is empty. Returns the config with the key of the
    deals. Raises JournalError if the journal cannot be resumed or belongs to another tournament."""
    past = read_past(journal, config.max_faults)
    if past.tournaments > 1:
        raise JournalError(f"{journal.path}: this file holds several tournaments; none of them can be resumed")
    if past.opening is None:
        past.ledger.test = planned_test(config)
        return begin(journal, config), past.ledger
    check_same(journal, past.opening, config)
    config = go_on(journal, config, past)
    if past.revealed or missing_rounds(config, past.ledger):
        return config, past.ledger
    end(journal, config)  # it was stopped after its last round, before the secret was revealed
    return config, past.ledger


def begin(journal: Journal, config: Config) -> Config:
    """Write the opening line of a new tournament. Returns the config with the key of the deals. Raises JournalError."""
    journal.check_not_rescued()
    config = with_new_key(config, journal.path)
    journal.append(encoded(TournamentLine(config=config.recorded(), started=utc_now())))
    return config


def with_new_key(config: Config, journal: Path | None) -> Config:
    """The config with a new key for the deals, whose secret is saved beside the journal. Raises JournalError."""
    key = DealKey(config.seed, is_public=True) if config.seed else new_key(journal, kept=config.kept)
    return attrs.evolve(config, key=key)


def go_on(journal: Journal, config: Config, past: JournalSummary) -> Config:
    """Resume the last tournament of the journal. Returns the config with the key of the deals, if it is still needed.
    Raises JournalError."""
    opening, ledger = past.opening, past.ledger
    missing = missing_rounds(config, ledger)
    assert opening is not None
    if past.unknown:
        settings = printable(", ".join(past.unknown))
        raise JournalError(
            f"{journal.path}: this version cannot resume with settings that it does not know: {settings}"
        )
    identities, withdrawn = ledger.identities, ledger.withdrawn
    ledger.remarks += check_unchanged(journal.path, identities, config, withdrawn, is_over=not missing)
    if past.revealed and not config.seed:
        if missing:
            raise JournalError(
                f"{journal.path}: {counted(missing, 'round is', 'rounds are')} missing, but the secret of the deals is "
                "already revealed, so no fair round can be played. Restore the journal, or begin another one."
            )
        return config
    key = DealKey(config.seed, is_public=True)
    if not config.seed:
        promise = opening.config.seed_hash
        assert promise is not None  # without it the deals have a public seed, which check_same compares
        key = promised_key(journal.path, promise)
        if missing:
            journal.append(encoded(ResumeLine(started=utc_now())))
            ledger.resumes += 1
    for name in repaired(identities, config, withdrawn) if missing else ():
        journal.append(encoded(ReadmissionLine(bot=name, started=utc_now())))
        ledger.readmit(name)
        ledger.readmitted.append(name)
    return attrs.evolve(config, key=key)


def end(journal: Journal, config: Config) -> None:
    """End a tournament whose rounds are all played: reveal the secret of the deals. Raises JournalError."""
    if config.key is None or config.key.is_public:
        return
    journal.append(encoded(RevealLine(secret=config.key.text)))
    forget_secret(journal.path)


def check_same(journal: Journal, opening: TournamentLine, config: Config) -> None:
    """Raise JournalError unless the journal's last tournament, which `opening` opens, has this config."""
    if not is_recorded(opening.config):
        raise JournalError(
            f"{journal.path} was begun by an older version of the arena, which made deals in another way: it can be "
            "read and verified, but not resumed. Begin another journal."
        )
    if different_test := test_difference(opening.config, config.recorded()):
        raise JournalError(f"{journal.path}: {different_test}; name another journal")
    different = differences(opening.config, config.recorded())
    before = opening.config.seed or ""
    if config.seed != before:
        was, now = (f"seed = {seed!r}" if seed else "a secret seed" for seed in (before, config.seed))
        different.append(f"the journal has {was}, now it is {now}")
    if different:
        lines = "\n".join(f"  {line}" for line in different)
        raise JournalError(
            f"{journal.path} is the journal of another tournament:\n{lines}\n"
            "Resume it with the old configuration, or begin another journal."
        )

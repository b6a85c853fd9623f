"""What a journal says so far, and how a tournament begins, resumes and ends in it."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import attrs
from msgspec import UNSET

from arena.journal.deal_secret import forget_secret, new_key, promised_key
from arena.journal.endings import ENDINGS, Fault
from arena.journal.file import is_journal, not_a_journal
from arena.journal.lines import (
    AnyRound,
    Journal,
    JournalEntry,
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
from arena.journal.reader import JournalReader
from arena.journal.tournament_state import TournamentState, verdict
from arena.plan.config import Config, ConfigError
from arena.plan.deals import DealKey
from arena.plan.max_voids import MaxVoids, most_voids
from arena.plan.recorded_config import RecordedConfig, differences, format_difference
from arena.plan.schedule import PlannedMatch, schedule, size_problem
from arena.support.text import counted, printable
from arena.support.timestamps import utc_now
from arena.tournament.identities import Identities, check_unchanged, repaired
from engine.cards import Seat
from engine.ruleset import RuleSet
from engine.scoring import Score
from protocol.names import NAME_RULE, name_problem, twin_of


@attrs.define
class Ledger:
    """What those who play a tournament have to know besides its state: what the results of its rounds mean for the
    matches and bots that play on."""

    state: TournamentState
    scores: dict[str, Score] = attrs.field(factory=dict)  # by match, of matches under way
    faults_in_a_row: Counter[str] = attrs.field(factory=Counter)
    # By bot: the id of the player that made the last of too many faults, if it is known.
    withdrawn: dict[str, str | None] = attrs.field(factory=dict)
    readmitted: list[str] = attrs.field(factory=list)  # bots whose withdrawal this resume has lifted
    remarks: list[str] = attrs.field(factory=list)  # about the journal, for the organiser
    identities: Identities = attrs.field(init=False)
    _outside: frozenset[str] = attrs.field(init=False)  # bots that connect: absence does not withdraw them

    def __attrs_post_init__(self) -> None:
        self.identities = Identities(self.state)
        self._outside = frozenset(bot.name for bot in self.state.config.bots or () if bot.remote)

    def finish(self, line: AnyRound) -> list[str]:
        """Take in a round that has just been played. Returns the bots that are withdrawn because of it."""
        self.state.add_round(line)
        return self.add(line)

    def add(self, line: AnyRound) -> list[str]:
        """Take in the result of a finished round that the state knows. Returns the bots that are withdrawn because of
        it."""
        self.identities.unknown += line.players is None
        self.state.add_result(line)
        if self.state.finished.under_way(line.match):
            first = Seat(line.first)
            before = self.scores.get(line.match) or Score(RuleSet.named(line.rules), first)
            self.scores[line.match] = before.begun_by(first).after(outcome_of(line.result))
        else:  # that was its last round
            self.scores.pop(line.match, None)
        if line.fault is None and not isinstance(ENDINGS[line.result.ending], Fault):  # the usual case, and quick
            self.faults_in_a_row[line.bots[0]] = self.faults_in_a_row[line.bots[1]] = 0
            return []
        players = line.players or (None, None)
        seats = range(len(line.bots))
        return [
            line.bots[seat] for seat in seats if self._count(line.bots[seat], players[seat], self._failed(line, seat))
        ]

    def may_excuse(self, name: str, max_voids: MaxVoids) -> bool:
        """Whether another round may be void because this bot was late while the host stalled, or was killed."""
        return self.state.excused[name] < most_voids(max_voids, self.state.rounds[name])

    def _failed(self, line: AnyRound, seat: int) -> bool | None:
        """Whether the bot at this seat made a fault; None if it was not connected, which neither adds to its faults in
        a row nor ends them."""
        ending = ENDINGS[line.result.ending]
        neither_started = line.result.winner is None and isinstance(ending, Fault)
        failed = neither_started or (line.fault is not None and line.fault.seat == seat)
        away = ending in (Fault.FAILED_TO_START, Fault.DISCONNECTED) and line.bots[seat] in self._outside
        return None if failed and away else failed

    def _count(self, name: str, player: str | None, failed: bool | None) -> bool:
        """Count a fault, or none, of a bot. Returns whether it is withdrawn because of it."""
        if failed is None:
            return False
        self.faults_in_a_row[name] = self.faults_in_a_row[name] + 1 if failed else 0
        most = self.state.config.max_faults if self.state.format.withdraws else 0
        if not most or self.faults_in_a_row[name] < most or name in self.withdrawn:
            return False
        self.withdrawn[name] = player
        return True

    def readmit(self, name: str) -> None:
        """Lift the withdrawal of a bot: it begins anew."""
        self.withdrawn.pop(name, None)
        self.faults_in_a_row[name] = 0


def ledger_of(opening: TournamentLine) -> Ledger:
    """The ledger of a tournament that begins now. Raises ConfigError if its opening line is not sound."""
    state = TournamentState(opening)
    state.judge()
    return Ledger(state)


def planned_matches(config: Config) -> tuple[PlannedMatch, ...]:
    return schedule(
        len(config.bots),
        config.form,
        config.cycles,
        config.rounds,
        config.rules,
        config.first_cycle,
    )


def missing_rounds(state: TournamentState) -> int:
    """How many rounds are left to play; at most that many, if the tournament may end before."""
    return 0 if verdict(state).is_over else state.plan.total - state.finished.count


@attrs.define
class PastTournament:
    """The last tournament of a journal, as far as it was played."""

    tournaments: int = 0  # in the journal
    ledger: Ledger | None = None  # None if there is no tournament
    unknown: list[str] = attrs.field(factory=list)  # recorded settings that this version does not know
    remarks: list[str] = attrs.field(factory=list)  # about the journal, for the organiser


def read_past(journal: Journal) -> PastTournament:
    """Read a journal to resume it, and cut off a torn last line. Raises JournalError, which names the line, for any
    other damage, and for rounds that are not in the schedule: the arena could not tell what is left to play."""
    past, reader = PastTournament(), JournalReader(RawRound)
    for state, entry in () if journal.is_empty else reader.read(journal.path):
        if entry.torn:
            journal.drop_torn_line(entry.start)
            continue
        try:
            _add(past, journal, state, entry)
        except (JournalError, ConfigError) as error:
            if past.ledger is None and not is_journal(journal.path):
                raise JournalError(f"{not_a_journal(journal.path)}; or name a new file") from None
            text = f"{printable(str(error))}; mend or remove the line to resume"
            raise JournalError(f"{journal.path}:{entry.number}: {text}") from None
    past.tournaments, past.remarks = reader.tournaments, reader.remarks()
    return past


def _add(past: PastTournament, journal: Journal, state: TournamentState | None, entry: JournalEntry) -> None:
    """Take in a line that the state has taken in already. Raises JournalError or ConfigError if it cannot be used."""
    if entry.line is None or entry.problem:
        raise JournalError(entry.problem)
    assert state is not None  # the reader leaves out lines without a tournament
    if isinstance(entry.line, TournamentLine):
        past.unknown = unknown_settings(entry)
        state.judge()
        past.ledger = Ledger(state)
    assert past.ledger is not None
    match entry.line:
        case RawRound() as line:
            if different := next(state.plan.differences(line), None):
                raise JournalError(f"round {line.id}: {different}")
            past.ledger.add(line)
            return
        case VoidLine() as line:
            if different := next(state.plan.differences_of_void(line), None):
                raise JournalError(f"void round {line.id}: {different}")
        case ReadmissionLine(bot=name):
            past.ledger.readmit(name)
        case RevealLine():
            return
    journal.remember_line_at(entry.start)


def resume(journal: Journal, config: Config) -> tuple[Config, Ledger]:
    """Resume the tournament in the journal, or begin it if the journal is empty. Returns the config with the key of the
    deals. Raises JournalError if the journal cannot be resumed or belongs to another tournament."""
    past = read_past(journal)
    if past.tournaments > 1:
        raise JournalError(f"{journal.path}: this file holds several tournaments; none of them can be resumed")
    if past.ledger is None:
        return begin(journal, config)
    ledger, state = past.ledger, past.ledger.state
    check_same(journal, state.config, config)
    config = go_on(journal, config, past)
    if not state.is_revealed and not missing_rounds(state):
        end(journal, config)  # it was stopped after its last round, before the secret was revealed
    return config, ledger


def begin(journal: Journal, config: Config) -> tuple[Config, Ledger]:
    """Write the opening line of a new tournament. Returns the config with the key of the deals. Raises JournalError."""
    journal.check_not_rescued()
    _check_recordable(journal, config)
    config = with_new_key(config, journal.path)
    follows = journal.opening_hash or UNSET
    opening = TournamentLine(config=config.recorded(), started=utc_now(), follows=follows)
    journal.append(encoded(opening))
    return config, ledger_of(opening)


def begin_unrecorded(config: Config) -> tuple[Config, Ledger]:
    """Begin a tournament that has no journal. Returns the config with the key of the deals."""
    config = with_new_key(config, None)
    return config, ledger_of(TournamentLine(config=config.recorded(), started=utc_now()))


def _check_recordable(journal: Journal, config: Config) -> None:
    """Raise JournalError if a journal cannot hold this tournament."""
    if problem := size_problem(len(config.bots), config.form, config.cycles, config.rounds):
        raise JournalError(f"{journal.path}: {problem}")
    try:
        encoded(TournamentLine(config=config.recorded(), started=""))
    except UnicodeEncodeError as error:
        text = printable(str(error.object))
        raise JournalError(f"{journal.path}: '{text}' is not UTF-8, and a journal can hold nothing else") from None


def hash_to_publish(journal: Journal, config: Config) -> str | None:
    """The hash of the opening line; None if the journal is not kept, or if its deals come from a public seed: whoever
    chose that could try it before."""
    return journal.opening_hash if config.kept and config.seed_hash else None


def with_new_key(config: Config, journal: Path | None) -> Config:
    """The config with a new key for the deals, whose secret is saved beside the journal. Raises JournalError."""
    key = DealKey(config.seed, is_public=True) if config.seed else new_key(journal, kept=config.kept)
    return attrs.evolve(config, key=key)


def go_on(journal: Journal, config: Config, past: PastTournament) -> Config:
    """Resume the last tournament of the journal. Returns the config with the key of the deals, if it is still needed.
    Raises JournalError."""
    ledger = past.ledger
    assert ledger is not None
    if past.unknown:
        settings = printable(", ".join(past.unknown))
        raise JournalError(
            f"{journal.path}: this version cannot resume with settings that it does not know: {settings}"
        )
    state, identities, withdrawn = ledger.state, ledger.identities, ledger.withdrawn
    missing = missing_rounds(state)
    past.remarks += check_unchanged(journal.path, identities, config, withdrawn, is_over=not missing)
    ledger.remarks = past.remarks
    if state.is_revealed and not config.seed:
        if missing:
            raise JournalError(
                f"{journal.path}: {counted(missing, 'round is', 'rounds are')} missing, but the secret of the deals is "
                "already revealed, so no fair round can be played. Restore the journal, or begin another one."
            )
        return config
    key = DealKey(config.seed, is_public=True)
    if not config.seed:
        promise = state.config.seed_hash
        assert promise is not None  # without it the deals have a public seed, which check_same compares
        key = promised_key(journal.path, promise)
        if missing:
            resumed = ResumeLine(started=utc_now())
            journal.append(encoded(resumed))
            state.add(resumed)
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


def _check_names(journal: Journal, names: Sequence[str]) -> None:
    """Raise JournalError if a bot can no longer play under its name."""
    for place, name in enumerate(names):
        if name_problem(name) or twin_of(name, names[:place]):
            raise JournalError(
                f"{journal.path}: {printable(name)!r} is a name that no bot can have any more ({NAME_RULE}, and case "
                "makes no difference): the journal can be read and verified, but not resumed. Begin another journal "
                "(--journal FILE)."
            )


def check_same(journal: Journal, recorded: RecordedConfig, config: Config) -> None:
    """Raise JournalError unless the journal's last tournament, of which this is recorded, has this config."""
    _check_names(journal, [bot.name for bot in recorded.bots or ()])
    if other_format := format_difference(recorded, config.recorded()):
        raise JournalError(f"{journal.path}: {other_format}; name another journal (--journal FILE)")
    different = differences(recorded, config.recorded())
    before = recorded.seed or ""
    if config.seed != before:
        was, now = (f"seed = {seed!r}" if seed else "a secret seed" for seed in (before, config.seed))
        different.append(f"the journal has {was}, now it is {now}")
    if different:
        lines = "\n".join(f"  {line}" for line in different)
        raise JournalError(
            f"{journal.path} is the journal of another tournament:\n{lines}\n"
            "Resume it with the old configuration, or begin another journal (--journal FILE)."
        )

"""What a journal says so far, and how a tournament goes on from there."""

from collections import Counter

import attrs

from arena.bots import RemoteSpec
from arena.config import Config, ConfigError, differences, with_seed
from arena.journal import Entry, Journal, JournalError, RoundLine, TournamentLine, VoidLine, encoded
from arena.journal_reader import JournalReader
from arena.match import utc_now
from arena.plain_text import printable
from arena.planned import Plan, plan_of
from arena.schedule import PlannedMatch, pairing_count, schedule
from engine.scoring import Ending


@attrs.define
class Ledger:
    """What the journal says so far."""

    max_faults: int
    outside: frozenset[str] = frozenset()  # bots that connect: being away is no fault that withdraws them
    finished: set[str] = attrs.field(factory=set)
    last_of_match: dict[str, RoundLine] = attrs.field(factory=dict)
    points: dict[str, tuple[int, int]] = attrs.field(factory=dict)
    faults_in_a_row: Counter[str] = attrs.field(factory=Counter)
    withdrawn: set[str] = attrs.field(factory=set)
    remarks: list[str] = attrs.field(factory=list)  # about the journal, for the organiser

    def add(self, line: RoundLine) -> list[str]:
        """Returns the bots that are withdrawn by this round."""
        if line.id in self.finished:
            raise JournalError(f"round {line.id} is in the journal twice")
        self.finished.add(line.id)
        before, won = self.points.get(line.match, (0, 0)), line.result.points
        self.points[line.match] = (before[0] + won[0], before[1] + won[1])
        self.last_of_match[line.match] = line
        return [name for seat, name in enumerate(line.bots) if self._count(name, self._failed(line, seat))]

    def _failed(self, line: RoundLine, seat: int) -> bool | None:
        """Whether the bot did; None if it was not even there, which says nothing about it."""
        ending = Ending(line.result.ending)
        nobody_started = line.result.winner is None and ending.is_fault
        failed = nobody_started or (line.fault is not None and line.fault.seat == seat)
        away = ending in (Ending.FAILED_TO_START, Ending.DISCONNECTED) and line.bots[seat] in self.outside
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
        self.last_of_match.pop(match.id, None)
        self.points.pop(match.id, None)
        self.finished.difference_update(planned.id for planned in match.rounds)


def planned_matches(config: Config) -> tuple[PlannedMatch, ...]:
    return schedule(
        len(config.bots),
        config.form,
        config.cycles,
        config.rounds,
        config.mirrored,
        config.rules,
        config.first_cycle,
    )


def planned_rounds(config: Config) -> int:
    """How many there are, without planning them."""
    return pairing_count(len(config.bots), config.form) * config.cycles * config.rounds


@attrs.define
class Past:
    """What a journal holds."""

    ledger: Ledger  # of the last tournament
    tournaments: int = 0
    opening: TournamentLine | None = None  # of the last one
    plan: Plan | None = None  # of the last one


def ledger_of(config: Config) -> Ledger:
    return Ledger(config.max_faults, frozenset(bot.name for bot in config.bots if isinstance(bot, RemoteSpec)))


def read_past(journal: Journal, max_faults: int) -> Past:
    """A torn last line is dropped. Raises JournalError, with the line, for any other damage, and for rounds that are
    not those of the tournament: nobody knows what they would do to what is still to be played."""
    past, reader = Past(Ledger(max_faults)), JournalReader(RoundLine)
    for entry in reader.read(journal.path):
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


def _add(past: Past, journal: Journal, entry: Entry) -> None:
    match entry.line:
        case TournamentLine() as opening:
            past.plan, past.opening = plan_of(opening.config), opening
            outside = frozenset(str(bot["name"]) for bot in opening.config["bots"] if bot.get("remote"))
            past.ledger = Ledger(past.ledger.max_faults, outside)
            journal.remember_opening(entry.start, encoded(opening))
        case RoundLine() as line:
            assert past.plan is not None  # the reader leaves out rounds of no tournament
            if different := next(past.plan.differences(line), None):
                raise JournalError(f"round {line.id}: {different}")
            past.ledger.add(line)
        case VoidLine():
            pass
        case None:
            raise JournalError(entry.problem)


def resume(journal: Journal, config: Config) -> tuple[Config, Ledger]:
    """Reads the journal, or begins it. Raises JournalError if it belongs to another tournament."""
    past = read_past(journal, config.max_faults)
    if past.tournaments > 1:
        raise JournalError(f"{journal.path}: this file holds several tournaments; none can go on in it")
    if past.opening is None:
        config = with_seed(config, None)
        begin(journal, config)
    else:
        config = with_seed(config, past.opening.config.get("seed"))
        check_same(journal, past.opening, config)
    return config, past.ledger


def begin(journal: Journal, config: Config) -> None:
    journal.append(encoded(TournamentLine(config=config.recorded(), started=utc_now())))


def check_same(journal: Journal, opening: TournamentLine, config: Config) -> None:
    """Raises JournalError if the journal's last tournament is another one."""
    if different := differences(opening.config, config.recorded()):
        lines = "\n".join(f"  {line}" for line in different)
        raise JournalError(
            f"{journal.path} is the journal of another tournament:\n{lines}\n"
            "Go on with the old configuration, or begin another journal."
        )

"""Fold journals into standings, one round at a time. Pure, except for `fold`, which reads the files.

Memory grows with the number of bots and pairings, and with what is incomplete (matches and pairs of rounds of which a
round is missing), but never with the number of rounds.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs
from msgspec.structs import replace

from arena.journal.endings import Fault
from arena.journal.identity import is_recorded_name
from arena.journal.lines import (
    BotLine,
    JournalError,
    ReadmissionLine,
    ResumeLine,
    RevealLine,
    TournamentLine,
    VoidLine,
)
from arena.journal.reader import JournalReader, Progress, Read, no_progress
from arena.journal.tournament_state import TournamentState
from arena.plan.recorded_config import RecordedConfig
from arena.stats.head_to_head import HeadToHead, Meeting, Results
from arena.stats.ratings import Matchup, Ratings, Scale, rate
from arena.stats.roster import Naming, RatedBy, RatedPlayer, Roster
from arena.stats.round_summary import RoundResult, RoundSummary
from arena.stats.sandboxes import Sandboxes
from arena.stats.thinking_time import ThinkingTime
from arena.support.suggestion import did_you_mean
from arena.support.text import printable

_MOST_PROBLEMS: Final = 100  # listed one by one; in a file that is not a journal every line is a problem


@attrs.define
class _Waiting:
    """A round whose pair is incomplete so far. `half_points` is None if the round is left out of the ratings."""

    id: str
    meeting: Meeting
    half_points: int | None

    def count_as_single(self) -> None:
        if self.half_points is not None:
            self.meeting.singles[self.half_points] += 1


@attrs.define
class _OpenMatch:
    meeting: Meeting
    rounds: int = 0  # so far
    lead: int = 0  # points of the first bot minus those of the second
    is_mixed: bool = False  # a bot has changed during the match, so it counts for none of its versions


@attrs.frozen(kw_only=True)
class BotTotals(Results):
    """The results of one bot against all others."""

    name: str
    faults: Mapping[Fault, int]
    forfeits: int  # rounds that it did not play, because it was withdrawn
    voids: int  # rounds that were void because the bot was late while the host was stalled
    mean_ms: float | None  # thinking time per move
    p99_ms: int | None
    sandbox: str | None
    player: RatedPlayer


class Standings:
    def __init__(self, *, leave_out_faults: bool = False, naming: Naming | None = None):
        """With `leave_out_faults`, a round that ended by a fault is counted only among the faults. With `naming`, the
        names in rounds are labels of players."""
        self.roster = Roster()
        self.naming = naming
        self.voids = 0
        self.excused: Counter[str] = Counter()  # by bot: voids because it was late while the host was stalled
        self.forfeits: Counter[str] = Counter()  # by bot: rounds that it did not play because it was withdrawn
        self.rounds = 0  # in the journal, counted or left out
        self.rated = 0  # rounds among them that count
        self.rated_faults = 0  # rounds that count and ended by a fault, or were forfeited
        self.neither_started = 0  # rounds among them that count for neither bot, because neither started
        self.assisted = 0  # rounds among them that count for neither bot, because a person had help
        self.leaves_out_faults = leave_out_faults
        self._thinking: dict[str, ThinkingTime] = {}
        self._faults: dict[str, Counter[Fault]] = {}
        self._meetings: dict[tuple[str, str], Meeting] = {}
        self._waiting: dict[str, _Waiting] = {}  # by the id of the pair
        self._open_matches: dict[str, _OpenMatch] = {}
        self._unfinished_matches = 0  # of tournaments that were followed by another one
        self._state = TournamentState(TournamentLine(config=RecordedConfig(), started=""))  # whose rounds are added
        self._planned: int | None = 0
        self._before = 0  # rounds of earlier tournaments
        self.lost_rounds = 0  # planned ones of tournaments that are over, but not in the journal
        self.public_seeds = 0  # tournaments whose deals could be known in advance
        self.tests = 0  # sequential tests among the tournaments
        self.sandboxes = Sandboxes()

    @property
    def unfinished_matches(self) -> int:
        return self._unfinished_matches + len(self._open_matches)

    @property
    def missing_rounds(self) -> int | None:
        """How many rounds are still to be played; None if a journal does not say how many there will be."""
        known = self._planned is not None and self._state.config.total is not None
        return max(0, (self._planned or 0) - self.rounds - self.lost_rounds) if known else None

    def begin(self, state: TournamentState) -> None:
        """Begin another tournament, whose ids are independent of those before. The caller feeds its state."""
        self._state, config = state, state.config
        self._before = self.rounds
        self.public_seeds += config.seed is not None
        self.tests += config.sprt is not None
        self.sandboxes.add(config)
        self.roster.begin(config)
        for waiting in self._waiting.values():
            waiting.count_as_single()
        self._waiting.clear()
        self._unfinished_matches += len(self._open_matches)
        self._open_matches.clear()
        if self._planned is not None:  # a journal by another program may not say how many rounds are planned
            self._planned = None if config.total is None else self._planned + config.total

    def end(self) -> None:
        """The tournament is over, so whatever is missing of it was removed."""
        self.lost_rounds += max(0, (self._state.config.total or 0) - (self.rounds - self._before))

    def add_void(self, line: VoidLine) -> None:
        self.voids += 1
        if line.excused is not None:
            self.excused[line.bots[line.excused]] += 1

    def add(self, line: RoundResult) -> None:
        """Count a round. The caller must not add a round twice; JournalReader ensures that. Raises JournalError, and
        counts nothing, if the round is impossible."""
        meeting = self._meetings.get(line.bots) or self._meeting(line.bots)
        side = 0 if line.bots[0] == meeting.bots[0] else 1  # the seat of the first bot of the meeting
        result = line.result
        half_points: int | None = 1 if result.winner is None else 2 if result.winner == side else 0
        points = result.points if side == 0 else (result.points[1], result.points[0])
        fault = result.ending if isinstance(result.ending, Fault) else None
        neither_started = fault is not None and result.winner is None
        if neither_started or line.assisted or (fault and self.leaves_out_faults):
            half_points, points = None, (0, 0)
        self._count_unit(line, meeting, half_points)
        self._count_match(line, meeting, points)
        self.rounds += 1
        self.neither_started += neither_started
        self.assisted += line.assisted is not None
        if half_points is not None:
            meeting.count(half_points, points)
            self.rated += 1
            self.rated_faults += fault is not None
        forfeited = line.fault is not None and line.fault.is_forfeit
        for seat in line.seats_at_fault():
            if forfeited:
                self.forfeits[line.bots[seat]] += 1
            elif fault:
                self._faults[line.bots[seat]][fault] += 1
        if isinstance(line, RoundSummary):
            times: tuple[list[int], list[int]] = ([], [])
            for seat, _, ms in line.moves:
                if ms is not None:
                    times[seat].append(ms)
            self._thinking[line.bots[0]].add(times[0])
            self._thinking[line.bots[1]].add(times[1])

    def _meeting(self, bots: tuple[str, str]) -> Meeting:
        first, second = sorted(bots)
        if first == second:
            raise JournalError(f"{first!r} plays against itself")
        for name in bots:
            if name not in self._thinking and not is_recorded_name(name) and not self._is_label(name):
                raise JournalError(f"{name!r} is not a name of a bot")
        for name in bots:
            self._thinking.setdefault(name, ThinkingTime())
            self._faults.setdefault(name, Counter())
        return self._meetings.setdefault((first, second), Meeting((first, second)))

    def _is_label(self, name: str) -> bool:
        return self.naming is not None and name in self.naming.players

    def player(self, name: str) -> RatedPlayer:
        """Who is behind a name in these standings."""
        if self.naming is not None and self._is_label(name):
            return self.naming.described(name, self.roster)
        return self.roster.of(name)

    def version_notes(self) -> list[str]:
        """Remarks about names that stand for several versions of a bot, or were played by several rule sets."""
        return self.naming.notes() if self.naming else self.roster.notes()

    def _count_unit(self, line: RoundResult, meeting: Meeting, half_points: int | None) -> None:
        """Count the pair of the round, or the round alone, as a unit of the ratings. `half_points` are those of the
        first bot of the meeting; None if the round is not rated."""
        pair = line.pair or line.id
        # Where the winner of a round begins the next one there are no pairs, and each round is a unit of its own. The
        # last round of an odd number waits until its match is over.
        single = not line.pair or (pair == line.id and self._state.config.pairs is False)
        waiting = None if single else self._waiting.get(pair)
        if waiting is None and not single:  # the first of its pair
            self._waiting[pair] = _Waiting(line.id, meeting, half_points)
            return
        if waiting is not None:
            # The second of its pair. That other bots played the first is damage, unless versions are distinguished.
            if waiting.meeting is not meeting and self.naming is None:
                raise JournalError(f"round {line.id} is said to be paired with {waiting.id}, which other bots played")
            del self._waiting[pair]
            if waiting.meeting is not meeting:  # a bot has changed between the two rounds
                waiting.count_as_single()
            elif half_points is not None and waiting.half_points is not None:
                meeting.pairs[half_points + waiting.half_points] += 1
                return
            elif half_points is None:  # of the pair only the other round is rated, if any
                half_points = waiting.half_points
        if half_points is not None:
            meeting.singles[half_points] += 1

    def _count_match(self, line: RoundResult, meeting: Meeting, points: tuple[int, int]) -> None:
        under_way = self._open_matches.get(line.match)
        if under_way is None:
            under_way = self._open_matches[line.match] = _OpenMatch(meeting)
        if under_way.meeting is not meeting:
            under_way.is_mixed = True
        under_way.rounds += 1
        under_way.lead += points[0] - points[1]
        if under_way.rounds == self._state.config.rounds:
            lead = under_way.lead
            if not under_way.is_mixed:
                meeting.matches[(lead > 0) - (lead < 0) + 1] += 1
            del self._open_matches[line.match]
            if alone := self._waiting.pop(line.pair, None):  # the last round of an odd number
                alone.count_as_single()

    # The results, always in the order of names, so that numbers do not depend on the order in which rounds finished.

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._thinking))

    def versus(self) -> tuple[HeadToHead, ...]:
        """The results of every two bots that met, from the point of view of each."""
        return tuple(sorted((side for each in self._meetings.values() for side in each.sides()), key=_by_name))

    def totals(self) -> tuple[BotTotals, ...]:
        sides: dict[str, list[HeadToHead]] = {name: [] for name in self.names}
        for versus in self.versus():
            sides[versus.bot].append(versus)
        return tuple(self._totals(name, sides[name]) for name in self.names)

    def _totals(self, name: str, sides: list[HeadToHead]) -> BotTotals:
        thinking, player = self._thinking[name], self.player(name)
        return BotTotals(
            name=name,
            wins=sum(side.wins for side in sides),
            draws=sum(side.draws for side in sides),
            losses=sum(side.losses for side in sides),
            points=sum(side.points for side in sides),
            points_against=sum(side.points_against for side in sides),
            matches=_sum3(side.matches for side in sides),
            faults=dict(self._faults[name]),
            forfeits=self.forfeits[name],
            voids=self.excused[name],
            mean_ms=thinking.mean,
            p99_ms=thinking.percentile(99),
            sandbox=self.sandboxes.of(player.bot),
            player=player,
        )

    def thinking(self, name: str) -> ThinkingTime:
        return self._thinking[name]

    def matchups(self) -> list[Matchup]:
        """The results as `rate` needs them: bots are indices into `names`. The one round of an incomplete pair counts
        as a single round."""
        number = {name: index for index, name in enumerate(self.names)}
        singles = {bots: list(meeting.singles) for bots, meeting in self._meetings.items()}
        for waiting in self._waiting.values():
            if waiting.half_points is not None:
                singles[waiting.meeting.bots][waiting.half_points] += 1
        return [
            Matchup(number[bots[0]], number[bots[1]], tuple(meeting.pairs), tuple(singles[bots]))
            for bots, meeting in sorted(self._meetings.items())
        ]

    def rate(self, average: float = 0.0, anchor: tuple[str, float] | None = None) -> Ratings:
        """The ratings of all bots, in the order of `names`. Raises ValueError if the anchor is not one of them."""
        names = self.names
        if anchor is not None and anchor[0] not in names:
            known = ", ".join(names) + did_you_mean(anchor[0], names)
            raise ValueError(f"no bot is called {anchor[0]!r}; there are: {known}")
        held = None if anchor is None else (names.index(anchor[0]), anchor[1])
        return rate(len(names), self.matchups(), Scale(average, held))


Counted = RoundResult | TournamentState | VoidLine
# Called with a line, its journal and its line number; instead of an opening line with the state that it begins.
Watch = Callable[[Standings, Counted, Path, int], None]


def _by_name(versus: HeadToHead) -> tuple[str, str]:
    return versus.bot, versus.opponent


def _sum3(triples: Iterable[tuple[int, int, int]]) -> tuple[int, int, int]:
    won, drawn, lost = (sum(column) for column in zip((0, 0, 0), *triples, strict=True))
    return won, drawn, lost


def fold(
    paths: Iterable[Path],
    *,
    leave_out_faults: bool = False,
    kind: type[RoundResult] = RoundSummary,
    by: RatedBy = RatedBy.NAME,
    watch: Callable[[], Watch] = lambda: _nothing,
    progress: Progress = no_progress,
) -> tuple[Standings, list[str]]:
    """Read journals as if they were one file. Returns their standings, and one message for each line that cannot be
    used. Raises JournalError if one is not a regular file, and OSError.

    What `watch` returns is called with each line right after it was counted. `kind` is the struct to decode rounds as;
    with RoundResult, which is quicker, there are no thinking times. `progress` is called with each entry.

    Only when everything is read is it known whether some names stand for several players (roster.py). Then everything
    is read again, and `watch` is called again, too."""
    paths = tuple(paths)
    found = fold_once(paths, Standings(leave_out_faults=leave_out_faults), kind, watch(), progress)
    if naming := found[0].roster.apart(by):
        again = Standings(leave_out_faults=leave_out_faults, naming=naming)
        found = fold_once(paths, again, kind, watch(), progress)
    return found


def _nothing(_standings: Standings, _line: Counted, _path: Path, _number: int) -> None:
    pass


def fold_once(
    paths: Iterable[Path], standings: Standings, kind: type[RoundResult], watch: Watch, progress: Progress
) -> tuple[Standings, list[str]]:
    """Add all rounds of these journals to the standings, by the names of the bots unless the standings have a naming.
    Returns and raises what `fold` does."""
    reader = JournalReader(kind)
    problems: list[str] = []
    more = 0
    for problem in _fold(reader.read_all(paths), standings, watch, progress):
        if len(problems) < _MOST_PROBLEMS:
            problems.append(problem)
        else:
            more += 1
    return standings, problems + ([f"and {more} more"] if more else []) + reader.remarks()


def _fold(entries: Iterable[Read], standings: Standings, watch: Watch, progress: Progress) -> Iterator[str]:
    for state, entry in entries:
        progress(entry)
        line = entry.line
        if standings.naming is not None and state is not None and isinstance(line, RoundResult | VoidLine):
            ids = line.players if isinstance(line, RoundResult) else None
            line = replace(line, bots=standings.naming.names(state.number, line.bots, ids))
        try:
            match line:
                case RoundResult():
                    standings.add(line)
                case TournamentLine():
                    assert state is not None  # each opening line that counts begins one
                    standings.begin(state)
                    line = state
                case VoidLine():
                    standings.add_void(line)
                case BotLine():
                    standings.roster.add(line)
                    continue
                case RevealLine():
                    standings.end()
                    continue
                case ResumeLine() | ReadmissionLine():
                    continue
                case None:
                    yield entry.message
                    continue
        except JournalError as error:
            yield f"{entry.path}:{entry.number}: {printable(str(error))}"
        else:
            watch(standings, line, entry.path, entry.number)

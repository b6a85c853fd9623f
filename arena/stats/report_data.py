"""Fold journals into what a report shows beyond the standings. Pure, except for `gather`, which reads the files.

Memory grows with the number of bots and pairings. Each round adds only a few bytes, which say where it is in the
journal, so that a sample can be chosen once all rounds are counted.
"""

import math
from array import array
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from arena.journal.endings import Fault, RoundEnding
from arena.journal.lines import RoundLine, SeatNumber, VoidLine
from arena.journal.reader import Progress, no_progress
from arena.journal.tournament_state import TournamentState
from arena.stats.columns import StandingsRow, ranked
from arena.stats.ratings import Z95, Matchup, rate
from arena.stats.round_summary import RoundSummary
from arena.stats.standings import Counted, Standings, Watch, fold

_CHECKPOINTS: Final = 24  # of the ratings over the course of the tournament; up to twice as many
_MOST_VOIDS: Final = 50  # listed one by one
_UPSETS_OF_A_PAIR: Final = 2
UPSETS: Final = 12
_SPECIAL_SHARE: Final = 4  # at most this fraction of a sample, a quarter, is faults


class ReportedRound(RoundSummary, frozen=True, tag_field="type", tag="round", kw_only=True):
    first: SeatNumber | None = None
    rules: str = "?"
    started: str = ""


@attrs.frozen(order=True)
class Upset:
    """A win of the weaker bot."""

    lead: int  # of the winner, in points
    order: int  # the negative number of the round, so that of two equal upsets the earlier one is kept
    id: str = attrs.field(order=False)
    winner: str = attrs.field(order=False)
    loser: str = attrs.field(order=False)
    points: tuple[int, int] = attrs.field(order=False)  # of the winner, of the loser
    ending: RoundEnding = attrs.field(order=False)
    expected: float = attrs.field(default=math.nan, order=False)  # score of the winner

    @property
    def number(self) -> int:
        return -self.order


@attrs.frozen
class Checkpoint:
    rounds: int  # played so far
    elo: dict[str, float]


@attrs.define
class FirstMoverStats:
    """The results of the bots that began a round; a pair of rounds is one unit."""

    pairs: list[int] = attrs.field(factory=lambda: [0] * 5)  # by half points of the bots that began
    singles: list[int] = attrs.field(factory=lambda: [0] * 3)
    _waiting: dict[str, int] = attrs.field(factory=dict)

    def add(self, pair: str, half_points: int) -> None:
        """Count a round of a pair; `half_points` are those of the bot that began it."""
        if (before := self._waiting.pop(pair, None)) is not None:
            self.pairs[before + half_points] += 1
        else:
            self._waiting[pair] = half_points

    def end_of_tournament(self) -> None:
        """Count rounds whose pair is incomplete as single rounds."""
        for half_points in self._waiting.values():
            self.singles[half_points] += 1
        self._waiting.clear()

    @property
    def units(self) -> Matchup:
        return Matchup(0, 1, tuple(self.pairs), tuple(self.singles))

    def score(self) -> tuple[float, float] | None:
        """The mean score per round of the bot that begins, and the margin of its 95 % interval; None without rounds."""
        units = self.units
        if not units.rounds:
            return None
        mean = units.score / units.rounds
        return mean, Z95 * math.sqrt(units.spread(mean)) / units.rounds


@attrs.define
class Seating:
    """A bot's rounds and half points: first where it began, second where it did not."""

    rounds: list[int] = attrs.field(factory=lambda: [0, 0])
    half_points: list[int] = attrs.field(factory=lambda: [0, 0])


@attrs.define
class ReportData:
    """Everything in a report that is not in the standings. Rounds are numbered from 1, in the order of the journals."""

    tournaments: list[TournamentState] = attrs.field(factory=list)
    voids: list[VoidLine] = attrs.field(factory=list)
    places: "list[array[int]]" = attrs.field(factory=list)  # for each journal the lines of its rounds
    faults: "array[int]" = attrs.field(factory=lambda: array("L"))  # numbers of rounds
    endings: Counter[str] = attrs.field(factory=Counter)
    results: Counter[tuple[str, str, int]] = attrs.field(factory=Counter)  # bot, ending, its half points
    rules: Counter[str] = attrs.field(factory=Counter)
    beginning: FirstMoverStats = attrs.field(factory=FirstMoverStats)
    seatings: dict[str, Seating] = attrs.field(factory=dict)
    upsets: dict[tuple[str, str], list[Upset]] = attrs.field(factory=dict)
    last_started: str = ""
    decisions: int = 0
    labels: "array[int]" = attrs.field(factory=lambda: array("L"))  # two of each round, if names are not enough
    paths: list[Path] = attrs.field(factory=list)
    _snapshots: list[tuple[int, tuple[str, ...], list[Matchup]]] = attrs.field(factory=list)
    _stride: int = 1

    def watch(self, standings: Standings, line: Counted, path: Path, number: int) -> None:
        """Take in a line of a journal, which `standings` has just counted; `number` is its line number."""
        match line:
            case ReportedRound():
                self._place(path, number)
                if standings.naming is not None:
                    self.labels.extend(map(standings.naming.place.__getitem__, line.bots))
                self._count(line, standings.rounds)
                self._remember(standings)
            case TournamentState():
                self.beginning.end_of_tournament()
                self.tournaments.append(line)
            case VoidLine():
                if len(self.voids) < _MOST_VOIDS:
                    self.voids.append(line)

    def _place(self, path: Path, number: int) -> None:
        if not self.paths or self.paths[-1] != path:
            self.paths.append(path)
            self.places.append(array("L"))
        self.places[-1].append(number)

    def _count(self, line: ReportedRound, number: int) -> None:
        result = line.result
        self.rules[line.rules] += 1
        self.endings[line.ended_by] += 1
        self.decisions += len(line.moves)
        self.last_started = max(self.last_started, line.started)
        half_points = (1, 1) if result.winner is None else (2, 0) if result.winner == 0 else (0, 2)
        for name, half in zip(line.bots, half_points, strict=True):
            self.results[name, line.ended_by, half] += 1
        if isinstance(result.ending, Fault):
            self.faults.append(number)
        if isinstance(result.ending, Fault) or line.assisted:
            return
        if line.first is not None:
            self.beginning.add(line.pair or line.id, half_points[line.first])
            for seat, name in enumerate(line.bots):
                seating = self.seatings.setdefault(name, Seating())
                place = 0 if seat == line.first else 1
                seating.rounds[place] += 1
                seating.half_points[place] += half_points[seat]
        if result.winner is not None:
            self._keep_upset(line, result.winner, number)

    def _keep_upset(self, line: ReportedRound, winner: SeatNumber, number: int) -> None:
        names = line.bots[winner], line.bots[1 - winner]
        points = line.result.points[winner], line.result.points[1 - winner]
        kept = self.upsets.setdefault(names, [])
        lead = points[0] - points[1]
        if len(kept) == _UPSETS_OF_A_PAIR and lead <= kept[0].lead:
            return
        insort(kept, Upset(lead, -number, line.id, *names, points, line.result.ending))
        del kept[:-_UPSETS_OF_A_PAIR]

    def _remember(self, standings: Standings) -> None:
        """Keep the matchups so far, at evenly spaced times: when there are too many snapshots, every other one is
        dropped."""
        if standings.rounds % self._stride:
            return
        self._snapshots.append((standings.rounds, standings.names, standings.matchups()))
        if len(self._snapshots) == 2 * _CHECKPOINTS:
            self._snapshots = self._snapshots[1::2]
            self._stride *= 2

    def course(self, standings: Standings) -> list[Checkpoint]:
        """The ratings after a growing number of rounds, up to all of them."""
        snapshots = self._snapshots
        if snapshots and snapshots[-1][0] != standings.rounds:
            snapshots = [*snapshots, (standings.rounds, standings.names, standings.matchups())]
        found = []
        for rounds, names, matchups in snapshots:
            elo = rate(len(names), matchups).elo
            known = {name: value for name, value in zip(names, elo, strict=True) if not math.isnan(value)}
            found.append(Checkpoint(rounds, known))
        return found


@attrs.frozen
class ReportContents:
    paths: tuple[Path, ...]
    standings: Standings
    rows: list[StandingsRow]  # best first
    gathered: ReportData
    course: list[Checkpoint]
    upsets: list[Upset]  # the most surprising first
    problems: list[str]

    @property
    def names(self) -> list[str]:
        return [row.totals.name for row in self.rows]

    def names_in(self, number: int, line: RoundLine) -> tuple[str, str]:
        """The names of the bots of a round as the standings have them."""
        if (naming := self.standings.naming) is None:
            return line.bots
        one, two = self.gathered.labels[2 * number - 2 : 2 * number]
        return naming.order[one], naming.order[two]


def gather(paths: Sequence[Path], progress: Progress = no_progress) -> ReportContents:
    """Read journals and compute everything that a report shows. `progress` is called with each entry. Raises
    JournalError if one is not a regular file, and OSError."""
    gathered = ReportData()

    def begin() -> Watch:
        nonlocal gathered
        gathered = ReportData()
        return gathered.watch

    standings, problems = fold(paths, kind=ReportedRound, watch=begin, progress=progress)
    gathered.beginning.end_of_tournament()
    rows = ranked(standings, standings.rate())
    course = gathered.course(standings)
    return ReportContents(tuple(paths), standings, rows, gathered, course, _surprising(rows, gathered), problems)


def _surprising(rows: list[StandingsRow], gathered: ReportData) -> list[Upset]:
    elo = {row.totals.name: row.elo or 0.0 for row in rows}
    found = []
    for (winner, loser), kept in gathered.upsets.items():
        expected = 1 / (1 + 10 ** ((elo[loser] - elo[winner]) / 400))
        if expected < 0.5:
            found += [attrs.evolve(upset, expected=expected) for upset in kept]
    return sorted(found, key=lambda upset: (upset.expected, -upset.lead, upset.number))[:UPSETS]


def sample(total: int, upsets: Iterable[int], faults: Sequence[int], most: int | None) -> list[int]:
    """The numbers of the rounds that a report includes: all if there are at most `most`, otherwise the most surprising
    ones, some faults, and an even selection of the others."""
    if most is None or total <= most:
        return list(range(1, total + 1))
    chosen = set(list(upsets)[:most])
    chosen.update(_evenly(faults, min(most // _SPECIAL_SHARE, most - len(chosen))))
    others = [number for number in range(1, total + 1) if number not in chosen]
    return sorted([*chosen, *_evenly(others, most - len(chosen))])


def _evenly(numbers: Sequence[int], most: int) -> Iterator[int]:
    count = min(most, len(numbers))
    return (numbers[place * len(numbers) // count] for place in range(count))

"""What was played on which machine of a cluster, and whether one of them deviates. Pure."""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final

import attrs

from arena.journal.lines import Milliseconds
from arena.journal.reader import Progress, no_progress
from arena.stats.round_summary import RoundSummary
from arena.stats.standings import Counted, Standings, fold_once
from arena.stats.thinking_time import ThinkingTime
from arena.support.text import counted, printable

HERE: Final = "-"  # the machine of rounds that were not played on a cluster
_DOUBT: Final = 0.01  # the probability that a cluster of equal machines gets any warning
_NOTABLE_RATIO: Final = 1.25  # of thinking times; less is of no interest, however certain
_NOTABLE_MS: Final = 1.0
_FEWEST: Final = 10  # rounds of a figure that is compared


class MachineRound(RoundSummary, frozen=True, tag_field="type", tag="round", kw_only=True):
    host: str | None = None
    delay: Milliseconds | None = None


@attrs.define
class _Sample:
    """Numbers of which only the mean and its error are kept."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.squares += value * value

    def __add__(self, other: "_Sample") -> "_Sample":
        return _Sample(self.count + other.count, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    @property
    def error(self) -> float:
        """The variance of the mean."""
        if self.count < 2:
            return math.inf
        return max(0.0, self.squares - self.total**2 / self.count) / (self.count - 1) / self.count


@attrs.define
class _BotThere:
    """A bot on one machine."""

    rounds: int = 0
    score: float = 0.0
    points: int = 0
    faults: int = 0
    thinking: ThinkingTime = attrs.field(factory=ThinkingTime)
    pace: _Sample = attrs.field(factory=_Sample)  # its mean thinking time in each round
    against: dict[str, _Sample] = attrs.field(factory=dict)  # its score, by opponent


@attrs.define
class MachineResults:
    """The results of each bot on each machine."""

    bots: dict[tuple[str, str], _BotThere] = attrs.field(factory=dict)  # by machine and bot
    delays: dict[str, _Sample] = attrs.field(factory=dict)  # by machine: milliseconds in each round

    def add(self, line: MachineRound) -> None:
        host = printable(line.host) if line.host else HERE
        delay = self.delays.setdefault(host, _Sample())
        if line.delay is not None:
            delay.add(line.delay)
        counts = not (line.seats_at_fault() and line.result.winner is None)  # else neither bot started
        for seat, name in enumerate(line.bots):
            bot = self.bots.setdefault((host, name), _BotThere())
            bot.faults += seat in line.seats_at_fault()
            times = [ms for place, _, ms in line.moves if place == seat and ms is not None]
            bot.thinking.add(times)
            if times:
                bot.pace.add(sum(times) / len(times))
            if counts:
                score = 0.5 if line.result.winner is None else float(line.result.winner == seat)
                bot.rounds += 1
                bot.score += score
                bot.points += line.result.points[seat]
                bot.against.setdefault(line.bots[1 - seat], _Sample()).add(score)

    @property
    def names(self) -> list[str]:
        return sorted(self.delays)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each bot on each machine, by column."""
        return [self._row(host, name, bot) for (host, name), bot in sorted(self.bots.items())]

    def _row(self, host: str, name: str, bot: _BotThere) -> dict[str, Any]:
        delay = self.delays[host]
        return {
            "host": host,
            "name": name,
            "rounds": bot.rounds,
            "score": bot.score / bot.rounds if bot.rounds else None,
            "points": bot.points,
            "faults": bot.faults,
            "mean_ms": bot.thinking.mean,
            "p99_ms": bot.thinking.percentile(99),
            "delay_ms": delay.mean if delay.count else None,
        }

    # Deviations: each machine is compared with all others together.

    def warnings(self) -> list[str]:
        """A sentence for each machine and figure that deviates by more than chance explains."""
        tests = list(self._tests())
        limit = NormalDist().inv_cdf(1 - _DOUBT / 2 / max(1, len(tests)))
        return [text for z, text in tests if abs(z) > limit]

    def _tests(self) -> Iterator[tuple[float, str]]:
        for host in self.names if len(self.delays) > 1 else ():
            for there, name in sorted(self.bots):
                if there == host:
                    yield from self._tests_of(host, name)
            elsewhere = sum((each for other, each in self.delays.items() if other != host), _Sample())
            here = self.delays[host]
            if _is_notable(here.mean, elsewhere.mean):
                words = f"{host} stood still for {here.mean:.1f} ms in a round, other machines {elsewhere.mean:.1f} ms"
                yield _z(here, elsewhere), f"{words}; other programs may be running there"

    def _tests_of(self, host: str, name: str) -> Iterator[tuple[float, str]]:
        here = self.bots[host, name]
        others = [bot for (there, other), bot in self.bots.items() if other == name and there != host]
        played = sum(bot.rounds for bot in others)
        if here.rounds < _FEWEST or played < _FEWEST:
            return
        # The same bot on all other machines: its pace, its faults, and its score against the same opponents.
        pace = sum((bot.pace for bot in others), _Sample())
        if _is_notable(here.pace.mean, pace.mean):
            words = f"{name} took {here.pace.mean:.1f} ms for a move on {host}, elsewhere {pace.mean:.1f} ms"
            yield _z(here.pace, pace), f"{words}; the machines differ in speed or load"
        faults = sum(bot.faults for bot in others)
        made = counted(here.faults, "fault")
        words = f"{name} made {made} in {here.rounds} rounds on {host}, elsewhere {faults} in {played}"
        yield _z_of_parts(here.faults, here.rounds, faults, played), words
        surplus, variance = _surplus(here, others)
        words = f"{name} scored {here.score / here.rounds:.1%} of {here.rounds} rounds on {host}: {abs(surplus):.1f} "
        words += f"{'more' if surplus > 0 else 'fewer'} than its score against the same bots elsewhere lets expect"
        yield (surplus / math.sqrt(variance) if variance else 0.0), words


def _is_notable(here: float, elsewhere: float) -> bool:
    less, more = sorted((here, elsewhere))
    return more - less >= _NOTABLE_MS and more >= less * _NOTABLE_RATIO


def _z(one: _Sample, two: _Sample) -> float:
    error = one.error + two.error
    return (one.mean - two.mean) / math.sqrt(error) if 0 < error < math.inf else 0.0


def _z_of_parts(some: int, of: int, others: int, of_others: int) -> float:
    """Whether two parts of a whole differ: the usual test of two proportions."""
    share = (some + others) / (of + of_others)
    error = share * (1 - share) * (1 / of + 1 / of_others)
    return (some / of - others / of_others) / math.sqrt(error) if error > 0 else 0.0


def _surplus(here: _BotThere, others: Sequence[_BotThere]) -> tuple[float, float]:
    """How much more a bot scored here than against the same opponents elsewhere, and the variance of that number.
    Opponents that it met only here say nothing."""
    surplus = variance = 0.0
    for opponent, ours in here.against.items():
        theirs = sum((bot.against[opponent] for bot in others if opponent in bot.against), _Sample())
        if theirs.count:
            share = (theirs.total + 0.5) / (theirs.count + 1)
            surplus += ours.total - ours.count * share
            variance += share * (1 - share) * ours.count * (1 + ours.count / theirs.count)
    return surplus, variance


def fold_machines(paths: Iterable[Path], machines: MachineResults, progress: Progress = no_progress) -> list[str]:
    """Add all rounds of these journals. Returns one message for each line that cannot be used. Raises JournalError if
    one is not a regular file, and OSError."""

    def watch(_standings: Standings, line: Counted, _path: Path, _number: int) -> None:
        if isinstance(line, MachineRound):
            machines.add(line)

    return fold_once(paths, Standings(), MachineRound, watch, progress)[1]

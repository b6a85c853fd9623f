"""Play a match between two Python functions, in this process and without any clock.

It is the match that a worker plays (worker/job_play.py), on a loop on which nothing ever waits.
"""

import importlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import attrs

from arena.bots.function import FunctionPlayer
from arena.bots.polled_driver import polled
from arena.bots.wants import Logic
from arena.journal.lines import BotLine, Journal, JournalError, RoundLine, encoded
from arena.plan.bot_spec import BUNDLED_BOTS, FunctionSpec
from arena.plan.config import Config, assembled
from arena.plan.options import TOURNAMENT, by_name
from arena.plan.source import ConfigError, Source
from arena.support.poll_loop import PollLoop
from arena.support.suggestion import did_you_mean
from arena.tournament.ledger import begin, end, planned_matches, with_new_key
from arena.worker.job import BotIdentified, MatchJob, Report, RoundFinished, RoundVoid, Rulings, SoFar
from arena.worker.job_play import JobPlay
from engine.scoring import Score
from protocol.messages import Request
from protocol.names import name_problem, twin_of

# Takes a request, as a bot of the SDK does. Returns a move, as a text or an action of the engine, or that and a note.
Choose = Callable[[Request], Any]
_LONGEST_STEM: Final = 30  # characters of a name to which two more are added


class MatchError(Exception):
    """The arena itself failed, so that the match cannot be played."""


@attrs.frozen
class MatchResult:
    """A match that was played. In each pair the first entry is of the first bot."""

    bots: tuple[str, str]
    rounds: tuple[RoundLine, ...]  # as a journal has them

    @property
    def points(self) -> tuple[int, int]:
        """The points of all rounds. Whoever has more has won the match."""
        one, two = zip(*(line.result.points for line in self.rounds), strict=True)
        return sum(one), sum(two)

    @property
    def score(self) -> tuple[float, float]:
        """The rounds that each has won; a drawn one counts half for both."""
        drawn = sum(line.result.winner is None for line in self.rounds) / 2
        one, two = (sum(line.result.winner == seat for line in self.rounds) for seat in range(2))
        return one + drawn, two + drawn


def play(
    one: Choose | str,
    two: Choose | str,
    *,
    rules: str = "base",
    rounds: int = 10,
    seed: str = "",
    journal: Path | str | None = None,
) -> MatchResult:
    """Play a match and return its result. Each bot is a function that chooses a move, or the name of a bundled bot. A
    function that raises an exception, or returns what is not a legal move, loses the round.

    The same `seed` gives the same deals; without one they are secret. `journal` is a new file for the records, which
    `arena table`, `arena replay` and `arena verify` read. Raises ValueError for what cannot be played.
    """
    try:
        options = {"rules": rules, "rounds": str(rounds)} | ({"seed": seed} if seed else {})
        values = Source(options, lambda key: f"{key}=").read(by_name(TOURNAMENT))
        bots = _named_apart(_spec_of(one), _spec_of(two))
        config = assembled(values, [*bots], str)
        if journal is None:
            return _played(with_new_key(config, None), bots, _Records(None))
        with Journal(Path(journal)) as file:
            if not file.is_empty:
                raise JournalError(f"{journal}: there is something in this file; name a new one")
            config, _ = begin(file, config)
            result = _played(config, bots, _Records(file))
            end(file, config)
            return result
    except (ConfigError, JournalError) as error:
        raise ValueError(str(error)) from None


def _spec_of(bot: Choose | str) -> FunctionSpec:
    if isinstance(bot, str):
        return FunctionSpec(bot, _bundled(bot))
    name = getattr(bot, "__name__", type(bot).__name__)
    return FunctionSpec("bot" if name_problem(name) else name, bot)


def _bundled(name: str) -> Choose:
    if name not in BUNDLED_BOTS:
        hint = did_you_mean(name, BUNDLED_BOTS)
        raise ConfigError(f"{name!r} is not a bundled bot; there are: {', '.join(BUNDLED_BOTS)}{hint}")
    if name == "random":
        return _any_legal_move
    found: Choose = importlib.import_module(BUNDLED_BOTS[name].module).choose
    return found


def _any_legal_move(request: Request) -> str:
    """What the bundled bot does, which reads the JSON and has a generator of its own, as a bot without the SDK may."""
    return random.choice(request.legal)


def _named_apart(one: FunctionSpec, two: FunctionSpec) -> tuple[FunctionSpec, FunctionSpec]:
    """Two functions with the same name as two bots; the length of names is limited."""
    return one, two.named(f"{two.name[:_LONGEST_STEM]}-2") if twin_of(two.name, [one.name]) else two


def _played(config: Config, bots: tuple[FunctionSpec, FunctionSpec], records: "_Records") -> MatchResult:
    planned = planned_matches(config)[0]
    assert config.key is not None
    so_far = SoFar(Score(config.rules, planned.first))
    job = MatchJob(planned, config.rules, bots, config.key, 0, so_far, Rulings(), max_faults=0)
    loop = PollLoop()
    try:
        players = FunctionPlayer(bots[0], loop.now), FunctionPlayer(bots[1], loop.now)
        loop.run(polled(JobPlay(job, players, loop.stalls, records).play(), loop))
    finally:
        loop.close()
    return MatchResult(job.names, tuple(records.rounds))


class _Records:
    """Keeps the records of a match, and writes them to a journal if there is one."""

    def __init__(self, journal: Journal | None):
        self.rounds: list[RoundLine] = []
        self._journal = journal

    def report(self, report: Report) -> Logic[None]:
        yield from ()
        match report:
            case BotIdentified(line):
                self._write(line)
            case RoundFinished(RoundLine() as line):
                self._write(line)
                self.rounds.append(line)
            case RoundVoid(line):
                raise MatchError(line.reason)

    def _write(self, line: BotLine | RoundLine) -> None:
        if self._journal is not None:
            self._journal.append(encoded(line))

    def warn(self, text: str) -> None:
        raise MatchError(text)

    def is_withdrawn(self, _name: str) -> bool:
        return False

    def may_excuse(self, _name: str) -> bool:
        return False

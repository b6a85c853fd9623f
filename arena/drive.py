"""Runs a tournament from beginning to end: journal, signals, and what to say when it stops early."""

import gc
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import attrs
import trio

from arena.config import Config, with_seed
from arena.journal import Journal, JournalError
from arena.runner import Ledger, Listener, Tournament, TournamentError, planned_matches, resume
from arena.signals import calling_on_signals


@attrs.frozen
class Ran:
    config: Config
    total: int  # rounds of the whole tournament
    finished: int  # of them, those that are saved
    stopped: bool  # by a signal


MakeListener = Callable[[int, int], AbstractContextManager[Listener]]  # from rounds in all and rounds finished before


def drive(config: Config, make_listener: MakeListener) -> Ran:
    """Raises JournalError or TournamentError if it cannot begin or cannot go on."""
    with Journal(config.journal) if config.journal else nullcontext() as journal:
        if journal:
            config, ledger = resume(journal, config)
        else:
            config, ledger = with_seed(config, None), Ledger(config.max_faults)
        total = sum(len(match.rounds) for match in planned_matches(config))
        before = len(ledger.finished)
        with make_listener(total, before) as listener:
            counting = _Counting(listener)
            tournament = Tournament(config, journal, ledger, counting)
            calm_garbage_collector()
            trio.run(_run, tournament)
    return Ran(config, total, before + counting.finished_rounds, tournament.stopped)


def calm_garbage_collector() -> None:
    """A tournament makes and drops many small objects that are in no cycle. With the usual thresholds, looking for
    cycles among them takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


class _Counting:
    """A listener that also counts what is saved."""

    def __init__(self, listener: Listener):
        self._listener = listener
        self.finished_rounds = 0
        self.started = listener.started
        self.void = listener.void
        self.withdrawn = listener.withdrawn

    def finished(self, line: Any) -> None:
        self.finished_rounds += 1
        self._listener.finished(line)


async def _run(tournament: Tournament) -> None:
    """Signals stop the tournament; everything that is finished is written before we leave."""
    try:
        async with calling_on_signals(tournament.stop):
            await tournament.run()
    except ExceptionGroup as group:
        known, ours = group.split((TournamentError, JournalError, OSError))  # OSError: nobody hears us any more
        if ours is not None or known is None:
            raise
        raise _first_of(known) from None


def _first_of(group: BaseExceptionGroup[Any]) -> BaseException:
    first: BaseException = group
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first

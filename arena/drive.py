"""Runs a tournament from beginning to end: journal, signals, and what to say when it stops early."""

import gc
import resource
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import attrs
import trio

from arena.config import Config
from arena.journal import Journal, JournalError
from arena.journal_file import JournalChanged, Rescue, rescue
from arena.ledger import Ledger, end, planned_rounds, resume, with_new_key
from arena.runner import Listener, Tournament, TournamentError
from arena.signals import calling_on_signals, unwrapped


@attrs.frozen
class Ran:
    total: int  # rounds of the whole tournament
    finished: int  # of them, those that are saved
    stopped: bool  # by a signal
    failure: str | None  # why it could not go on
    warnings: list[str]
    rescue: Rescue | None = None  # if the journal was changed under our hands


MakeListener = Callable[[int, int], AbstractContextManager[Listener]]  # from rounds in all and rounds finished before


def drive(config: Config, make_listener: MakeListener) -> Ran:
    """Raises JournalError if it cannot begin."""
    with Journal(config.journal) if config.journal else nullcontext() as journal:
        if journal:
            config, ledger = resume(journal, config)
        else:
            config, ledger = with_new_key(config, None), Ledger(config.max_faults)
        total = planned_rounds(config)
        before = len(ledger.finished)
        failure = None
        with make_listener(total, before) as listener:
            tournament = Tournament(config, journal, ledger, listener)
            calm_garbage_collector()
            raise_descriptor_limit()
            try:
                trio.run(_run, tournament)
            except TournamentError as error:
                failure = str(error)
            finished = before + tournament.saved
            rescued = tournament.rescue
            if journal and failure is None and before < finished == total:
                failure, rescued = _end(journal, config)
            warnings = ledger.remarks + tournament.warnings
            ran = Ran(total, finished, tournament.stopped, failure, warnings, rescued)
            listener.ended(ran.finished, ran.total)
    return ran


def _end(journal: Journal, config: Config) -> tuple[str | None, Rescue | None]:
    """Why the secret of the deals could not be revealed, if so, and what became of the journal."""
    try:
        end(journal, config)
        return None, None
    except JournalChanged as error:
        rescued = rescue(journal, b"", 0)
        return f"{error}; {rescued.told}", rescued
    except JournalError as error:
        return str(error), None


def raise_descriptor_limit() -> int:
    """As far as we may: each bot takes four."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def calm_garbage_collector() -> None:
    """A tournament makes and drops many small objects that are in no cycle. With the usual thresholds, looking for
    cycles among them takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


async def _run(tournament: Tournament) -> None:
    """Signals stop the tournament; everything that is finished is written before we leave."""
    with unwrapped(TournamentError, OSError):  # OSError: nobody hears us any more
        async with calling_on_signals(tournament.stop):
            await tournament.run()

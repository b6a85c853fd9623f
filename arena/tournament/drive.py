"""Run a tournament from beginning to end: open the journal, handle signals, and explain an early stop."""

from contextlib import nullcontext

import trio
from msgspec import Struct

from arena.journal.file import JournalChanged, Rescue, rescue
from arena.journal.lines import Journal, JournalError
from arena.plan.config import Config
from arena.stats.sequential_test import TestState
from arena.support.process_limits import raise_descriptor_limit, tune_gc
from arena.support.signals import calling_on_signals, unwrap_exception_group
from arena.tournament.crew import Hire
from arena.tournament.events import Listener, TestAdvanced, TournamentEnded, TournamentOpened
from arena.tournament.ledger import Ledger, end, missing_rounds, planned_rounds, planned_test, resume, with_new_key
from arena.tournament.player_pool import Table
from arena.tournament.runner import Tournament, TournamentError
from arena.tournament.withdrawals import withdrawals_at_start
from arena.worker.process import WorkerProcess


class TournamentRun(Struct, frozen=True):
    """How a run of `drive` or of a server ended."""

    total: int  # rounds of the whole tournament
    finished: int  # rounds among them that are saved
    stopped: bool  # by a signal
    failure: str | None  # why it could not continue
    warnings: list[str]
    rescue: Rescue | None = None  # if another program changed the journal meanwhile
    test: TestState | None = None  # if the tournament is a sequential test


def drive(
    config: Config,
    listener: Listener,
    spare: WorkerProcess | None = None,
    hire: Hire | None = None,
    table: Table | None = None,
) -> TournamentRun:
    """Play a tournament until it ends, fails or is stopped by a signal. `spare` is a worker that was started early,
    `hire` makes a crew that plays elsewhere, and `table` has the person who plays, if one does. Raises JournalError if
    it cannot begin."""
    with Journal(config.journal, kept=config.kept) if config.journal else nullcontext() as journal:
        if journal:
            config, ledger = resume(journal, config)
        else:
            config, ledger = with_new_key(config, None), Ledger(config.max_faults, test=planned_test(config))
        total = planned_rounds(config)
        before = len(ledger.finished)
        failure = None
        was_over = not missing_rounds(config, ledger)
        listener.heard(TournamentOpened(total, before, config.seed_hash if journal and config.kept else None))
        for event in () if was_over else withdrawals_at_start(config, ledger):
            listener.heard(event)
        if ledger.test is not None:
            listener.heard(TestAdvanced(ledger.test.state))
        tournament = Tournament(config, journal, ledger, listener, table, spare=spare, hire=hire)
        tune_gc()
        raise_descriptor_limit()
        try:
            trio.run(_run, tournament, table)
        except TournamentError as error:
            failure = str(error)
        finished = before + tournament.saved
        rescued = tournament.rescue
        if journal and failure is None and not was_over and (finished == total or ledger.is_decided):
            failure, rescued = _end(journal, config)
        warnings = ledger.remarks + tournament.warnings
        listener.heard(TournamentEnded(finished, total))
        test = None if ledger.test is None else ledger.test.state
    return TournamentRun(total, finished, tournament.stopped, failure, warnings, rescued, test)


def _end(journal: Journal, config: Config) -> tuple[str | None, Rescue | None]:
    """Reveal the secret of the deals. Returns why that failed, if so, and the rescue of a journal that was changed."""
    try:
        end(journal, config)
        return None, None
    except JournalChanged as error:
        rescued = rescue(journal, b"", 0)
        return f"{error}; {rescued.outcome}", rescued
    except JournalError as error:
        return str(error), None


async def _run(tournament: Tournament, table: Table | None) -> None:
    """Run the tournament; signals stop it. Everything that is finished is written before this returns."""

    def stop() -> None:
        tournament.stop()
        if table is not None:
            table.leave()

    with unwrap_exception_group(TournamentError, OSError):  # OSError: our output was closed
        async with calling_on_signals(stop), table.attended(tournament.stop) if table else nullcontext():
            await tournament.run()

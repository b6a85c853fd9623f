"""Run a tournament from beginning to end: open the journal, handle signals, and explain an early stop."""

from contextlib import nullcontext

import trio
from msgspec import Struct

from arena.journal.file import JournalChangedError, Rescue, rescue
from arena.journal.formats import Verdict
from arena.journal.lines import Journal, JournalError
from arena.journal.tournament_state import verdict
from arena.plan.config import Config
from arena.support.process_limits import raise_descriptor_limit, tune_gc
from arena.support.signals import calling_on_signals, unwrap_exception_group
from arena.tournament.ledger import begin_unrecorded, end, hash_to_publish, resume
from arena.tournament.player_sources import PersonSource
from arena.tournament.runner import Tournament, TournamentError
from arena.tournament.tournament_events import Listener, TournamentEnded, TournamentOpened, VerdictAdvanced
from arena.tournament.worker_pool import MakePool
from arena.worker.worker_process import WorkerProcess


class TournamentRun(Struct, frozen=True):
    """How a run of `run_tournament` or of a server ended."""

    total: int  # rounds of the whole tournament
    finished: int  # rounds among them that are saved
    stopped: bool  # by a signal
    failure: str | None  # why it could not continue
    warnings: list[str]
    rescue: Rescue | None = None  # if another program changed the journal meanwhile
    verdict: Verdict | None = None  # of a tournament that need not play all its rounds


def run_tournament(
    config: Config,
    listener: Listener,
    spare: WorkerProcess | None = None,
    make_pool: MakePool | None = None,
    person: PersonSource | None = None,
) -> TournamentRun:
    """Play a tournament until it ends, fails or is stopped by a signal. `spare` is a worker that was started early,
    `make_pool` makes a pool that plays elsewhere, and `person` is the person who plays, if one does. Raises
    JournalError if it cannot begin."""
    with Journal(config.journal, kept=config.kept) if config.journal else nullcontext() as journal:
        config, ledger = resume(journal, config) if journal else begin_unrecorded(config)
        state = ledger.state
        total, before = state.plan.total, state.finished.count
        failure = None
        was_over = verdict(state).is_over
        listener.heard(TournamentOpened(total, before, hash_to_publish(journal, config) if journal else None))
        if was_over:
            make_pool = None  # a cluster is given the key of the deals, which is not known any more
        tournament = Tournament(config, journal, ledger, listener, person, spare=spare, make_pool=make_pool)
        for event in () if was_over else tournament.withdrawals():
            listener.heard(event)
        if not state.format.plays_all:
            listener.heard(VerdictAdvanced(verdict(state)))
        tune_gc()
        raise_descriptor_limit()
        try:
            trio.run(_run, tournament, person)
        except TournamentError as error:
            failure = str(error)
        finished = before + tournament.saved
        rescued = tournament.rescue
        is_decided = not state.format.plays_all and verdict(state).is_over
        if journal and failure is None and not was_over and (finished == total or is_decided):
            failure, rescued = _end(journal, config)
        warnings = ledger.remarks + tournament.warnings
        listener.heard(TournamentEnded(finished, total))
        so_far = None if state.format.plays_all else verdict(state)
    return TournamentRun(total, finished, tournament.stopped, failure, warnings, rescued, so_far)


def _end(journal: Journal, config: Config) -> tuple[str | None, Rescue | None]:
    """Reveal the secret of the deals. Returns why that failed, if so, and the rescue of a journal that was changed."""
    try:
        end(journal, config)
        return None, None
    except JournalChangedError as error:
        rescued = rescue(journal, b"", 0)
        return f"{error}; {rescued.outcome}", rescued
    except JournalError as error:
        return str(error), None


async def _run(tournament: Tournament, person: PersonSource | None) -> None:
    """Run the tournament; signals stop it. Everything that is finished is written before this returns."""

    def stop() -> None:
        tournament.stop()
        if person is not None:
            person.leave()

    with unwrap_exception_group(TournamentError, OSError):  # OSError: our output was closed
        async with calling_on_signals(stop), person.attended(tournament.stop) if person else nullcontext():
            await tournament.run()

"""The match as a job: what a worker has to know of the tournament to play it."""

from collections.abc import Callable
from pathlib import Path

from arena.plan.config import Config
from arena.plan.schedule import PlannedMatch
from arena.tournament.ledger import Ledger
from arena.worker.job import MatchJob, Rulings, SoFar
from engine.scoring import Score


def job_of(
    match: PlannedMatch, config: Config, ledger: Ledger, rulings: Rulings, beside: Callable[[str], Path | None]
) -> MatchJob:
    """The match with what is left of it. `beside` names the folders that belong to the journal."""
    one, two = match.bots
    assert config.key is not None
    return MatchJob(
        match,
        config.rules,
        (config.bots[one], config.bots[two]),
        config.key,
        ledger.state.resumes,
        _so_far(match, config, ledger),
        rulings,
        config.max_faults,
        beside("faults"),
        beside("stderr"),
    )


def _so_far(match: PlannedMatch, config: Config, ledger: Ledger) -> SoFar:
    ids = [planned.id for planned in match.rounds]
    state = ledger.state
    return SoFar(
        ledger.scores.get(match.id) or Score(config.rules, match.first),
        frozenset(name for name in ids if name in state.finished),
        {name: state.voids[name] for name in ids if name in state.voids},
    )

"""Play a tournament on a cluster, every match twice on purpose: `python -m tests.helpers.twice SCHEDULER JOURNAL
ROUNDS CYCLES BOT…`. Prints how many attempts were made beyond the first of each match."""

import sys
from functools import partial
from pathlib import Path

import attrs

from arena.cli.progress import Quiet
from arena.cluster.crew import ClusterCrew
from arena.cluster.hosts import Terms
from arena.plan.bot_spec import BotSpec
from arena.tournament.drive import drive
from tests.helpers.tournaments import configured


def main(scheduler: str, journal: str, rounds: str, cycles: str, *bots: str) -> None:
    config = configured(*bots, journal=Path(journal), rounds=rounds, cycles=cycles)
    crews: list[ClusterCrew] = []

    def hire(*arguments: object) -> ClusterCrew:
        terms = Terms.of([bot for bot in config.bots if isinstance(bot, BotSpec)], config.journal, ship=False)
        make = partial(ClusterCrew, scheduler=scheduler, terms=terms, twice=True)
        crews.append(make(*arguments))  # type: ignore[arg-type]
        return crews[-1]

    ran = drive(attrs.evolve(config, concurrency=2), Quiet(), hire=hire)
    assert ran.finished == ran.total, ran
    print(crews[0].second_attempts)


if __name__ == "__main__":
    main(*sys.argv[1:])

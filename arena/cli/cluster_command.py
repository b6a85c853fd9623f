"""Commands that use a Dask cluster: parse, call, print."""

import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct

from arena.cli import completion
from arena.cli.shared import InputError, configured, given, journal_errors, options_of, tournament_of
from arena.plan.config import Config
from arena.plan.options import BOT, TOURNAMENT

if TYPE_CHECKING:
    from arena.cluster.preparation import Machine, Terms
    from arena.tournament.run import TournamentRun
    from arena.tournament.tournament_events import Listener

_INSTALL: Final = "pip install 'schotten-arena[dask]'"


class Cluster(Struct, frozen=True):
    """Where a tournament is played, if not on this machine."""

    scheduler: str | None = None
    ship: bool = False


def scheduler_option(required: bool = False) -> Callable[..., Callable[..., None]]:
    return click.option(
        "--scheduler",
        required=required,
        metavar="ADDRESS",
        help="Play on the Dask cluster of this scheduler, such as tcp://HOST:8786; docs/cluster.md shows how.",
    )


_CONNECTED: Final = (
    "the time of a bot that connects is measured where it connects to, and not on a machine of a cluster: leave it out "
    "and use `arena run`, or play without --scheduler"
)


def _not_here(why: str) -> Callable[..., Callable[..., None]]:
    """--scheduler for a command that cannot use it, which says why instead of guessing what was meant."""

    def refuse(_context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
        if value is not None:
            raise InputError(why)

    return click.option("--scheduler", hidden=True, expose_value=False, callback=refuse)


no_cluster_for_server = _not_here(f"--scheduler does not go with a server: {_CONNECTED}")
no_cluster_for_match = _not_here("one match is played on this machine; `arena run` with --scheduler plays a tournament")
no_cluster_for_test = _not_here("a sequential test is played on this machine; leave out --scheduler")


ship_option = click.option(
    "--ship", is_flag=True, help="With --scheduler: send the folders of the bots to the machines of the cluster."
)


@click.command("cluster-check")
@click.argument("bots", nargs=-1, metavar="cup.toml | BOT BOT…", shell_complete=completion.bot)
@scheduler_option(required=True)
@ship_option
@options_of((*TOURNAMENT, *BOT))
def cluster_check(bots: tuple[str, ...], scheduler: str, ship: bool, **options: str | None) -> None:
    """Compare the machines of a Dask cluster with this one, before `arena run --scheduler` plays there.

    Compared are the arena (its version, its sources, whether it is compiled), Python, the packages that Dask needs to
    be the same, the sandbox if one is asked for, and each bot: its program, and a digest of its folder. A bot's folder
    is its `dir`, or the one that holds its program or script.

    Prints a line for each Dask worker that is in order, and a line for each difference with its remedy. The exit status
    is 0 if all are in order, 1 if anything differs, and 2 if the cluster cannot be asked.

    \b
    Examples:
      arena cluster-check cup.toml --scheduler tcp://192.168.1.10:8786
      arena cluster-check cup.toml --scheduler tcp://192.168.1.10:8786 --ship
    """
    config = configured(lambda: tournament_of(bots, (), given(options)))
    machines = _compared(scheduler, _terms(config, ship))
    for machine in machines:
        for problem in machine.problems or ("in order",):
            click.echo(f"{_place(machine)}: {problem}")
    wrong = sum(bool(machine.problems) for machine in machines)
    click.echo(f"{wrong} of {len(machines)} Dask workers cannot play." if wrong else f"All {len(machines)} can play.")
    sys.exit(1 if wrong else 0)


def play_on_cluster(
    config: Config, scheduler: str, ship: bool, listening: "AbstractContextManager[Listener]"
) -> "TournamentRun":
    """Plays what is left of the tournament on a cluster. Refuses to begin if a machine of it differs from this one."""
    terms = _terms(config, ship)
    machines = _compared(scheduler, terms)
    if problems := [f"{_place(machine)}: {problem}" for machine in machines for problem in machine.problems]:
        raise InputError("\n".join(["the machines of the cluster differ from this one:", *problems]))

    from arena.cluster.cluster_pool import ClusterPool
    from arena.tournament.run import run_tournament

    make_pool = partial(ClusterPool, scheduler=scheduler, terms=terms, machines=len(machines))
    with journal_errors(), listening as listener:
        return run_tournament(config, listener, make_pool=make_pool)


def address_of(scheduler: str) -> str:
    """The address, if it looks like one. Without one Dask would start a cluster of its own."""
    if not re.fullmatch(r"(tcp|tls)://[^\s/]+:\d+", scheduler):
        raise InputError(f"--scheduler = {scheduler!r}, but expected an address such as tcp://HOST:8786")
    return scheduler


def _needs_extra() -> None:
    if find_spec("distributed") is None:
        raise InputError(f"--scheduler needs Dask, which is not installed: {_INSTALL}")


def _terms(config: Config, ship: bool) -> "Terms":
    _needs_extra()
    from arena.cluster.folder import FolderError
    from arena.cluster.preparation import Terms

    try:
        return Terms.of(config.programs, config.journal, ship=ship)
    except (FolderError, OSError) as error:
        raise InputError(f"--ship: {error}") from None


def _compared(scheduler: str, terms: "Terms") -> "list[Machine]":
    from arena.cluster.cluster_check import compared
    from arena.cluster.scheduler import ClusterError

    try:
        return compared(address_of(scheduler), terms)
    except ClusterError as error:
        raise InputError(str(error)) from None


def _place(machine: "Machine") -> str:
    return machine.name if machine.name == machine.address else f"{machine.name} ({machine.address})"

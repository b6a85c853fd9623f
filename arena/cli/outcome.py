"""Play a tournament and say how it ended: what is saved, and how to resume it."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.shared import journal_errors, say_on_stderr, tournament_with_sandboxes
from arena.plan.config import Config
from arena.support.output import descriptor_of, is_closed, silence
from arena.support.signals import INTERRUPTED
from arena.support.text import counted

if TYPE_CHECKING:
    from arena.cli.cluster_command import Cluster
    from arena.tournament.player_sources import PersonSource
    from arena.tournament.run import TournamentRun
    from arena.tournament.tournament_events import Listener


def play_and_report(
    config: Config,
    listening: "AbstractContextManager[Listener]",
    resume: Sequence[str] = (),
    hidden: Sequence[Path] = (),
    cluster: "Cluster | None" = None,
) -> None:
    """Plays what is left of the tournament, here or on a cluster. Exits if it stops early, as `report_outcome` does.
    Bots in a sandbox may not see a path in `hidden`."""
    if cluster is not None and cluster.scheduler is not None:
        from arena.cli.cluster_command import play_on_cluster

        config = tournament_with_sandboxes(config, hidden)
        ran = play_on_cluster(config, cluster.scheduler, cluster.ship, listening)
    else:
        config, ran = played(config, listening, hidden)
    report_outcome(ran, config, resume)


def played(
    config: Config,
    listening: "AbstractContextManager[Listener]",
    hidden: Sequence[Path] = (),
    person: "PersonSource | None" = None,
) -> "tuple[Config, TournamentRun]":
    """Plays what is left of the tournament. Returns the config as it was played, and how it ended. Refuses a journal
    in which it cannot begin. `person` is the person who plays, if one does; then no worker process is needed."""
    from arena.cli import first_worker

    try:
        first = None if person else first_worker.take()
    except OSError as error:
        raise click.ClickException(f"no worker process can be started on this machine: {error.strerror}") from None
    with first or nullcontext():
        from arena.tournament.run import run_tournament

        config = tournament_with_sandboxes(config, hidden)
        with journal_errors(), listening as listener:
            return config, run_tournament(config, listener, first, person=person)


@contextmanager
def unless_reader_left(journal: Path, *options: str) -> Iterator[None]:
    """Print the result of a tournament in this block. If the reader of stdout is gone, that is said, with the options
    of `arena table` that print the result again, and the exit status stays that of the tournament."""
    try:
        yield
    except OSError:
        descriptor = descriptor_of(sys.stdout)
        if descriptor is None or not is_closed(descriptor):
            raise  # such as a full disk
        silence(sys.stdout)
        command = shlex.join(["arena", "table", *options, str(journal)])
        say_on_stderr(f"stdout was closed before the result was printed. To see it:  {command}")


def report_outcome(
    ran: "TournamentRun",
    config: Config,
    resume: Sequence[str] = (),
    say: Callable[[str], None] = say_on_stderr,
    failed: int = 1,
) -> None:
    """If the tournament stopped early, says what is saved and how to resume it, and exits, with the status `failed` if
    it could not continue. `resume` are the words of the command that resumes it; without them it is the same command
    again."""
    command = shlex.join(["arena", *(resume or sys.argv[1:])])
    for warning in ran.warnings:
        say(f"Warning: {warning}")
    if ran.rescue is not None:
        say(f"Stopped: {ran.failure}.")
        say(_how_to_restore(config, ran.rescue.path, command))
        sys.exit(failed)
    if ran.failure or ran.stopped:
        where = f"saved in {config.journal}" if config.kept else "played; nothing is saved"
        say(f"Stopped: {ran.failure}" if ran.failure else "Stopped.")
        rounds = counted(ran.finished, "round") if ran.verdict else f"{ran.finished} of {ran.total} rounds"
        verb = ("is", "was") if ran.finished == 1 else ("are", "were")
        say(f"{rounds} {verb[not config.kept]} {where}.{_about_secret(config)}")
        say(_how_to_resume(config, command))
        sys.exit(failed if ran.failure else INTERRUPTED)


def _how_to_restore(config: Config, rescued: Path | None, command: str) -> str:
    if rescued is None:
        return f"To resume, repair or restore {config.journal} first."
    journal, copy = shlex.quote(str(config.journal)), shlex.quote(str(rescued))
    return f"To resume from what was rescued:\n  arena verify {copy}\n  mv -i {copy} {journal}\n  {command}"


def _about_secret(config: Config) -> str:
    """Asks the user to keep the secret of the deals, if there is one: the journal alone cannot be resumed."""
    from arena.journal.deal_secret import secret_path

    if not (config.kept and config.journal and (secret := secret_path(config.journal)).exists()):
        return ""
    return f" Keep {secret} beside it: the remaining deals are made from it."


def _how_to_resume(config: Config, command: str) -> str:
    if not config.kept:
        return "With --journal FILE everything is saved and can be resumed."
    return f"To resume:  {command}"

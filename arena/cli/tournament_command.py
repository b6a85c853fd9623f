"""Commands that play with local bots: parse, call, print.

Exit status: 0 everything went well, 1 something did not, 2 a wrong call, 130 stopped by Ctrl-C.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import mkdtemp

import attrs
import click
from msgspec.structs import replace

from arena.cli import completion
from arena.cli.cluster_command import Cluster, no_cluster_for_match, scheduler_option, ship_option
from arena.cli.human import with_person
from arena.cli.outcome import play_and_report, played, report_outcome, unless_reader_left
from arena.cli.shared import (
    InputError,
    configured,
    events_option,
    gathered,
    given,
    options_of,
    quiet_option,
    tournament_of,
)
from arena.cli.table_command import print_standings
from arena.plan.config import Config, from_command_line
from arena.plan.options import BOT, OWN, TOURNAMENT, Option

_BOT_KEYS = ", ".join(option.name for option in (*OWN, *BOT) if option.name != "token")
_BOT_HELP = f"A bot with options of its own: {_BOT_KEYS}."


def _of_a_match(option: Option) -> Option:
    return replace(option, unset="none: only faults are kept") if option.name == "journal" else option


@click.command()
@click.argument("bots", nargs=-1, metavar="BOT BOT", shell_complete=completion.player)
@no_cluster_for_match
@options_of([_of_a_match(option) for option in (*TOURNAMENT, *BOT) if option.name != "format"])
@click.option("--seat", type=click.IntRange(0, 1), help="Of human; seat 1 begins the first round.  [as named]")
@click.option("--hints", is_flag=True, help="Show human what the bundled evaluator would play; not rated then.")
def play(bots: tuple[str, ...], seat: int | None, hints: bool, **options: str | None) -> None:
    """Play a match between two bots: a line for each round, then the score.

    The score is wins - losses - draws, then the score of the first bot as a share in brackets, and the number of
    rounds. The difference in Elo has a 95 % interval. The score so far is shown on a terminal, printed after each tenth
    of the match elsewhere, and printed after Ctrl-C. To find out which bot is better, use `arena sprt`.

    A BOT is the name of a bundled bot (see `arena bots`), a command line, or name=command. One of them may be human, or
    name=human: that is you, at this terminal. Press h to see the keys. You have no clock unless --st or --tc gives one
    to both.

    Without --journal nothing is kept, unless a bot fails: then everything about the match stays in a temporary folder,
    which the last line names.

    \b
    Examples:
      arena play greedy random --rounds 10 --seed 7
      arena play "./mybot --fast" "old=./mybot-1.0" --rules tactics --tc 10+0.1
      arena play ./mybot counting --journal match.jsonl
      arena play human counting --rules tactics --rounds 3 --seat 0 --hints
    """
    from arena.cli.match_progress import lines_of_match, match_progress

    config = configured(lambda: from_command_line(bots, (), given(options), with_person=True))
    if len(bots) != 2:
        raise click.UsageError(f"a match is between two bots, found {len(bots)}; `arena run` plays with more")
    config, person = with_person(config, seat, hints=hints)
    with journal_or_temporary(config) as config:
        progress = match_progress(config) if person is None else lines_of_match(person.interface.say)
        config, ran = played(config, progress, person=person)
        assert config.journal is not None
        if ran.finished:
            with unless_reader_left(config.journal) if config.kept else nullcontext():
                click.echo(_score(config, config.journal))
        report_outcome(ran, config)


def _score(config: Config, journal: Path) -> str:
    from arena.processes.same_program import is_same_bot
    from arena.stats.match_score import match_text  # loads numpy, which nothing needs before the match is over
    from arena.stats.round_summary import RoundResult
    from arena.stats.standings import fold

    standings, _ = fold([journal], kind=RoundResult)
    one, two = config.bots
    is_same = len(config.programs) == len(config.bots) and is_same_bot(*config.programs)
    return match_text(standings, one.name, two.name, same_program=is_same)


@contextmanager
def journal_or_temporary(config: Config) -> Iterator[Config]:
    """The config with a journal: without --journal one in a temporary folder, which is kept only if bots failed."""
    if config.journal:
        yield config
        return
    folder = Path(mkdtemp(prefix="arena-"))
    try:
        yield attrs.evolve(config, journal=folder / "match.jsonl", kept=False)
    finally:
        if any(folder.glob("*.faults")):
            click.echo(f"Because of the faults, everything is kept in {folder}; remove it when you are done.", err=True)
        else:
            shutil.rmtree(folder)


@click.command()
@click.argument("bots", nargs=-1, metavar="cup.toml | BOT BOT…", shell_complete=completion.bot)
@click.option("--bot", "specs", multiple=True, metavar="'KEY=VALUE …'", help=_BOT_HELP)
@events_option
@quiet_option
@gathered("cluster", Cluster, scheduler_option(), ship_option)
@options_of((*TOURNAMENT, *BOT))
def run(
    bots: tuple[str, ...], specs: tuple[str, ...], events: bool, quiet: bool, cluster: Cluster, **options: str | None
) -> None:
    """Play a tournament. Run the same command again to resume it where it stopped.

    Name a tournament file, or bots: bundled bots by their names, command lines, or name=command. Options given here
    take precedence over those of the file. README.md shows a file.

    The journal must be a regular file, and no other program may write to it meanwhile. If it is changed all the same,
    everything that is still there is saved in a new file beside it, such as cup.rescued.jsonl, and the exit status
    is 1.

    A file with [sprt] is a test of two bots: it is played as `arena sprt` does, with the same exit statuses.

    \b
    Examples:
      arena run cup.toml
      arena run cup.toml --concurrency 4
      arena run greedy counting random --rules tactics --rounds 20 --journal cup.jsonl
      arena run greedy --bot 'cmd=./mybot name=fast tc=5+0.1 dir=bots'
      arena run cup.toml --scheduler tcp://192.168.1.10:8786
    """
    from arena.cli.progress import progress_of
    from arena.cli.tournament_progress import tournament_progress

    if cluster.ship and cluster.scheduler is None:
        raise InputError("--ship sends folders to the machines of a cluster; name its scheduler: --scheduler")
    config = configured(lambda: tournament_of(bots, specs, given(options)))
    hidden = [Path(bot) for bot in bots if bot.endswith(".toml")]
    if config.sprt is not None:
        if cluster.scheduler is not None:
            raise InputError("a sequential test is played on this machine; leave out --scheduler")
        from arena.cli.sprt_command import SprtOutput, play_test

        play_test(config, SprtOutput.EVENTS if events else SprtOutput.TEXT, quiet, hidden)
    progress = progress_of(tournament_progress, config.journal, events=events, quiet=quiet)
    play_and_report(config, progress, hidden=hidden, cluster=cluster)
    if not events:
        assert config.journal is not None
        with unless_reader_left(config.journal):
            print_standings([config.journal])
            click.echo(f"\nEverything is in {config.journal}.")

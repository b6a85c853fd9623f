"""The command that tests whether a change makes a bot better: parse, call, print."""

import enum
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import click

from arena.cli import completion
from arena.cli.cluster_command import no_cluster_for_test
from arena.cli.outcome import played, report_outcome, unless_reader_left
from arena.cli.shared import configured, given, options_of
from arena.journal.sequential_test import Answer, End, SprtState
from arena.plan.config import Config
from arena.plan.options import BOT, SPRT, TOURNAMENT
from arena.plan.sprt_config import test_from_command_line

_STATUS: Final = {Answer.BETTER: 0, Answer.NOT_BETTER: 1, Answer.UNDECIDED: 3}
_NOT_OF_A_TEST: Final = ("format", "cycles", "rounds", "changed")  # a test of two versions at once says nothing


class SprtOutput(enum.Enum):
    """What is printed on stdout."""

    TEXT = enum.auto()
    JSON = enum.auto()  # the result
    EVENTS = enum.auto()  # events as JSON lines, and no result


@click.command()
@click.argument("bots", nargs=-1, metavar="NEW BASE | test.toml", shell_complete=completion.bot)
@click.option("--json", "as_json", is_flag=True, help="Print the result as a JSON object on stdout.")
@click.option("--quiet", is_flag=True, help="Print nothing before the result.")
@no_cluster_for_test
@options_of((*SPRT, *(option for option in (*TOURNAMENT, *BOT) if option.name not in _NOT_OF_A_TEST)))
def sprt(bots: tuple[str, ...], as_json: bool, quiet: bool, **options: str | None) -> None:
    """Test whether the bot NEW is better than the bot BASE, and play only as many rounds as that takes.

    The test compares two hypotheses about the difference in Elo: H0, it is elo0, and H1, it is elo1. It plays pairs of
    rounds, in which each bot begins once, until the logarithm of their likelihood ratio (LLR) leaves its bounds. If NEW
    is no better than elo0, it passes with a likelihood of at most alpha; if it is better than elo1, it fails with at
    most beta. docs/statistics.md explains it.

    A test is of one version of each bot: if the program of a bot changes meanwhile, the test stops undecided, and
    nothing of the other version counts. Restore the program to resume. What belongs to a program is printed when
    the test begins; --fingerprint names more of it. If both bots are the same program, with the same arguments and
    settings, and no other file in their folders differs, there is nothing to test, and no round is played.

    A fault loses the round. Five faults in a row (--max-faults) end the test: NEW is then not better, and with a
    failing BASE nothing is decided. Nor is it if more than five rounds were void because the arena failed or a process
    was killed, which a bot without a sandbox can do where it is losing.

    Pairs count in the order of the schedule, up to the first that is not finished. So the result does not depend on
    --concurrency, nor on stops. Run the same command again to resume; `arena table --sprt` computes the result again
    from the journal alone. A tournament file of two bots may have the options below in a table [sprt].

    The exit status is 0 if NEW is better, 1 if it is not, 3 if that is undecided or both are the same program, 2 after
    a mistake in the call, and 130 after Ctrl-C.

    \b
    Examples:
      arena sprt "./mybot" "old=./mybot-1.0" --journal test.jsonl
      arena sprt new="./mybot --deep" base=./mybot --elo1 20 --rules tactics --st 0.5
      arena sprt ./mybot greedy --elo0 -5 --elo1 5 --json
    """
    config = configured(lambda: _config(bots, given(options)))
    hidden = [Path(bot) for bot in bots if bot.endswith(".toml")]
    play_test(config, SprtOutput.JSON if as_json else SprtOutput.TEXT, quiet, hidden)


def _config(bots: Sequence[str], options: dict[str, str]) -> Config:
    if len(bots) == 1 and bots[0].endswith(".toml"):
        from arena.plan.config_file import from_file

        return from_file(Path(bots[0]), options, is_test=True)
    return test_from_command_line(bots, options)


def play_test(config: Config, shown: SprtOutput, quiet: bool, hidden: Sequence[Path] = ()) -> NoReturn:
    """Plays what is left of a sequential test, prints its result, and exits."""
    from arena.cli.progress import progress_of
    from arena.cli.sprt_progress import sprt_progress

    _refuse_same_bot(config, shown, quiet)
    progress = progress_of(sprt_progress, config.journal, events=shown is SprtOutput.EVENTS, quiet=quiet)
    config, ran = played(config, progress, hidden)
    state = ran.verdict
    assert isinstance(state, SprtState)
    assert config.journal is not None
    with unless_reader_left(config.journal, "--sprt"):
        print_test(state, shown)
    report_outcome(ran, config, failed=_STATUS[Answer.UNDECIDED])
    if shown is SprtOutput.TEXT:
        click.echo(f"Everything is in {config.journal}.", err=True)
    sys.exit(_STATUS[state.answer])


def _refuse_same_bot(config: Config, shown: SprtOutput, quiet: bool) -> None:
    """Exits if the bots are the same in all that was compared, and says what that was."""
    from arena.processes.same_program import COMPARED, difference_beside, same_program

    new, base = config.programs
    assert config.sprt is not None
    if not same_program(new, base):
        return
    if difference := difference_beside(new, base):
        if not quiet:
            click.echo(f"The programs are the same, but {difference}.", err=True)
        return
    state = SprtState(config.sprt, (new.name, base.name), config.cycles, end=End.SAME_PROGRAM)
    if shown is SprtOutput.EVENTS:
        from arena.cli.progress import JsonEvents
        from arena.tournament.tournament_events import VerdictAdvanced

        JsonEvents(click.echo).heard(VerdictAdvanced(state))
    print_test(state, shown)
    click.echo(f"Compared were their commands, their settings, and {COMPARED}.", err=True)
    sys.exit(_STATUS[state.answer])


def print_test(state: SprtState, shown: SprtOutput) -> None:
    from arena.stats.sprt_report import all_facts, report

    match shown:
        case SprtOutput.TEXT:
            click.echo(report(state))
        case SprtOutput.JSON:
            click.echo(json.dumps(all_facts(state), indent=2, ensure_ascii=False, allow_nan=False))
        case SprtOutput.EVENTS:
            pass


def print_recorded_test(journals: Sequence[Path], shown: SprtOutput) -> NoReturn:
    """Computes the result of the one test in the journals again, prints it, and exits as the test did."""
    from arena.cli.reading import reading
    from arena.cli.shared import journal_errors
    from arena.stats.recorded_test import read_test

    with journal_errors(), reading("Reading", journals) as progress:
        state, problems = read_test(journals, progress)
    for problem in problems:
        click.echo(problem, err=True)
    print_test(state, shown)
    sys.exit(_STATUS[state.answer])

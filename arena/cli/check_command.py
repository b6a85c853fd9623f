"""The command `arena check`: parse, call, print."""

import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, TextIO

import attrs
import click

from arena.cli import completion
from arena.cli.check_display import display, duration_words
from arena.cli.shared import configured, given, options_of, say_on_stderr, with_sandboxes
from arena.devtools.bot_sources import BotSource, CommandSource, ListeningSource
from arena.devtools.check import examine
from arena.devtools.check_report import (
    CheckedBot,
    as_json,
    as_junit,
    several_as_json,
    summary,
    table,
    transcripts,
)
from arena.devtools.examination import CheckFinding, Observer
from arena.devtools.probe import CheckLimits
from arena.plan.bot_spec import BotError, BotSpec, missing_part, parse_bot
from arena.plan.config import ConfigError, bot_with_options, check_programs
from arena.plan.config_file import read_file
from arena.plan.options import STARTED
from arena.support.address import AddressError, address_of, open_listener
from arena.support.signals import INTERRUPTED, calling_on_signals, unwrap_exception_group
from arena.support.text import counted

_USUAL: Final = CheckLimits()
_positive = click.IntRange(min=1)
_report = click.File("w", encoding="utf-8", lazy=False)  # opened before the check, so that a wrong path fails early


def _duration(_context: click.Context, _parameter: click.Parameter, text: str) -> float:
    """Seconds, written as 90, 90s or 1.5m."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h|)", text)
    seconds = float(found[1]) * {"m": 60, "h": 3600}.get(found[2], 1) if found else 0.0
    if not 1 <= seconds <= 1e6:
        raise click.BadParameter(f"{text!r} is not a time of a second or more, such as 60s or 5m")
    return seconds


@attrs.frozen
class _Candidate:
    """A bot to be checked; without `spec` it connects."""

    name: str
    limits: CheckLimits
    spec: BotSpec | None = None


@click.command()
@click.argument("bots", nargs=-1, metavar="[BOT | cup.toml]", shell_complete=completion.bot)
@click.option("--listen", metavar="HOST:PORT", help="Wait for a bot that connects over TCP instead of starting one.")
@click.option(
    "--start-ms", type=_positive, help=f"Milliseconds for the bot to start and say hello.  [{_USUAL.start_ms}]"
)
@click.option("--move-ms", type=_positive, help=f"Milliseconds for each answer of the bot.  [{_USUAL.move_ms}]")
@click.option(
    "--budget", callback=_duration, default="60s", show_default=True, metavar="TIME",
    help="About how long the check may take, such as 90s or 5m; a bot that thinks for long plays fewer rounds.",
)  # fmt: skip
@click.option(
    "--rounds", type=_positive, default=200, show_default=True, help="Rounds over which the bot's memory is measured."
)
@click.option(
    "--transcript", type=_report, metavar="FILE",
    help="Where the lines exchanged before each failure are written.  [a temporary folder]",
)  # fmt: skip
@click.option("--json", "wants_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--junit", type=_report, metavar="FILE", help="Also write the findings to this file, as JUnit XML.")
@options_of(STARTED)
def check(
    bots: tuple[str, ...],
    listen: str | None,
    start_ms: int | None,
    move_ms: int | None,
    budget: float,
    rounds: int,
    transcript: TextIO | None,
    wants_json: bool,
    junit: TextIO | None,
    **options: str | None,
) -> None:
    """Check whether a bot is fit to play: lead it through scripted situations and whole rounds, and say what is wrong.

    BOT is a command line, name=command, or the name of a bundled bot. The scripted situations come first and take a few
    decisions each; as many rounds follow as the budget allows. A failure shows what the bot wrote on stderr. The lines
    exchanged before it are in a file, which the last line names.

    A tournament file stands for all bots in it: they are checked side by side, as many at once as there are cores, with
    the time limits of the file.

    The exit status is 0 if every bot passes, 1 if one does not, and 2 if BOT is not there.

    \b
    Examples:
      arena check "./mybot --fast"
      arena check "python3 mybot.py" --memory 512M --json
      arena check ./thinker --move-ms 30000 --budget 10m
      arena check cup.toml
      arena check --listen 127.0.0.1:4000 --junit report.xml
    """
    if listen is not None and given(options):
        raise click.UsageError(
            f"--{next(iter(given(options)))} is for a bot that is started here; leave it out with --listen."
        )
    candidates = _candidates(bots, listen, _limits(start_ms, move_ms), given(options))
    if listen is None:
        _announce(candidates, budget)
    with display([candidate.name for candidate in candidates], quiet=wants_json) as observers:
        several = _examined(candidates, listen, rounds, budget, observers)
    if len(several) < len(candidates):
        say_on_stderr("Stopped.")
        sys.exit(INTERRUPTED)
    if wants_json:
        click.echo(as_json(several[0]) if len(several) == 1 else several_as_json(several))
    else:
        click.echo(table(several) if len(several) > 1 else f"\n{summary(several[0])}")
    _write_transcripts(transcripts(several), transcript)
    if junit:
        junit.write(as_junit(several))
    sys.exit(0 if all(checked.passed for checked in several) else 1)


def _limits(start_ms: int | None, move_ms: int | None) -> Callable[[BotSpec | None], CheckLimits]:
    """The limits of a bot: those of the command line, else those of its tournament, else the usual ones."""

    def of(spec: BotSpec | None) -> CheckLimits:
        own = spec.limits if spec else None
        start = start_ms or (own and own.start_ms) or _USUAL.start_ms
        move = move_ms or (own and (own.move_ms or own.bank_ms)) or _USUAL.move_ms
        return CheckLimits(start, move)

    return of


def _candidates(
    bots: Sequence[str],
    listen: str | None,
    limits: Callable[[BotSpec | None], CheckLimits],
    options: dict[str, str],
) -> list[_Candidate]:
    if len(bots) > 1:
        raise click.UsageError(
            f"A bot is one argument: put its command in quotes, such as {shlex.join([' '.join(bots)])}."
        )
    if bool(bots) is (listen is not None):
        raise click.UsageError('Name a bot to start, such as "python3 mybot.py", or an address for --listen.')
    if listen is not None:
        return [_Candidate(f"the bot at {listen}", limits(None))]
    (bot,) = bots
    if bot.endswith(".toml"):
        return [_Candidate(spec.name, limits(spec), spec) for spec in _bots_of_file(Path(bot), options)]
    (spec,) = with_sandboxes([configured(lambda: _bot_of_argument(bot, options))])
    return [_Candidate(bot, limits(None), spec)]


def _bot_of_argument(bot: str, options: dict[str, str]) -> BotSpec:
    try:
        spec = bot_with_options(parse_bot(bot), options)
    except BotError as error:
        raise ConfigError(str(error)) from None
    check_programs([(repr(bot), spec)])
    return spec


def _bots_of_file(path: Path, options: dict[str, str]) -> tuple[BotSpec, ...]:
    """The bots that the arena starts. Says on stderr which ones are missing, and which ones connect."""
    found = configured(lambda: read_file(path, options, least=1, programs_may_be_missing=True))
    local = found.config.programs
    for bot in found.config.bots:
        if bot.program is None:
            say_on_stderr(f"{bot.name} connects: check it with --listen")
        elif problem := missing_part(bot.program):
            say_on_stderr(f"{found.where(bot.name)}: {bot.name} is missing: {problem}")
    if not local:
        raise click.UsageError(f"{path}: all of its bots connect; check each of them with --listen")
    there = [bot for bot in local if missing_part(bot) is None]
    settled = dict(
        zip((bot.name for bot in there), with_sandboxes(there, at_once=len(os.sched_getaffinity(0))), strict=True)
    )
    return tuple(settled.get(bot.name, bot) for bot in local)


def _announce(candidates: Sequence[_Candidate], budget: float) -> None:
    """Say before the check how long it may take."""
    cores = len(os.sched_getaffinity(0))
    most = budget * math.ceil(len(candidates) / cores)
    what = candidates[0].name if len(candidates) == 1 else counted(len(candidates), "bot")
    say_on_stderr(f"Checking {what}: up to about {duration_words(most)} (--budget), less for bots that answer quickly.")


def _examined(
    candidates: Sequence[_Candidate],
    listen: str | None,
    rounds: int,
    budget: float,
    observers: Sequence[Observer],
) -> list[CheckedBot]:
    """Checks the bots, as many at once as there are cores. Returns those that were checked before an interruption."""
    import trio

    found: dict[int, list[CheckFinding]] = {}

    async def examine_one(number: int, source: BotSource, limit: trio.CapacityLimiter) -> None:
        async with limit:
            limits = candidates[number].limits
            found[number] = await examine(source, limits, rounds, budget, observers[number])

    async def examine_all() -> None:
        limit = trio.CapacityLimiter(len(os.sched_getaffinity(0)))
        if listen is not None:
            async with await open_listener(listen) as listener:
                say_on_stderr(f"Waiting for a bot at {address_of(listener)} ...")
                seconds = candidates[0].limits.start_ms / 1000
                await examine_one(0, ListeningSource(listener, seconds, say_on_stderr), limit)
            return
        async with trio.open_nursery() as nursery:
            for number, candidate in enumerate(candidates):
                assert candidate.spec is not None
                nursery.start_soon(examine_one, number, CommandSource(candidate.spec), limit)

    async def until_stopped() -> None:
        with trio.CancelScope() as scope:
            async with calling_on_signals(scope.cancel):
                await examine_all()

    try:
        with unwrap_exception_group(AddressError):
            trio.run(until_stopped)
    except AddressError as error:
        raise click.UsageError(str(error)) from None
    return [CheckedBot(candidate.name, found[number]) for number, candidate in enumerate(candidates) if number in found]


def _write_transcripts(text: str, file: TextIO | None) -> None:
    if not text:
        return
    if file is None:
        path = Path(mkdtemp(prefix="arena-check-")) / "transcript.txt"
        path.write_text(text, encoding="utf-8")
    else:
        path = Path(file.name)
        file.write(text)
    say_on_stderr(f"The lines exchanged before each failure are in {path}.")

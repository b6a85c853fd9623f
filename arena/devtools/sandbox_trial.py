"""Try the sandbox on this machine: start a bot in it that makes every attempt to get out (sandbox_attempts)."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from typing import Final

import attrs
import trio

from arena.devtools.sandbox_attempts import TRIALS, Attempt, Result, Targets
from arena.devtools.targets import inside, laid_out, told
from arena.plan.bot_spec import BotSpec
from arena.plan.sandbox import Level, Sandbox
from arena.processes.bot_process import spawn
from arena.processes.launch import Overrun
from arena.processes.process_tree import descendants
from arena.sandbox.sandbox_check import settled

_MEMORY: Final = 128 * 2**20  # bytes that the bot may use
_SECONDS: Final = 120  # for all attempts that a bot survives, and again for each of the others
_SYSTEM_PROGRAMS: Final = "/usr/local/bin:/usr/bin"


@attrs.frozen
class SandboxFinding:
    """Whether one promise of the sandbox holds."""

    attempt: str
    promise: str
    holds: bool
    detail: str  # how the attempt was refused, or what it got


@attrs.frozen
class _Run:
    """What a bot that made attempts told, how it ended, and which of its processes were alive afterwards."""

    results: dict[str, Result]
    ended: str
    overrun: Overrun | None
    left: list[int]


async def try_sandbox(user: str | None, tell: Callable[[SandboxFinding], None]) -> list[SandboxFinding]:
    """Make every attempt, and tell of each. An arena that is run by root starts the bot as `user`. Raises SandboxError
    if this machine cannot make a sandbox."""
    found: list[SandboxFinding] = []

    def keep(finding: SandboxFinding) -> None:
        found.append(finding)
        tell(finding)

    with laid_out(_MEMORY) as targets:
        (spec,) = settled([_bot(inside(targets), user)]).programs
        survived = await _run(spec)
        for attempt in TRIALS.values():
            keep(_finding(attempt, await _run(spec, attempt.name) if attempt.fatal else survived))
        keep(_nothing_left(survived))
    return found


def _bot(targets: Targets, user: str | None) -> BotSpec:
    """The bot that makes the attempts, with the system's Python if there is one: other users can run it."""
    python = shutil.which("python3", path=_SYSTEM_PROGRAMS) or sys.executable
    command = (python, "-I", "-S", targets.program, str(told(targets)))
    return BotSpec("bots", command, memory=_MEMORY, sandbox=Sandbox(Level.FULL, user=user))


async def _run(spec: BotSpec, *names: str) -> _Run:
    said, ended, overrun = b"", f"it did not end within {_SECONDS} seconds", None
    pids: list[int] = []  # of all its processes, when it spoke first
    with trio.move_on_after(_SECONDS):
        async with spawn(attrs.evolve(spec, command=(*spec.command, *names))) as process:
            while part := await process.stream.receive_some():
                said += part
                pids = pids or [each.pid for each in descendants(process.kept.keeper)]
            await process.wait_exit()
            ended, overrun = process.ended_words or "", process.overrun
    results = [Result(**json.loads(line)) for line in said.splitlines()]
    return _Run({each.attempt: each for each in results}, ended, overrun, [*filter(_is_running, pids)])


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _finding(attempt: Attempt, run: _Run) -> SandboxFinding:
    """What a run says of an attempt. One that ended without a result shows nothing, unless a limit ended it."""
    if result := run.results.get(attempt.name):
        return SandboxFinding(attempt.name, attempt.promise, not result.escaped, result.detail)
    if attempt.fatal and run.overrun:
        return SandboxFinding(attempt.name, attempt.promise, True, run.overrun.words)
    return SandboxFinding(attempt.name, attempt.promise, False, f"the bot did not say what happened: {run.ended}")


def _nothing_left(run: _Run) -> SandboxFinding:
    detail = f"processes {run.left} still run" if run.left else "all of its processes are gone"
    return SandboxFinding("outlive-bot", "nothing of a bot is left when it ends", not run.left, detail)

"""Attacks on a neighbour: a sandboxed bot takes what it shares with the bots beside it, while another one plays fair.

Bots of one user share numbers that the kernel counts for each user, and all bots share the processors. The neighbour
tries the same alone and beside the attackers: what it can do must not depend on them.

    python -m tests.attack.neighbours [NAME]...    # as the user who runs this; prints JSON
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import attrs
import pytest
import trio

from arena.plan.bot_spec import BotSpec
from arena.processes.bot_process import BotProcess, spawn
from tests.attack.findings import Finding
from tests.helpers.escape_rounds import SYSTEM_PYTHON
from tests.helpers.paths import ROOT
from tests.helpers.sandboxes import IS_ROOT, NO_SANDBOX, boxed, ordinary_environment, ordinary_python

TRIES: Final = 8
_SECONDS: Final = 60
_LEAST_SHARE: Final = 0.25  # of the processor time that the neighbour has alone; one attacker should leave it half

_TOOLS: Final = """
import ctypes, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)

def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")

def until_refused(take):
    try:
        while True:
            take()
    except OSError:
        pass

def say(word):
    print(word, flush=True)
    sys.stdin.read()
"""


@attrs.frozen
class Attack:
    """What the attackers take and keep, and what the neighbour needs of it. Both are Python; the neighbour says whether
    it got it, or with which share."""

    takes: str
    needs: str
    attackers: int = 1


_SIGNAL: Final = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
def send_signal():
    checked(libc.sigqueue(os.getpid(), signal.SIGRTMIN, None))  # it waits, because it is blocked
"""
_QUEUE: Final = "def queue(): checked(libc.mq_open(b'/%d-%d' % (os.getpid(), time.monotonic_ns()), 66, 0o600, None))\n"
_THREAD: Final = "def thread(): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
_SEND: Final = """
kept = []
def send():
    pair = socket.socketpair()
    for _ in range(250):  # all on the way at once; nobody receives them
        socket.send_fds(pair[0], [b"x"], [0])
    kept.append(pair)
"""
_PIPE: Final = """
import fcntl
def pipe():
    reader, writer = os.pipe()
    fcntl.fcntl(writer, 1031, 1 << 20)  # F_SETPIPE_SZ
"""
_SPIN: Final = """
def spin(seconds):
    until, before = time.monotonic() + seconds, time.process_time()
    while time.monotonic() < until:
        pass
    return (time.process_time() - before) / seconds
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
"""
_GOT: Final = """
try:
    for _ in range({count}):
        {take}()
    say("got it")
except Exception as error:
    say(repr(error))
"""

ATTACKS: Final[Mapping[str, Attack]] = {
    "signals": Attack(_SIGNAL + "until_refused(send_signal)", _SIGNAL + _GOT.format(count=64, take="send_signal")),
    "queues": Attack(_QUEUE + "until_refused(queue)", _QUEUE + _GOT.format(count=1, take="queue")),
    "threads": Attack(
        _THREAD + "for _ in range(900): thread()", _THREAD + _GOT.format(count=200, take="thread"), attackers=3
    ),
    "sent descriptors": Attack(_SEND + "until_refused(send)", _SEND + _GOT.format(count=1, take="send")),
    "pipes": Attack(
        _PIPE + "until_refused(pipe)\nfor _ in range(40): os.pipe()",
        "_, writer = os.pipe()\nos.set_blocking(writer, False)\nsay(f'a pipe of {os.write(writer, bytes(1 << 17))}')",
    ),
    "processor": Attack(
        _SPIN + "for _ in range(60):\n    if not os.fork():\n        try: os.setsid()\n        finally: spin(600)",
        _SPIN + "say(spin(2))",
    ),
}


def neighbours(_: Path) -> list[Finding]:
    """Every attack, by bots of root if root runs this, and by bots of an ordinary user."""
    if NO_SANDBOX:
        return [Finding("neighbours", NO_SANDBOX, [])]
    return findings_of(ATTACKS)


def findings_of(names: Iterable[str]) -> list[Finding]:
    findings = []
    runs = {"root": [sys.executable]} if IS_ROOT else {}
    try:
        runs["ordinary user"] = ordinary_python()
    except pytest.skip.Exception as problem:
        findings.append(Finding("neighbours", str(problem), []))
    for user, python in runs.items():
        words = [*python, "-m", "tests.attack.neighbours", *names]
        done = subprocess.run(words, cwd=ROOT, env=ordinary_environment(), check=True, capture_output=True, text=True)
        findings += [Finding(f"{name}, {user}", *each) for name, each in json.loads(done.stdout).items()]
    return findings


async def harmed(attack: Attack) -> tuple[str, list[str]]:
    """What the neighbour could do alone and beside the attackers, in words, and where that differs."""
    harm, alone, beside = [], "", ""
    for _ in range(TRIES):
        alone, beside = await _neighbour(attack, 0), await _neighbour(attack, attack.attackers)
        if not _is_as_good(alone, beside):
            harm.append(f"alone: {alone}; beside an attacker: {beside}")
    return f"{len(harm)} of {TRIES} harmed; alone: {alone}; beside: {beside}", harm


def _is_as_good(alone: str, beside: str) -> bool:
    try:
        return float(beside) >= _LEAST_SHARE * float(alone)
    except ValueError:
        return alone == beside


async def _neighbour(attack: Attack, attackers: int) -> str:
    """What the neighbour says, which was there before the attackers."""
    async with spawn(_bot("sys.stdin.readline()\n" + attack.needs)) as neighbour, AsyncExitStack() as stack:
        for _ in range(attackers):
            await _said(await stack.enter_async_context(spawn(_bot(attack.takes + "\nsay('done')"))))
        await neighbour.stream.send_all(b"\n")
        return await _said(neighbour)


def _bot(code: str) -> BotSpec:
    return boxed(SYSTEM_PYTHON, "-c", _TOOLS + code, cwd=Path("/"))


async def _said(process: BotProcess) -> str:
    """The line that a bot says; of one that ended instead, why."""
    said = b""
    with trio.fail_after(_SECONDS):
        while not said.endswith(b"\n"):
            if not (part := await process.stream.receive_some()):
                return await process.last_words() or "it ended"
            said += part
    return said.decode().strip()


async def _made(names: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
    return {name: await harmed(ATTACKS[name]) for name in names}


if __name__ == "__main__":
    print(json.dumps(trio.run(_made, sys.argv[1:])))

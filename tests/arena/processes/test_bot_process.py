"""A bot process lives exactly as long as its block: real processes."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from arena.bots.conversation import LinkClosedError, said_text
from arena.bots.link import Link
from arena.plan.bot_spec import BotError, BotSpec, parse_bot
from arena.processes.bot_process import BotProcess, running_launcher, spawn
from arena.processes.process_state import SpawnError
from protocol.errors import RemoteProtocolError
from protocol.messages import PROTOCOL, BotHello, ServerHello
from tests.helpers.processes import bad_bot, is_running


def python(code: str) -> BotSpec:
    return BotSpec("test", (sys.executable, "-c", code))


@asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    running_launcher()  # it stays, with one descriptor, until the run of trio is over
    before = len(os.listdir("/proc/self/fd"))
    yield
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_process_is_gone_when_its_block_ends() -> None:
    async with nothing_left():
        async with spawn(python("import time; time.sleep(1000)")) as process:
            assert is_running(process.pid)
        assert not is_running(process.pid)
        assert process.exit_status == -15


async def test_a_process_that_ignores_sigterm_is_killed() -> None:
    code = "import signal as s, time; s.signal(s.SIGTERM, s.SIG_IGN); print(flush=True); time.sleep(1000)"
    async with spawn(python(code)) as process:
        await process.stream.receive_some(10)
    assert process.exit_status == -9


async def test_a_process_may_leave_by_itself_at_the_end_of_its_input() -> None:
    async with spawn(python("import sys; sys.stdin.read(); sys.exit(7)")) as process:
        pass
    assert process.exit_status == 7


async def test_children_of_the_process_are_gone_too() -> None:
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
        "print(child.pid, flush=True)\n"
    )
    async with spawn(python(code)) as process:
        child = int(await process.stream.receive_some(20))
        await process.wait_exit()  # the parent leaves first
        assert is_running(child)
    with trio.fail_after(120):
        while is_running(child):  # killed, but reaped by init in its own time
            await trio.sleep(0.01)


async def test_a_cancelled_block_ends_its_process() -> None:
    started: list[BotProcess] = []
    async with nothing_left():
        with trio.CancelScope() as scope:
            async with spawn(python("import time; time.sleep(1000)")) as process:
                started.append(process)
                scope.cancel()
                await trio.sleep_forever()
        assert not is_running(started[0].pid)


async def test_a_block_that_fails_ends_its_process() -> None:
    async with nothing_left():
        with pytest.raises(ExceptionGroup) as caught:
            async with spawn(python("import time; time.sleep(1000)")) as process:
                raise ValueError("our own bug")
        assert caught.group_contains(ValueError, match="our own bug")
        assert not is_running(process.pid)


async def test_a_program_that_is_not_there_is_said_so() -> None:
    async with nothing_left():
        with pytest.raises(SpawnError, match=r"cannot start '\./no-such-bot': No such file or directory"):
            async with spawn(BotSpec("x", ("./no-such-bot",))):
                pytest.fail("started")


async def test_the_end_of_stderr_is_kept_however_much_is_written() -> None:
    code = "import sys; sys.stderr.write('x' * 5_000_000 + 'the end'); sys.stderr.flush(); print('done', flush=True)"
    async with spawn(python(code)) as process:
        await Link(process.stream).wait_line()
    assert process.stderr_tail.endswith("the end")
    assert len(process.stderr_tail) == 8 * 1024


async def test_messages_go_to_the_process_and_come_back() -> None:
    async with spawn(bad_bot("none")) as process:
        link = Link(process.stream)
        await link.say(ServerHello(PROTOCOL, "test"))
        assert await link.hear() == BotHello(PROTOCOL, "none")
        assert [said_text(said) for said in link.transcript] == [
            '> {"type":"hello","protocol":1,"server":"test"}',
            '< {"type": "hello", "protocol": 1, "name": "none"}',
        ]


def test_the_end_of_a_long_line_of_a_bot_is_not_shown() -> None:
    """A bot that fails in every second round could fill the disk with 60 such lines for each fault."""
    assert said_text((True, b"x" * 4096)) == f"< {'x' * 4096}"
    assert said_text((True, b"x" * 4100)) == f"< {'x' * 4096}… (4 more bytes)"
    assert said_text((False, b"x" * 4100 + b"\n")) == f"> {'x' * 4100}"
    assert "s3cret" not in said_text((True, b'{"token":"' + b"s3cret" * 1000))


async def test_a_process_that_ends_closes_its_link() -> None:
    async with spawn(bad_bot("crash-at-start")) as process:
        link = Link(process.stream)
        with pytest.raises(LinkClosedError):
            await link.hear()
        await process.wait_exit()
        with pytest.raises(LinkClosedError):
            await link.say_line(b"x" * 1_000_000)
    assert "no licence file" in process.stderr_tail


async def test_a_line_without_end_is_refused_and_not_kept() -> None:
    async with spawn(python("import sys\nwhile True: sys.stdout.write('x' * 4096)")) as process:
        with pytest.raises(RemoteProtocolError, match="longer than 65536 bytes"):
            await Link(process.stream).hear()


async def test_writing_to_a_bot_that_does_not_read_waits_and_can_be_cancelled() -> None:
    async with spawn(python("import time; time.sleep(1000)")) as process:
        with trio.move_on_after(0.05) as scope:
            await Link(process.stream).say_line(b"x" * 1_000_000)
        assert scope.cancelled_caught


@pytest.mark.parametrize(
    ("text", "name", "command"),
    [
        ("./mybot --fast", "mybot", ("./mybot", "--fast")),
        ("fast=./mybot --fast", "fast", ("./mybot", "--fast")),
        ("python3 -u bots/ann.py", "ann", ("python3", "-u", "bots/ann.py")),
        ("'my bot'/x", "x", ("my bot/x",)),
        ("./bot --depth=3", "bot", ("./bot", "--depth=3")),
        ("rival=greedy", "rival", (sys.executable, "-P", "-m", "example_bots.greedy")),
        ("greedy", "greedy", (sys.executable, "-P", "-m", "example_bots.greedy")),
    ],
)
def test_a_bot_is_a_name_that_comes_along_a_command_or_both(text: str, name: str, command: tuple[str, ...]) -> None:
    assert parse_bot(text) == BotSpec(name, command)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "does not name a command"), ("x=", "does not name a command"), ("'a", "No closing quotation")],
)
def test_what_is_no_bot_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BotError, match=problem):
        parse_bot(text)

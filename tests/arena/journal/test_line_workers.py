"""Rounds are checked by worker processes: the same is found, whatever is wrong, and no process is left behind."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import attrs
import msgspec
import pytest

from arena.journal.lines import JournalEntry, ResumeLine, VoidLine, encoded
from arena.journal.verify import verify_journals, worth_workers
from arena.processes.process_tree import children_of
from tests.helpers import genuine
from tests.helpers.processes import is_running, send_to_all
from tests.helpers.pty_session import arena_in_terminal
from tests.helpers.raw_journals import Line, damaged
from tests.helpers.sampling import sampled
from tests.helpers.tournaments import configured, steady

PATIENCE = 60  # seconds until a process must be there, or gone; only a failure waits that long
BOTS = [steady(name) for name in "abc"]


def until(there: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More work than is done until a test has seen that it began, on however busy a machine."""
    config = configured(*BOTS, rounds="10", rules="tactics")
    return genuine.write_copies(tmp_path_factory.mktemp("long") / "cup.jsonl", config, 20_000)


def tournament(event: int, rounds: str) -> list[Line]:
    """A tournament with all that determines deals: a secret or a seed, voids and resumes that come too late or name no
    round."""
    void = VoidLine(id="1.1-2.2", match="1.1-2", round=2, bots=("a", "b"), reason="late", started="")
    config = configured(*BOTS, event=str(event), rules="tactics", rounds=rounds)
    opening, *played = genuine.lines(attrs.evolve(config, seed="" if event % 2 else "7"))
    others = [encoded(void), encoded(ResumeLine(started=""))]
    return [msgspec.json.decode(raw) for raw in (opening, *played[:2], *others, *played[2:])]


@pytest.mark.parametrize("seed", sampled(range(4), 0, 3))
def test_workers_find_what_is_found_without_them(seed: int, tmp_path: Path) -> None:
    rng, paths = random.Random(seed), []
    for number in range(30):
        path = tmp_path / f"{number}.jsonl"
        lines = tournament(number, rng.choice("24"))
        path.write_bytes(damaged(lines, rng) + rng.choice([b"", b'{"type":"rou', damaged(lines, rng)]))
        paths.append(path)
    alone = verify_journals(paths, workers=0)
    assert verify_journals(paths, workers=2) == alone
    assert len(alone.problems) > 30
    assert alone.torn


def test_a_genuine_journal_is_in_order_with_workers_too(tmp_path: Path) -> None:
    config = configured(*BOTS, rounds="50", rules="tactics")
    path = tmp_path / "cup.jsonl"
    path.write_bytes(b"".join(genuine.lines(config)))
    report = verify_journals([path], workers=2)
    assert (report.rounds, report.problems) == (150, [])
    assert report == verify_journals([path], workers=0)


def test_few_rounds_are_not_worth_a_process(tmp_path: Path, long: Path) -> None:
    short = genuine.write_copies(tmp_path / "cup.jsonl", configured(*BOTS, rules="tactics"), 100)
    assert worth_workers([short]) == 0
    assert worth_workers([long]) == (cores if (cores := len(os.sched_getaffinity(0))) > 1 else 0)


@pytest.mark.extended
def test_workers_that_are_killed_cost_nothing_but_time(tmp_path: Path) -> None:
    path = genuine.write_copies(tmp_path / "cup.jsonl", configured(*BOTS, rules="tactics"), 1000)
    before = set(children_of(os.getpid()))
    killed: list[int] = []

    def kill(entry: JournalEntry) -> None:
        if entry.number == 1:
            killed.extend(set(children_of(os.getpid())) - before)
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    assert verify_journals([path], workers=2, progress=kill) == verify_journals([path], workers=0)
    assert len(killed) == 2


def started(journal: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A command that verifies the journal, and the ids of its workers."""
    command = [sys.executable, "-m", "arena", "verify", str(journal)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: len(children_of(process.pid)) > 1)
    return process, children_of(process.pid)


several_cores = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="workers are started for several cores")


@several_cores
@pytest.mark.parametrize(
    ("number", "status", "said"),
    [(signal.SIGKILL, -9, ""), (signal.SIGTERM, -15, ""), (signal.SIGINT, 130, "Stopped.\n")],
)
def test_no_worker_outlives_the_command(number: signal.Signals, status: int, said: str, long: Path) -> None:
    process, workers = started(long)
    process.send_signal(number)
    assert (process.wait(PATIENCE), *process.communicate()) == (status, "", said)
    until(lambda: not any(map(is_running, workers)))


@several_cores
def test_ctrl_c_on_a_terminal_reaches_only_the_command(long: Path, tmp_path: Path) -> None:
    with arena_in_terminal(["verify", str(long)], tmp_path) as session:
        # A worker that is stopped before it runs its own program would stop the command, which waits for that.
        session.wait_until(lambda: "%" in session.text and "  0%" not in session.text, "the first answers of workers")
        workers = children_of(session.pid)
        send_to_all(workers, signal.SIGSTOP)  # so that it is not over before Ctrl-C arrives
        session.press("\x03")
        assert session.wait_for_status() == 130
        send_to_all(filter(is_running, workers), signal.SIGCONT)  # they end when their input ends, or were killed
        until(lambda: not any(map(is_running, workers)))
        assert session.text.replace("^C", "").strip() == "Stopped."


@pytest.mark.extended
def test_progress_is_shown_on_a_terminal_and_then_removed(tmp_path: Path) -> None:
    path = genuine.write_copies(tmp_path / "cup.jsonl", configured(*BOTS, rules="tactics"), 600)
    for command, words in (("verify", "Verifying"), ("table", "Reading"), ("report", "Writing rounds")):
        output = ["--rounds", "50"] if command == "report" else []
        with arena_in_terminal([command, str(path), *output], tmp_path) as session:
            assert session.wait_for_status() == 0
            assert words in session.raw.decode()
            assert words not in session.text

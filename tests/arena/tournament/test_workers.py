"""The worker processes of a tournament: how many there are, and what happens when they are killed or hang."""

import os
import random
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import attrs
import pytest

from arena.cli.progress import Quiet
from arena.journal.verify import verify_journals
from arena.tournament.run import run_tournament
from tests.helpers.commands import arena
from tests.helpers.paths import DEADLY_BOT
from tests.helpers.processes import bad_command, is_running, no_bad_bot_left, workers_of
from tests.helpers.tournaments import command, configured, essence, played, rounds_in, running, steady, voids_in


def await_workers(pid: int, count: int, besides: frozenset[int] = frozenset()) -> list[int]:
    """Wait until the arena has this many workers that are not among those."""
    until = time.monotonic() + 60
    while len(found := [worker for worker in workers_of(pid) if worker not in besides]) < count:
        assert time.monotonic() < until, found
        time.sleep(0.01)
    return found


def await_end(pids: list[int]) -> None:
    until = time.monotonic() + 60
    while left := [pid for pid in pids if is_running(pid)]:
        assert time.monotonic() < until, left
        time.sleep(0.01)


def deadly(*words: str) -> str:
    return f"deadly={shlex.join([sys.executable, str(DEADLY_BOT), *words])}"


@pytest.mark.parametrize(
    ("options", "workers"),
    [
        ({"concurrency": "3", "workers": "3"}, 3),
        ({"concurrency": "3", "workers": "1"}, 1),
        ({"concurrency": "1"}, 1),
        ({"concurrency": "2", "workers": "5"}, 2),
    ],
)
def test_matches_are_played_by_as_many_workers_as_asked_for(
    journal: Path, options: dict[str, str], workers: int
) -> None:
    bots = [f"{name}={bad_command('hang')}" for name in "abcd"]
    with running(command(journal, *bots, st="60", **options)) as process:
        assert process.stderr is not None
        for _ in range(int(options["concurrency"])):
            assert "Started round" in process.stderr.readline()
        assert len(workers_of(process.pid)) == workers
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 130
    no_bad_bot_left("hang")


def test_no_workers_are_refused_in_one_line() -> None:
    done = arena("play", "greedy", "random", "--workers", "0")
    assert done.exit_code == 2
    assert "--workers" in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    "words", [("play", "greedy"), ("run", "nowhere.toml"), ("play", "greedy", "random", "--rounds", "many")]
)
def test_a_command_that_is_refused_leaves_no_worker_behind(words: tuple[str, ...]) -> None:
    """The first worker is started before the options are read."""
    assert arena(*words).exit_code == 2
    assert workers_of(os.getpid()) == []


@pytest.mark.parametrize("words", [("play", "greedy", "random"), ("run", "greedy", "random", "--journal", "cup.jsonl")])
def test_a_first_worker_that_cannot_be_started_is_told_in_one_line(words: tuple[str, ...], tmp_path: Path) -> None:
    call = ["prlimit", "--nofile=6:6", sys.executable, "-m", "arena", *words]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    told = "Error: no worker process can be started on this machine: Too many open files\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", told)
    assert list(tmp_path.iterdir()) == []


def test_the_number_of_workers_changes_nothing_but_order_and_times(tmp_path: Path) -> None:
    bots = [steady("a"), steady("b"), steady("c"), steady("d", "illegal")]
    found = []
    for workers in ("1", "3"):
        # Without a limit of faults: when a bot is withdrawn depends on the order of matches that are played at once.
        options = {"workers": workers, "concurrency": "3", "rounds": "4", "max-faults": "0"}
        found.append(essence(played(configured(*bots, journal=tmp_path / f"{workers}.jsonl", **options))))
    assert found[0] == found[1]
    assert len(found[0]) == 24


@pytest.mark.extended
def test_killed_workers_lose_nothing_and_play_nothing_twice(tmp_path: Path) -> None:
    """With a public seed every round is played again with its deal, so the lines are those of an undisturbed run."""
    size = {"rounds": "20", "cycles": "10", "st": "600"}
    whole = played(configured(*map(steady, "abc"), journal=tmp_path / "whole.jsonl", **size))
    journal, over, rng, kills = tmp_path / "killed.jsonl", tmp_path / "kills.over", random.Random(4), 0
    bots = [steady(name, f"rest=10:{over.with_suffix('')}") for name in "abc"]
    with running(command(journal, *bots, **size)) as process:
        while kills < 40:
            for worker in workers_of(process.pid)[: rng.randint(1, 2)]:
                os.kill(worker, signal.SIGKILL)
                kills += 1
            grown = journal.stat().st_size + 1600 * rng.randrange(8) if journal.exists() else 0
            while process.poll() is None and journal.exists() and journal.stat().st_size < grown:
                time.sleep(0.005)
            time.sleep(rng.random() * 0.1)
        over.touch()
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert len(rounds_in(journal)) == len(whole) == 600
    assert essence(rounds_in(journal)) == essence(whole)
    assert verify_journals([journal]).problems == []


def test_a_round_whose_deal_was_seen_is_void_when_its_worker_dies_and_gets_another_deal(
    journal: Path, tmp_path: Path
) -> None:
    config = configured(deadly(str(tmp_path / "done"), "once"), steady("b"), journal=journal)
    ran = run_tournament(attrs.evolve(config, seed=""), Quiet())
    assert (ran.finished, ran.failure) == (2, None)
    (void,) = voids_in(journal)
    assert (void.id, void.excused) == ("1.1-2.1", None)
    assert void.reason == "the worker process that played it ended (killed by signal 9)"
    assert ran.warnings == [f"a match was interrupted: {void.reason}"]
    assert [line.fault for line in rounds_in(journal)] == [None, None]
    report = verify_journals([journal])
    assert (report.problems, report.voids) == ([], 1)


def test_a_bot_that_kills_its_worker_again_and_again_stops_the_tournament(journal: Path) -> None:
    config = configured(deadly(), steady("b"), journal=journal)
    ran = run_tournament(attrs.evolve(config, seed=""), Quiet())
    assert (ran.finished, ran.stopped) == (0, False)
    assert ran.failure == (
        "5 rounds of deadly and b are void by now, the last one 1.1-2.1 (deadly vs b): the worker process that played "
        "it ended (killed by signal 9). If this machine is not the reason, a bot without a sandbox is: begin another "
        "tournament with --sandbox."
    )
    assert len(voids_in(journal)) == 5  # everything that happened is written before the end


def test_the_deaths_of_workers_are_limited_for_all_matches_of_a_bot_together(journal: Path, tmp_path: Path) -> None:
    """The bot kills one worker in each match and lets the next one finish it, so that no failure follows another."""
    config = configured(
        deadly(str(tmp_path / "{match}"), "once"), steady("b"), journal=journal, cycles="20", concurrency="1"
    )
    ran = run_tournament(attrs.evolve(config, seed=""), Quiet())
    assert (ran.finished, ran.stopped) == (8, False)
    assert ran.failure is not None
    assert ran.failure.startswith("5 rounds of deadly and b are void by now, the last one 5.1-2.1 (deadly vs b): ")
    assert [void.match for void in voids_in(journal)] == [f"{cycle}.1-2" for cycle in range(1, 6)]


@pytest.mark.extended
def test_a_long_tournament_survives_more_deaths(journal: Path, tmp_path: Path) -> None:
    """One more for each hundred rounds that are finished, not planned."""
    options = {"cycles": "5", "rounds": "26", "concurrency": "1"}
    config = configured(deadly(str(tmp_path / "{match}"), "once"), steady("b"), journal=journal, **options)
    ran = run_tournament(attrs.evolve(config, seed=""), Quiet())
    assert (ran.finished, ran.failure) == (130, None)
    assert len(voids_in(journal)) == 5


def test_a_resume_remembers_the_deaths_of_workers(journal: Path, tmp_path: Path) -> None:
    peace = tmp_path / "peace"
    config = attrs.evolve(configured(deadly(str(peace)), steady("b"), journal=journal), seed="")
    for count in (5, 6):
        failure = run_tournament(config, Quiet()).failure
        assert failure is not None
        assert failure.startswith(f"{count} rounds of deadly and b are void by now")
        assert len(voids_in(journal)) == count
    peace.touch()
    ran = run_tournament(config, Quiet())
    assert (ran.finished, ran.failure) == (2, None)
    assert verify_journals([journal]).problems == []


def test_a_worker_that_hangs_is_killed_with_its_bots_and_its_match_goes_on(journal: Path) -> None:
    words = command(journal, steady("a"), steady("b"), rounds="400", concurrency="1", st="60")
    with running(words) as process:
        (worker,) = await_workers(process.pid, 1)
        assert process.stderr is not None
        assert "Started round" in process.stderr.readline()
        os.kill(worker, signal.SIGSTOP)
        await_workers(process.pid, 1, besides=frozenset({worker}))
        await_end([worker])  # the next worker may start a moment before the system has ended this one
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
    assert "did not react for 10 s and was killed" in err


def test_a_killed_owner_leaves_neither_workers_nor_bots(journal: Path) -> None:
    bots = [f"{name}={bad_command('ignore-sigterm')}" for name in "abcd"]
    with running(command(journal, *bots, st="60", concurrency="2", workers="2")) as process:
        workers = await_workers(process.pid, 2)
        assert process.stderr is not None
        for _ in range(2):
            assert "Started round" in process.stderr.readline()
    await_end(workers)
    no_bad_bot_left("ignore-sigterm")

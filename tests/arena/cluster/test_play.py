"""Tournaments on a real Dask cluster: the same rounds as on one machine, whatever is lost meanwhile."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from arena.journal.verify import verify_journals
from tests.helpers.cluster import PATIENCE, Cluster, done, kill, on
from tests.helpers.paths import ROOT, THINKING_BOT
from tests.helpers.processes import bad_command, no_bad_bot_left, send_to_all
from tests.helpers.tournaments import (
    configured,
    essence,
    heard,
    played,
    rounds_in,
    running,
    steady,
    voids_in,
)

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("cluster")]


def thinking(name: str, seconds: float = 0.05) -> str:
    return f"{name}={sys.executable} {THINKING_BOT} {seconds}"


def test_a_cluster_plays_the_same_rounds_as_one_process(cluster: Cluster, tmp_path: Path) -> None:
    bots, size = [steady("a"), steady("b"), steady("c")], {"rounds": "6", "cycles": "2"}
    here = played(configured(*bots, journal=tmp_path / "here.jsonl", **size))
    journal = tmp_path / "there.jsonl"
    ran = done(on(cluster, journal, *bots, **size))
    assert ran.returncode == 0, ran.stderr
    there = rounds_in(journal)
    assert essence(there) == essence(here)
    assert len(there) == 36
    assert {line.host for line in there} == {"host-1", "host-2"}
    assert all(line.delay is not None for line in there)
    assert not any(line.host for line in here)
    assert verify_journals([journal]).problems == []


def test_secret_deals_are_proved_and_the_key_stays_with_the_owner(cluster: Cluster, tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    ran = done(on(cluster, journal, steady("a"), steady("b"), steady("c"), seed=None, rounds="8"))
    assert ran.returncode == 0, ran.stderr
    report = verify_journals([journal])
    assert (report.problems, report.rounds, report.voids) == ([], 24, 0)
    secret = journal.read_text().rpartition('"secret":"')[2][:64]
    assert len(secret) == 64
    seen = subprocess.run(
        [sys.executable, "-c", _EVENTS, cluster.address], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "schotten-arena" in seen.stdout
    assert secret not in seen.stdout
    assert secret not in cluster.log.read_text()
    again = done(on(cluster, journal, steady("a"), steady("b"), steady("c"), seed=None, rounds="8"))
    assert (again.returncode, again.stderr) == (
        0,
        "24 of 24 rounds are in the journal already: nothing is left to play.\n",
    )


_EVENTS = """
import sys
from distributed import Client
with Client(sys.argv[1]) as client:
    print({topic: str(events) for topic, events in client.get_events().items()})
"""


def test_faults_are_kept_beside_the_journal_and_bots_are_withdrawn(cluster: Cluster, tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    crash = f"crash={bad_command('crash')}"
    ran = done(on(cluster, journal, steady("a"), steady("b", "illegal"), crash, rounds="8", **{"max-faults": "3"}))
    assert ran.returncode == 0, ran.stderr
    rounds = rounds_in(journal)
    faulty = [line for line in rounds if line.fault is not None and not line.fault.withdrawn]
    assert {line.bots[line.fault.seat] for line in faulty if line.fault} == {"b", "crash"}
    assert sum(line.fault is not None and line.fault.withdrawn is True for line in rounds) > 0
    for line in faulty:
        assert line.fault is not None
        assert line.fault.bundle is not None
        assert Path(line.fault.bundle).parent == tmp_path / "cup.faults"
        assert {"bundle.json", "position.txt"} < {path.name for path in Path(line.fault.bundle).iterdir()}
    bundle = next(line.fault.bundle for line in faulty if line.fault and line.bots[line.fault.seat] == "b")
    again = done([sys.executable, "-m", "arena", "rerun", str(bundle), "--yes"])
    assert (again.returncode, again.stdout.splitlines()[-1]) == (0, "The fault came again.")
    assert any(path.stat().st_size for path in (tmp_path / "cup.stderr").iterdir())
    assert verify_journals([journal]).problems == []
    no_bad_bot_left("crash")


def test_a_match_on_a_lost_machine_is_void_and_goes_on_elsewhere(frail: Cluster, tmp_path: Path) -> None:
    """The bots have seen the deal of the round under way, and nobody knows whether they have seen the next one."""
    journal = tmp_path / "cup.jsonl"
    with running(on(frail, journal, thinking("a"), thinking("b"), seed=None, rounds="6")) as process:
        heard(process, "Finished round 1")
        heard(process, "Started round 3")
        players = frail.players()
        kill(next(worker for worker in frail.workers if frail.players_of(worker)))
        assert process.stderr is not None
        err = process.stderr.read()
        assert process.wait(PATIENCE) == 0, err
    assert "the worker process that played it on host-" in err
    assert_each_void_once(journal)
    assert len({line.id for line in rounds_in(journal)}) == len(rounds_in(journal)) == 6
    assert verify_journals([journal]).problems == []
    assert players
    assert frail.left_players() == []


def assert_each_void_once(journal: Path) -> None:
    """The round under way, and perhaps the next one, whose deal the machine had."""
    voids = voids_in(journal)
    assert 1 <= len(voids) <= 2
    assert len({void.id for void in voids}) == len(voids)
    assert [void.deal_exposed for void in voids].count(True) == len(voids) - 1


def test_a_silent_machine_is_given_up_and_what_it_still_plays_does_not_count(frail: Cluster, tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    with running(on(frail, journal, thinking("a"), thinking("b"), seed=None, rounds="6", st="60")) as process:
        heard(process, "Finished round 1")
        heard(process, "Started round 2")
        worker = next(worker for worker in frail.workers if frail.players_of(worker))
        stopped = [worker.pid, *frail.players_of(worker)]
        send_to_all(stopped, signal.SIGSTOP)
        heard(process, "Void round")
        heard(process, "Finished round")
        send_to_all(stopped, signal.SIGCONT)
        assert process.stderr is not None
        err = process.stderr.read()
        assert process.wait(PATIENCE) == 0, err
    assert "did not react for 20 s and was killed" in err
    assert_each_void_once(journal)
    assert len({line.id for line in rounds_in(journal)}) == len(rounds_in(journal)) == 6
    assert verify_journals([journal]).problems == []
    assert frail.left_players() == []


def test_a_tournament_goes_on_when_the_scheduler_comes_back(frail: Cluster, tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    with running(on(frail, journal, steady("a"), thinking("b", 0.02), rounds="8")) as process:
        heard(process, "Finished round 2")
        frail.players()
        kill(frail.scheduler)
        for worker in frail.workers:
            worker.wait(PATIENCE)  # they end with their scheduler
        frail.tend()
        assert process.stderr is not None
        err = process.stderr.read()
        assert process.wait(PATIENCE) == 0, err
    assert f"the scheduler of the cluster was lost; waiting up to 60 s for another one at {frail.address}" in err
    assert len(rounds_in(journal)) == 8
    assert verify_journals([journal]).problems == []
    assert frail.left_players() == []


def test_a_killed_owner_leaves_nothing_and_its_tournament_can_be_resumed_anywhere(
    cluster: Cluster, tmp_path: Path
) -> None:
    journal = tmp_path / "cup.jsonl"
    size = {"rounds": "6", "st": "60"}
    bots = [thinking("a"), thinking("b")]
    with running(on(cluster, journal, *bots, seed=None, **size)) as process:
        heard(process, "Finished round 1")
        assert cluster.players()
    assert cluster.left_players() == []
    there = [sys.executable, "-m", "arena", "run", *bots, "--journal", str(journal), "--rounds", "6", "--st", "60"]
    with running(there) as process:  # now on this machine
        heard(process, "Finished round")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 130
    ran = done(on(cluster, journal, *bots, seed=None, **size))
    assert ran.returncode == 0, ran.stderr
    hosts = [line.host for line in rounds_in(journal)]
    assert len(hosts) == 6
    assert None in hosts
    assert set(hosts) & {"host-1", "host-2"}
    report = verify_journals([journal])
    assert report.problems == []
    assert any("resumed 2 times" in remark for remark in report.remarks)


def test_ctrl_c_ends_the_bots_of_all_machines(cluster: Cluster, tmp_path: Path) -> None:
    bots = [f"{name}={bad_command('hang')}" for name in "abcd"]
    with running(on(cluster, tmp_path / "cup.jsonl", *bots, st="60")) as process:
        heard(process, "Started round")
        heard(process, "Started round")
        assert len(cluster.players()) == 2
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    assert cluster.left_players() == []
    no_bad_bot_left("hang")


def test_a_tournament_leaves_no_descriptors_and_no_folders_in_the_cluster(cluster: Cluster, tmp_path: Path) -> None:
    """The first tournament may leave connections between Dask's own processes, which the second one uses again."""

    def left() -> list[int]:
        return [len(os.listdir(f"/proc/{worker.pid}/fd")) for worker in cluster.workers]

    def play(name: str) -> None:
        ran = done([*on(cluster, tmp_path / name, steady("a"), steady("b"), steady("c")), "--ship"])
        assert ran.returncode == 0, ran.stderr

    play("one.jsonl")
    play("two.jsonl")
    before, until = left(), time.monotonic() + PATIENCE
    folders = set(Path(tempfile.gettempdir()).glob("arena-bots-*"))
    play("three.jsonl")
    while left() > before:
        assert time.monotonic() < until, (before, left())
        time.sleep(0.1)
    assert not set(Path(tempfile.gettempdir()).glob("arena-bots-*")) - folders
    assert cluster.left_players() == []


def test_kills_at_random_lose_nothing_and_play_nothing_twice(frail: Cluster, tmp_path: Path) -> None:
    """With a public seed every round is played again with its deal, so the lines are those of an undisturbed run."""
    size = {"rounds": "20", "cycles": "12", "st": "600"}
    whole = played(configured(*map(steady, "abc"), journal=tmp_path / "whole.jsonl", **size))
    journal, over, rng = tmp_path / "killed.jsonl", tmp_path / "kills.over", random.Random(5)
    words = on(frail, journal, *(steady(name, f"rest=20:{over.with_suffix('')}") for name in "abc"), **size)
    for what in ("player", "worker", "scheduler", "owner", "worker"):
        with running(words) as process:
            heard(process, "Finished round")
            time.sleep(rng.random())
            victims = frail.players()
            if what == "player":
                os.kill(rng.choice(victims), signal.SIGKILL)
            elif what == "worker":
                kill(rng.choice(frail.workers))
            elif what == "scheduler":
                kill(frail.scheduler)
                for worker in frail.workers:
                    worker.wait(PATIENCE)
            if what != "owner":
                frail.tend()
                heard(process, "Finished round")
    assert len(rounds_in(journal)) < 720
    over.touch()
    ran = done(words)
    assert ran.returncode == 0, ran.stderr
    assert len(rounds_in(journal)) == len(whole) == 720
    assert essence(rounds_in(journal)) == essence(whole)
    assert verify_journals([journal]).problems == []
    assert frail.left_players() == []

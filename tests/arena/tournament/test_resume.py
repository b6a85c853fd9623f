"""Tournaments that are stopped, killed or out of space, and resumed: nothing is lost, nothing is played twice."""

import os
import random
import shlex
import signal
import stat
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
import trio

from arena.cli.progress import Quiet
from arena.journal.file import line_hash
from arena.journal.lines import Journal, JournalError
from arena.journal.verify import verify_journals
from arena.processes.bot_process import running_launcher
from arena.tournament.ledger import resume
from arena.tournament.run import run_tournament
from arena.tournament.runner import Tournament
from arena.tournament.tournament_events import RoundFinished, TournamentEvent
from tests.helpers.processes import bad_command, no_bad_bot_left
from tests.helpers.tournaments import anonymous, command, configured, essence, played, rounds_in, run_and_kill, steady

ROUND = b'{"type":"round"'


def test_a_round_is_told_of_only_when_it_is_on_the_disk(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rounds = f"{journal.read_bytes().count(ROUND)} rounds on the disk"
        happened.append("the name of the file is on the disk" if is_folder else rounds)

    class Listening:
        def heard(self, event: TournamentEvent, /) -> None:
            if isinstance(event, RoundFinished):
                happened.append(f"round {event.line.round} told")

    monkeypatch.setattr("arena.journal.file.os.fsync", fsync)
    config = configured(steady("a"), steady("b"), journal=journal, concurrency="1")
    run_tournament(config, Listening())
    assert happened[0] == "the name of the file is on the disk"
    assert happened[1] == "0 rounds on the disk"  # the configuration
    for number in (1, 2):
        told = happened.index(f"round {number} told")
        assert {f"{number} rounds on the disk", f"{number + 1} rounds on the disk"} & set(happened[:told])


def test_a_journal_goes_on_exactly_where_it_stopped(tmp_path: Path) -> None:
    bots = [steady("a"), steady("b"), steady("c")]
    whole = played(configured(*bots, journal=tmp_path / "whole.jsonl", rounds="6"))
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    for cut in (1, 2, 5, 12, 22):
        journal = tmp_path / f"cut{cut}.jsonl"
        journal.write_bytes(b"".join(lines[:cut]) + (lines[cut][: len(lines[cut]) // 2] if cut < 22 else b""))
        assert essence(played(configured(*bots, journal=journal, rounds="6"))) == essence(whole)
        assert verify_journals([journal]).problems == []
        assert len(rounds_in(journal)) == 18


def test_points_so_far_and_the_winner_who_begins_survive_a_stop(tmp_path: Path) -> None:
    bots = [steady("a"), steady("b")]
    whole = played(configured(*bots, journal=tmp_path / "whole.jsonl", rounds="5", rules="classic"))
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    journal = tmp_path / "cut.jsonl"
    journal.write_bytes(b"".join(lines[:6]))
    assert essence(played(configured(*bots, journal=journal, rounds="5", rules="classic"))) == essence(whole)
    for before, after in pairwise(whole):
        assert before.result.winner is None or after.first == before.result.winner


def test_a_journal_of_another_configuration_is_refused_with_the_difference(journal: Path) -> None:
    played(configured(steady("a"), steady("b"), journal=journal))
    saved = journal.read_bytes()
    with pytest.raises(JournalError, match=r"of another tournament:\n  the journal has rounds = 2, now it is 4"):
        played(configured(steady("a"), steady("b"), journal=journal, rounds="4"))
    assert journal.read_bytes() == saved


def test_a_damaged_journal_is_refused_with_the_line(journal: Path) -> None:
    played(configured(steady("a"), steady("b"), journal=journal))
    lines = anonymous(journal).read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + b'{"type":"round","v":1,\n' + lines[2])
    with pytest.raises(
        JournalError, match=r"cup.jsonl:2: this is not a line of a journal: .*; mend or remove the line"
    ):
        played(configured(steady("a"), steady("b"), journal=journal))


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [(b'"deck":', b'"dock":'), (b'"moves":[', b'"mives":['), (b'"play ', b'"pl\xffy ')],
    ids=["no deck", "no moves", "no text"],
)
def test_cards_and_moves_have_to_be_there_to_resume(journal: Path, whole: bytes, damaged: bytes) -> None:
    config = configured(steady("a"), steady("b"), journal=journal)
    played(config)
    text = journal.read_bytes()
    assert whole in text
    journal.write_bytes(text.replace(whole, damaged, 1))
    with pytest.raises(JournalError, match=r"this is not a line of a journal: .*; mend or remove the line"):
        played(config)


@pytest.mark.parametrize("size", [{"rounds": "2", "cycles": "2000001"}, {"rounds": "1000001", "cycles": "1"}])
def test_a_tournament_that_could_not_be_resumed_does_not_begin(journal: Path, size: dict[str, str]) -> None:
    with pytest.raises(JournalError, match=r"cup\.jsonl: matches: .* a journal can hold at most 2,000,000 matches"):
        run_tournament(configured(steady("a"), steady("b"), journal=journal, **size), Quiet())
    assert journal.read_bytes() == b""


def test_only_one_arena_writes_to_a_journal(journal: Path) -> None:
    with Journal(journal), pytest.raises(JournalError, match="another arena is writing to this journal"):
        Journal(journal)
    Journal(journal).__exit__()


@pytest.mark.extended
def test_killed_at_random_moments_fifty_times_it_loses_nothing_and_plays_nothing_twice(tmp_path: Path) -> None:
    size = {"rounds": "20", "cycles": "10", "st": "600"}
    whole = played(configured(*map(steady, "abc"), journal=tmp_path / "whole.jsonl", **size))
    journal, over, rng = tmp_path / "killed.jsonl", tmp_path / "kills.over", random.Random(4)
    bots = [steady(name, f"rest=5:{over.with_suffix('')}") for name in "abc"]
    for _ in range(50):
        run_and_kill(command(journal, *bots, **size), journal, rng)
    assert 50 < len(rounds_in(journal)) < 600  # so all of them were killed at work
    over.touch()
    subprocess.run(command(journal, *bots, **size), check=True, capture_output=True)
    assert essence(rounds_in(journal)) == essence(whole)
    assert len(rounds_in(journal)) == len(whole) == 600
    assert verify_journals([journal]).problems == []


def test_a_full_disk_keeps_what_is_saved_and_can_be_gone_on_with(tmp_path: Path) -> None:
    bots, options = [steady("a"), steady("b")], {"rounds": "6", "st": "60", "start": "60"}
    whole = played(configured(*bots, journal=tmp_path / "whole.jsonl", **options))
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    journal = tmp_path / "full.jsonl"
    journal.write_bytes(b"".join(lines[: [line.startswith(ROUND) for line in lines].index(True) + 2]))
    most = journal.stat().st_size // 1024 + 2  # room for a line about the resume, but not for four rounds
    words = command(journal, *bots, **options)
    limited = f"ulimit -f {most}; exec {shlex.join(words)}"
    full = subprocess.run(["bash", "-c", limited], capture_output=True, text=True)
    assert full.returncode == 1
    assert "Stopped: " in full.stderr
    assert "full.jsonl: cannot write: File too large" in full.stderr
    assert "To resume:  arena run" in full.stderr
    assert "Traceback" not in full.stderr
    saved = rounds_in(journal)
    assert 2 <= len(saved) < 6
    assert saved[:2] == whole[:2]
    assert journal.read_bytes().endswith(b"\n")
    subprocess.run(words, check=True, capture_output=True)
    assert len(rounds_in(journal)) == 6
    assert rounds_in(journal)[: len(saved)] == saved


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_stops_at_once_and_says_how_to_go_on(journal: Path, number: signal.Signals) -> None:
    words = command(journal, steady("a"), f"slow={bad_command('ignore-sigterm')}", rounds="200", st="60")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "Started round 1 of 200 (a vs slow)" in process.stderr.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Stopped.\n0 of 200 rounds are saved in" in err
    assert "Keep " not in err  # the seed is public: there is no secret to keep
    assert f"To resume:  arena run '{steady('a')}" in err
    assert "Traceback" not in err
    no_bad_bot_left("ignore-sigterm")


async def test_a_cancelled_tournament_leaves_no_process_behind(journal: Path) -> None:
    with Journal(journal) as opened:
        config, ledger = resume(
            opened, configured(steady("a"), f"slow={bad_command('hang')}", journal=journal, st="60")
        )
        running_launcher()  # it stays, with one descriptor, until the run of trio is over
        before = len(os.listdir("/proc/self/fd"))
        tournament = Tournament(config, opened, ledger, Quiet())
        with trio.move_on_after(1):
            await tournament.run()
        assert len(os.listdir("/proc/self/fd")) == before
    no_bad_bot_left("hang")


def test_a_resume_does_not_change_the_hash_that_was_published(journal: Path) -> None:
    config = configured(steady("a"), steady("b"), journal=journal)
    published = []
    for _ in range(3):
        with Journal(journal) as writer:
            resume(writer, config)
            published.append(writer.opening_hash)
    opening, *_ = journal.read_bytes().splitlines(keepends=True)
    assert published == 3 * [line_hash(opening)]

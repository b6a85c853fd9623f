"""Tournaments with real processes: bots that fail in every way, resuming, stopping."""

import json
import os
import random
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import trio

from arena.bots.launch import running_launcher
from arena.cli.progress import PlainLines, Quiet
from arena.journal.lines import Journal, JournalError, JournalLine, RoundLine, VoidLine, read
from arena.journal.verify import verify_journals
from arena.match.referee import Referee
from arena.stats.standings import fold
from arena.tournament.drive import drive
from arena.tournament.events import RoundFinished, TournamentEvent
from arena.tournament.ledger import Ledger, planned_matches, resume
from arena.tournament.runner import Tournament
from engine.actions import parse
from engine.cards import SEATS
from engine.deal import Deal
from engine.game import Game
from protocol.fairness import deal_hash
from tests.helpers.paths import STEADY_BOT
from tests.helpers.processes import TOKEN, bad_command, is_running
from tests.helpers.tournaments import command, configured, essence, played, rounds_in, steady

NEWLINE = b"\n"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "cup.jsonl"


def test_a_tournament_plays_every_round_and_its_journal_is_verified(journal: Path) -> None:
    config = configured(steady("a"), steady("b"), steady("c"), journal=journal, rounds="4", rules="tactics")
    lines = played(config)
    assert {line.id for line in lines} == {each.id for match in planned_matches(config) for each in match.rounds}
    assert all(line.fault is None for line in lines)
    report = verify_journals([journal])
    assert (report.problems, report.rounds, report.tournaments) == ([], 12, 1)
    assert report.points == Counter(
        {name: sum(line.result.points[line.bots.index(name)] for line in lines if name in line.bots) for name in "abc"}
    )


def test_concurrency_changes_nothing_but_order_and_times(tmp_path: Path) -> None:
    bots = [steady("a"), steady("b"), steady("c"), steady("d")]
    journals = []
    for concurrency in ("1", "8"):
        journals.append(
            played(configured(*bots, journal=tmp_path / f"{concurrency}.jsonl", rounds="4", concurrency=concurrency))
        )
    assert essence(journals[0]) == essence(journals[1])
    assert len(journals[0]) == 24


@pytest.mark.parametrize(
    ("way", "ending", "detail"),
    [
        ("crash-at-start", "failed-to-start", "before it said hello; exit status 1; on stderr: no licence"),
        ("slow-start", "failed-to-start", "it did not say hello (the limit is 500 ms)"),
        ("old-protocol", "failed-to-start", "protocol 2 is not supported"),
        ("crash", "crashed", "it ended (exit status 3); on stderr: I am leaving"),
        ("exit-0", "crashed", "it ended (exit status 0); on stderr: I am leaving"),
        ("close-input", "crashed", "the bot closed its end, but it still runs"),
        ("hang", "timeout", "no answer after "),
        ("late", "timeout", "ms; allowed were 300 ms for an answer"),
        ("ignore-sigterm", "timeout", "no answer after "),
        ("fork", "timeout", "no answer after "),
        ("flood-lines", "timeout", "allowed were 300 ms for an answer"),
        ("half-line", "timeout", "12 bytes arrived, but no newline: "),
        ("old-id", "timeout", "no answer after "),
        ("flood-stdout", "malformed", "a line is longer than 65536 bytes"),
        ("garbage", "malformed", "the line is not UTF-8"),
        ("chatter", "malformed", "the line is not JSON"),
        ("twice", "malformed", "a second answer to request"),
        ("future-id", "malformed", "but the latest request was"),
        ("illegal", "illegal-move", "stone"),
        ("no-action", "illegal-move", "'resign' is not an action"),
        ("eat-memory", "out-of-memory", " MiB of memory in all its processes; the limit is 200.0 MiB (option memory)"),
        ("eat-memory-at-start", "failed-to-start", "the limit is 200.0 MiB (option memory), before it said hello"),
        ("eat-memory-later", "out-of-memory", "the limit is 200.0 MiB (option memory)"),
        ("eat-memory-in-child", "out-of-memory", "the limit is 200.0 MiB (option memory)"),
        ("torn-by-memory", "out-of-memory", "the limit is 200.0 MiB (option memory)"),
        ("fork-bomb", "out-of-processes", " or more processes at once; the limit is 40 (option processes)"),
        ("daemon", "timeout", "no answer after "),
    ],
)  # fmt: skip
def test_each_way_to_fail_has_its_ending_and_loses_the_round(journal: Path, way: str, ending: str, detail: str) -> None:
    before = len(os.listdir("/proc/self/fd"))
    start = "0.5" if way == "slow-start" else "10"  # on a busy machine others are slow to start, too
    slow = "memory" in way or way == "fork-bomb"  # ended by the arena, which takes a moment
    limits = {"st": "20" if slow else "0.3", "timemargin": "0", "start": start, "memory": "200M", "processes": "40"}
    # Nobody is excused: on a busy machine a stall may lie over the end of so short a time.
    config = configured(f"bad={bad_command(way)}", steady("good"), journal=journal, max_voids="0", **limits)
    lines = played(config)
    assert len(lines) == 2
    for line in lines:
        assert (line.result.ending, line.fault and line.fault.seat) == (ending, 0)
        assert line.fault is not None
        assert detail in line.fault.detail
        assert line.result.winner == 1
        assert line.result.points[1] == 5
        assert line.fault.bundle is not None
        _check_bundle(Path(line.fault.bundle), way, ending)
    report = verify_journals([journal])
    assert (report.problems, report.voids) == ([], 0)
    assert len(os.listdir("/proc/self/fd")) == before
    _nobody_left(way)


def _check_bundle(folder: Path, way: str, ending: str) -> None:
    facts = json.loads((folder / "bundle.json").read_text())
    assert facts["fault"]["ending"] == ending
    asked = Game.from_text((folder / "position.txt").read_text())  # the position in which the bot failed
    again = Game.new(asked.rules, Deal.from_seed(facts["seed"], asked.rules.tactics), SEATS[facts["first"]])
    for _, move, _ in facts["moves"]:
        again.apply(parse(move))
    assert asked == again
    assert facts["rerun"] == f"arena rerun {folder}"
    if ending != "failed-to-start" and way != "flood-lines":
        exchange = (folder / "0-bad.exchange.txt").read_text()
        assert '> {"type":"request"' in exchange
        assert (folder / "1-good.exchange.txt").exists()
    if way in ("crash", "exit-0"):
        assert (folder / "0-bad.stderr.txt").read_text() == "I am leaving\n"


def _nobody_left(way: str) -> None:
    """No process that runs a bad bot of this test run, nor a child of one, stays, whoever its parent is."""
    token = f"{TOKEN}-{way}".encode()
    limit = time.monotonic() + 5
    while left := [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _runs(pid, token)]:
        assert time.monotonic() < limit, left  # a killed orphan takes a moment to disappear
        time.sleep(0.01)


def _runs(pid: int, token: bytes) -> bool:
    return is_running(pid) and token in _command_line(pid)


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def test_a_bot_that_floods_stderr_plays_on_and_its_file_is_capped(journal: Path) -> None:
    lines = played(configured(f"loud={bad_command('flood-stderr')}", steady("good"), journal=journal))
    assert [line.fault for line in lines] == [None, None]
    assert (journal.with_suffix(".stderr") / "1-loud.txt").stat().st_size == 1 << 20


def test_a_bot_that_notes_without_end_does_not_fill_the_journal(journal: Path) -> None:
    for line in played(configured(f"noting={bad_command('long-notes')}", steady("b"), journal=journal)):
        assert line.fault is None
        assert line.notes
        assert sum(map(len, line.notes.values())) < 10_000 + 20 * len(line.notes)
    assert verify_journals([journal]).problems == []


def test_a_hanging_bot_does_not_slow_the_matches_of_others(journal: Path) -> None:
    bots = (f"bad={bad_command('hang')}", steady("a"), steady("b"), steady("c"))
    config = configured(*bots, journal=journal, st="8", concurrency="4", max_faults="1")
    told: list[tuple[float, RoundLine]] = []

    class Listening:
        def heard(self, event: TournamentEvent, /) -> None:
            if isinstance(event, RoundFinished):
                told.append((time.monotonic(), event.line))

    started = time.monotonic()
    drive(config, Listening())
    others = [when - started for when, line in told if "bad" not in line.bots]
    assert len(others) == 6
    assert max(others) < 8  # the bad bot was still being waited for


def test_after_faults_in_a_row_a_bot_is_withdrawn_and_the_tournament_goes_on(journal: Path) -> None:
    bots = (f"bad={bad_command('crash')}", steady("a"), steady("b"))
    config = configured(*bots, journal=journal, rounds="6", max_faults="3", concurrency="1")
    lines = played(config)
    assert len(lines) == 18
    bad = [line for line in lines if "bad" in line.bots]
    endings = Counter(line.result.ending for line in bad)
    assert endings == {"crashed": 3, "failed-to-start": 9}
    assert all(line.fault is not None for line in bad)
    assert bad[-1].fault is not None
    assert bad[-1].fault.detail == "withdrawn after 3 faults in a row"
    assert bad[-1].moves == ()
    standings, _ = fold([journal])
    assert standings.forfeits == {"bad": 9}
    assert sum(next(each for each in standings.totals() if each.name == "bad").faults.values()) == 3
    assert verify_journals([journal]).problems == []


def test_faults_must_be_in_a_row_to_withdraw_a_bot(journal: Path) -> None:
    """It crashes in every other round: its fifth request of a process comes in each, but a restart counts anew."""
    config = configured(
        f"now-and-then={bad_command('crash-in-odd-rounds')}", steady("a"), journal=journal, rounds="8", max_faults="2"
    )
    endings = [line.result.ending for line in sorted(played(config), key=lambda line: line.round)]
    assert endings[0::2] == ["crashed"] * 4
    assert "crashed" not in endings[1::2]
    assert "failed-to-start" not in endings


def test_a_bot_that_leaves_after_a_round_loses_the_next_one(journal: Path) -> None:
    bots = (f"moody={bad_command('leaves-after-a-round')}", steady("a"))
    config = configured(*bots, journal=journal, rounds="4", max_faults="0")
    lines = sorted(played(config), key=lambda line: line.round)
    assert [line.result.ending == "crashed" for line in lines] == [False, True, False, True]
    assert lines[1].fault is not None
    assert lines[1].fault.detail.endswith("(exit status 1); on stderr: enough")
    report = verify_journals([journal])
    assert (report.problems, report.voids) == ([], 0)


def test_the_processor_time_of_a_bot_can_be_limited(journal: Path) -> None:
    lines = played(configured(f"busy={bad_command('spin')}", steady("a"), journal=journal, cpu="1", st="20"))
    assert [line.result.ending for line in lines] == ["out-of-cpu"] * 2
    assert lines[0].fault is not None
    words = r"it used 1\.\d seconds of processor time in all its processes; the limit is 1 \(option cpu\)"
    assert re.fullmatch(words, lines[0].fault.detail)
    assert verify_journals([journal]).problems == []


def test_a_bot_that_uses_too_much_between_rounds_loses_the_next_one_for_that(journal: Path) -> None:
    bots = (f"greedy={bad_command('eat-memory-between')}", steady("a"))
    config = configured(*bots, journal=journal, rounds="4", max_faults="0", memory="200M", st="20")
    lines = sorted(played(config), key=lambda line: line.round)
    assert [line.result.ending == "out-of-memory" for line in lines] == [False, True, False, True]
    assert lines[1].fault is not None
    assert "MiB of memory" in lines[1].fault.detail
    report = verify_journals([journal])
    assert (report.problems, report.voids) == ([], 0)


def test_a_mirrored_deal_is_revealed_only_when_both_rounds_are_over(tmp_path: Path) -> None:
    """What a bot hears, from its own log: a bot that could read the deck early would know the second round."""
    log = tmp_path / "heard.jsonl"
    bot = f"{sys.executable} {STEADY_BOT} x log={log}"
    played(
        configured(
            f"listening={bot}", steady("b"), journal=tmp_path / "c.jsonl", rounds="6", concurrency="1", mirror="true"
        )
    )
    heard = [json.loads(line) for line in log.read_text().splitlines()]
    ends = [message for message in heard if message["type"] == "round_end"]
    hashes = {message["round"]: message["deal_hash"] for message in heard if message["type"] == "round_start"}
    assert [len(end["deals"]) for end in ends] == [0, 0, 0, 2, 2, 2]
    for end in ends:
        for deal in end["deals"]:
            assert deal_hash(deal["deck"], deal["tactics"], deal["salt"]) == hashes[deal["round"]]


def test_what_a_faulty_bot_hears_is_what_the_specification_says(tmp_path: Path) -> None:
    log = tmp_path / "heard.jsonl"
    bot = f"{sys.executable} {STEADY_BOT} x log={log} illegal"
    played(configured(f"bad={bot}", steady("b"), journal=tmp_path / "c.jsonl", concurrency="1"))
    heard = [json.loads(line) for line in log.read_text().splitlines()]
    kinds = [message["type"] for message in heard]
    asked = kinds.index("request")
    assert kinds[asked + 1 : asked + 4] == ["error", "round_end", "bye"]
    assert heard[asked + 1]["code"] == "illegal-move"
    assert heard[asked + 2]["result"] == "loss"
    assert kinds[asked + 4] == "hello"  # started anew for the next round


def test_running_out_of_descriptors_is_not_the_bots_fault(tmp_path: Path) -> None:
    bots = [steady(name) for name in "abcdef"]
    words = command(tmp_path / "few.jsonl", *bots, rounds="2", concurrency="6")
    limited = f"ulimit -n 30; exec {shlex.join(words)}"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    assert "the arena failed: Too many open files" in done.stderr
    assert all(line.fault is None for line in rounds_in(tmp_path / "few.jsonl"))


def test_a_file_that_is_no_journal_is_left_alone(journal: Path) -> None:
    for text in ('{"precious": "data"}', "my diary"):
        journal.write_text(text)
        with pytest.raises(JournalError, match="this is not a journal; nothing was changed"):
            played(configured(steady("a"), steady("b"), journal=journal))
        assert journal.read_text() == text


def test_a_place_for_stderr_that_cannot_be_written_is_a_warning(journal: Path) -> None:
    journal.with_suffix(".stderr").write_text("in the way")
    config = configured(f"loud={bad_command('flood-stderr')}", steady("a"), journal=journal)
    ran = drive(config, Quiet())
    assert (ran.finished, ran.failure) == (2, None)
    assert "stderr of loud is not kept" in ran.warnings[0]


def test_nobody_wins_where_neither_bot_starts(journal: Path) -> None:
    lines = played(configured("x=false", "y=sh -c 'exit 3'", journal=journal, max_faults="0"))
    assert [(line.result.winner, line.result.points) for line in lines] == [(None, (0, 0))] * 2
    said: list[str] = []
    PlainLines(said.append).heard(RoundFinished(lines[0]))
    assert said[0] == "Finished round 1 (x vs y): 0-0 {neither bot started}"
    assert re.fullmatch(r"  round 1\.1-2\.1: x: the bot .* before it said hello; exit status 1.*", said[1])
    assert re.fullmatch(r"  round 1\.1-2\.1: y: the bot .* before it said hello; exit status 3.*", said[2])
    assert verify_journals([journal]).problems == []


@pytest.mark.parametrize(("restart", "processes"), [("never", 1), ("match", 3), ("round", 12)])
def test_a_bot_is_started_once_a_worker_a_match_or_a_round(journal: Path, restart: str, processes: int) -> None:
    config = configured(
        steady("a", "note"), steady("b"), journal=journal, rounds="4", cycles="3", restart=restart, concurrency="1"
    )
    pids = {note for line in played(config) for note in line.notes.values()}
    assert len(pids) == processes


def test_a_round_is_told_of_only_when_it_is_on_the_disk(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        lines = f"{journal.read_bytes().count(NEWLINE)} lines on the disk"
        happened.append("the name of the file is on the disk" if is_folder else lines)

    class Listening:
        def heard(self, event: TournamentEvent, /) -> None:
            if isinstance(event, RoundFinished):
                happened.append(f"round {event.line.round} told")

    monkeypatch.setattr("arena.journal.file.os.fsync", fsync)
    config = configured(steady("a"), steady("b"), journal=journal, concurrency="1")
    drive(config, Listening())
    assert happened[0] == "the name of the file is on the disk"
    assert happened[1] == "1 lines on the disk"  # the configuration
    for number in (1, 2):
        told = happened.index(f"round {number} told")
        assert (
            f"{number + 1} lines on the disk" in happened[:told] or f"{number + 2} lines on the disk" in happened[:told]
        )


def test_a_journal_goes_on_exactly_where_it_stopped(tmp_path: Path) -> None:
    bots = [steady("a"), steady("b"), steady("c")]
    whole = played(configured(*bots, journal=tmp_path / "whole.jsonl", rounds="6"))
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    for cut in (1, 5, 12, 19):
        journal = tmp_path / f"cut{cut}.jsonl"
        journal.write_bytes(b"".join(lines[:cut]) + (lines[cut][: len(lines[cut]) // 2] if cut < 19 else b""))
        assert essence(played(configured(*bots, journal=journal, rounds="6"))) == essence(whole)
        assert verify_journals([journal]).problems == []
        assert len(rounds_in(journal)) == 18


def test_points_so_far_and_the_winner_who_begins_survive_a_stop(tmp_path: Path) -> None:
    bots = [steady("a"), steady("b")]
    whole = played(configured(*bots, journal=tmp_path / "whole.jsonl", rounds="5", rules="classic"))
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    journal = tmp_path / "cut.jsonl"
    journal.write_bytes(b"".join(lines[:4]))
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
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + b'{"type":"round","v":1,\n' + lines[2])
    with pytest.raises(JournalError, match=r"cup.jsonl:2: this is no line of a journal: .*; mend or remove the line"):
        played(configured(steady("a"), steady("b"), journal=journal))


def test_only_one_arena_writes_to_a_journal(journal: Path) -> None:
    with Journal(journal), pytest.raises(JournalError, match="another arena is writing to this journal"):
        Journal(journal)
    Journal(journal).__exit__()


def test_killed_at_random_moments_fifty_times_it_loses_nothing_and_plays_nothing_twice(tmp_path: Path) -> None:
    bots, size = [steady("a"), steady("b"), steady("c")], {"rounds": "20", "cycles": "10", "st": "5"}
    whole = played(configured(*bots, journal=tmp_path / "whole.jsonl", **size))
    journal, rng = tmp_path / "killed.jsonl", random.Random(4)
    for _ in range(50):
        _run_and_kill(command(journal, *bots, **size), journal, rng)
    assert 50 < len(rounds_in(journal)) < 600  # so all of them were killed at work
    subprocess.run(command(journal, *bots, **size), check=True, capture_output=True)
    assert essence(rounds_in(journal)) == essence(whole)
    assert len(rounds_in(journal)) == len(whole) == 600
    assert verify_journals([journal]).problems == []


def _run_and_kill(words: list[str], journal: Path, rng: random.Random) -> None:
    """Sometimes while it starts, sometimes in the middle of its writing, after up to ten rounds."""
    grows_to = _size(journal) + rng.randrange(10) * 1600  # bytes; a round has about that many
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(rng.random() * 0.3)
    while _size(journal) < grows_to and process.poll() is None:
        time.sleep(rng.random() * 0.01)
    process.kill()
    process.wait()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def test_a_full_disk_keeps_what_is_saved_and_can_be_gone_on_with(tmp_path: Path) -> None:
    bots = [steady("a"), steady("b")]
    journal = tmp_path / "full.jsonl"
    limited = f"ulimit -f 6; exec {shlex.join(command(journal, *bots, st='5'))}"
    full = subprocess.run(["bash", "-c", limited], capture_output=True, text=True)
    assert full.returncode == 1
    assert "Stopped: " in full.stderr
    assert "full.jsonl: cannot write: File too large" in full.stderr
    assert "To resume:  arena run" in full.stderr
    assert "Traceback" not in full.stderr
    saved = rounds_in(journal)
    assert 0 < len(saved) < 6
    assert journal.read_bytes().endswith(b"\n")
    subprocess.run(command(journal, *bots, st="5"), check=True, capture_output=True)
    assert len(rounds_in(journal)) == 6
    assert rounds_in(journal)[: len(saved)] == saved


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_stops_at_once_and_says_how_to_go_on(journal: Path, number: signal.Signals) -> None:
    words = command(journal, steady("a"), f"slow={bad_command('ignore-sigterm')}", rounds="200", st="60")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "Started round 1 of 200 (a vs slow)" in process.stderr.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "Stopped.\n0 of 200 rounds are saved in" in err
    assert "Keep " not in err  # the seed is public: there is no secret to keep
    assert f"To resume:  arena run '{steady('a')}" in err
    assert "Traceback" not in err
    _nobody_left("ignore-sigterm")


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
    _nobody_left("hang")


def test_our_own_failure_makes_a_round_void_and_it_is_played_again(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = Referee.request, iter(range(10**9))

    def request(self: Referee, *arguments: Any, **named: Any) -> Any:
        if next(calls) == 5:
            raise ZeroDivisionError("our own bug")
        return real(self, *arguments, **named)

    monkeypatch.setattr(Referee, "request", request)
    lines = played(configured(steady("a"), steady("b"), journal=journal, concurrency="1"))
    assert len(lines) == 2
    voids = [entry.line for entry in read(journal, JournalLine) if isinstance(entry.line, VoidLine)]
    assert [line.id for line in voids] == ["1.1-2.1"]
    assert "ZeroDivisionError: our own bug" in voids[0].reason
    assert verify_journals([journal]).voids == 1


def test_a_round_that_is_void_again_and_again_stops_the_tournament(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def request(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("our own bug")

    monkeypatch.setattr(Referee, "request", request)
    ran = drive(configured(steady("a"), steady("b"), journal=journal), Quiet())
    assert (ran.finished, ran.stopped) == (0, False)
    assert ran.failure is not None
    assert ran.failure.startswith("round 1.1-2.1 was void 10 times in a row: ")
    voids = [entry for entry in read(journal, JournalLine) if isinstance(entry.line, VoidLine)]
    assert len(voids) == 10  # everything that happened is written before the end


def test_the_ledger_forgets_finished_matches() -> None:
    ledger = Ledger(5)
    config = configured(steady("a"), steady("b"))
    match = planned_matches(config)[0]
    ledger.finished.update(each.id for each in match.rounds)
    ledger.close(match)
    assert ledger == Ledger(5)

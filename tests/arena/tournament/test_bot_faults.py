"""Tournaments with bots that fail in every way: endings, bundles, withdrawal, limits."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from arena.cli.progress import Quiet
from arena.cli.tournament_progress import lines_of_rounds
from arena.journal.endings import Fault
from arena.journal.verify import verify_journals
from arena.stats.standings import fold
from arena.tournament.run import run_tournament
from arena.tournament.tournament_events import RoundFinished, TournamentEvent
from arena.worker.fault_bundle import is_worth_a_bundle, opponents_folder
from engine.actions import parse
from engine.cards import SEATS
from engine.deal import Deal
from engine.game import Game
from tests.helpers.failing import against, every_way_to_fail
from tests.helpers.paths import STEADY_BOT
from tests.helpers.processes import bad_command, no_bad_bot_left
from tests.helpers.tournaments import command, configured, played, rounds_in, steady


@every_way_to_fail
def test_each_way_to_fail_has_its_ending_and_loses_the_round(journal: Path, way: str, ending: str, detail: str) -> None:
    before = len(os.listdir("/proc/self/fd"))
    # Nobody is excused: on a busy machine a stall may lie over the end of so short a time.
    lines = played(against(way, journal=journal, max_voids="0"))
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
    no_bad_bot_left(way)


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
        theirs = opponents_folder(folder) / "1-good.exchange.txt"
        assert '> {"type":"request"' in theirs.read_text()
    assert all("good" not in path.name for path in folder.iterdir())
    if way in ("crash", "exit-0"):
        assert (folder / "0-bad.stderr.txt").read_text() == "I am leaving\n"


def test_the_folder_for_the_author_has_nothing_that_only_the_opponent_knows(journal: Path) -> None:
    """Neither how it is started nor what it was told and said, nor its seeds."""
    bots = f"bad={bad_command('crash')}", steady("good", "--secret-of-good")
    line = played(configured(*bots, journal=journal, rounds="1"))[0]
    assert line.fault is not None
    assert line.fault.bundle is not None
    folder = Path(line.fault.bundle)
    both, own = (json.loads((each / "bundle.json").read_text()) for each in (opponents_folder(folder), folder))
    seeds = both["start"]["bot_seeds"][1], both["start"]["welcome_seeds"][1]
    assert None not in seeds
    texts = [path.read_text() for path in folder.iterdir()]
    for secret in ("--secret-of-good", *map(str, seeds)):
        assert not any(secret in text for text in texts), secret
    assert own["bots"][1] == {"name": "good"}
    for kept in ("bots", "exit_status"):
        assert own[kept][0] == both[kept][0]
    for kept in ("bot_seeds", "welcome_seeds"):
        assert own["start"][kept] == [both["start"][kept][0], None]


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
    config = configured(*bots, journal=journal, st="3600", concurrency="4", max_faults="1")
    others = 0

    class StopsWhenTheOthersHavePlayed:
        def heard(self, event: TournamentEvent, /) -> None:
            nonlocal others
            if isinstance(event, RoundFinished):
                assert "bad" not in event.line.bots  # it is being waited for
                others += 1
                if others == 6:
                    os.kill(os.getpid(), signal.SIGINT)

    run_tournament(config, StopsWhenTheOthersHavePlayed())
    assert others == 6
    no_bad_bot_left("hang")


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
    lines = played(configured(f"busy={bad_command('spin')}", steady("a"), journal=journal, cpu="1", st="300"))
    assert [line.result.ending for line in lines] == ["out-of-cpu"] * 2
    assert lines[0].fault is not None
    words = r"it used 1\.\d seconds of processor time in all its processes; the limit is 1 \(option cpu\)"
    assert re.fullmatch(words, lines[0].fault.detail)
    assert verify_journals([journal]).problems == []


def test_a_bot_that_uses_too_much_between_rounds_loses_the_next_one_for_that(journal: Path) -> None:
    bots = (f"greedy={bad_command('eat-memory-between')}", steady("a"))
    config = configured(*bots, journal=journal, rounds="4", max_faults="0", memory="200M", st="300")
    lines = sorted(played(config), key=lambda line: line.round)
    assert [line.result.ending == "out-of-memory" for line in lines] == [False, True, False, True]
    assert lines[1].fault is not None
    assert "MiB of memory" in lines[1].fault.detail
    report = verify_journals([journal])
    assert (report.problems, report.voids) == ([], 0)


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


def test_the_limit_of_descriptors_is_raised_as_far_as_it_may_be(tmp_path: Path) -> None:
    words = command(tmp_path / "few.jsonl", *(steady(name) for name in "abcdef"), rounds="2", concurrency="6")
    limited = f"ulimit -Sn 30; exec {shlex.join([*words, '--workers', '1'])}"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "void" not in done.stderr


def test_a_place_for_stderr_that_cannot_be_written_is_a_warning(journal: Path) -> None:
    journal.with_suffix(".stderr").write_text("in the way")
    config = configured(f"loud={bad_command('flood-stderr')}", steady("a"), journal=journal)
    ran = run_tournament(config, Quiet())
    assert (ran.finished, ran.failure) == (2, None)
    assert "stderr of loud is not kept" in ran.warnings[0]


def test_nobody_wins_where_neither_bot_starts(journal: Path) -> None:
    lines = played(configured("x=false", "y=sh -c 'exit 3'", journal=journal, max_faults="0"))
    assert [(line.result.winner, line.result.points) for line in lines] == [(None, (0, 0))] * 2
    said: list[str] = []
    lines_of_rounds(said.append).heard(RoundFinished(lines[0]))
    assert said[0] == "Finished round 1 (x vs y): 0-0 {neither bot started}"
    assert re.fullmatch(r"  round 1\.1-2\.1: x: the bot closed its end before it said hello; exit status 1.*", said[1])
    assert re.fullmatch(r"  round 1\.1-2\.1: y: the bot closed its end before it said hello; exit status 3.*", said[2])
    assert verify_journals([journal]).problems == []


def test_an_author_gets_the_position_from_the_view_of_the_bot_and_no_folder_of_the_organiser(journal: Path) -> None:
    config = configured(steady("greedy"), f"bad={bad_command('illegal')}", journal=journal)
    fault = played(config)[0].fault
    assert fault is not None
    assert fault.seat == 1
    folder = Path(str(fault.bundle))
    text = (folder / "position.txt").read_text()
    assert text.splitlines()[0].endswith("; you are bad, the opponent is greedy")
    assert Game.from_text(text).to_move == SEATS[0]
    assert "cwd" not in json.loads((folder / "bundle.json").read_text())
    assert json.loads((opponents_folder(folder) / "bundle.json").read_text())["cwd"] == os.getcwd()


def test_a_bot_that_fails_again_and_again_does_not_fill_the_disk(tmp_path: Path) -> None:
    """The first faults of each ending are kept, and all are counted."""
    faults = tmp_path / "cup.faults"
    kept = [is_worth_a_bundle(faults, "anna", Fault.TIMEOUT) for _ in range(50)]
    assert kept == [True] * 20 + [False] * 30
    assert is_worth_a_bundle(faults, "anna", Fault.MALFORMED)
    assert is_worth_a_bundle(faults, "ben", Fault.TIMEOUT)
    assert (faults / "timeout-anna.count").read_text() == "50\n"
    (faults / "timeout-anna.count").write_text("damaged")
    assert is_worth_a_bundle(faults, "anna", Fault.TIMEOUT)

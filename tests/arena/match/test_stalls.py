"""Deadlines while the arena, or the whole machine, stands still: nobody is blamed for it, and nobody can use it."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from arena.bots.wants import Both, Logic
from arena.bots.watchdog import Watchdog
from arena.cli.progress import Quiet
from arena.journal.endings import Fault
from arena.journal.lines import JournalLine, RoundLine, VoidLine, read
from arena.journal.verify import verify_journals
from arena.match.match import PlayedRound
from arena.plan.config import Config
from arena.stats.standings import fold
from arena.stats.tables import render
from arena.support.timekeeping import Stall, Stalls
from arena.tournament.ledger import planned_matches
from arena.tournament.run import run_tournament
from engine.cards import SEATS
from tests.helpers.drivers import KEY, Driver, RunLogic, both_drivers, first_round, match_of, players_of
from tests.helpers.jobs import play_in_this_process
from tests.helpers.processes import bad_command, send_to_all, workers_of
from tests.helpers.tournaments import command, configured, limited, rounds_in, steady

SILENT = limited(f"late={bad_command('hang')}", st="0.8", timemargin="0")


async def test_a_stall_counts_before_its_overdue_beat(autojump_clock: trio.testing.MockClock) -> None:
    watch = Watchdog()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        await trio.sleep(0.02)
        before = trio.current_time()
        autojump_clock.jump(0.1)  # the whole arena stands still
        inside = before + 0.05
        overdue = watch.stall_at(inside)  # asked before the watch has run again
        assert overdue is not None
        assert overdue.since <= before < inside < overdue.until
        await trio.sleep(0.02)
        assert watch.stall_at(inside) is not None
        assert watch.stall_at(before - 0.015) is None
        assert watch.stall_at(trio.current_time()) is None
        nursery.cancel_scope.cancel()


class Stalled(Stalls):
    """Of a machine that stood still at every deadline, for the `seconds` before it. Makes a file when it is asked,
    which is after the deadline."""

    def __init__(self, seconds: float, asked: Path | None = None):
        super().__init__(lambda: 0)
        self._seconds = seconds
        self._asked = asked

    def stall_at(self, moment: float) -> Stall | None:
        if self._asked:
            self._asked.touch()
        return Stall(moment - self._seconds, moment + 0.001)


def late(until: Path) -> str:
    """A bot that answers as soon as there is this file."""
    return limited(f"late={bad_command('late')} {until}", st="0.8", timemargin="0")


def play_one_round(
    run: RunLogic[PlayedRound],
    config: Config,
    stalls: Stalls | None = None,
    may_excuse: bool = True,
    meanwhile: Callable[[], None] | None = None,
) -> PlayedRound:
    def play(driver: Driver) -> Logic[PlayedRound]:
        players = players_of(config, driver)
        match = match_of(config, players, stalls or driver.stalls, may_excuse=may_excuse)
        if meanwhile is None:
            return (yield from first_round(match, config))
        for player in players:
            yield from player.arrive()
        played, _ = yield Both(first_round(match, config), call_after(driver, 0.02, meanwhile))
        assert isinstance(played, PlayedRound)
        return played

    return run(play)


def call_after(driver: Driver, seconds: float, call: Callable[[], None]) -> Logic[None]:
    yield from driver.pause(seconds)
    call()


@both_drivers
def test_a_bot_that_stood_still_as_well_has_the_time_that_it_had_left(
    run: RunLogic[PlayedRound], tmp_path: Path
) -> None:
    deadline = tmp_path / "deadline"
    played = play_one_round(run, configured(late(deadline), steady("good")), Stalled(60, deadline))
    assert played.void is not None
    assert played.void.excused == SEATS[0]
    assert "when the time of late ran out" in played.void.reason
    assert played.referee.outcome is None


@both_drivers
@pytest.mark.parametrize(("stalled_before", "may_excuse"), [(0.05, True), (60.0, False)])
def test_a_bot_that_does_not_answer_in_that_time_or_was_excused_too_often_is_late(
    run: RunLogic[PlayedRound], stalled_before: float, may_excuse: bool
) -> None:
    played = play_one_round(run, configured(SILENT, steady("good")), Stalled(stalled_before), may_excuse)
    assert_late(played)


@both_drivers
def test_delay_elsewhere_than_at_the_deadline_excuses_nothing(run: RunLogic[PlayedRound]) -> None:
    """The arena stands still while the bot thinks, long before its time is up; the bot is late all the same."""
    assert_late(play_one_round(run, configured(SILENT, steady("good")), meanwhile=lambda: time.sleep(0.3)))


def assert_late(played: PlayedRound) -> None:
    assert played.void is None
    assert played.referee.fault is not None
    assert played.referee.fault.ending is Fault.TIMEOUT


@both_drivers
def test_an_answer_that_is_there_after_a_stall_at_the_deadline_counts(run: RunLogic[PlayedRound]) -> None:
    """The round goes on: a bot gains nothing by being late on purpose while the machine is busy."""
    config = configured(steady("a"), steady("b"), st="3", timemargin="0")
    played = play_one_round(run, config, meanwhile=lambda: time.sleep(3.3))
    assert (played.void, played.referee.fault) == (None, None)
    assert played.referee.outcome is not None
    times = [ms for _, _, ms in played.referee.moves if ms is not None]
    assert max(times) <= 3000


@both_drivers
@pytest.mark.parametrize("stalled", [True, False])
def test_a_slow_start_is_excused_only_by_a_stall_when_its_time_was_up(
    run: RunLogic[PlayedRound], stalled: bool
) -> None:
    config = configured(limited(f"slow={bad_command('slow-start')}", start="0.5"), steady("good"))
    played = play_one_round(run, config, Stalled(0.2 if stalled else 0.02))
    if stalled:
        assert played.void is not None
        assert (played.void.excused, played.referee.fault) == (SEATS[0], None)
    else:
        assert played.void is None
        assert played.referee.fault is not None
        assert played.referee.fault.ending is Fault.FAILED_TO_START


def test_a_void_round_has_a_new_deal_and_voids_are_counted_and_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadline, journal, log = tmp_path / "deadline", tmp_path / "cup.jsonl", tmp_path / "heard.jsonl"

    class StalledWatchdog(Watchdog):
        def stall_at(self, moment: float) -> Stall | None:
            return Stalled(60, deadline).stall_at(moment)

    play_in_this_process(monkeypatch, StalledWatchdog)
    config = configured(
        late(deadline), steady("good", f"log={log}"), journal=journal, max_voids="2", rounds="1", start="none"
    )
    run_tournament(config, Quiet())
    lines = [entry.line for entry in read(journal, JournalLine)]
    voids = [line for line in lines if isinstance(line, VoidLine)]
    assert [(line.id, line.excused) for line in voids] == [("1.1-2.1", 0)] * 2
    (line,) = [line for line in lines if isinstance(line, RoundLine)]
    assert line.result.ending == "timeout"  # after that, lateness is lateness
    planned = planned_matches(config)[0].rounds[0]
    assert line.seed == KEY.seed(planned.id, 2, 0)
    assert len({KEY.seed(planned.id, voids, 0) for voids in range(3)}) == 3
    (end,) = [message for text in log.read_text().splitlines() if (message := json.loads(text))["type"] == "round_end"]
    assert [deal.get("attempt", 1) for deal in end["deals"]] == [1, 2, 3]  # those of void attempts are revealed, too
    assert verify_journals([journal]).problems == []
    standings, _ = fold([journal])
    table = render(standings, standings.rate())
    assert "Rounds void because a bot was late while the host was stalled: late (2)." in table
    assert "Voids" in table.splitlines()[0]
    without_voids = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(each for each in without_voids if b'"type":"void"' not in each))
    (problem,) = verify_journals([journal]).problems  # nobody can choose among deals by playing again
    assert "its deal is not the one that follows from the tournament's seed" in problem.text


def test_a_stopped_arena_charges_nobody(tmp_path: Path) -> None:
    """A real stop, of all that the arena does, while six matches are under way and every answer has 3 seconds."""
    journal = tmp_path / "cup.jsonl"
    bots = [steady(name) for name in "abcd"]
    words = command(journal, *bots, rounds="20", concurrency="6", st="3", timemargin="0", cycles="30")
    arena = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert arena.stderr is not None
    try:
        for _ in range(30):  # rounds are being played from now on
            arena.stderr.readline()
        for _ in range(3):
            stopped = [arena.pid, *workers_of(arena.pid)]
            send_to_all(stopped, signal.SIGSTOP)
            time.sleep(3.3)
            send_to_all(stopped, signal.SIGCONT)
            for _ in range(20):
                arena.stderr.readline()
        arena.send_signal(signal.SIGINT)
        arena.stderr.read()
        arena.wait(120)
    finally:
        arena.kill()
        arena.wait()
        arena.stderr.close()
    lines = rounds_in(journal)
    assert len(lines) > 30
    assert [line.fault for line in lines if line.fault] == []

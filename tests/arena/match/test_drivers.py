"""The same matches by both drivers: real processes, good and bad."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import attrs
import pytest

from arena.bots.conversation import LinkClosedError
from arena.bots.player import LocalPlayer
from arena.bots.polled_driver import polled
from arena.bots.polled_process import PolledProcesses
from arena.bots.wants import Both, Logic, Run
from arena.match.match import PlayedRound
from arena.plan.bot_spec import BotSpec
from arena.plan.config import Config
from arena.plan.schedule import MatchId
from arena.processes.launch import KeeperError
from arena.worker.recording import round_line
from engine.cards import SEATS
from engine.scoring import Score
from tests.helpers.drivers import (
    KEY,
    Driver,
    PolledDriver,
    RunLogic,
    both_drivers,
    first_round,
    match_of,
    players_of,
    run_by_polling,
    run_by_trio,
    whole_match,
)
from tests.helpers.failing import against, every_way_to_fail
from tests.helpers.paths import ROOT
from tests.helpers.processes import bad_command, is_running, no_bad_bot_left
from tests.helpers.tournaments import configured, steady


def whole(config: Config) -> Callable[[Driver], Logic[list[PlayedRound]]]:
    return lambda driver: whole_match(match_of(config, players_of(config, driver), driver.stalls), config)


def moves(rounds: list[PlayedRound]) -> list[list[tuple[int, str]]]:
    return [[(seat, text) for seat, text, _ in played.referee.moves] for played in rounds]


def test_both_drivers_play_the_same_match() -> None:
    config = configured(steady("a"), steady("b"), rounds="6")
    by_trio, by_polling = run_by_trio(whole(config)), run_by_polling(whole(config))
    assert [played.referee.fault for played in by_polling] == [None] * 6
    assert moves(by_polling) == moves(by_trio)


@both_drivers
def test_a_logic_that_is_run_ends_with_its_result_or_with_what_it_raises(run: RunLogic[list[str]]) -> None:
    ended = []

    def inner(driver: Driver, word: str, failure: Exception | None) -> Logic[str]:
        try:
            yield from driver.pause(0.001)
            if failure is not None:
                raise failure
            return word
        finally:
            ended.append(word)

    def outer(driver: Driver) -> Logic[list[str]]:
        heard = [(yield Run(inner(driver, "one", None)))]
        try:
            yield Run(inner(driver, "two", LinkClosedError("over")))
        except LinkClosedError as closed:
            heard.append(str(closed))
        heard.append((yield Run(inner(driver, "three", None))))
        return heard

    assert run(outer) == ["one", "over", "three"]
    assert ended == ["one", "two", "three"]


@both_drivers
@every_way_to_fail
def test_each_way_to_fail_has_its_ending_by_both_drivers(
    run: RunLogic[PlayedRound], way: str, ending: str, detail: str
) -> None:
    before = len(os.listdir("/proc/self/fd"))
    config = against(way)

    def play(driver: Driver) -> Logic[PlayedRound]:
        return first_round(match_of(config, players_of(config, driver), driver.stalls), config)

    played = run(play)
    fault = played.referee.fault
    assert played.void is None
    assert fault is not None
    assert (fault.seat, fault.ending.value) == (0, ending)
    assert detail in fault.detail
    assert len(os.listdir("/proc/self/fd")) == before
    no_bad_bot_left(way)


@both_drivers
@pytest.mark.parametrize(
    ("way", "options", "endings"),
    [
        ("leaves-after-a-round", {}, ("", "crashed", "", "crashed")),
        ("eat-memory-between", {"memory": "200M", "st": "300"}, ("", "out-of-memory", "", "out-of-memory")),
        ("crash-in-odd-rounds", {}, ("crashed", "", "crashed", "")),
    ],
)
def test_a_bot_that_left_starts_again_for_its_next_round(
    run: RunLogic[list[PlayedRound]], way: str, options: dict[str, str], endings: tuple[str, ...]
) -> None:
    bots = f"moody={bad_command(way)}", steady("a")
    rounds = run(whole(configured(*bots, journal=None, rounds="4", **options)))
    faults = [played.referee.fault for played in rounds]
    assert tuple(fault.ending.value if fault else "" for fault in faults) == endings


@both_drivers
@pytest.mark.parametrize(
    ("way", "options", "ending"),
    [
        ("leaves-after-a-round", {}, "crashed"),
        ("eat-memory-between", {"memory": "200M", "st": "300"}, "out-of-memory"),
    ],
)
def test_a_fault_between_two_rounds_is_told_from_one_at_a_decision(
    run: RunLogic[PlayedRound], way: str, options: dict[str, str], ending: str
) -> None:
    config = configured(f"moody={bad_command(way)}", steady("a"), journal=None, rounds="2", **options)

    def play(driver: Driver) -> Logic[PlayedRound]:
        players = players_of(config, driver)
        match = match_of(config, players, driver.stalls)
        yield from first_round(match, config)
        while players[0].exit_status is None:
            yield from driver.pause(0.01)
        second = match.planned.rounds[1]
        score = Score(config.rules, second.first or SEATS[0])
        return (yield from match.play_round(second, score, KEY.deal(second, config.rules), "now"))

    line = round_line(run(play), MatchId("1.1-2"), ("moody", "a"), config.rules, (None, None))
    assert line.fault is not None
    assert (line.result.ending, line.moves, line.fault.between_rounds) == (ending, (), True)


@both_drivers
def test_a_program_that_does_not_exist_fails_to_start(run: RunLogic[list[PlayedRound]]) -> None:
    config = configured(steady("a"), steady("b"), rounds="1")
    (played,) = run(whole(attrs.evolve(config, bots=(BotSpec("x", ("./no-such-bot",)), config.bots[1]))))
    assert played.referee.fault is not None
    assert played.referee.fault.detail == "cannot start './no-such-bot': No such file or directory"


@both_drivers
def test_the_last_words_of_a_bot_are_kept_however_much_it_writes(run: RunLogic[str | None]) -> None:
    config = configured(f"loud={bad_command('flood-stderr')}", steady("good"))

    def tail(driver: Driver) -> Logic[str | None]:
        players = players_of(config, driver)
        yield from first_round(match_of(config, players, driver.stalls), config)
        return players[0].stderr_tail

    wrote = run(tail)
    assert wrote is not None
    assert len(wrote) == 8 * 1024


def test_many_matches_share_one_loop() -> None:
    config = configured(steady("a"), steady("b"), rounds="1")
    with PolledProcesses() as processes:
        loop, driver = processes.loop, PolledDriver(processes)
        alone = loop.run(polled(whole(config)(driver), loop))
        together = loop.run(loop.all_of(*(polled(whole(config)(driver), loop) for _ in range(8))))
    assert [moves(rounds) for rounds in together] == [moves(alone)] * 8
    assert all(played.referee.fault is None for rounds in together for played in rounds)


def test_a_hanging_bot_does_not_stop_the_other_matches_of_its_loop() -> None:
    hanging, playing = against("hang", rounds="1"), configured(steady("a"), steady("b"), rounds="1")
    with PolledProcesses() as processes:
        loop, driver = processes.loop, PolledDriver(processes)
        bad, good = loop.run(loop.all_of(polled(whole(hanging)(driver), loop), polled(whole(playing)(driver), loop)))
    assert bad[0].referee.fault.ending.value == "timeout"
    assert good[0].referee.fault is None


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_block_that_is_left_by_an_exception_ends_all_processes(error: type[BaseException]) -> None:
    """Also one that ignores SIGTERM, while its match waits for it."""
    before = len(os.listdir("/proc/self/fd"))
    config = configured(f"bad={bad_command('ignore-sigterm')}", steady("good"), st="60")
    started: list[LocalPlayer] = []

    def play(driver: Driver) -> Logic[PlayedRound]:
        players = players_of(config, driver)
        for player in players:
            yield from player.arrive()
        started.extend(players)
        return (yield from first_round(match_of(config, players, driver.stalls), config))

    def interrupt(driver: Driver) -> Logic[None]:
        while not started:
            yield from driver.pause(0.01)
        raise error

    with pytest.raises(error):
        run_by_polling(lambda driver: both(play(driver), interrupt(driver)))
    assert not any(player.process and is_running(player.process.state.pid) for player in started)
    assert len(os.listdir("/proc/self/fd")) == before
    no_bad_bot_left("ignore-sigterm")


def both(one: Logic[PlayedRound], two: Logic[None]) -> Logic[None]:
    yield Both(two, one)


PLAYING = """
import sys
from tests.helpers.drivers import *
from tests.helpers.tournaments import configured
config = configured(*sys.argv[1:], rounds="100", st="3", timemargin="0")
def play(driver):
    players = players_of(config, driver)
    for player in players:
        yield from player.arrive()
    print("arrived", flush=True)
    match = match_of(config, players, driver.stalls)
    yield from whole_match(match, config, lambda played: print(played.referee.fault, flush=True))
run_by_polling(play)
"""


def start_playing(*bots: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PLAYING, *bots]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline() == "arrived\n"
    return process


def test_a_process_that_was_stopped_charges_nobody() -> None:
    """A real stop of all that the loop does, again and again, longer than the time for an answer."""
    process = start_playing(steady("a"), steady("b"))
    assert process.stdout is not None
    for _ in range(3):
        assert [process.stdout.readline() for _ in range(20)] == ["None\n"] * 20
        process.send_signal(signal.SIGSTOP)
        time.sleep(3.3)
        process.send_signal(signal.SIGCONT)
    said, wrote = process.communicate(timeout=60)
    assert (said, wrote) == ("None\n" * 40, "")


def test_an_interrupt_leaves_no_process_behind() -> None:
    process = start_playing(steady("a"), f"bad={bad_command('ignore-sigterm')}")
    process.send_signal(signal.SIGINT)
    _, wrote = process.communicate(timeout=60)
    assert wrote.endswith("KeyboardInterrupt\n")
    no_bad_bot_left("ignore-sigterm")


@both_drivers
def test_a_bot_leaves_although_its_keeper_failed(run: RunLogic[int]) -> None:
    def leaving(driver: Driver) -> Logic[int]:
        player = players_of(configured(steady("a"), steady("b")), driver)[0]
        yield from player.arrive()
        assert player.process is not None
        state = player.process.state
        state.kept.failure = "a traceback"
        with pytest.raises(KeeperError):
            assert player.exit_status
        yield from player.leave()
        assert player.process is None
        return state.pid

    assert not is_running(run(leaving))

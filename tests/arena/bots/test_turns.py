"""Bots that are stopped while it is not their turn: real processes, by both drivers."""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from arena.bots.player import LocalPlayer
from arena.bots.turns import Turns
from arena.bots.wants import Logic
from arena.plan.bot_spec import BotSpec
from arena.processes.stderr import StderrKeeper
from arena.worker.idle_bots import IdleBots
from tests.helpers.drivers import Driver, RunLogic, both_drivers, match_of, players_of, run_by_polling, whole_match
from tests.helpers.paths import CROWDING_BOT, WATCHING_BOT
from tests.helpers.processes import TOKEN, left_with
from tests.helpers.sandboxes import boxed, needs_sandbox, reachable_folder, script
from tests.helpers.tournaments import configured, steady


def plays_beside(run: RunLogic[None], crowding: BotSpec, word: str) -> None:
    """The opponent neither starts nor answers before all processes with this word are stopped."""
    config = configured(f"a={sys.executable} {WATCHING_BOT} {word}", steady("b"))

    def match(driver: Driver) -> Logic[None]:
        players = players_of(config, driver)[0], LocalPlayer(crowding, driver.processes, lambda _: None)
        rounds = yield from whole_match(match_of(config, players, driver.stalls), config)
        assert [played.referee.fault for played in rounds] == [None] * 2
        for player in players:
            yield from player.leave()
            assert player.process is None

    run(match)
    assert left_with(word) == []


@both_drivers
def test_a_bot_is_stopped_while_its_opponent_starts_or_thinks(run: RunLogic[None]) -> None:
    word = f"{TOKEN}-{run.__name__}"
    plays_beside(run, BotSpec("b", (sys.executable, str(CROWDING_BOT), "3", word)), word)


@needs_sandbox
@both_drivers
def test_so_is_a_bot_in_a_sandbox(run: RunLogic[None]) -> None:
    word = f"{TOKEN}-boxed-{run.__name__}"
    with reachable_folder() as folder:
        command = script(folder / "b", CROWDING_BOT.read_text())
        plays_beside(run, boxed(*command, "3", word), word)


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def is_stopped_soon(pid: int) -> bool:
    limit = time.monotonic() + 60  # only a failure waits that long
    while state_of(pid) != "T" and time.monotonic() < limit:
        time.sleep(0.001)
    return state_of(pid) == "T"


@both_drivers
def test_a_bot_between_two_matches_is_stopped_and_still_leaves_by_itself(run: RunLogic[None]) -> None:
    config = configured(steady("a"), steady("b"))

    def match(driver: Driver) -> Logic[None]:
        idle, stderr = IdleBots(driver.processes, 1), StderrKeeper(None, pytest.fail)
        one, two = (idle.take(number, bot, stderr) for number, bot in enumerate(config.programs))
        players = one, two
        yield from whole_match(match_of(config, players, driver.stalls), config)
        states = []
        for player in players:
            yield from player.match_over()
            assert player.process is not None
            states.append(player.process.state)
            assert is_stopped_soon(states[-1].pid)
        for leave in idle.clear():
            yield from leave
        assert [state.exit_status for state in states] == [0, 0]

    run(match)


@both_drivers
def test_a_stopped_bot_that_is_killed_is_found_like_any_other(run: RunLogic[None]) -> None:
    config = configured(steady("a"), steady("b"))

    def match(driver: Driver) -> Logic[None]:
        player = players_of(config, driver)[0]
        yield from player.arrive()
        assert player.process is not None
        player.stop()
        os.kill(player.process.state.pid, signal.SIGKILL)
        while player.exit_status is None:
            yield from driver.pause(0.001)
        assert player.exit_status == -signal.SIGKILL
        player.stop()
        player.go_on()
        yield from player.leave()

    run(match)


def test_nothing_is_left_of_a_stopped_bot_if_the_driver_fails() -> None:
    word = f"{TOKEN}-fails"

    def failing(driver: Driver) -> Logic[None]:
        spec = BotSpec("b", (sys.executable, str(CROWDING_BOT), "3", word))
        player = LocalPlayer(spec, driver.processes, lambda _: None)
        yield from player.arrive()
        player.stop()
        assert player.process is not None
        assert is_stopped_soon(player.process.state.pid)
        raise ZeroDivisionError

    with contextlib.suppress(ZeroDivisionError):
        run_by_polling(failing)
    assert left_with(word) == []


def test_a_bot_is_stopped_early_after_an_answer_that_did_not_come_at_once() -> None:
    turns = Turns()
    assert turns.stops_early
    turns.opponent_took(0.9)
    assert not turns.stops_early
    turns.opponent_took(1.1)
    assert turns.stops_early


def test_a_bot_that_was_busy_is_stopped_early_for_long() -> None:
    turns = Turns()
    turns.was_stopped_late(busy=True)
    for _ in range(1024):
        assert turns.stops_early
        turns.opponent_took(0.1)
    assert not turns.stops_early
    turns.was_stopped_late(busy=False)
    turns.opponent_took(5.0)
    turns.opponent_took(0.1)
    assert not turns.stops_early

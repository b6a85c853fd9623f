"""When a tournament begins, and who takes part in the next one."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio

from arena.cli.server_wording import server_text
from arena.journal.lines import Journal
from arena.plan.bot_spec import RemoteSpec
from arena.plan.time_control import TimeLimits
from arena.server.cycles import Cycles
from arena.server.gathering import Gathering, may_begin
from arena.server.lobby import Lobby
from arena.server.server_events import LobbyWaits
from arena.server.wall_clock import local_time
from tests.helpers.visitors import Heard, arrived, configured, play, remote_bots, serving

MOMENT = datetime(2026, 1, 31, 20, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("begin", "forever", "players", "nobody_came", "missing", "is_time", "expected"),
    [
        ("all", False, 2, False, 0, False, True),
        ("all", False, 2, False, 1, False, False),
        ("all", False, 2, False, 1, True, True),  # Enter was pressed: the others may come later
        ("all", False, 1, False, 0, True, False),  # one bot cannot play alone
        ("key", False, 2, False, 0, False, False),
        ("key", False, 2, False, 0, True, True),
        (MOMENT, False, 2, False, 0, False, False),
        (MOMENT, False, 2, True, 2, True, True),
        ("all", True, 2, False, 5, False, True),  # a cycle is played by the bots that are there
        ("all", True, 2, True, 0, False, False),  # local bots do not play for ever while others may come
        ("all", True, 2, True, 0, True, False),
        ("key", True, 2, False, 0, True, True),
    ],
)
def test_when_a_tournament_may_begin(
    begin: str | datetime, forever: bool, players: int, nobody_came: bool, missing: int, is_time: bool, expected: bool
) -> None:
    found = may_begin(begin, forever, players=players, nobody_came=nobody_came, missing=missing, is_time=is_time)
    assert found is expected


@pytest.mark.parametrize(
    ("begin", "forever", "has_key", "words"),
    [
        ("all", False, False, "when all are here"),
        ("all", True, False, "as soon as a connected bot has somebody to play"),
        ("key", False, True, "when Enter is pressed"),
        (MOMENT, False, True, "at 2026-01-31 20:30:00 or when Enter is pressed"),
    ],
)
def test_the_lobby_says_when_it_begins(begin: str | datetime, forever: bool, has_key: bool, words: str) -> None:
    event = LobbyWaits(["anna"], ["ben"], begin, forever, has_key)
    assert server_text(event) == f"In the lobby: anna. Missing: ben. It begins {words}."
    assert event.facts() == {"here": ["anna"], "missing": ["ben"]}


async def test_a_tournament_does_not_begin_with_a_bot_that_left_just_then() -> None:
    """While the tasks that waited end, others run: a stranger who left in that moment once ended the server."""
    anna, ben = (RemoteSpec(name, None, TimeLimits()) for name in ("anna", "ben"))
    players = [anna, ben]

    async def begin_and_leave(begin: Callable[[], None]) -> None:
        begin()
        try:
            await trio.sleep_forever()
        finally:
            players[:] = [anna]

    def ignored(*_: object) -> None: ...

    lobby = Lobby(60, ignored, ignored)
    gathering = Gathering("key", True, lobby, Heard(), begin_and_leave, local_time, expects_others=False)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(gathering.wait, (), lambda: players)
        await trio.testing.wait_all_tasks_blocked()
        assert players == [anna]
        assert nursery.child_tasks  # it waits for somebody else
        nursery.cancel_scope.cancel()


async def test_whoever_starts_the_server_decides_how_it_is_told_to_begin(tmp_path: Path) -> None:
    """The server knows nothing of keys: it gets a task that calls back."""
    pressed = trio.Event()

    async def button(begin: Callable[[], None]) -> None:
        await pressed.wait()
        begin()

    async with serving(tmp_path, remote_bots("anna", "ben"), local_time, button, begin="key") as served:
        bots = [await arrived(served.address, name) for name in ("anna", "ben")]
        await served.heard.wait("came", "ben")
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert not served.heard.texts("begins")
        pressed.set()
        async with trio.open_nursery() as nursery:
            for bot in bots:
                nursery.start_soon(play, bot)
            await served.over.wait()
    assert len(served.verified()) == 2


@pytest.mark.parametrize(
    ("forever", "expected"),
    [("false", ["random", "anna", "ben", "zoe"]), ("true", ["random", "ben", "zoe"])],
)
def test_who_takes_part_in_the_next_tournament(tmp_path: Path, forever: str, expected: list[str]) -> None:
    text = '[[bot]]\ncmd = "random"\n' + remote_bots("anna", "ben")
    config, server = configured(tmp_path, text, open="true", begin="key", forever=forever)
    assert config.journal is not None
    with Journal(config.journal) as journal:
        cycles = Cycles(config, server, journal)
        here = {"ben", "zoe"}
        players = cycles.players(here.__contains__, ["zoe", "yan"])  # yan has left again
        assert [bot.name for bot in players] == expected
        assert not cycles.is_over
        _, ledger = cycles.begin(players)
        cycles.count(ledger.state, 3)
        assert cycles.finished == 3
        assert cycles.total == len(players) * (len(players) - 1)  # pairs, of two rounds each

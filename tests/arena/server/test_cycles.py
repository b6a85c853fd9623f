"""Open servers, and servers that play for ever."""

from datetime import timedelta
from pathlib import Path

import pytest
import trio
from msgspec import UNSET

from arena.journal.deal_secret import secret_path
from arena.journal.file import line_hash
from arena.journal.lines import BotLine, JournalLine, RevealLine, RoundLine, TournamentLine, VoidLine, read
from arena.plan.deals import DealKey
from arena.server.server_events import ServerEvent
from arena.stats.roster import RatedBy
from arena.stats.standings import fold
from arena.tournament.tournament_events import RoundFinished, TournamentEvent
from protocol.messages import PROTOCOL, BotAction, BotHello, Error, MatchStart, Request, RoundEnd
from tests.helpers.visitors import (
    Visitor,
    connected,
    play,
    remote_bots,
    serving,
    trio_time,
)

TWO = remote_bots("anna", "ben")


async def come_openly(address: str, name: str, token: str | None = None) -> None:
    visitor = await connected(address)
    await visitor.greet(name, token)
    await play(visitor)


async def come_openly_and_fall_silent(address: str, name: str, token: str, rounds: int) -> None:
    """Plays as many rounds, and answers no question after that."""
    visitor = await connected(address)
    await visitor.greet(name, token)
    while (message := await visitor.hear()) is not None:
        if rounds and isinstance(message, Request):
            await visitor.say(BotAction(message.id, message.legal[0]))
        rounds -= isinstance(message, RoundEnd)


async def test_an_open_server_plays_with_whoever_is_there_when_it_begins(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    soon = (trio_time() + timedelta(seconds=100)).isoformat()
    text = '[[bot]]\ncmd = "random"\n'
    options = {"open": "true", "begin": soon}
    async with serving(tmp_path, text, trio_time, **options) as served, trio.open_nursery() as bots:
        bots.start_soon(come_openly, served.address, "zoe")
        bots.start_soon(come_openly, served.address, "yan", "with a token of its own")
        await served.heard.wait("begins")
        assert autojump_clock.current_time() > 90
        late = await connected(served.address)
        await late.greet("xaver")
        assert (await late.hear_until(Error)).code == "begun"
        await served.over.wait()
    assert {name for line in served.verified() for name in line.bots} == {"random", "zoe", "yan"}


async def test_a_server_for_ever_plays_one_cycle_after_the_other_with_those_who_are_there(tmp_path: Path) -> None:
    async with serving(tmp_path, "", open="true", forever="true") as served, trio.open_nursery() as bots:
        bots.start_soon(come_openly, served.address, "anna")
        bots.start_soon(come_openly, served.address, "ben")
        await served.heard.wait("begins", "Cycle 2")
        bots.start_soon(come_openly, served.address, "cleo")
        with_cleo = await served.heard.wait("begins", "cleo")
        number = int(with_cleo.split()[1])
        await served.heard.wait("begins", f"Cycle {number + 1}")
        bots.cancel_scope.cancel()
    rounds = served.verified()
    assert {line.id.split(".")[0] for line in rounds} >= {str(cycle) for cycle in range(1, number + 1)}
    standings, warnings = fold([served.journal])
    assert warnings == []
    assert {totals.name for totals in standings.totals()} == {"anna", "ben", "cleo"}


async def test_an_author_may_update_a_bot_at_any_time_and_its_versions_are_told_apart(tmp_path: Path) -> None:
    async def come_as(version: str, hostile: str) -> None:
        visitor = await connected(served.address)
        await visitor.hear()
        await visitor.say(BotHello(PROTOCOL, "anna", version, hostile, token="a token of its own"))
        try:
            await play(visitor)
        finally:
            await trio.aclose_forcefully(visitor.stream)

    async with serving(tmp_path, "", open="true", forever="true") as served, trio.open_nursery() as bots:
        bots.start_soon(come_openly, served.address, "ben", "another token")
        async with trio.open_nursery() as first:
            first.start_soon(come_as, "1.0", "\x1b[2J")
            await served.heard.wait("finished", "2.1-2.1")
            first.cancel_scope.cancel()
        bots.start_soon(come_as, "2.0", "x" * 9999)
        before = len(served.heard.texts("begins"))
        while len(served.heard.texts("begins")) < before + 3:
            await trio.sleep(0.01)
        bots.cancel_scope.cancel()
    served.verified()
    lines = [entry.line for entry in read(served.journal, JournalLine)]
    anna = {line.id: line for line in lines if isinstance(line, BotLine) and line.name == "anna"}
    assert {(line.version, line.fingerprint) for line in anna.values()} == {("1.0", None), ("2.0", None)}
    assert all((line.author or "").isprintable() and len(line.author or "") <= 64 for line in anna.values())
    standings, problems = fold([served.journal], by=RatedBy.VERSION)
    assert problems == []
    assert {"anna 1.0", "anna 2.0", "ben"} <= {totals.name for totals in standings.totals()}
    assert {totals.name for totals in fold([served.journal])[0].totals()} == {"anna", "ben"}


async def test_the_secret_is_revealed_even_if_the_server_is_cancelled_just_after_the_last_round(tmp_path: Path) -> None:
    def cancel_after_the_last(event: ServerEvent | TournamentEvent) -> None:
        if isinstance(event, RoundFinished) and event.line.id == "1.1-2.2":
            served.cancel()

    async with serving(tmp_path, "", open="true", forever="true") as served, trio.open_nursery() as bots:
        served.heard.heard = cancel_after_the_last  # type: ignore[method-assign]
        bots.start_soon(come_openly, served.address, "anna")
        bots.start_soon(come_openly, served.address, "ben")
        await trio.sleep_forever()
    assert [line.id for line in served.verified()] == ["1.1-2.1", "1.1-2.2"]


async def test_a_server_for_ever_waits_while_there_are_too_few(tmp_path: Path) -> None:
    text = '[[bot]]\ncmd = "random"\n[[bot]]\ncmd = "greedy"\n' + remote_bots("anna")
    async with serving(tmp_path, text, forever="true") as served:
        await served.heard.wait("lobby")
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert not served.heard.texts("begins")


async def test_a_server_for_ever_of_local_bots_only_plays_cycle_after_cycle(tmp_path: Path) -> None:
    """Nobody can connect, so there is nobody to wait for."""
    text = '[[bot]]\ncmd = "random"\n[[bot]]\ncmd = "greedy"\n'
    async with serving(tmp_path, text, forever="true") as served:
        with trio.fail_after(300):
            await served.heard.wait("finished", "3.1-2.2")
    assert not served.heard.texts("lobby")
    assert {line.id.split(".")[0] for line in served.verified()} >= {"1", "2", "3"}


async def test_a_server_for_ever_goes_on_with_the_cycle_that_was_left(tmp_path: Path) -> None:
    options = {"open": "true", "forever": "true", "rounds": "20", "st": "600"}
    for cycle, plays in ((1, 3), (2, 20)):
        async with serving(tmp_path, "", **options) as served, trio.open_nursery() as bots:
            bots.start_soon(come_openly_and_fall_silent, served.address, "anna", "a token of its own", plays)
            bots.start_soon(come_openly, served.address, "ben", "a token of its own")
            await served.heard.wait("begins", f"Cycle {cycle} ")
            await served.heard.wait("finished", f"{cycle}.1-2.3")
            bots.cancel_scope.cancel()
    rounds = served.verified()
    assert [line.id for line in rounds if line.id.startswith("1.")] == [f"1.1-2.{number}" for number in range(1, 21)]
    lines = [entry.line for entry in read(served.journal, JournalLine)]
    rounds_and_bots = RoundLine | VoidLine | BotLine  # a round is void if the machine is so busy that it stands still
    kinds = [type(line).__name__ for line in lines if not isinstance(line, rounds_and_bots)]
    assert kinds == ["TournamentLine", "ResumeLine", "RevealLine", "TournamentLine"]
    promises = [line.config.seed_hash for line in lines if isinstance(line, TournamentLine)]
    revealed = next(line.secret for line in lines if isinstance(line, RevealLine))
    assert DealKey(revealed).hash == promises[0] != promises[1]  # the first cycle tells nothing about the second
    opening, *_ = served.journal.read_bytes().splitlines(keepends=True)
    assert [line.follows for line in lines if isinstance(line, TournamentLine)] == [UNSET, line_hash(opening)]
    assert secret_path(served.journal).exists()


async def test_an_open_tournament_goes_on_with_the_bots_that_began_it(tmp_path: Path) -> None:
    soon = "2020-01-01T00:00"
    options = {"open": "true", "begin": soon, "rounds": "20", "st": "600"}
    for last in (3, 20):
        async with serving(tmp_path, "", **options) as served, trio.open_nursery() as bots:
            bots.start_soon(come_openly_and_fall_silent, served.address, "anna", "a token of its own", last)
            bots.start_soon(come_openly, served.address, "ben", "a token of its own")
            await served.heard.wait("finished", f"1.1-2.{last}")
            bots.cancel_scope.cancel()
    assert [line.round for line in served.verified()] == list(range(1, 21))


async def arrived_openly(address: str, name: str) -> Visitor:
    visitor = await connected(address)
    await visitor.greet(name, f"a token of {name}")
    await visitor.hear()
    return visitor


async def test_passers_by_cost_the_others_a_moment_and_forfeit_the_rest_of_the_cycle(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    """Five names come for a second, and leave with matches under way and others to come."""
    async with serving(tmp_path, "", open="true", forever="true", grace="1000") as served, trio.open_nursery() as bots:
        bots.start_soon(come_openly, served.address, "anna", "a token")
        bots.start_soon(come_openly, served.address, "ben", "another token")
        await served.heard.wait("begins", "Cycle 1 ")
        passers = [await arrived_openly(served.address, f"passer-{number}") for number in range(5)]
        crowded = await served.heard.wait("begins", "passer-4")
        for passer in passers:
            await passer.hear_until(MatchStart)
            await passer.stream.aclose()
        left_at = autojump_clock.current_time()
        number = int(crowded.split()[1])
        after = await served.heard.wait("begins", f"Cycle {number + 1} ")
        assert autojump_clock.current_time() - left_at < 500
        assert "passer" not in after
        bots.cancel_scope.cancel()
    in_the_crowd = [line for line in served.verified() if line.id.startswith(f"{number}.")]
    assert len(in_the_crowd) == 2 * 7 * 6 // 2
    for line in in_the_crowd:
        if {"anna", "ben"} == set(line.bots):
            assert line.fault is None
        elif {"anna", "ben"} & set(line.bots):
            assert line.result.winner is not None
            assert line.bots[line.result.winner] in ("anna", "ben")


async def test_the_last_match_of_a_cycle_does_not_hold_up_others_when_a_bot_leaves_it(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    options = {"open": "true", "forever": "true", "st": "none", "grace": "1000"}
    async with serving(tmp_path, "", **options) as served, trio.open_nursery() as bots:
        names = ("anna", "ben", "cleo")
        leaver = await arrived_openly(served.address, "leaver")
        for name in names:
            bots.start_soon(come_openly, served.address, name, f"a token of {name}")
        request = await leaver.hear_until(Request)  # it plays, and has the move
        cycle = int(served.heard.texts("begins")[-1].split()[1])
        assert request is not None
        await leaver.stream.aclose()
        left_at = autojump_clock.current_time()
        await served.heard.wait("begins", f"Cycle {cycle + 3} ")
        assert autojump_clock.current_time() - left_at < 500
        bots.cancel_scope.cancel()
    lost = [line for line in served.verified() if "leaver" in line.bots and line.fault is not None]
    assert {line.result.ending for line in lost} <= {"disconnected", "failed-to-start"}
    assert lost
    assert all(line.fault and line.fault.detail.endswith("before the others went on") for line in lost)


async def test_a_bot_that_nobody_else_could_play_without_has_its_whole_grace_time(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    options = {"open": "true", "forever": "true", "st": "none", "grace": "100"}
    async with serving(tmp_path, "", **options) as served, trio.open_nursery() as bots:
        anna = await arrived_openly(served.address, "anna")
        bots.start_soon(come_openly, served.address, "ben", "another token")
        await anna.hear_until(Request)
        await anna.stream.aclose()
        await trio.sleep(50)
        bots.start_soon(come_openly, served.address, "anna", "a token of anna")
        await served.heard.wait("finished", "1.1-2.2")
        bots.cancel_scope.cancel()
    assert all(line.fault is None for line in served.verified() if line.id.startswith("1."))
    assert autojump_clock.current_time() < 200


@pytest.fixture
def slow_clock() -> trio.testing.MockClock:
    """A moment to come back lasts ten seconds, so that it does not depend on how busy the machine is."""
    return trio.testing.MockClock(rate=0.1)


@pytest.mark.usefixtures("slow_clock")
async def test_a_bot_that_comes_back_at_once_loses_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, "", open="true", forever="true") as served, trio.open_nursery() as bots:
        anna = await arrived_openly(served.address, "anna")
        for name in ("ben", "cleo"):
            bots.start_soon(come_openly, served.address, name, f"a token of {name}")
        await anna.hear_until(Request)
        cycle = int(served.heard.texts("begins")[-1].split()[1])
        await anna.stream.aclose()
        bots.start_soon(come_openly, served.address, "anna", "a token of anna")
        await served.heard.wait("begins", f"Cycle {cycle + 1} ")
        bots.cancel_scope.cancel()
    assert all(line.fault is None for line in served.verified() if line.id.startswith(f"{cycle}."))

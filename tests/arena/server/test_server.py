"""Bots that connect: registration, the lobby, reconnection, cycles, stopping."""

import os
import re
import signal
import time
from collections import Counter
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest
import trio

from arena.journal.deal_secret import secret_path
from arena.journal.lines import JournalLine, RevealLine, RoundLine, TournamentLine, read
from arena.plan.config import ConfigError
from arena.plan.deals import DealKey
from arena.plan.tokens import token_hash
from arena.server.wall_clock import wait_until
from arena.stats.standings import fold
from protocol.messages import (
    PROTOCOL,
    Action,
    BotHello,
    Bye,
    Error,
    MatchStart,
    Request,
    RoundEnd,
    RoundStart,
    WatchedPosition,
    WatchedResult,
    Watching,
    Welcome,
)
from tests.helpers.visitors import (
    Visitor,
    arrived,
    come_and_play,
    configured,
    connected,
    first_move,
    play,
    remote_bots,
    serving,
    token_of,
    trio_time,
)

TWO = remote_bots("anna", "ben")


async def test_bots_that_connect_play_a_tournament_that_can_be_verified(tmp_path: Path) -> None:
    async with serving(tmp_path, remote_bots("anna", "ben", "cleo"), rounds="4") as served, trio.open_nursery() as bots:
        for name in ("anna", "ben", "cleo"):
            bots.start_soon(come_and_play, served.address, name)
        await served.over.wait()
    rounds = served.verified()
    assert len(rounds) == 12
    assert all(line.fault is None for line in rounds)


async def test_local_bots_and_bots_from_outside_meet(tmp_path: Path) -> None:
    text = remote_bots("anna") + '[[bot]]\ncmd = "random"\n'
    async with serving(tmp_path, text) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "anna")
        await served.over.wait()
    assert {line.bots for line in served.verified()} == {("anna", "random")}


async def test_neither_token_nor_hash_is_in_the_journal_or_the_news(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served, trio.open_nursery() as bots:
        stranger = await connected(served.address)
        await stranger.greet("anna", "a guess")
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        await served.over.wait()
    for text in (served.journal.read_text(), str(served.heard.told)):
        assert token_of("anna") not in text
        assert token_hash(token_of("anna")) not in text
        assert "a guess" not in text


async def test_a_wrong_token_is_refused_with_a_reason(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served:
        for token in ("a guess", None):
            stranger = await connected(served.address)
            await stranger.greet("anna", token)
            error = await stranger.hear_until(Error)
            assert (error.code, error.fatal) == ("wrong-token", True)
            bye = await stranger.hear_until(Bye)
            assert not bye.again
            assert await stranger.hear() is None


async def test_the_token_decides_the_name(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served:
        visitor = await connected(served.address)
        await visitor.greet("some other name", token_of("ben"))
        assert (await visitor.hear_until(Welcome)).name == "ben"


async def test_the_lobby_says_who_is_there_and_who_is_missing(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served:
        assert "Missing: anna, ben" in await served.heard.wait("lobby")
        anna = await arrived(served.address, "anna")
        assert await served.heard.wait("came") == "anna is here (127.0.0.1)"
        await anna.stream.aclose()
        assert await served.heard.wait("left") == "anna has left (127.0.0.1)"
        assert not served.heard.texts("begins")


async def test_a_tournament_begins_at_its_time_and_late_bots_play_what_is_left(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    soon = "2020-01-01T00:00"  # long ago: at once
    text = remote_bots("anna", "ben", "cleo")
    async with serving(tmp_path, text, begin=soon, grace="10000") as served, trio.open_nursery() as bots:
        await served.heard.wait("begins")
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        await served.heard.wait("finished", "1.1-2.2")
        bots.start_soon(come_and_play, served.address, "cleo")
        await served.over.wait()
    assert autojump_clock.current_time() < 10000
    assert all(line.fault is None for line in served.verified())


class SetClock:
    """A wall clock that somebody sets, or that goes on while the machine is suspended."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return trio_time() + self.ahead


async def test_a_moment_comes_when_the_wall_clock_shows_it_however_it_was_set(
    autojump_clock: trio.testing.MockClock,
) -> None:
    clock = SetClock()
    began = []

    async def wait(name: str, moment: datetime) -> None:
        await wait_until(moment, clock)
        began.append((name, autojump_clock.current_time()))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, "before the suspension ends", trio_time() + timedelta(seconds=3600))
        nursery.start_soon(wait, "after it was set back", trio_time() + timedelta(seconds=9000))
        await trio.sleep(100)
        clock.ahead = timedelta(seconds=5000)  # the machine slept
        await trio.sleep(100)
        clock.ahead = timedelta(seconds=-1000)
    assert [name for name, _ in began] == ["before the suspension ends", "after it was set back"]
    assert 100 <= began[0][1] <= 101
    assert 10_000 <= began[1][1] <= 10_001


def test_a_time_of_day_is_meant_in_the_offset_that_holds_on_its_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the night after this evening the clocks are set forward by an hour."""

    class Evening(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Evening":
            return cls(2026, 3, 28, 21, 0, tzinfo=tz)

    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        monkeypatch.setattr("arena.plan.options.datetime", Evening)
        _, today = configured(tmp_path, TWO, begin="22:30")
        _, tomorrow = configured(tmp_path, TWO, begin="20:30")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert isinstance(today.begin, datetime)
    assert isinstance(tomorrow.begin, datetime)
    assert today.begin.astimezone(UTC) == datetime(2026, 3, 28, 21, 30, tzinfo=UTC)
    assert tomorrow.begin.astimezone(UTC) == datetime(2026, 3, 29, 18, 30, tzinfo=UTC)


async def test_a_tournament_begins_when_the_wall_clock_says_so(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    clock = SetClock()
    begin = (trio_time() + timedelta(hours=9)).isoformat()
    async with serving(tmp_path, TWO, clock, begin=begin) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        await trio.sleep(100)
        assert not served.heard.texts("begins")
        clock.ahead = timedelta(hours=9)
        await served.heard.wait("begins")
        assert autojump_clock.current_time() < 200
        await served.over.wait()


async def test_an_absent_bot_forfeits_after_the_grace_time_when_all_else_is_played(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    text = remote_bots("anna", "ben", "cleo")
    async with serving(tmp_path, text, begin="2020-01-01T00:00", grace="100") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        await served.over.wait()
        assert autojump_clock.current_time() >= 100
    rounds = served.verified()
    assert [line.fault is None for line in rounds[:2]] == [True, True]
    assert {line.result.ending for line in rounds[2:]} == {"failed-to-start"}
    assert all(line.bots[line.result.winner or 0] != "cleo" for line in rounds[2:])


async def test_a_bot_that_is_a_second_later_than_the_grace_time_has_lost_one_match(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    others = ("anna", "ben", "cleo", "dora")
    options = {"begin": "2020-01-01T00:00", "grace": "100"}
    async with serving(tmp_path, remote_bots(*others, "late"), **options) as served, trio.open_nursery() as bots:
        for name in others:
            bots.start_soon(come_and_play, served.address, name)
        await trio.sleep(100.5)
        bots.start_soon(come_and_play, served.address, "late")
        await served.over.wait()
        assert autojump_clock.current_time() < 200
    lost = {line.match for line in served.verified() if line.fault is not None}
    assert len(lost) == 1


async def test_a_bot_that_loses_its_connection_gets_the_open_request_again(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        asked = [await anna.hear_until(Request)]
        await anna.say(Action(asked[0].id, first_move(asked[0])))
        asked.append(await anna.hear_until(Request))
        begun = next(message for message in anna.heard if isinstance(message, RoundStart))
        await anna.stream.aclose()
        again = await arrived(served.address, "anna")
        request = await again.hear_until(Request)
        assert again.kinds() == ["ServerHello", "Welcome", "MatchStart", "RoundStart", "Request"]
        assert again.heard[3] == begun
        assert request == asked[1]
        await again.say(Action(request.id, first_move(request)))
        bots.start_soon(play, again)
        await served.over.wait()
    assert all(line.fault is None for line in served.verified())


async def test_an_answer_that_is_cut_off_by_a_lost_connection_is_asked_for_again(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        await anna.hear_until(Request)
        await anna.stream.send_all(b'{"type":"action","id":1,"mo')
        await anna.stream.aclose()
        bots.start_soon(come_and_play, served.address, "anna")
        await served.over.wait()
    assert all(line.fault is None for line in served.verified())


async def test_a_bot_that_does_not_come_back_loses_the_round_as_disconnected(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with serving(tmp_path, TWO, grace="5", st="10000", max_faults="0") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        await anna.hear_until(Request)
        await anna.stream.aclose()
        await served.over.wait()
        assert 5 <= autojump_clock.current_time() < 5000
    first, second = served.verified()
    assert first.fault is not None
    assert first.result.ending == "disconnected"
    assert "was not back within 5 seconds" in first.fault.detail
    assert second.result.ending == "failed-to-start"  # nobody waits a second time


async def test_being_away_does_not_withdraw_a_bot(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    assert autojump_clock.rate == 0
    options = {"grace": "5", "st": "10000", "rounds": "6", "max_faults": "2", "begin": "2020-01-01T00:00"}
    async with serving(tmp_path, remote_bots("anna", "ben", "cleo"), **options) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        await anna.hear_until(Request)
        await anna.stream.aclose()
        await served.heard.wait("finished", "1.1-2.6")
        assert served.server._tournament is not None
        assert served.server._tournament._ledger.withdrawn == set()
        bots.cancel_scope.cancel()
    assert {line.result.ending for line in served.verified()} == {"disconnected", "failed-to-start"}


async def test_the_time_away_runs_on_the_bots_own_clock(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    async with serving(tmp_path, TWO, grace="10000", st="3") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        await anna.hear_until(Request)
        lost = autojump_clock.current_time()
        await anna.stream.aclose()
        await served.heard.wait("finished")
        assert autojump_clock.current_time() - lost < 5000
        bots.start_soon(come_and_play, served.address, "anna")
        await served.over.wait()
    first, second = served.verified()
    assert first.fault is not None
    assert first.result.ending == "disconnected"
    assert "time ran out" in first.fault.detail
    assert second.fault is None


async def test_time_that_was_lost_with_a_connection_is_in_the_log(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    assert autojump_clock.rate == 0
    async with serving(tmp_path, TWO, tc="6000+0") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        seat = (await anna.hear_until(RoundStart)).seat
        await anna.hear_until(Request)
        await anna.stream.aclose()
        await trio.sleep(7)
        again = await arrived(served.address, "anna")
        request = await again.hear_until(Request)
        await again.say(Action(request.id, first_move(request)))
        next_request = await again.hear_until(Request)
        assert next_request.clock.bank_ms is not None
        assert next_request.clock.bank_ms <= 5_993_000
        await again.say(Action(next_request.id, first_move(next_request)))
        bots.start_soon(play, again)
        await served.over.wait()
    first = next(line for line in served.verified() if line.round == 1)
    assert next(ms for who, _, ms in first.moves if who == seat and ms is not None) >= 7000


async def test_a_connection_that_only_looks_alive_is_replaced_by_its_successor(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        dead = await arrived(served.address, "anna")
        request = await dead.hear_until(Request)
        session = next(message.session for message in dead.heard if isinstance(message, Welcome))
        again = await arrived(served.address, "anna", session)  # the old one is still open
        assert await again.hear_until(Request) == request
        assert await dead.hear() is None
        await again.say(Action(request.id, first_move(request)))
        bots.start_soon(play, again)
        await served.over.wait()
    assert all(line.fault is None for line in served.verified())


async def test_a_bot_with_two_connections_plays_two_matches_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, remote_bots("anna", "ben", "cleo"), begin="2020-01-01T00:00") as served:
        both = [await arrived(served.address, "anna") for _ in range(2)]
        assert await served.heard.wait("came", "2 connections") == "anna is here (127.0.0.1, 2 connections)"
        async with trio.open_nursery() as bots:
            bots.start_soon(come_and_play, served.address, "ben")
            bots.start_soon(come_and_play, served.address, "cleo")
            opponents = {(await visitor.hear_until(MatchStart)).opponent for visitor in both}
            assert opponents == {"ben", "cleo"}
            for visitor in both:
                bots.start_soon(play, visitor)
            await served.over.wait()
    assert all(line.fault is None for line in served.verified())


async def test_a_fault_ends_the_connection_and_the_bot_may_come_back(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        request = await anna.hear_until(Request)
        await anna.say(Action(request.id, "play nonsense"))
        error = await anna.hear_until(Error)
        assert error.code == "illegal-move"
        end = await anna.hear_until(RoundEnd)
        assert end.result == "loss"
        bye = await anna.hear_until(Bye)
        assert bye.again
        assert await anna.hear() is None
        bots.start_soon(come_and_play, served.address, "anna")
        await served.over.wait()
    assert served.verified()[0].result.ending == "illegal-move"
    assert [line.fault is None for line in served.rounds()] == [False, True]


async def test_talking_in_the_lobby_ends_the_connection(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served:
        anna = await arrived(served.address, "anna")
        await anna.stream.send_all(b'{"type":"action","id":1,"move":"pass"}\n')
        assert (await anna.hear_until(Error)).code == "unknown-id"
        assert (await anna.hear_until(Bye)).again


async def test_everybody_is_told_when_it_is_over(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served:
        anna, ben = await arrived(served.address, "anna"), await arrived(served.address, "ben")
        async with trio.open_nursery() as bots:
            bots.start_soon(play, anna)
            bots.start_soon(play, ben)
            await served.over.wait()
        for visitor in (anna, ben):
            assert visitor.heard[-1] == Bye("the tournament is over")


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        (TWO.replace("sha256:", ""), {}, "the hash of a token, which `arena token NAME` makes"),
        (TWO + '[[bot]]\nname = "x"\ncmd = "random"\ntoken = "sha256:' + "0" * 64 + '"', {}, "not both"),
        ('[[bot]]\ntoken = "sha256:' + "0" * 64 + '"', {}, "needs a name, too"),
        (remote_bots("anna"), {}, "with --open others may join"),
        (TWO, {"open": "true"}, "say when to begin"),
        (TWO, {"cert": "x.pem"}, "--cert needs --key, too"),
        (TWO.replace(token_hash(token_of("ben")), token_hash(token_of("anna"))), {}, "'ben' has the token of another"),
        (TWO, {"begin": "soon"}, "--begin: begin = 'soon', but expected all, key, or a time such as 20:30"),
        (TWO, {"listen": "4000"}, "an address such as 127.0.0.1:4000"),
        (TWO, {"line": "70000"}, "a number of bytes from 512 to 65536"),
        (TWO + "[server]\nrounds = 3\n", {}, "cup.toml:8: 'rounds' is not an option here"),
        ("server = 3\n" + TWO, {}, "what the server does is written as one [server] table"),
    ],
)
def test_a_mistake_in_the_file_or_an_option_is_told_with_its_place(
    tmp_path: Path, text: str, options: dict[str, str], problem: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(tmp_path, text, **options)
    assert problem in str(caught.value)


def test_the_file_says_all_that_the_command_line_can(tmp_path: Path) -> None:
    text = TWO + '[server]\nlisten = "127.0.0.1:0"\nbegin = 20:30:00\ngrace = 5\nwrong-tokens = 3\nline = 1000\n'
    _, server = configured(tmp_path, text, grace="7")
    assert (server.grace, server.door.wrong_tokens, server.door.line) == (7, 3, 1000)
    assert not isinstance(server.begin, str)


async def come_openly(address: str, name: str, token: str | None = None) -> None:
    visitor = await connected(address)
    await visitor.greet(name, token)
    await play(visitor)


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


async def test_a_server_for_ever_waits_while_there_are_too_few(tmp_path: Path) -> None:
    text = '[[bot]]\ncmd = "random"\n[[bot]]\ncmd = "greedy"\n' + remote_bots("anna")
    async with serving(tmp_path, text, forever="true") as served:
        await served.heard.wait("lobby")
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert not served.heard.texts("begins")


async def test_a_server_for_ever_goes_on_with_the_cycle_that_was_left(tmp_path: Path) -> None:
    options = {"open": "true", "forever": "true", "rounds": "20"}
    for cycle in (1, 2):
        async with serving(tmp_path, "", **options) as served, trio.open_nursery() as bots:
            bots.start_soon(come_openly, served.address, "anna", "a token of its own")
            bots.start_soon(come_openly, served.address, "ben", "a token of its own")
            await served.heard.wait("begins", f"Cycle {cycle} ")
            await served.heard.wait("finished", f"{cycle}.1-2.3")
            bots.cancel_scope.cancel()
    rounds = served.verified()
    assert [line.id for line in rounds if line.id.startswith("1.")] == [f"1.1-2.{number}" for number in range(1, 21)]
    lines = [entry.line for entry in read(served.journal, JournalLine)]
    kinds = [type(line).__name__ for line in lines if not isinstance(line, RoundLine)]
    assert kinds == ["TournamentLine", "ResumeLine", "RevealLine", "TournamentLine"]
    promises = [line.config.seed_hash for line in lines if isinstance(line, TournamentLine)]
    revealed = next(line.secret for line in lines if isinstance(line, RevealLine))
    assert DealKey(revealed).hash == promises[0] != promises[1]  # the first cycle tells nothing about the second
    assert secret_path(served.journal).exists()


async def test_an_open_tournament_goes_on_with_the_bots_that_began_it(tmp_path: Path) -> None:
    soon = "2020-01-01T00:00"
    options = {"open": "true", "begin": soon, "rounds": "20"}
    for last in ("3", "20"):
        async with serving(tmp_path, "", **options) as served, trio.open_nursery() as bots:
            bots.start_soon(come_openly, served.address, "anna", "a token of its own")
            bots.start_soon(come_openly, served.address, "ben", "a token of its own")
            await served.heard.wait("finished", f"1.1-2.{last}")
            bots.cancel_scope.cancel()
    assert [line.round for line in served.verified()] == list(range(1, 21))


async def test_the_first_signal_lets_matches_end_and_the_tournament_can_go_on(tmp_path: Path) -> None:
    text = remote_bots("anna", "ben", "cleo", "dora")
    async with serving(tmp_path, text, rounds="10") as served, trio.open_nursery() as bots:
        for name in ("anna", "ben", "cleo", "dora"):
            bots.start_soon(come_and_play, served.address, name)
        await served.heard.wait("finished")
        os.kill(os.getpid(), signal.SIGTERM)
        await served.over.wait()
    first = served.verified()
    assert len(first) < 60
    per_match = Counter(line.match for line in first)
    assert set(per_match.values()) == {10}  # none was broken off
    async with serving(tmp_path, text, rounds="10") as served, trio.open_nursery() as bots:
        for name in ("anna", "ben", "cleo", "dora"):
            bots.start_soon(come_and_play, served.address, name)
        await served.over.wait()
    assert len(served.verified()) == 60


async def test_a_match_that_takes_too_long_to_end_is_broken_off(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with serving(tmp_path, TWO, drain="30", st="none") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        silent = await arrived(served.address, "anna")
        await silent.hear_until(Request)
        os.kill(os.getpid(), signal.SIGTERM)
        await served.over.wait()
        assert 30 <= autojump_clock.current_time() < 300
        assert (await silent.hear_until(Bye)).again
    assert served.verified() == []


async def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, st="none") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        silent = await arrived(served.address, "anna")
        await silent.hear_until(Request)
        os.kill(os.getpid(), signal.SIGINT)
        await served.heard.wait("stopping")
        os.kill(os.getpid(), signal.SIGINT)
        await served.over.wait()
    assert served.verified() == []


async def test_a_signal_in_the_lobby_ends_the_server(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served:
        anna = await arrived(served.address, "anna")
        os.kill(os.getpid(), signal.SIGTERM)
        assert (await anna.hear_until(Bye)).again
        await served.over.wait()


# Those who watch


async def watcher_of(address: str, match: str = "") -> Visitor:
    visitor = await connected(address)
    await visitor.hear()
    await visitor.say(BotHello(PROTOCOL, "watcher", watch=match))
    await visitor.hear()
    return visitor


async def seen(visitor: Visitor) -> list[WatchedPosition | WatchedResult]:
    while await visitor.hear() is not None:
        pass
    return [message for message in visitor.heard if isinstance(message, WatchedPosition | WatchedResult)]


async def test_whoever_watches_sees_rounds_and_results_but_no_secret(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, rules="tactics", rounds="4") as served, trio.open_nursery() as bots:
        watcher = await watcher_of(served.address, "1.1-2")
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        messages = await seen(watcher)
        await served.over.wait()
    assert watcher.heard[1] == Watching("", 0, hands=False)
    results = [message for message in messages if isinstance(message, WatchedResult)]
    played = served.verified()
    assert [(each.round, each.winner, each.points) for each in results] == [
        (line.round, line.result.winner, line.result.points) for line in played
    ]
    positions = [message for message in messages if isinstance(message, WatchedPosition)]
    assert positions
    for position in positions:
        assert {card for hand in position.hands for card in hand} <= {"clan", "tactic"}
        assert not re.search(r"return [roygbp]\d", position.move or "")
    for line in played:  # the last picture of a round is never left out
        last = [each for each in positions if each.round == line.round][-1]
        assert last.number == len(line.moves)
        assert tuple(stone.owner for stone in last.stones) == line.result.owners


async def test_hands_are_shown_where_the_server_allows(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, show_hands="true") as served, trio.open_nursery() as bots:
        watcher = await watcher_of(served.address)
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        messages = await seen(watcher)
        await served.over.wait()
    first = next(message for message in messages if isinstance(message, WatchedPosition))
    assert all(re.fullmatch(r"[roygbp]\d", card) for hand in first.hands for card in hand)


async def test_a_delay_keeps_watchers_behind(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    async with serving(tmp_path, TWO, watch_delay="20", st="none", grace="100000") as served:
        watcher = await watcher_of(served.address)
        async with trio.open_nursery() as bots:
            bots.start_soon(come_and_play, served.address, "ben")
            anna = await arrived(served.address, "anna")
            request = await anna.hear_until(Request)
            await anna.say(Action(request.id, first_move(request)))
            moved = autojump_clock.current_time()
            await watcher.hear_until(WatchedPosition)
            assert autojump_clock.current_time() >= moved + 19
            bots.cancel_scope.cancel()


async def test_a_watcher_who_does_not_read_slows_nobody_and_others_are_not_let_in(tmp_path: Path) -> None:
    options = {"watchers": "1", "rounds": "20", "unread": "8K"}
    async with serving(tmp_path, TWO, **options) as served, trio.open_nursery() as bots:
        deaf = await watcher_of(served.address)
        late = await connected(served.address)
        await late.hear()
        await late.say(BotHello(PROTOCOL, "watcher", watch=""))
        assert (await late.hear_until(Error)).code == "full"
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        await served.heard.wait("finished", "1.1-2.20")
        await deaf.stream.aclose()
        await served.over.wait()
    assert all(line.fault is None for line in served.verified())


async def test_a_watcher_has_nothing_to_say(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served:
        watcher = await watcher_of(served.address)
        await watcher.stream.send_all(b'{"type":"action","id":1,"move":"pass"}\n')
        assert (await watcher.hear_until(Error)).fatal
        await watcher.hear_until(Bye)

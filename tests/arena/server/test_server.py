"""Bots that connect: registration, the lobby, faults, and the options of a server."""

from pathlib import Path

import pytest
import trio

from arena.plan.config import ConfigError
from arena.plan.tokens import token_hash
from protocol.messages import (
    BotAction,
    Bye,
    Error,
    MatchStart,
    Request,
    RoundEnd,
    Welcome,
)
from tests.helpers.visitors import (
    arrived,
    come_and_play,
    configured,
    connected,
    play,
    remote_bots,
    serving,
    token_of,
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
        await visitor.greet("another-name", token_of("ben"))
        assert (await visitor.hear_until(Welcome)).name == "ben"


async def test_the_lobby_says_who_is_there_and_who_is_missing(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served:
        assert "Missing: anna, ben" in await served.heard.wait("lobby")
        anna = await arrived(served.address, "anna")
        assert await served.heard.wait("came") == "anna is here (127.0.0.1)"
        await anna.stream.aclose()
        assert await served.heard.wait("left") == "anna has left (127.0.0.1)"
        assert not served.heard.texts("begins")


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
        await anna.say(BotAction(request.id, "play nonsense"))
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

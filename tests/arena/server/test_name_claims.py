"""Names at an open server: whose they are, also after a restart."""

import stat
from pathlib import Path

import pytest
import trio

from arena.journal.lines import JournalError
from arena.server.admission import AdmissionError, Refusal, Registry
from arena.server.name_claims import NamesFile, claim_with, key_of
from arena.server.rates import place_of
from protocol.messages import PROTOCOL, BotHello, Error, Request, Welcome
from tests.helpers.visitors import ELSEWHERE, Visitor, connected, play, remote_bots, serving, token_of

LONG_AGO = "2020-01-01T00:00"
HERE = place_of("192.0.2.7")
OPEN = {"open": "true", "begin": LONG_AGO, "rounds": "20", "grace": "1000"}


def hello(name: str, token: str | None = None, session: str | None = None) -> BotHello:
    return BotHello(PROTOCOL, name, token=token, session=session)


def nobody_is_there(_name: str) -> bool:
    return True


def refusal(registry: Registry, who: BotHello) -> Refusal:
    with pytest.raises(AdmissionError) as caught:
        registry.admit(who, nobody_is_there, HERE, 0.0)
    return caught.value.code


def restarted(registry: Registry, roster: list[str]) -> Registry:
    return Registry([], open_door=True, names=32, kept=registry.lasting_claims(), roster=roster)


def test_a_name_stays_with_its_token_after_a_restart() -> None:
    registry = Registry([], open_door=True, names=32)
    registry.admit(hello("zoe", "my own"), nobody_is_there, HERE, 0.0)
    registry.begin(["zoe"], ["zoe"], closed=True)
    again = restarted(registry, ["zoe"])
    assert refusal(again, hello("zoe", "a guess")) is Refusal.NAME_TAKEN
    assert refusal(again, hello("zoe")) is Refusal.NAME_TAKEN
    assert again.admit(hello("zoe", "my own"), nobody_is_there, HERE, 0.0) == "zoe"


def test_a_name_without_a_token_stays_with_its_session_while_the_tournament_lasts() -> None:
    registry = Registry([], open_door=True, names=32)
    registry.admit(hello("yan"), nobody_is_there, HERE, 0.0)
    session = registry.session("yan")
    registry.begin(["yan"], ["yan"], closed=False)
    registry.left("yan")
    assert refusal(registry, hello("yan")) is Refusal.NAME_TAKEN  # also without a restart
    again = restarted(registry, ["yan"])
    assert refusal(again, hello("yan")) is Refusal.NAME_TAKEN
    assert refusal(again, hello("yan", "any token")) is Refusal.NAME_TAKEN
    assert refusal(again, hello("yan", session=session.partition(".")[0])) is Refusal.NAME_TAKEN
    assert again.admit(hello("yan", session=session), nobody_is_there, HERE, 0.0) == "yan"
    assert key_of(again.session("yan")) == key_of(session)  # the one that it gets now proves as much
    again.begin(["zoe"], [], closed=False)  # a cycle without it
    assert again.admit(hello("yan"), nobody_is_there, HERE, 0.0) == "yan"


def test_names_of_earlier_cycles_stay_with_their_tokens() -> None:
    registry = Registry([], open_door=True, names=32)
    for name in ("anna", "ben"):
        registry.admit(hello(name, f"the token of {name}"), nobody_is_there, HERE, 0.0)
    registry.admit(hello("never-played", "t"), nobody_is_there, HERE, 0.0)
    registry.begin(["anna", "ben"], ["anna", "ben"], closed=False)
    for name in ("anna", "ben", "never-played"):
        registry.left(name)
    registry.begin(["cleo", "dora"], ["cleo", "dora"], closed=False)
    registry = restarted(registry, ["cleo", "dora"])
    assert refusal(registry, hello("anna")) is Refusal.NAME_TAKEN
    assert registry.admit(hello("anna", "the token of anna"), nobody_is_there, HERE, 0.0) == "anna"
    assert refusal(registry, hello("never-played", "of another")) is Refusal.NAME_TAKEN


def test_a_name_that_nobody_proves_is_claimed_by_the_first_who_comes() -> None:
    """As in a tournament that began before claims were remembered."""
    registry = Registry([], open_door=True, names=32, roster=["old"])
    assert registry.admit(hello("old", "t"), nobody_is_there, HERE, 0.0) == "old"
    assert registry.has_news
    assert [claim.name for claim in registry.lasting_claims()] == ["old"]
    assert refusal(registry, hello("old", "another")) is Refusal.NAME_TAKEN


def test_the_file_of_names_is_for_its_owner_alone_and_holds_no_secret(tmp_path: Path) -> None:
    file = NamesFile(tmp_path / "cup.jsonl")
    assert file.read() == []
    claims = [claim_with("zoe", "token", "s3cret", HERE), claim_with("yan", "session", "k3y", HERE)]
    file.write(claims)
    path = tmp_path / "cup.names"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "s3cret" not in path.read_text()
    assert "k3y" not in path.read_text()
    assert NamesFile(tmp_path / "cup.jsonl").read() == claims
    assert claims[0].hash != claim_with("zoe", "token", "s3cret", HERE).hash  # salted
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_names_that_is_damaged_is_told_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "cup.names"
    path.write_text("something else\n")
    with pytest.raises(JournalError, match="this is not a file of an open server's names"):
        NamesFile(tmp_path / "cup.jsonl").read()
    assert path.read_text() == "something else\n"


def test_names_that_cannot_be_written_are_an_error_of_the_journal(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot write"):
        NamesFile(tmp_path / "missing" / "cup.jsonl").write([claim_with("zoe", "token", "t", HERE)])


async def come(address: str, name: str, token: str | None = None, session: str | None = None) -> tuple[Visitor, str]:
    visitor = await connected(address)
    await visitor.greet(name, token, session)
    welcome = await visitor.hear_until(Welcome)
    return visitor, welcome.session


async def is_refused(address: str, name: str, token: str | None = None) -> str:
    visitor = await connected(address)
    await visitor.greet(name, token)
    error = await visitor.hear_until(Error)
    return str(error.code)


async def test_refusals_that_follow_each_other_at_once_are_all_counted_when_the_server_stops(tmp_path: Path) -> None:
    async with serving(tmp_path, "", **OPEN) as served:
        await come(served.address, "anna", "the token of anna")
        for _ in range(4):
            assert await is_refused(served.address, "anna", "a guess") == "name-taken"
    refused = [facts for kind, _, facts in served.heard.told if kind == "refused"]
    assert sum(1 + facts["unreported"] for facts in refused) == 4


async def test_nobody_takes_over_the_place_of_another_when_the_server_is_restarted(tmp_path: Path) -> None:
    async with serving(tmp_path, "", **OPEN) as served:
        anna, _ = await come(served.address, "anna", "the token of anna")
        ben, session = await come(served.address, "ben")
        await served.heard.wait("begins")
    async with serving(tmp_path, "", **OPEN) as served, trio.open_nursery() as bots:
        assert await is_refused(served.address, "anna", "a guess") == "name-taken"
        assert await is_refused(served.address, "anna") == "name-taken"
        assert await is_refused(served.address, "ben") == "name-taken"
        anna, _ = await come(served.address, "anna", "the token of anna")
        ben, _ = await come(served.address, "ben", session=session)
        bots.start_soon(play, anna)
        bots.start_soon(play, ben)
        await served.over.wait()
    assert {line.bots for line in served.verified()} == {("anna", "ben")}
    assert all(line.fault is None for line in served.rounds())
    assert "token" not in served.journal.read_text()


async def test_nobody_takes_over_the_place_of_a_bot_that_lost_its_connection(tmp_path: Path) -> None:
    async with serving(tmp_path, "", **OPEN) as served, trio.open_nursery() as bots:
        anna, _ = await come(served.address, "anna")
        ben, session = await come(served.address, "ben")
        bots.start_soon(play, anna)
        await ben.hear_until(Request)
        await ben.stream.aclose()
        await served.heard.wait("left", "ben")
        assert await is_refused(served.address, "ben") == "name-taken"
        again, _ = await come(served.address, "ben", session=session)
        bots.start_soon(play, again)
        await served.over.wait()
    assert all(line.fault is None for line in served.verified())


async def test_names_of_earlier_cycles_survive_a_restart(tmp_path: Path) -> None:
    options = {"open": "true", "forever": "true"}
    async with serving(tmp_path, "", **options) as served, trio.open_nursery() as bots:
        for name in ("anna", "ben"):
            visitor, _ = await come(served.address, name, f"the token of {name}")
            bots.start_soon(play, visitor)
        await served.heard.wait("begins", "Cycle 2")
        bots.cancel_scope.cancel()
    async with serving(tmp_path, "", **options) as served:
        assert await is_refused(served.address, "anna") == "name-taken"
        assert await is_refused(served.address, "ben", "a guess") == "name-taken"
        await come(served.address, "anna", "the token of anna")
        await come(served.address, "cleo")


async def test_the_organiser_is_told_when_it_is_not_known_whose_names_they_are(tmp_path: Path) -> None:
    async with serving(tmp_path, "", **OPEN) as served:
        for name in ("anna", "ben"):
            await come(served.address, name, "t")
        await served.heard.wait("begins")
    (tmp_path / "cup.names").unlink()
    async with serving(tmp_path, "", **OPEN) as served:
        text = await served.heard.wait("warning")
        assert "cup.names does not say who owns these names: anna, ben" in text
        await come(served.address, "ben", "of somebody")
        await served.heard.wait("came", "ben")
        assert '"ben"' in (tmp_path / "cup.names").read_text()


async def test_a_name_with_a_token_is_saved_even_if_its_bot_never_played(tmp_path: Path) -> None:
    for token, code in (("my own", None), ("another", "name-taken")):
        async with serving(tmp_path, "", open="true", forever="true") as served:
            visitor = await connected(served.address)
            await visitor.greet("zoe", token)
            if code is None:
                await visitor.hear_until(Welcome)
                await visitor.stream.aclose()
                await served.heard.wait("left", "zoe")
            else:
                assert (await visitor.hear_until(Error)).code == code


async def test_a_token_of_the_file_is_saved_before_anything_is_played(tmp_path: Path) -> None:
    async with serving(tmp_path, remote_bots("anna"), open="true", forever="true"):
        pass
    async with serving(tmp_path, "", open="true", forever="true") as served:  # she is no longer in the file
        assert served.server.registry.owner(BotHello(PROTOCOL, "anna", token=token_of("anna"))) == "anna"
        thief = await connected(served.address)
        await thief.greet("anna", "a token of somebody else")
        assert (await thief.hear_until(Error)).code == "name-taken"


async def test_an_address_that_has_all_its_names_is_told_so(tmp_path: Path) -> None:
    async with serving(tmp_path, "", open="true", forever="true", names="2") as served:
        for name in ("one", "two"):
            await come(served.address, name, "a token")
        visitor = await connected(served.address)
        await visitor.greet("three", "a token")
        error = await visitor.hear_until(Error)
        assert error.code == "full"
        assert error.message.startswith("bots from 127.0.0.1 have 2 names already; come back with the token of one")
        elsewhere = await connected(served.address, ELSEWHERE)
        await elsewhere.greet("three", "a token")
        assert (await elsewhere.hear_until(Welcome)).name == "three"

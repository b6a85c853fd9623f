"""`arena verify` checks that rounds name players that were recorded, and recorded for the right bot."""

from pathlib import Path

import msgspec
import pytest

from arena.journal.identity import bot_line
from arena.journal.lines import encoded
from arena.journal.verify import verify_journals
from protocol.messages import PROTOCOL, BotHello
from tests.helpers.raw_journals import Line, run, write
from tests.helpers.rounds import STARTED


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An opening line, two bots and four rounds."""
    journal = tmp_path_factory.mktemp("cup") / "cup.jsonl"
    assert run(journal).exit_code == 0
    return journal.read_bytes()


@pytest.fixture
def lines(sound: bytes) -> list[Line]:
    return [msgspec.json.decode(raw) for raw in sound.splitlines()]


def problems(journal: Path, lines: list[Line]) -> list[str]:
    return [each.text for each in verify_journals([write(journal, lines)]).problems]


def test_identities_come_before_the_first_round_that_refers_to_them(lines: list[Line], journal: Path) -> None:
    assert [line["type"] for line in lines] == ["tournament", "bot", "bot", *["round"] * 4]
    assert {tuple(line["players"]) for line in lines[3:]} == {(lines[1]["id"], lines[2]["id"])}
    assert problems(journal, lines) == []


def test_an_identity_that_is_missing_or_comes_too_late_is_found_out(lines: list[Line], journal: Path) -> None:
    id = lines[1]["id"]
    said = f"it says that a was {id}, but no line before it says who that is"
    assert problems(journal, [lines[0], *lines[2:]]) == [f"round 1.1-2.{n}: {said}" for n in (1, 2, 3, 4)]
    assert problems(journal, [lines[0], lines[2], lines[3], lines[1], *lines[4:]]) == [f"round 1.1-2.1: {said}"]


def test_none_of_many_versions_of_a_bot_is_forgotten(lines: list[Line], journal: Path) -> None:
    hellos = (BotHello(PROTOCOL, "a", str(number)) for number in range(150))
    others = [msgspec.json.decode(encoded(bot_line("a", hello, None, STARTED))) for hello in hellos]
    assert problems(journal, [*lines[:3], *others, *lines[3:]]) == []


def test_an_exchanged_player_is_found_out(lines: list[Line], journal: Path) -> None:
    lines[3]["players"].reverse()
    one, two = lines[1]["id"], lines[2]["id"]
    assert problems(journal, lines) == [
        f"round 1.1-2.1: it says that a was {two}, but that is b",
        f"round 1.1-2.1: it says that b was {one}, but that is a",
    ]


def test_a_player_that_is_not_named_but_moved_is_found_out(lines: list[Line], journal: Path) -> None:
    lines[3]["players"][1] = None
    assert problems(journal, lines) == ["round 1.1-2.1: it does not say who b was, although b made a decision"]


def test_an_edited_identity_is_found_out(lines: list[Line], journal: Path) -> None:
    lines[1]["version"] = "2.0"
    (found,) = problems(journal, lines)
    assert found.startswith(f"bot a: its id is {lines[1]['id']}, but ")


def test_an_identity_of_a_stranger_is_found_out(lines: list[Line], journal: Path) -> None:
    lines[1]["name"] = "zoe"
    assert "bot zoe: it is not one of the bots of this tournament" in problems(journal, lines)


def test_rounds_of_older_versions_among_others_are_only_mentioned(lines: list[Line], journal: Path) -> None:
    del lines[4]["players"], lines[5]["players"]
    report = verify_journals([write(journal, lines)])
    assert report.problems == []
    assert f"{journal}:1: 2 of 4 rounds do not say which versions of the bots played" in report.remarks


@pytest.mark.parametrize("players", [7, [], ["x"], ["x", "y", "z"], [1, 2], "ab", {}])
def test_players_that_cannot_be_are_told_and_lose_no_other_round(
    lines: list[Line], journal: Path, players: object
) -> None:
    lines[4]["players"] = players
    report = verify_journals([write(journal, lines)])
    assert report.rounds == 3
    assert [problem.line for problem in report.problems] == [5]

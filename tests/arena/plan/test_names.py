"""What a bot may be called, and which names are one."""

import re
from pathlib import Path

import pytest

from arena.journal.verify import verify_journals
from arena.plan.config import ConfigError, from_command_line
from arena.plan.config_file import from_file
from arena.server.admission import AdmissionError, Refusal, Registry
from arena.server.rates import place_of
from arena.stats.standings import fold
from protocol.messages import BotHello
from protocol.names import name_problem, twin_of
from tests.helpers.commands import arena
from tests.helpers.journals import write

RULE = "1 to 32 ASCII letters, digits and . _ - +"
PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+"


def test_every_character_but_the_plain_ones_is_refused() -> None:
    assert [chr(code) for code in range(0x3000) if name_problem(chr(code)) is None] == sorted(PLAIN)


@pytest.mark.parametrize("name", [None, 1, b"anna", "", "x" * 33, "anna\n", "１", "a\ud800"])
def test_what_is_no_name(name: object) -> None:
    assert name_problem(name) is not None


def test_names_that_differ_only_in_case_are_one() -> None:
    assert twin_of("greedy", ["x", "Greedy", "greedy"]) == "Greedy"
    assert twin_of("bot1", ["botl", "boti", "bot-1"]) is None


@pytest.mark.parametrize(("other", "words"), [("Greedy", " and 'greedy', which is the same name"), ("greedy", ";")])
def test_two_bots_with_one_name_are_a_mistake(other: str, words: str, tmp_path: Path) -> None:
    cup = tmp_path / "cup.toml"
    cup.write_text(f'[[bot]]\nname = "greedy"\ncmd = "greedy"\n[[bot]]\nname = "{other}"\ncmd = "random"\n')
    with pytest.raises(ConfigError) as told:
        from_file(cup, {})
    assert str(told.value).startswith(f"{cup}:4: two bots are named {other!r}{words}")
    with pytest.raises(ConfigError, match="two bots are named"):
        from_command_line(["greedy=greedy", f"{other}=random"], (), {})


def test_a_name_that_nobody_chose_gets_a_number_if_it_is_taken_in_another_case() -> None:
    assert [bot.name for bot in from_command_line(["Greedy=random", "greedy"], (), {}).bots] == ["Greedy", "greedy-2"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["play", "Zoë=greedy", "random"],
        ["play", "Zoë=human", "random"],
        ["play", "greedy", "python3 naïve.py"],  # the bot would be named after the file
        ["run", "random", "--bot", "cmd=greedy name=Zoë"],
        ["connect", "127.0.0.1:1", "--name", "Zoë", "--", "greedy"],
        ["new-bot", "python", "Zoë"],
        ["new-bot", "go", "Zoë"],
    ],
)
def test_a_command_refuses_another_name_with_the_rule(arguments: list[str]) -> None:
    done = arena(*arguments)
    assert done.exit_code == 2
    assert RULE in done.stderr
    assert re.search("it has '[ëï]' at position 3", done.stderr)


def test_a_tournament_file_refuses_another_name_with_the_rule(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text('[[bot]]\nname = "my bot"\ncmd = "greedy"\n')
    done = arena("run", tmp_path / "cup.toml")
    assert done.exit_code == 2
    assert f"{RULE} (it has ' ' at position 3)" in done.stderr


def test_at_an_open_server_a_name_is_taken_in_every_case() -> None:
    registry = Registry(from_command_line(["greedy", "random"], (), {}).bots, open_door=True, names=32)
    assert registry.admit(BotHello(1, "anna"), lambda _: True, place_of("192.0.2.7"), 0.0) == "anna"
    for name in ("Anna", "ANNA", "Greedy"):
        with pytest.raises(AdmissionError, match="is the same name as") as refused:
            registry.admit(BotHello(1, name), lambda _: True, place_of("192.0.2.7"), 0.0)
        assert refused.value.code is Refusal.NAME_TAKEN
    registry.left("anna")
    assert registry.admit(BotHello(1, "Anna"), lambda _: True, place_of("192.0.2.7"), 0.0) == "Anna"


# Journals in which names were not yet ASCII


def test_a_journal_with_other_names_can_be_read_but_not_resumed(tmp_path: Path) -> None:
    names = ("greedy", "Zoë 2.0", "gr\u2800eedy", "<b>" + "x" * 61)
    assert [name_problem(name) is None for name in names] == [True, False, False, False]
    journal = write(tmp_path / "cup.jsonl", 24, names)
    standings, problems = fold([journal])
    assert problems == []
    assert sorted(standings.names) == sorted(names)
    assert verify_journals([journal]).rounds == 24


@pytest.mark.parametrize("name", ["Zoë 2.0", "RANDOM"])
def test_a_tournament_with_other_names_is_not_resumed(name: str, tmp_path: Path) -> None:
    play = ("play", "anna=random", "random", "--rounds", "2", "--seed", "1", "--journal", tmp_path / "cup.jsonl")
    assert arena(*play).exit_code == 0
    opening, *_ = (tmp_path / "cup.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "cup.jsonl").write_text(opening.replace('"anna"', f'"{name}"'))
    done = arena(*play)
    assert done.exit_code == 2
    wrong = "random" if name == "RANDOM" else name  # the second of two that are the same
    assert (
        f"'{wrong}' is a name that no bot can have any more ({RULE}, and case makes no difference): the" in done.stderr
    )
    assert "can be read and verified, but not resumed. Begin another journal (--journal FILE)." in done.stderr
    assert len((tmp_path / "cup.jsonl").read_text().splitlines()) == 1


def test_the_matches_against_a_bot_of_another_name_are_left_out_of_a_comparison(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 2, ("random", "Zoë"))
    done = arena("regress", journal, "random")
    assert "'Zoë' is not a name that a bot can be told now: it has 'ë' at position 3" in done.stdout + done.stderr

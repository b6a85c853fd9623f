"""What a bot may be called, and which names are one."""

import json
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest

from arena.journal.verify import verify_journals
from arena.plan.config import ConfigError, from_command_line
from arena.plan.config_file import from_file
from arena.plan.names import skeletons, twin_of
from arena.server.admission import Refusal, Refused, Registry
from arena.server.rates import place_of
from arena.stats.standings import fold
from protocol.errors import RemoteProtocolError
from protocol.messages import BotHello, decode_from_bot
from protocol.names import is_name, is_recorded_name, name_problem
from protocol.schema import schema
from tests.helpers.journals import write
from tests.tools.confusables import WRITTEN, compact

# Every pair differs in a character that can hardly be told from the other.
ALIKE = [
    ("greedy", "Greedy"),
    ("greedy", "grееdy"),  # Cyrillic е
    ("Bob", "Вob"),  # Cyrillic В, which has a small letter that looks otherwise
    ("anna", "аnna"),
    ("bot1", "botl"),
    ("bot1", "botI"),
    ("bot1", "boti"),
    ("bot0", "botO"),
    ("bot0", "boto"),
    ("bot", "bοt"),  # Greek ο
    ("paypal", "раураl"),
    ("modern", "rnodern"),
    ("Max", "ｍax"),  # full width
    ("ﬁsh", "fish"),  # a ligature
    ("Zo\u00eb", "Zoe\u0308"),  # ë as one character and as two
    ("Straße", "STRASSE"),
    ("Νίκος", "νίκος"),  # Greek, in another case
    ("ВАСЯ", "вася"),  # Cyrillic, in another case
    ("𝔤𝔯𝔢𝔢𝔡𝔶", "greedy"),
    ("a-b", "a‐b"),
]
UNLIKE = [("greedy", "random"), ("Zoë", "Zoe"), ("nova", "vova"), ("bot1", "bot2"), ("a b", "ab"), ("名前", "名")]


@pytest.mark.parametrize(("one", "two"), ALIKE)
def test_names_that_look_alike_are_one(one: str, two: str) -> None:
    assert skeletons(one) & skeletons(two)
    assert twin_of(one, ["x", two, one]) == two


@pytest.mark.parametrize(("one", "two"), UNLIKE)
def test_names_that_look_different_are_two(one: str, two: str) -> None:
    assert not skeletons(one) & skeletons(two)


@pytest.mark.parametrize(("one", "two"), ALIKE)
def test_two_bots_that_look_alike_are_a_mistake_in_a_tournament_file(one: str, two: str, tmp_path: Path) -> None:
    cup = tmp_path / "cup.toml"
    cup.write_text(f'[[bot]]\nname = "{one}"\ncmd = "greedy"\n[[bot]]\nname = "{two}"\ncmd = "random"\n')
    with pytest.raises(ConfigError) as told:
        from_file(cup, {})
    assert str(told.value).startswith(f"{cup}:4: {two!r} can be taken for {one!r}")
    with pytest.raises(ConfigError, match="can be taken for"):
        from_command_line([f"{one}=greedy", f"{two}=random"], (), {})


def test_at_an_open_server_a_name_is_taken_for_all_that_look_like_it() -> None:
    registry = Registry(from_command_line(["greedy", "random"], (), {}).bots, open_door=True, names=32)
    assert registry.admit(BotHello(1, "anna"), lambda _: True, place_of("192.0.2.7"), 0.0) == "anna"
    for name in ("Anna", "аnna", "GREEDY", "grееdy"):
        with pytest.raises(Refused) as refused:
            registry.admit(BotHello(1, name), lambda _: True, place_of("192.0.2.7"), 0.0)
        assert refused.value.code is Refusal.NAME_TAKEN
        assert "can be taken for" in str(refused.value)
    registry.left("anna")
    assert registry.admit(BotHello(1, "Anna"), lambda _: True, place_of("192.0.2.7"), 0.0) == "Anna"


def test_whoever_takes_part_comes_back_under_its_own_name() -> None:
    """A journal from before may have two that look alike."""
    registry = Registry((), open_door=True, names=32)
    registry.begin(["anna", "Anna"], [], closed=True)
    assert registry.admit(BotHello(1, "anna"), lambda _: True, place_of("192.0.2.7"), 0.0) == "anna"
    assert registry.admit(BotHello(1, "Anna"), lambda _: True, place_of("192.0.2.7"), 0.0) == "Anna"


# Invisible characters


INVISIBLE = [
    "\u200b", "\u200d", "\u202e", "\u2066", "\ufeff", "\xad", "\x07", "\x9b",  # format and control
    "\u061c", "\u180e", "\ufff9", "\U000e0041", "\U0001d173",
    "\u00a0", "\u2003", "\u3000", "\u1680", "\u2028", "\u2029", "\t", "\n",  # spaces and lines
    "\ue000", "\U0010fffd", "\uffff", "\u0378",  # private and unassigned
    "\u115f", "\u1160", "\u3164", "\uffa0", "\u2800", "\u034f", "\u17b4", "\u180b",  # fillers and blanks
    "\ufe0f", "\U000e0101", "\U0001d159",
]  # fmt: skip


@pytest.mark.parametrize("char", INVISIBLE, ids=lambda char: f"U+{ord(char):04X}")
@pytest.mark.parametrize("form", ["{}", "a{}b", "{}ab", "ab{}", "a {} b"])
def test_no_name_has_a_character_that_cannot_be_seen(char: str, form: str) -> None:
    name = form.format(char)
    assert not is_name(name)
    assert f"U+{ord(char):04X}" in (name_problem(name) or "")
    with pytest.raises(RemoteProtocolError):
        decode_from_bot(json.dumps({"type": "hello", "protocol": 1, "name": name}).encode())


def test_every_category_that_cannot_be_seen_is_refused_in_full() -> None:
    for code in range(0x110000):
        category = unicodedata.category(chr(code))
        if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs") and code != 0x20:
            assert not is_name(f"a{chr(code)}b"), hex(code)


@pytest.mark.parametrize(
    "name",
    ["Zoë", "e\u0301clair", "Việt", "V\u0069\u0323\u0302et", "हिन्दी", "ไทยนี้", "עִבְרִית", "🦊 fox", "a'b", "x" * 64],
)
def test_languages_and_pictures_are_names(name: str) -> None:
    assert name_problem(name) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("\u0301abc", "the combining mark U+0301 at position 1 has no base letter"),
        ("a \u0301b", "at position 3 has no base letter"),
        ("a\u0301\u0301", "repeats the one before it"),
        ("Z\u0300\u0301\u0302\u0303\u0304algo", "more than 4 combining marks in a row end at position 6"),
    ],
)
def test_piles_of_marks_are_no_names(name: str, words: str) -> None:
    assert words in (name_problem(name) or "")


def test_a_bot_is_told_which_character_is_wrong() -> None:
    with pytest.raises(RemoteProtocolError) as told:
        decode_from_bot('{"type":"hello","protocol":1,"name":"ann\u2800a"}'.encode())
    assert "the character U+2800 at position 4 is invisible" in str(told.value)
    assert "$.name" in str(told.value)


def test_the_schema_says_that_it_allows_more() -> None:
    assert "The pattern of names allows more than the server does" in schema()["description"]


def test_journals_from_before_with_names_that_are_now_refused_stay_readable(tmp_path: Path) -> None:
    names = ("greedy", "gr\u2800eedy", "grееdy", "Z\u0300\u0301\u0302\u0303\u0304algo")
    assert [is_name(name) for name in names] == [True, False, True, False]
    assert all(map(is_recorded_name, names))
    journal = write(tmp_path / "cup.jsonl", 24, names)
    standings, problems = fold([journal])
    assert problems == []
    assert sorted(standings.names) == sorted(names)
    assert verify_journals([journal]).rounds == 24


# The table


def test_the_table_is_what_its_generator_writes() -> None:
    lines = ["0430 ;\t0061 ;\tMA\t# comment", "1D41A ;\t0061 ;\tMA", "0031 ;\t006C ;\tMA", "00AD ;\t002D ;\tMA"]
    table = "\n".join(["# Version: 13.0.0", *lines, ""])
    assert compact(table).splitlines()[1:] == ["a\tа", "l\t1"]  # what is decomposed before, or refused, is left out
    assert WRITTEN.read_text(encoding="utf-8").startswith("# Unicode Technical Standard 39, 13.0.0")


def test_nobody_waits_for_the_table_who_does_not_need_it() -> None:
    code = (
        "import arena.cli.main, sys; arena.cli.main.main(['--help'], standalone_mode=False); "
        "print('arena.plan.names' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")
    started = time.perf_counter()
    for number in range(10_000):
        is_name(f"bot number {number}")
    assert time.perf_counter() - started < 60  # some microseconds each

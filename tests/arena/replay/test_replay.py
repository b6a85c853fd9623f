"""`arena replay` as people call it: the list, the board, the ways to print, and what it says of damage."""

import json
import re
from pathlib import Path

import msgspec
import pytest
from click.testing import Result
from rich.cells import cell_len

from arena.journal.index import rounds_in
from arena.journal.lines import TournamentLine, encoded
from arena.plan.deals import SCHEME
from arena.plan.recorded_config import RecordedConfig
from arena.replay.board import board, coloured, text
from arena.replay.build import replay_of
from arena.replay.seat_view import one_seats_view
from arena.support.text import cropped, padded, printable
from engine.cards import SEATS
from engine.ruleset import PRESETS
from tests.golden.replay import FOLDER, golden_round
from tests.helpers.commands import arena
from tests.helpers.rounds import random_round, written

SNEAKY = "\x1b]0;owned\x07\x1b[2J\u202eann"


def listed(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [line.split()[0] for line in result.stdout.splitlines()[2:] if not line.startswith("…")]


@pytest.mark.parametrize("preset", PRESETS)
def test_every_step_is_printed_as_ever(preset: str, journal: Path) -> None:
    done = arena("replay", journal, golden_round(preset).id, "--all")
    assert done.stdout.splitlines() == (FOLDER / f"{preset}.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("preset", PRESETS)
def test_no_line_is_wider_than_80_columns(preset: str) -> None:
    replay = replay_of(golden_round(preset))
    for each in (replay, one_seats_view(replay, SEATS[0])):
        for step in each.steps:
            assert max(map(cell_len, text(each, step).splitlines())) <= 80


def test_what_lies_on_the_table_is_never_cut() -> None:
    for seed in range(20):
        replay = replay_of(random_round(PRESETS["tactics"], seed, bots=("counting-2.1", "greedy-10.0b")))
        for step in replay.steps:
            assert not any("…" in line for line in board(replay.bots, step))


def test_without_a_terminal_the_rounds_are_a_table(journal: Path) -> None:
    done = arena("replay", journal)
    assert listed(done) == ["1.1-2.1", "1.1-2.2", "1.1-2.3", "1.1-2.4", "1.1-2.5", "1.1-3.1"]
    assert re.search(r"1\.1-3\.1 +ann - cy +base +\w+ +timeout +\d - \d +9 +2026-01-31", done.stdout)


@pytest.mark.parametrize(
    ("options", "rounds"),
    [
        (["--bot", "cy"], ["1.1-3.1"]),
        (["--bot", "ann", "--bot", "ben", "--rules", "tactics"], ["1.1-2.3"]),
        (["--faults"], ["1.1-3.1"]),
        (["--ending", "timeout", "--ending", "blocked"], ["1.1-2.3", "1.1-3.1"]),
        (["--longest", "2"], ["1.1-2.4", "1.1-2.3"]),
        (["--limit", "1"], ["1.1-2.1"]),
        (["--lost-by", "ann"], ["1.1-2.1", "1.1-2.2", "1.1-2.3", "1.1-2.4", "1.1-2.5"]),
        (["--won-by", "ann"], ["1.1-3.1"]),
        (["--won-by", "ben", "--rules", "tactics"], ["1.1-2.3"]),
        (["--lost-by", "cy", "--won-by", "ann"], ["1.1-3.1"]),
        (["--lost-by", "ann", "--bot", "cy"], []),
    ],
)
def test_the_list_can_be_narrowed(options: list[str], rounds: list[str], journal: Path) -> None:
    assert listed(arena("replay", journal, *options)) == rounds


def test_the_closest_rounds_have_the_fewest_stones_between_them_and_no_fault(journal: Path) -> None:
    stones = {each.id: abs(each.stones[0] - each.stones[1]) for each in rounds_in(journal)[0]}
    found = listed(arena("replay", journal, "--closest", "9"))
    assert sorted(found) == ["1.1-2.1", "1.1-2.2", "1.1-2.3", "1.1-2.4", "1.1-2.5"]
    assert [stones[id] for id in found] == sorted(stones[id] for id in found)


def test_the_list_says_how_many_more_there_are(journal: Path) -> None:
    assert "… and 4 more; --limit 0 lists all" in arena("replay", journal, "--limit", "2").stdout
    assert len(listed(arena("replay", journal, "--limit", "0"))) == 6


def test_the_list_as_json(journal: Path) -> None:
    rows = json.loads(arena("replay", journal, "--faults", "--json").stdout)
    assert [(row["round"], row["line"], row["ending"], row["moves"]) for row in rows] == [("1.1-3.1", 7, "timeout", 9)]


def test_one_position_is_printed_alone(journal: Path) -> None:
    at = arena("replay", journal, "1.1-2.3", "--at", "17").stdout
    assert at in arena("replay", journal, "1.1-2.3", "--all").stdout
    assert at.startswith("Round 1.1-2.3  tactics  ann - ben")
    assert "position 17 of" in at.splitlines()[0]


def test_without_a_terminal_the_last_position_is_printed_and_what_else_there_is(journal: Path) -> None:
    done = arena("replay", journal, "1.1-3.1")
    assert "10. ann: timeout: it stopped answering" in done.stdout or "10. cy: timeout" in done.stdout
    assert "wins (timeout), points" in done.stdout
    assert "--all prints every step" in done.stderr


def test_positions_as_json(journal: Path) -> None:
    whole = json.loads(arena("replay", journal, "1.1-2.1", "--json").stdout)
    assert [step["number"] for step in whole["steps"]] == list(range(len(golden_round("base").moves) + 1))
    assert whole["steps"][0]["position"]["clan_deck"] == 42
    one = json.loads(arena("replay", journal, "1.1-2.1", "--json", "--at", "3").stdout)
    assert one["steps"] == whole["steps"][3:4]


def test_one_seats_view_hides_the_others_hand_draws_and_notes(journal: Path) -> None:
    everything = arena("replay", journal, "1.1-2.3", "--all").stdout
    bens = arena("replay", journal, "1.1-2.3", "--all", "--seat", "ben").stdout
    assert bens == arena("replay", journal, "1.1-2.3", "--all", "--seat", "1").stdout
    hands = [line for line in bens.splitlines() if line.startswith("ann  ")]
    assert all(re.fullmatch(r"ann +(\d clan ?)?(\d tactic)?( +> .*)?|ann +no cards.*", line) for line in hands)
    assert not re.search(r"ann: .*draws (?!clan|tactic)", bens)
    assert re.search(r"ben: .*draws [roygbp]\d", bens)
    assert 0 < bens.count("note: ") < everything.count("note: ")


def test_colours_are_letters_first(journal: Path) -> None:
    plain = arena("replay", journal, "1.1-2.1", "--at", "9").stdout
    painted = arena("replay", journal, "1.1-2.1", "--at", "9", "--color").stdout
    assert "\x1b[" not in plain
    assert "\x1b[7;" in painted
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == plain
    assert coloured("r5 joker") == "\x1b[31mr5\x1b[0m joker"


def test_nothing_of_a_bot_reaches_the_terminal_raw(tmp_path: Path) -> None:
    line = random_round(PRESETS["base"], 3, bots=(SNEAKY, "b\nen"), stop_after=5, fault=SNEAKY)
    line = msgspec.structs.replace(line, notes=dict.fromkeys("01234", SNEAKY))
    path = written(tmp_path / "cup.jsonl", line)
    for options in ([], [line.id], [line.id, "--all"], [line.id, "--json"], ["--json"]):
        done = arena("replay", path, *options)
        assert done.exit_code == 0
        assert done.stdout.replace("\n", "").isprintable()
    assert "note: \\x1b]0;owned" in arena("replay", path, line.id, "--all").stdout


def test_long_texts_are_cropped_by_the_columns_they_take(tmp_path: Path) -> None:
    line = random_round(PRESETS["tactics"], 3, bots=("牌" * 64, "n" * 64))
    line = msgspec.structs.replace(line, notes={"0": "牌 " * 3000, "1": "x" * 9000})
    done = arena("replay", written(tmp_path / "cup.jsonl", line), line.id, "--all")
    assert max(map(cell_len, done.stdout.splitlines())) <= 80
    assert (cropped("牌牌牌", 5), padded("a牌", 5), printable("a\tb\x07")) == ("牌牌…", "a牌  ", "a b\\x07")


# Damage


def test_a_truncated_journal_is_told_and_its_sound_rounds_are_shown(journal: Path) -> None:
    journal.write_bytes(journal.read_bytes()[:-100])
    done = arena("replay", journal)
    assert listed(done) == ["1.1-2.1", "1.1-2.2", "1.1-2.3", "1.1-2.4", "1.1-2.5"]
    assert done.stderr == f"{journal}:7: the line is torn: the file ends in the middle of it\n"
    assert arena("replay", journal, "1.1-2.1", "--at", "0").exit_code == 0
    missing = arena("replay", journal, "1.1-3.1")
    assert missing.exit_code == 2
    assert "no round is called '1.1-3.1'" in missing.stderr
    assert f"{journal}:7: the line is torn" in missing.stderr


def test_a_foreign_file_gets_one_line(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary,\n" * 50)
    for arguments in ([], ["1.1-2.1"]):
        done = arena("replay", path, *arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        assert re.fullmatch(rf"Error: {path}: this is not a journal, but a text; expected .*\n", done.stderr)


def test_an_empty_file_gets_one_line(tmp_path: Path) -> None:
    path = tmp_path / "cup.jsonl"
    path.touch()
    done = arena("replay", path)
    assert (done.exit_code, done.stderr) == (2, f"Error: {path}: the journal is empty: nothing was played yet\n")


def test_a_journal_without_rounds_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "cup.jsonl")
    assert arena("replay", path).stdout == "No round was played yet.\n"
    assert arena("replay", path, "1.1-2.1").stderr == f"Error: {path}:1: the journal has no round yet\n"


def test_a_damaged_line_is_told_and_the_others_are_shown(tmp_path: Path) -> None:
    good, bad = golden_round("base"), encoded(golden_round("expert")).replace(b'"winner"', b'"wiener"')
    done = arena("replay", written(tmp_path / "cup.jsonl", b"{\n", bad, good))
    assert listed(done) == ["1.1-2.1"]
    assert [line.partition(": ")[0] for line in done.stderr.splitlines()] == [
        f"{tmp_path / 'cup.jsonl'}:2",
        f"{tmp_path / 'cup.jsonl'}:3",
    ]


def test_a_round_against_the_rules_says_where(tmp_path: Path) -> None:
    line = golden_round("base")
    moves = (*line.moves[:5], (line.moves[5][0], "play r1 9", 1), *line.moves[6:])
    done = arena("replay", written(tmp_path / "cup.jsonl", msgspec.structs.replace(line, moves=moves)), line.id)
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.match(rf"Error: {tmp_path}/cup.jsonl:2: round 1.1-2.1: move 6: seat \d, 'play r1 9': ", done.stderr)


def test_rounds_of_the_same_name_are_told_apart_by_their_line(tmp_path: Path) -> None:
    line = golden_round("base")
    other = encoded(TournamentLine(config=RecordedConfig(seed="y", deals=SCHEME), started="2026-02-01T12:00:00Z"))
    path = written(tmp_path / "cup.jsonl", line, other, msgspec.structs.replace(line, bots=("dan", "eve")))
    assert listed(arena("replay", path)) == ["1.1-2.1@2", "1.1-2.1@4"]
    assert "say which: 1.1-2.1@2, 1.1-2.1@4" in arena("replay", path, "1.1-2.1").stderr
    assert "dan - eve" in arena("replay", path, "1.1-2.1@4").stdout


def test_an_id_may_look_like_one_with_a_line(tmp_path: Path) -> None:
    path = written(tmp_path / "cup.jsonl", msgspec.structs.replace(golden_round("base"), id="night@5"))
    assert listed(arena("replay", path)) == ["night@5"]
    assert arena("replay", path, "night@5").exit_code == 0


def test_a_page_never_replaces_its_journal(journal: Path) -> None:
    before = journal.read_bytes()
    done = arena("replay", journal, "1.1-2.1", "--html", journal)
    assert (done.exit_code, journal.read_bytes()) == (2, before)
    assert "is the journal itself; name another file" in done.stderr


def test_a_tournament_that_comes_twice_counts_once(tmp_path: Path) -> None:
    path = written(tmp_path / "cup.jsonl", golden_round("base"))
    path.write_bytes(path.read_bytes() * 2)
    done = arena("replay", path)
    assert listed(done) == ["1.1-2.1"]
    assert done.stderr == f"{path}:3: this tournament was already read; its rounds are left out\n"
    assert arena("replay", path, "1.1-2.1", "--at", "1").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--longest", "1", "--closest", "1"], "choose one"),
        (["--bot", "zoe"], "no bot is called 'zoe'; there are: ann, ben, cy"),
        (["--rules", "poker"], "no round was played by 'poker'; there are: base, classic"),
        (["--all"], "are for one round"),
        (["1.1-2.1", "--faults"], "leave them out to show one round"),
        (["1.1-2.1", "--at", "500"], "--at 500, but the round has the positions 0 to 59"),
        (["1.1-2.1", "--all", "--json"], "--all prints every step as text"),
        (["1.1-2.1", "--seat", "zoe"], "--seat 'zoe', but expected 0 (ann) or 1 (ben)"),
        (["--lost-by", "an"], "no bot is called 'an'; there are: ann, ben, cy; did you mean ann?"),
        (["--won-by", "zoe"], "no bot is called 'zoe'"),
        (["--mistakes", "3"], "--mistakes lists the decisions of one bot; say which with --bot NAME, once"),
        (["--mistakes", "3", "--bot", "ann", "--bot", "ben"], "say which with --bot NAME, once"),
        (["--mistakes", "0", "--bot", "ann"], "0 is not in the range x>=1"),
        (["--mistakes", "3", "--bot", "an"], "no bot is called 'an'; there are: ann, ben, cy; did you mean ann?"),
        (["--mistakes", "3", "--bot", "ann", "--limit", "2"], "--mistakes N says how many decisions to list"),
        (["1.1-2.1", "--mistakes", "3"], "leave them out to show one round"),
        (["--evaluate"], "are for one round"),
        (["1.1-2.1", "--at", "3", "--position", "--evaluate"], "choose one"),
    ],
)
def test_wrong_calls_are_told_what_would_be_right(arguments: list[str], words: str, journal: Path) -> None:
    done = arena("replay", journal, *arguments)
    assert done.exit_code == 2
    assert words in done.stderr

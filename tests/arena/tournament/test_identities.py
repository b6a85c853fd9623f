"""Who played, from the files of real bots to the journal: changed between two runs, during a run, and not at all."""

import json
import sys
from pathlib import Path

import pytest

from arena.journal.identity import bot_line
from arena.journal.lines import BotLine, JournalLine, ResultLine, RoundLine, read
from arena.journal.verify import verify_journals
from arena.tournament.ledger import begin_unrecorded
from protocol.messages import PROTOCOL, BotHello
from tests.helpers.commands import arena
from tests.helpers.paths import STEADY_BOT
from tests.helpers.rounds import round_line
from tests.helpers.tournaments import anonymous, configured, steady

BOT = """
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
version = open(os.path.join(here, "version.txt")).read()
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        hello = {"type": "hello", "protocol": 1, "name": "first", "version": version, "author": "Ann"}
        print(json.dumps(hello), flush=True)
    elif message["type"] == "request":
        print(json.dumps({"type": "action", "id": message["id"], "move": message["legal"][0]}), flush=True)
    elif message["type"] == "round_end" and os.path.exists(os.path.join(here, "edit")):
        with open(__file__, "a") as file:
            file.write("#")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mybot.py").write_text(BOT)
    (tmp_path / "version.txt").write_text("1.0")
    return tmp_path


def words(folder: Path, *more: str, command: str = "run") -> list[str]:
    bots = [f"mine={sys.executable} {folder / 'mybot.py'}", steady("other")]
    return [command, *bots, "--rounds", "6", "--seed", "7", "--journal", str(folder / "cup.jsonl"), *more]


def identities(folder: Path, name: str = "mine") -> list[BotLine]:
    found = [entry.line for entry in read(folder / "cup.jsonl", JournalLine)]
    return [line for line in found if isinstance(line, BotLine) and line.name == name]


def players(folder: Path) -> list[str | None]:
    """Who played as `mine`, round by round."""
    found = [entry.line for entry in read(folder / "cup.jsonl", JournalLine)]
    return [line.players[line.bots.index("mine")] for line in found if isinstance(line, RoundLine) and line.players]


def cut(folder: Path, rounds: int) -> bytes:
    """Leaves this many rounds of the journal."""
    journal, kept, left = folder / "cup.jsonl", b"", rounds
    for line in journal.read_bytes().splitlines(keepends=True):
        left -= line.startswith(b'{"type":"round"')
        kept += line if left >= 0 else b""
    journal.write_bytes(kept)
    return kept


def test_a_player_is_recorded_once_and_each_round_refers_to_it(folder: Path) -> None:
    assert arena(*words(folder)).exit_code == 0
    (mine,) = identities(folder)
    assert (mine.version, mine.author, mine.calls_itself) == ("1.0", "Ann", "first")
    assert mine.fingerprint is not None
    assert str(folder / "mybot.py") in mine.fingerprint.files
    assert players(folder) == [mine.id] * 6
    assert verify_journals([folder / "cup.jsonl"]).problems == []


@pytest.mark.parametrize("command", ["run", "play"])
def test_a_changed_bot_is_refused_with_both_remedies_and_nothing_is_written(folder: Path, command: str) -> None:
    assert arena(*words(folder, command=command)).exit_code == 0
    before = cut(folder, 3)
    (then,) = identities(folder)
    (folder / "mybot.py").write_text(BOT + "# better\n")
    done = arena(*words(folder, command=command))
    assert done.exit_code == 2
    assert f"mine has changed since {then.started}: {folder / 'mybot.py'} is another file now (" in done.stderr
    assert "another journal (--journal FILE)" in done.stderr
    assert "--changed continue" in done.stderr
    assert (folder / "cup.jsonl").read_bytes() == before
    (folder / "mybot.py").write_text(BOT)  # as it was
    assert arena(*words(folder, command=command)).exit_code == 0


def test_the_organiser_can_go_on_and_the_rounds_are_told_apart(folder: Path) -> None:
    arena(*words(folder))
    cut(folder, 2)
    (folder / "mybot.py").write_text(BOT + "# better\n")
    (folder / "version.txt").write_text("1.1")
    done = arena(*words(folder, "--changed", "continue"))
    assert done.exit_code == 0
    assert "mine has changed: " in done.stderr
    assert "its version is '1.1', before '1.0'. From now on it is another version." in done.stderr
    assert "Versions that are rated together: mine (1.0 " in done.stdout
    one, two = identities(folder)
    assert players(folder) == [one.id] * 2 + [two.id] * 4
    assert verify_journals([folder / "cup.jsonl"]).problems == []
    table = arena("table", folder / "cup.jsonl", "--by", "version", "--format", "csv", "--columns", "Name,Rounds")
    assert sorted(table.stdout.splitlines()[1:]) == ["mine 1.0,2", "mine 1.1,4", "other,6"]
    cut(folder, 5)
    assert arena(*words(folder)).exit_code == 0  # both versions are known now


@pytest.mark.parametrize("command", ["run", "play"])
def test_a_finished_journal_shows_its_results_and_says_if_they_are_of_a_bot_as_it_was(
    folder: Path, command: str
) -> None:
    arena(*words(folder, command=command))
    same = arena(*words(folder, command=command))
    assert same.exit_code == 0
    assert "changed" not in same.output
    (folder / "mybot.py").write_text("gone")
    done = arena(*words(folder, command=command))
    assert (done.exit_code, done.stdout) == (0, same.stdout)
    assert "mine has changed since " in done.stderr
    assert "The results are those of the bot as it was." in done.stderr


def test_a_bot_that_changes_its_version_during_a_resumed_tournament_cannot_stop_it(folder: Path) -> None:
    grows = (
        BOT
        + """
    if message["type"] == "round_end" and os.path.exists(os.path.join(here, "grow")):
        with open(os.path.join(here, "version.txt"), "w") as file:
            file.write("2.0")
"""
    )
    (folder / "mybot.py").write_text(grows)
    arena(*words(folder, "--restart", "round"))
    cut(folder, 2)
    (folder / "grow").touch()
    done = arena(*words(folder, "--restart", "round"))
    assert done.exit_code == 0, done.output
    assert len(players(folder)) == 6
    assert [line.version for line in identities(folder)] == ["1.0", "2.0"]


def test_verify_finds_help_for_a_bot_that_the_arena_started(folder: Path) -> None:
    """Such rounds are not rated, so a loss could be erased by it."""
    arena(*words(folder))
    journal = folder / "cup.jsonl"
    helped = journal.read_bytes().replace(b'"type":"round",', b'"type":"round","assisted":{"seat":0,"taken_back":1},')
    journal.write_bytes(helped)
    problems = verify_journals([journal]).problems
    assert len(problems) == 6
    assert "had help, but" in problems[0].text


def test_a_bot_that_says_another_version_after_a_resume_is_refused_before_a_round_is_saved(folder: Path) -> None:
    """Its fingerprint is the same, because nothing says that version.txt belongs to it."""
    arena(*words(folder))
    cut(folder, 2)
    (folder / "version.txt").write_text("1.1")
    done = arena(*words(folder))
    assert done.exit_code == 1
    assert "its version is '1.1', before '1.0'" in done.stderr
    assert "--changed continue" in done.stderr
    assert len(players(folder)) == 2
    assert len(identities(folder)) == 1
    assert arena(*words(folder, "--changed", "continue")).exit_code == 0
    assert [line.version for line in identities(folder)] == ["1.0", "1.1"]


def test_the_option_makes_a_file_part_of_the_bot(folder: Path) -> None:
    more = ("--fingerprint", str(folder / "*.txt"))
    arena(*words(folder, *more))
    cut(folder, 2)
    (folder / "version.txt").write_text("1.1")
    done = arena(*words(folder, *more))
    assert done.exit_code == 2
    assert "version.txt is another file now" in done.stderr


def test_a_bot_that_changes_its_file_during_a_run_is_told_apart_where_it_starts_again(folder: Path) -> None:
    """No bot may stop a tournament: the run goes on."""
    (folder / "edit").touch()
    done = arena(*words(folder, "--restart", "round"))
    assert done.exit_code == 0
    assert done.stderr.count("mine has changed: ") == 5
    assert len(set(players(folder))) == len(identities(folder)) == 6
    assert verify_journals([folder / "cup.jsonl"]).problems == []


def test_a_bot_that_did_not_start_has_an_identity_and_one_that_was_withdrawn_has_none(folder: Path) -> None:
    (folder / "mybot.py").write_text("exit(3)")
    arena(*words(folder, "--max-faults", "2"))
    (mine,) = identities(folder)
    assert mine.version is None
    assert players(folder) == [mine.id] * 2 + [None] * 4
    cut(folder, 1)
    (folder / "mybot.py").write_text(BOT)
    assert "mine has changed since" in arena(*words(folder, "--max-faults", "2")).stderr


def test_a_journal_from_before_goes_on_and_says_that_it_does_not_know(folder: Path) -> None:
    arena(*words(folder))
    cut(folder, 2)
    anonymous(folder / "cup.jsonl")
    (folder / "mybot.py").write_text(BOT + "#")
    done = arena(*words(folder))
    assert done.exit_code == 0
    assert "of 2 rounds it is not known which versions of the bots played" in done.stderr
    assert len(players(folder)) == 4
    assert verify_journals([folder / "cup.jsonl"]).problems == []


def test_the_tournament_file_has_the_options_too(folder: Path) -> None:
    cup = folder / "cup.toml"
    cup.write_text(
        f'rounds = 2\nseed = "7"\nchanged = "continue"\n[each]\nfingerprint = ["version.txt"]\n[[bot]]\nname = "mine"\n'
        f'cmd = ["{sys.executable}", "mybot.py"]\n[[bot]]\nname = "other"\n'
        f'cmd = ["{sys.executable}", "{STEADY_BOT}", "other"]\n'
    )
    assert arena("run", cup).exit_code == 0
    (mine,) = identities(folder)
    assert mine.fingerprint is not None
    assert set(mine.fingerprint.files) == {sys.executable, "mybot.py", "version.txt"}
    wrong = arena("run", cup, "--changed", "perhaps")
    assert (wrong.exit_code, "refuse or continue" in wrong.stderr) == (2, True)


def test_programs_hear_of_players_as_events(folder: Path) -> None:
    done = arena(*words(folder, "--events"))
    events = [json.loads(line) for line in done.stdout.splitlines()]
    mine, _ = (event for event in events if event["event"] == "bot")
    assert (mine["bot"], mine["version"], mine["author"], mine["changes"]) == ("mine", "1.0", "Ann", [])
    kinds = [event["event"] for event in events]
    assert kinds.index("bot") < kinds.index("finished")


def test_a_program_that_changes_during_a_test_ends_it_and_nothing_of_the_other_version_counts(folder: Path) -> None:
    (folder / "edit").touch()  # it edits itself after its first round
    journal, program = folder / "test.jsonl", folder / "mybot.py"
    test = ["sprt", f"mine={sys.executable} {program}", steady("other"), "--seed", "7", "--restart", "match"]
    test += ["--journal", str(journal), "--concurrency", "1", "--elo0", "-200", "--elo1", "200"]
    done = arena(*test, "--json")
    assert done.exit_code == 3, done.output
    changed = f"mine changed during the test: {program} is another file now ("
    assert changed in done.stderr
    assert "Restore it and resume, or test the new version with another journal (--journal FILE)." in done.stderr
    found = json.loads(done.stdout)
    assert (found["verdict"], found["pairs"], found["changed"].startswith(changed)) == ("undecided", 1, True)
    lines = [entry.line for entry in read(journal, JournalLine)]
    one, _ = (line for line in lines if isinstance(line, BotLine) and line.name == "mine")
    assert [line.players and line.players[0] for line in lines if isinstance(line, RoundLine)] == [one.id] * 2
    assert verify_journals([journal]).problems == []
    again = arena("table", journal, "--sprt")
    assert again.exit_code == 3
    assert f"the test is not over. {changed}" in again.stdout
    refused = arena(*test)
    assert refused.exit_code == 2
    assert f"mine has changed since {one.started}" in refused.stderr
    (folder / "edit").unlink()
    program.write_text(BOT)  # as it was
    resumed = arena(*test)
    assert resumed.exit_code in (0, 1), resumed.output


def test_verify_counts_no_points_of_rounds_that_are_not_rated_and_the_list_marks_them(folder: Path) -> None:
    arena(*words(folder))
    journal = folder / "cup.jsonl"
    first, second = b'"id":"1.1-2.1",', b'"assisted":{"seat":0,"taken_back":1},'
    rated = verify_journals([journal]).points
    journal.write_bytes(
        journal.read_bytes().replace(b'"type":"round","v":1,' + first, b'"type":"round","v":1,' + second + first)
    )
    (line,) = [
        each
        for each in (entry.line for entry in read(journal, JournalLine))
        if isinstance(each, RoundLine) and each.assisted
    ]
    report = verify_journals([journal])
    assert report.not_rated == 1
    points = dict(zip(line.bots, line.result.points, strict=True))
    assert report.points == {name: rated[name] - points[name] for name in rated}
    assert "Rounds in which a person had help, and which are not rated: 1" in arena("verify", journal).stdout
    listed = arena("replay", journal).stdout.splitlines()
    assert ["(not rated)" in row for row in listed[2:]] == [True] + [False] * 5
    rows = json.loads(arena("replay", journal, "--json").stdout)
    assert [row["rated"] for row in rows] == [False] + [True] * 5


def test_replay_and_regress_say_which_versions_played(folder: Path) -> None:
    arena(*words(folder))
    (mine,) = identities(folder)
    assert mine.fingerprint is not None
    version = f"1.0 {mine.fingerprint.short}"
    assert mine.short == version
    journal = folder / "cup.jsonl"
    shown = arena("replay", journal, "1.1-2.1")
    assert f"Versions: mine {version}, other " in shown.stdout
    assert json.loads(arena("replay", journal, "1.1-2.1", "--json").stdout)["versions"][0] == version
    asked = arena("regress", journal, f"mine={sys.executable} {folder / 'mybot.py'}", "--limit", "1")
    assert f" of mine ({version}) in 1 round differs." in asked.stdout


def test_a_bot_that_says_another_version_each_time_takes_bounded_memory() -> None:
    state = begin_unrecorded(configured(steady("anna"), steady("b"), journal=None))[1].state
    lines = [bot_line("anna", BotHello(PROTOCOL, "anna", f"{n}"), None, "2026-01-31T12:00:00Z") for n in range(300)]
    for line in lines:
        state.add(line)
    assert state.players.of("anna") == tuple(lines[200:])


def played_by(player: BotLine) -> RoundLine:
    result = ResultLine(winner=0, ending="three-adjacent", points=(1, 0), owners=())
    return round_line("1.1-2.1", result, bots=("anna", "b"), players=(player.id, None))


def test_a_bot_that_says_a_forgotten_version_again_cannot_stop_a_tournament() -> None:
    identities = begin_unrecorded(configured(steady("anna"), steady("b"), journal=None))[1].identities
    lines = [bot_line("anna", BotHello(PROTOCOL, "anna", f"{n}"), None, "2026-01-31T12:00:00Z") for n in range(300)]
    written = []
    for line in (*lines, lines[0]):
        if line not in written:  # a match reports each identity once
            identities.report(line)
        written += [event.line for event in identities.before(played_by(line))]
    identities.report(lines[0])  # by another match
    written += [event.line for event in identities.before(played_by(lines[0]))]
    assert written == [*lines, lines[0]]

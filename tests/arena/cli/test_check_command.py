"""`arena check` as a command: what it prints, where its files are, and the bots of a tournament file side by side."""

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from arena.cli.main import main
from arena.plan.time_control import TimeLimits
from tests.helpers.processes import bad_command
from tests.helpers.pty_session import arena_in_terminal

CRASHES = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"x"}', flush=True)
    elif message["type"] == "request":
        {}["stone"]
"""
CUP = f"""\
rounds = 2

[each]
st = 3.0

[[bot]]
name = "good"
cmd = "{bad_command("none")}"

[[bot]]
name = "crashes"
cmd = ["{sys.executable}", "crashes.py"]

[[bot]]
name = "absent"
cmd = "./absent"

[[bot]]
name = "gone"
cmd = "no-such-interpreter gone.py"

[[bot]]
name = "moved"
dir = "elsewhere"
cmd = "python3 moved.py"
"""


def arena(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments])


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    (tmp_path / "crashes.py").write_text(CRASHES)
    path = tmp_path / "cup.toml"
    path.write_text(CUP)
    return path


def test_a_failure_shows_the_traceback_first_and_the_transcript_is_in_a_file(cup: Path) -> None:
    found = arena(f"{sys.executable} {cup.parent / 'crashes.py'}")
    assert found.exit_code == 1
    text = found.stdout
    assert text.index("KeyError: 'stone'") < text.index("the last lines exchanged")
    assert text.count("KeyError: 'stone'") == 1  # later failures in the same way refer to the first
    assert "FAIL  unknown-fields        as in right-id\n" in text
    exchanged = [line for line in text.splitlines() if line.startswith("      > ")]
    assert exchanged
    assert max(map(len, exchanged)) < 120
    path = Path(re.findall(r"The lines exchanged before each failure are in (\S+)\.\n", found.stderr)[0])
    kept = path.read_text()
    assert kept.count("\n# ") == 2  # a heading for each of three failures
    assert '> {"type":"request","id":1001,' in kept
    path.unlink()
    path.parent.rmdir()


def test_the_transcript_goes_where_the_author_wants_it(cup: Path) -> None:
    wanted = cup.parent / "exchanged.txt"
    found = arena(f"{sys.executable} {cup.parent / 'crashes.py'}", "--transcript", str(wanted), "--json")
    assert f"are in {wanted}." in found.stderr
    assert "KeyError" in wanted.read_text()
    assert all("transcript" not in check for check in json.loads(found.stdout)["checks"])


def test_a_bot_that_passes_leaves_no_file_and_its_limits_are_those_of_a_match(tmp_path: Path) -> None:
    wanted = tmp_path / "exchanged.txt"
    found = arena(bad_command("none"), "--rounds", "4", "--transcript", str(wanted))
    assert (found.exit_code, wanted.read_text()) == (0, "")
    assert "The lines exchanged" not in found.stderr
    lines = {line.split()[1]: line for line in found.stdout.splitlines() if line.startswith("ok")}
    assert lines["start"].endswith(f" ms of {TimeLimits().start_ms} ms")
    assert f" ms of {TimeLimits().move_ms} ms, over " in lines["speed-worst"]


def test_the_bots_of_a_tournament_file_are_checked_side_by_side_and_all_missing_ones_are_named(cup: Path) -> None:
    found = arena(str(cup), "--rounds", "4", "--junit", str(cup.parent / "junit.xml"))
    assert found.exit_code == 1
    assert f"{cup}:14: absent is missing: there is no program './absent'" in found.stderr
    assert f"{cup}:18: gone is missing: there is no program 'no-such-interpreter'" in found.stderr
    assert f"{cup}:22: moved is missing: there is no folder '{cup.parent / 'elsewhere'}'" in found.stderr
    assert "Checking 5 bots: up to about " in found.stderr
    rows = [line.split() for line in found.stdout.splitlines()[2:7]]
    assert [(row[0], " ".join(row[1:-4])) for row in rows] == [
        ("good", "fit"),
        ("crashes", "NOT fit"),
        ("absent", "NOT fit"),
        ("gone", "NOT fit"),
        ("moved", "NOT fit"),
    ]
    assert "KeyError: 'stone'" in found.stdout
    suites = ElementTree.parse(cup.parent / "junit.xml").getroot()
    assert [suite.attrib["name"] for suite in suites] == [f"arena check {row[0]}" for row in rows]
    assert int(suites[0].attrib["failures"]) == 0 < int(suites[1].attrib["failures"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothere"], "'nothere': there is no program 'nothere'"),
        (["gredy"], "'gredy': there is no program 'gredy'; did you mean greedy?"),
        (["python3 nothere.py", "--json"], "'python3 nothere.py': there is no file 'nothere.py'"),
        (["random", "--memory", "512"], "--memory: memory = '512', but expected 1M or more; 512 bytes? write 512M"),
    ],
)
def test_a_bot_that_cannot_be_started_is_one_sentence(arguments: list[str], sentence: str) -> None:
    found = arena(*arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr == f"Error: {sentence}\n"


def test_the_limits_of_a_tournament_file_hold(cup: Path) -> None:
    found = arena(str(cup), "--rounds", "4", "--json")
    good = json.loads(found.stdout)["bots"][0]
    assert good["passed"]
    assert " ms of 3000 ms, over " in {check["code"]: check for check in good["checks"]}["speed-worst"]["message"]


def test_bots_of_a_file_that_connect_are_named_and_left_out(tmp_path: Path) -> None:
    token = "sha256:1ec1c26b50d5d3c58d9583181af8076655fe00756bf7285940ba3670f99fcba0"
    path = tmp_path / "league.toml"
    path.write_text(f'[[bot]]\nname = "anna"\ntoken = "{token}"\n[[bot]]\ncmd = "random"\n')
    found = arena(str(path), "--rounds", "4")
    assert found.exit_code == 0
    assert "anna connects: check it with --listen\n" in found.stderr
    path.write_text(f'[[bot]]\nname = "anna"\ntoken = "{token}"\n')
    refused = arena(str(path))
    assert refused.exit_code == 2
    assert "all of its bots connect; check each of them with --listen" in refused.output


@pytest.mark.parametrize("budget", ["0", "0.5s", "-1s", "soon", "60 s", "5d", ""])
def test_a_budget_that_is_no_time_is_refused(budget: str) -> None:
    refused = arena("random", "--budget", budget)
    assert refused.exit_code == 2
    assert f"{budget!r} is not a time of a second or more, such as 60s or 5m" in refused.output


def test_on_a_terminal_a_bar_shows_which_check_is_being_made(tmp_path: Path) -> None:
    with arena_in_terminal(["check", bad_command("always-slow"), "--budget", "2s", "--move-ms", "900"], tmp_path) as it:
        it.wait_for("/18")
        assert it.wait_for_status() == 0
    assert b"up to about 2 s (--budget)" in it.raw
    assert "/18" not in it.text  # the bar is gone
    assert [line for line in it.lines if line.startswith("ok    rules-")]


def test_ctrl_c_removes_the_bar_before_the_last_word(tmp_path: Path) -> None:
    with arena_in_terminal(["check", bad_command("always-slow"), "--budget", "60s"], tmp_path) as it:
        it.wait_for("/18")
        it.press("\x03")
        assert it.wait_for_status() == 130
    assert "Stopped." in it.lines
    assert "/18" not in it.text


def test_the_bar_of_each_bot_of_a_file_is_full_when_its_checks_are_made(cup: Path) -> None:
    cup.write_text('[[bot]]\nname = "absent"\ncmd = "./absent"\n[[bot]]\nname = "gone"\ncmd = "./gone"\n')
    with arena_in_terminal(["check", str(cup)], cup.parent) as it:
        assert it.wait_for_status() == 1
    for name in (b"absent", b"gone"):
        assert re.search(name + rb": [^/\n]* 18/18", re.sub(rb"\x1b\[[0-9;]*m", b"", it.raw))

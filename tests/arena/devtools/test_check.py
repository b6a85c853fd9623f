"""The conformance checker against real bots, good and bad."""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import attrs
import pytest
import trio
from click.testing import CliRunner, Result

from arena.cli.main import main
from arena.devtools.bot_sources import CommandSource, ListeningSource
from arena.devtools.check import examine
from arena.devtools.check_report import CheckedBot, as_junit
from arena.devtools.examination import CheckFinding, CheckVerdict
from arena.devtools.probe import CheckLimits
from arena.plan.bot_spec import BotSpec
from tests.helpers.paths import STEADY_BOT
from tests.helpers.processes import bad_bot, bad_command

QUICK = CheckLimits(start_ms=1500, move_ms=400, leave_ms=800, patience_ms=1500)


async def examined(spec: BotSpec, limits: CheckLimits = QUICK, rounds: int = 6) -> dict[str, CheckFinding]:
    findings = await examine(CommandSource(spec), limits, rounds)
    return {finding.code: finding for finding in findings}


def failed(findings: dict[str, CheckFinding]) -> list[str]:
    return [code for code, finding in findings.items() if finding.verdict is CheckVerdict.FAILED]


async def test_a_good_bot_passes_every_check() -> None:
    findings = await examined(bad_bot("none"), CheckLimits())
    assert {finding.verdict for finding in findings.values()} == {CheckVerdict.OK}
    assert list(findings) == [
        "start", "hello", "right-id", "unknown-fields", "unknown-types", "early-end", "second-match", "rules-base",
        "rules-expert", "rules-tactics", "rules-tactics-expert", "rules-classic", "memory", "bye", "end-of-input",
        "notes", "speed-p99", "speed-worst",
    ]  # fmt: skip


async def test_each_check_gives_the_bot_the_same_seeds(tmp_path: Path) -> None:
    heard = []
    for name in ("one", "two"):
        command = (sys.executable, str(STEADY_BOT), "a", f"log={tmp_path / name}")
        await examined(BotSpec("a", command), CheckLimits(), rounds=2)
        lines = map(json.loads, (tmp_path / name).read_text().splitlines())
        heard.append([line["seed"] for line in lines if line["type"] in ("welcome", "round_start")])
    assert heard[0] == heard[1]
    assert len(set(heard[0])) > 10


async def test_notes_that_will_be_cut_are_a_warning() -> None:
    notes = (await examined(bad_bot("long-notes")))["notes"]
    assert notes.verdict is CheckVerdict.WARNING
    assert "its longest note had 3000 characters" in notes.message
    assert "the journal keeps 500 characters of a note and 10000 of a bot's notes in a round" in notes.message


@pytest.mark.parametrize(
    ("way", "code", "message"),
    [
        ("crash-at-start", "start", "the bot ended (exit status 1); on stderr it wrote:\nno licence file"),
        ("slow-start", "start", "nothing arrived within 1.5 seconds"),
        ("silent", "start", "nothing arrived within 1.5 seconds"),
        ("unflushed", "start", "its output is buffered. Flush after every line: print(..., flush=True) in Python"),
        ("old-protocol", "hello", "protocol 2 is not supported; it has to be 1 (wrong-protocol)"),
        ("crash", "right-id", "the bot ended (exit status 3); on stderr it wrote:\nI am leaving"),
        ("exit-0", "right-id", "the bot ended (exit status 0)"),
        ("hang", "right-id", "nothing arrived within 1.5 seconds"),
        ("garbage", "right-id", "the line is not UTF-8: invalid start byte at byte 0 (bad-utf8)"),
        ("half-line", "right-id", "12 bytes arrived, but no newline: "),
        ("illegal", "right-id", "an illegal move: "),
        ("no-action", "right-id", "an illegal move: 'resign' is not an action"),
        ("wrong-type", "right-id", "Expected `int`, got `str` - at `$.id`; 'action' looks like"),
        ("future-id", "right-id", "an answer to request 5006, but the latest request was 5005 (unknown-id)"),
        ("old-id", "right-id", "the bot answered an older one: < "),
        ("twice", "right-id", "a second answer to request 5005 (second-answer)"),
        ("chatter", "right-id", "the line is not JSON"),
        ("flood-stdout", "right-id", "a line is longer than 65536 bytes"),
        ("close-input", "right-id", "the bot closed its output but still runs"),
        ("strict", "unknown-types", "the bot ended (exit status 1); on stderr it wrote:\nunknown type weather"),
        ("leak", "memory", "the bot keeps growing: "),
        ("stays", "bye", "still there 800 ms after the server said bye; a bot must end by itself then"),
        ("stays", "end-of-input", "still there 800 ms after its input ended"),
        ("late", "speed-worst", " of 400 ms, over "),
        ("no-newline", "right-id", "38 bytes arrived, but no newline: "),
        ("hello-without-newline", "start", "40 bytes arrived, but no newline: "),
        ("twice-later", "right-id", "answer"),
        ("never-reads", "right-id", "nothing arrived within 1.5 seconds"),
    ],
)
async def test_a_bad_bot_is_told_what_is_wrong(way: str, code: str, message: str) -> None:
    # Only what a bot does not do ends by a short limit; whatever it does may take long on a busy machine.
    limits = attrs.evolve(QUICK, start_ms=QUICK.start_ms if code == "start" else 60_000)
    limits = attrs.evolve(limits, patience_ms=60_000) if way == "late" else limits
    findings = await examined(bad_bot(way), limits, rounds=40 if way == "leak" else 2)
    assert code in failed(findings)
    assert message in findings[code].message
    if way not in ("leak", "stays"):
        assert findings[code].lines
        assert any(line.startswith("> ") for line in findings[code].lines)


@pytest.mark.parametrize(
    ("way", "code"),
    [
        ("dies-at-unknown-field", "unknown-fields"),
        ("strict", "unknown-types"),
        ("dies-at-early-end", "early-end"),
        ("slow-now-and-then", "speed-p99"),
    ],
)
async def test_each_check_finds_its_own_kind_of_fault(way: str, code: str) -> None:
    limits = CheckLimits(start_ms=5000, move_ms=300, leave_ms=2000, patience_ms=3000)
    findings = await examined(bad_bot(way), limits, rounds=4)
    assert failed(findings)[:1] == [code]
    assert set(failed(findings)) <= {code, "speed-worst"}


async def test_a_bot_that_is_late_again_and_again_is_not_waited_for_all_day() -> None:
    limits = CheckLimits(start_ms=5000, move_ms=1, leave_ms=2000, patience_ms=3000)
    findings = await examined(bad_bot("always-slow"), limits, rounds=4)
    first = findings[failed(findings)[0]]  # a short round has fewer answers
    assert "21 answers took longer than 1 ms, the slowest " in first.message


async def test_a_bot_that_plays_one_match_only_fails_from_the_second_on() -> None:
    findings = await examined(bad_bot("dies-at-second-match"), rounds=4)
    assert findings["right-id"].verdict is CheckVerdict.OK
    assert "I have played already" in findings["unknown-fields"].message


async def test_illegal_moves_are_found_in_the_rule_set_where_they_happen() -> None:
    findings = await examined(bad_bot("illegal-in-tactics"), rounds=4)
    assert failed(findings)[:2] == ["rules-tactics", "rules-tactics-expert"]
    assert findings["rules-base"].verdict is CheckVerdict.OK


async def test_an_exit_status_is_a_warning_and_the_checks_go_on() -> None:
    findings = await examined(bad_bot("exits-1-at-bye"), rounds=4)
    assert failed(findings) == []
    for code in ("bye", "end-of-input"):
        assert findings[code].verdict is CheckVerdict.WARNING
        assert "but with exit status 1; the exit status should be 0" in findings[code].message
    assert findings["speed-worst"].verdict is CheckVerdict.OK


async def test_after_three_failures_in_a_row_the_rest_is_skipped_and_said_to_be() -> None:
    findings = await examined(bad_bot("crash"), rounds=4)
    assert failed(findings) == ["right-id", "unknown-fields", "unknown-types"]
    assert findings["end-of-input"].verdict is CheckVerdict.SKIPPED
    assert findings["end-of-input"].message == "not made after 3 failures in a row"
    assert len(findings) == 18


async def test_a_bot_that_wants_no_legal_moves_gets_none() -> None:
    code = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'hello':\n"
        '        print(\'{"type":"hello","protocol":1,"name":"x","legal":false}\', flush=True)\n'
        "    elif message['type'] == 'request':\n"
        "        sys.exit('legal' if 'legal' in message else 'none')\n"
    )
    findings = await examined(BotSpec("x", (sys.executable, "-c", code)), rounds=4)
    assert findings["right-id"].message.endswith("on stderr it wrote:\nnone")


async def test_after_a_failure_the_other_checks_are_made_with_a_new_process() -> None:
    findings = await examined(bad_bot("strict"), rounds=2)
    assert failed(findings) == ["unknown-types"]
    assert findings["end-of-input"].verdict is CheckVerdict.OK


async def test_a_program_that_cannot_be_started_fails_the_first_check() -> None:
    findings = await examined(BotSpec("x", ("./no-such-bot",)))
    assert failed(findings) == ["start"]
    assert findings["hello"].message == "not made: the bot did not start and say hello"
    assert findings["start"].message == "cannot start './no-such-bot': No such file or directory"


async def test_a_bot_that_connects_over_tcp_is_checked_on_its_one_connection() -> None:
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    host, port = listener.socket.getsockname()
    code = (
        "from protocol.bot_runner import run\n"
        f"run(lambda request: request.legal[-1], name='tcp', connect='{host}:{port}', token='secret')\n"
    )
    findings: list[CheckFinding] = []
    told: list[str] = []
    async with trio.open_nursery() as nursery, listener:
        nursery.start_soon(lambda: trio.run_process([sys.executable, "-c", code]))
        findings += await examine(ListeningSource(listener, 0.2, told.append), QUICK, 4)
    verdicts = {finding.code: finding.verdict for finding in findings}
    assert verdicts.pop("memory") is CheckVerdict.SKIPPED  # not our process
    assert verdicts.pop("end-of-input") is CheckVerdict.SKIPPED  # it left at bye and does not come back
    assert told == ["Start the bot again now: it has 0.2 seconds to connect."]
    assert set(verdicts.values()) == {CheckVerdict.OK}
    assert len(verdicts) == 16


def arena(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments])


def test_the_exit_status_and_the_last_line_say_whether_the_bot_is_fit() -> None:
    good = arena(bad_command("none"), "--rounds", "2")
    assert good.exit_code == 0
    assert good.stdout.splitlines()[-1].endswith("fit to play (18 ok)")
    bad = arena(bad_command("crash-at-start"))
    assert bad.exit_code == 1
    assert bad.stdout.splitlines()[-1].endswith("NOT fit to play (1 failed, 17 skipped)")
    assert sum(line.startswith("skip ") for line in bad.stdout.splitlines()) == 17


def test_findings_as_json_and_as_junit(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    result = arena(bad_command("garbage"), "--json", "--junit", str(report), "--rounds", "2")
    found = json.loads(result.stdout)
    assert (found["passed"], result.exit_code) == (False, 1)
    assert [check["code"] for check in found["checks"] if check["verdict"] == "failed"] == failed_codes(report)
    assert "\\xff\\xfe\x00 garbage" in found["checks"][2]["lines"][-2]


def failed_codes(report: Path) -> list[str]:
    suite = ElementTree.parse(report).getroot()
    cases = suite.findall("testcase")
    assert int(suite.attrib["tests"]) == len(cases)
    return [case.attrib["name"] for case in cases if case.find("failure") is not None]


def test_junit_holds_whatever_a_bot_may_write() -> None:
    finding = CheckFinding("hello", "says hello", CheckVerdict.FAILED, "\x00\x1b[31m <b>&\ud800", ("< \x07",))
    junit = as_junit([CheckedBot("<x>\x00", [finding])])
    assert "<failure" in junit
    ElementTree.fromstring(junit.encode())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], 'Name a bot to start, such as "python3 mybot.py", or an address for --listen.'),
        (["x", "--listen", "127.0.0.1:1"], "Name a bot to start"),
        (["--listen", "nowhere"], "'nowhere' is not an address; it looks like 127.0.0.1:4000"),
        (["'open"], "is not a command line: No closing quotation"),
        (["random", "--start-ms", "-1"], "-1 is not in the range x>=1"),
        (["random", "--junit", "/nowhere/x.xml"], "No such file or directory"),
    ],
)
def test_a_wrong_call_is_told_what_would_be_right(arguments: list[str], problem: str) -> None:
    result = arena(*arguments)
    assert result.exit_code == 2
    assert problem in result.output

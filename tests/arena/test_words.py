"""No behaviour hangs on words: texts of faults, errors and farewells become nonsense, and all else stays as it was.

Texts are for people. What a program decides by is a field, a type or a code.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from arena.cli.tournament_progress import lines_of_rounds
from arena.client.bridge import stay_connected
from arena.client.dial import ConnectError, Destination
from arena.client.tally import Tally
from arena.devtools.examination import Examination
from arena.devtools.probe import MisbehaviourError
from arena.devtools.regress import RepeatedDecision
from arena.devtools.regress_report import Findings, text
from arena.journal.endings import Fault
from arena.journal.lines import Journal, RoundLine, VoidLine, encoded, is_forfeit
from arena.journal.verify import verify_journals
from arena.match.led_round import LedAnswer, LedFault
from arena.plan.bot_spec import parse_bot
from arena.plan.config import Config, ConfigError, from_command_line
from arena.plan.time_control import ClockError
from arena.stats.standings import Standings, fold
from arena.tournament.ledger import read_past
from arena.tournament.tournament_events import RoundFinished
from engine.errors import NotationError
from engine.ruleset import RULE_SETS, RuleSet
from protocol import messages
from protocol.decoding import LineDecoder
from protocol.errors import RemoteProtocolError
from protocol.messages import BotMessage, Bye, Error, ServerHello, Welcome, encode
from tests.helpers.commands import arena
from tests.helpers.processes import bad_command
from tests.helpers.tournaments import configured, essence, played, rounds_in, steady

NONSENSE = "qwertz: not made; withdrawn after; there are: matching regex"
Line = dict[str, Any]


# Journals


def cup(journal: Path) -> Config:
    """Two bots that crash until they are withdrawn, and then meet each other as well."""
    bots = (f"bad={bad_command('crash')}", steady("a"), f"worse={bad_command('crash')}")
    return configured(*bots, journal=journal, rounds="4", cycles="2", max_faults="2", concurrency="1")


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    """A tournament whose last round is void."""
    journal = tmp_path_factory.mktemp("cup") / "cup.jsonl"
    last = played(cup(journal))[-1]
    void = VoidLine(
        id=last.id, match=last.match, round=last.round, bots=last.bots, reason="the arena failed", started="", excused=1
    )
    found = [json.loads(line) for line in [*journal.read_bytes().splitlines()[:-1], encoded(void)]]
    assert any("other_detail" in line.get("fault", {}) for line in found)
    return found


def with_nonsense(value: Any) -> Any:
    """The same, but that every text that says what happened is nonsense."""
    if isinstance(value, list):
        return [with_nonsense(each) for each in value]
    if not isinstance(value, dict):
        return value
    words = ("detail", "other_detail", "reason")
    return {key: NONSENSE if key in words else with_nonsense(each) for key, each in value.items()}


@pytest.fixture(params=[NONSENSE, ""], ids=["nonsense", "nothing"])
def journals(
    request: pytest.FixtureRequest, lines: list[Line], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path]:
    """As it was written, and with nonsense, or nothing at all, for words."""
    monkeypatch.setattr("tests.arena.test_words.NONSENSE", request.param)
    return written(tmp_path / "then", lines), written(tmp_path / "now", with_nonsense(lines))


def written(folder: Path, lines: list[Line]) -> Path:
    folder.mkdir()
    path = folder / "cup.jsonl"
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    return path


def counts(standings: Standings) -> tuple[object, ...]:
    return (
        standings.totals(),
        standings.forfeits,
        standings.excused,
        standings.versus(),
        standings.matchups(),
        standings.missing_rounds,
        standings.unfinished_matches,
    )


def test_standings_and_tables_stay_the_same(journals: tuple[Path, Path]) -> None:
    then, now = (counts(fold([journal])[0]) for journal in journals)
    assert then == now
    forfeits = fold([journals[1]])[0].forfeits
    assert forfeits["bad"] > 0
    assert forfeits["worse"] > 0
    for options in ((), ("--cross",), ("--format", "csv"), ("--format", "json"), ("--format", "markdown")):
        before, after = (arena("table", journal, *options) for journal in journals)
        assert before.exit_code == after.exit_code == 0
        assert before.output == after.output.replace(str(journals[1]), str(journals[0]))


def test_rounds_are_listed_and_verified_as_before(journals: tuple[Path, Path]) -> None:
    for words in (("verify",), ("replay",), ("replay", "--faults")):
        before, after = (arena(words[0], journal, *words[1:]) for journal in journals)
        assert before.exit_code == after.exit_code == 0
        assert before.output == after.output.replace(str(journals[1]), str(journals[0]))


def test_a_resume_knows_the_same_and_plays_the_same(journals: tuple[Path, Path]) -> None:
    known = []
    for path in journals:
        with Journal(path) as journal:
            ledger = read_past(journal).ledger
        assert ledger is not None
        state = ledger.state
        known.append(
            (ledger.withdrawn, ledger.faults_in_a_row, state.finished, ledger.scores, state.voids, state.excused)
        )
    assert known[0] == known[1]
    assert set(known[1][0]) == {"bad", "worse"}
    then, now = (essence(played(cup(path))) for path in journals)
    assert then == now
    assert verify_journals([journals[1]]).problems == []


def test_the_lines_of_forfeited_rounds_are_not_printed(journals: tuple[Path, Path]) -> None:
    for path in journals:
        said: list[str] = []
        listener = lines_of_rounds(said.append)
        rounds = rounds_in(path)
        for line in rounds:
            listener.heard(RoundFinished(line))
        assert sum(line.startswith("Finished") for line in said) == sum(not is_forfeit(line) for line in rounds)
        assert any(map(is_forfeit, rounds))


# Options and messages


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [("rules", "basic", ", ".join(RULE_SETS)), ("tc", "40/60", "such as 10+0.1")],
)
def test_what_an_option_expects_is_not_cut_out_of_another_text(
    option: str, value: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named(_name: str) -> RuleSet:
        raise NotationError(NONSENSE)

    monkeypatch.setattr(RuleSet, "named", staticmethod(named))
    monkeypatch.setattr(ClockError, "__str__", lambda _error: NONSENSE)
    with pytest.raises(ConfigError) as caught:
        from_command_line(["greedy", "random"], [], {option: value})
    assert str(caught.value).startswith(f"--{option}: {option} = {value!r}, but expected ")
    assert expected in str(caught.value)
    assert NONSENSE not in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"hello","protocol":1,"name":"two  spaces"}',
        b'{"type":"hello","protocol":1,"name":7}',
        b'{"type":"action","id":"x","move":"pass"}',
        b'{"type":"weather"}',
        b"[]",
    ],
)
def test_a_wrong_line_is_judged_alike_whatever_the_decoder_says(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    class Decoder:
        def __init__(self, _union: object):
            pass

        def decode(self, _line: bytes) -> None:
            raise msgspec.ValidationError(NONSENSE)

    with pytest.raises(RemoteProtocolError) as then:
        LineDecoder(BotMessage, {}).decode(line)
    monkeypatch.setattr("msgspec.json.Decoder", Decoder)
    with pytest.raises(RemoteProtocolError) as now:
        LineDecoder(BotMessage, {}).decode(line)
    assert then.value.code == now.value.code
    assert ("A name is" in str(then.value)) == ("A name is" in str(now.value))


# The checker and regress


def listed(output: str) -> list[list[str]]:
    """Mark and code of each check that was told."""
    return [line.split()[:2] for line in output.splitlines() if line[:6].strip() in ("ok", "warn", "FAIL", "skip")]


def test_the_checker_lists_the_checks_that_it_made(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("check", bad_command("crash"), "--rounds", "4")
    then = arena(*words)
    reason_to_skip = Examination.reason_to_skip
    monkeypatch.setattr(Examination, "reason_to_skip", lambda exam: reason_to_skip(exam) and "qwertz")
    monkeypatch.setattr(MisbehaviourError, "__str__", lambda _error: NONSENSE)
    now = arena(*words)
    assert listed(then.output) == listed(now.output)
    assert ["FAIL", "right-id"] in listed(now.output)
    assert len([code for mark, code in listed(now.output) if mark != "skip"]) < 18  # the others were not made
    assert len(listed(now.output)) == 18
    assert then.stdout.splitlines()[-1] == now.stdout.splitlines()[-1]
    assert then.exit_code == now.exit_code == 1


@pytest.mark.parametrize("details", [("late", "late"), (NONSENSE, ""), ("a: b", "c: d")])
def test_regress_compares_endings_and_not_details(details: tuple[str, str]) -> None:
    faults = (LedFault(Fault.TIMEOUT, each) for each in details)
    first, second = (RepeatedDecision("1.1-2.1", LedAnswer(4, "play", "pass", None, None, fault)) for fault in faults)
    findings = Findings("cup.jsonl", "a", "a", [first], [second])
    assert findings.unsteady == 0
    assert "timeout  timeout" in text(findings)


# Farewells


class Script:
    """A server that says these messages on its connections, one list for each, after its hello and the bot's."""

    def __init__(self, *connections: list[messages.ServerMessage]):
        self._connections = iter(connections)
        self.left = len(connections)

    async def serve(self, stream: trio.SocketStream) -> None:
        said = next(self._connections)
        self.left -= 1
        await stream.send_all(encode(ServerHello(1, "test")))
        await stream.receive_some()
        await stream.send_all(b"".join(map(encode, said)))
        await stream.send_eof()
        while await stream.receive_some():
            pass


async def connected_to(script: Script) -> None:
    async with trio.open_nursery() as nursery:
        listener = (await nursery.start(partial(trio.serve_tcp, script.serve, 0, host="127.0.0.1")))[0]
        server = Destination(f"127.0.0.1:{listener.socket.getsockname()[1]}")
        await stay_connected(server, parse_bot("random"), lambda _event: None, Tally())
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("words", [NONSENSE, "", "welcome, connect again"])
async def test_a_bot_stays_or_leaves_by_the_fields_of_a_farewell(words: str) -> None:
    full = Error("full", words, fatal=True)
    script = Script([full, Bye(words, again=True)], [Welcome("random"), Bye(words)])
    await connected_to(script)
    assert script.left == 0
    with pytest.raises(ExceptionGroup) as caught:
        await connected_to(Script([full, Bye(words)]))
    assert caught.group_contains(ConnectError)


def test_nonsense_is_all_that_differs(lines: list[Line]) -> None:
    """Or the tests above would prove nothing."""
    changed = with_nonsense(lines)
    assert changed != lines
    faults = [msgspec.convert(line, RoundLine).fault for line in changed if "fault" in line]
    assert {fault.detail for fault in faults if fault} == {NONSENSE}

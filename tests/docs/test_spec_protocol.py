"""The protocol in SPEC.md: every line decodes, every field is described, every program runs."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest

from arena.devtools.check import CHECKS
from arena.journal.endings import verify
from arena.journal.lines import (
    BotLine,
    JournalLine,
    ReadmissionLine,
    ResumeLine,
    RevealLine,
    RoundLine,
    TournamentLine,
    VoidLine,
    encoded,
    game_record,
)
from arena.plan.deals import DealKey
from protocol.errors import Code
from protocol.messages import (
    BotMessage,
    Error,
    Message,
    ServerMessage,
    WatchedPosition,
    WatchedResult,
    Watching,
    decode_from_bot,
    decode_from_server,
    encode,
)
from protocol.schema import schema
from protocol.session import State
from tests.docs import spec
from tests.docs.documents import Document, anchor_of
from tests.helpers.sdk import write_sdk

TEXT = spec.SPEC.read_text()
JSON_LINES = [line for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]
TRANSCRIPT = re.findall(r"^([<>]) (\{.*\})$", TEXT, re.MULTILINE)


def section(title: str, marks: str = "###") -> str:
    start = TEXT.index(f"{marks} {title}\n")
    return TEXT[start : TEXT.find("\n##", start + 5)]


def from_bot(line: str) -> bool:
    return line in section("hello, from the bot") or line in section("action")


def test_every_json_line_decodes_and_fits_the_schema() -> None:
    assert len(JSON_LINES) == 14
    for line in JSON_LINES:
        message: Message = decode_from_bot(line.encode()) if from_bot(line) else decode_from_server(line.encode())
        assert encode(message).decode().rstrip() == line
        jsonschema.validate(json.loads(line), schema())


def test_every_line_of_the_transcript_decodes_and_fits_the_schema() -> None:
    assert len(TRANSCRIPT) == 16
    for mark, line in TRANSCRIPT:
        decode = decode_from_bot if mark == "<" else decode_from_server
        assert encode(decode(line.encode())).decode().rstrip() == line
        jsonschema.validate(json.loads(line), schema())


def test_the_protocol_at_a_glance_is_one_message_of_each_type_but_those_of_failures() -> None:
    glance = section("The protocol at a glance", "##")
    lines = re.findall(r"^(server|bot): +\{\"type\":\"(\w+)\"", glance, re.MULTILINE)
    assert len(lines) == 10
    said = {*ServerMessage.__args__, *BotMessage.__args__} - {Error, Watching, WatchedPosition, WatchedResult}
    assert sorted(name for _, name in lines) == sorted(str(each.__struct_config__.tag) for each in said)
    assert all(len(line) < 250 for line in glance.splitlines())


def test_every_state_has_its_row() -> None:
    assert set(spec.STATES) == set(State)


def test_the_contents_link_to_every_heading_in_its_order() -> None:
    document = Document("SPEC.md")
    _, *headings = re.findall(r"^#+ (.*)$", document.prose(), re.MULTILINE)
    contents = TEXT.partition("<!-- end generated: contents -->")[0]
    assert re.findall(r"\[([^\]]+)\]\(#", contents) == headings
    assert len({anchor_of(heading) for heading in headings}) == len(headings)


def test_the_generated_parts_are_up_to_date() -> None:
    assert spec.renewed(TEXT) == TEXT, "run `make spec`"


@pytest.mark.parametrize(
    "message", [*ServerMessage.__args__, *BotMessage.__args__], ids=lambda message: message.__name__
)
def test_every_field_of_every_message_is_described(message: type[Message]) -> None:
    title = str(message.__struct_config__.tag)
    described = section("hello, from the bot" if message.__name__ == "BotHello" else title)
    for field in message.__struct_fields__:
        assert re.search(rf"^\|.*`{field}[.`]", described, re.MULTILINE) or f"`state.{field}`" in described, field


def test_every_field_of_the_state_is_described() -> None:
    described = section("request")
    definitions = schema()["$defs"]
    for name in ("GameState", "StoneState", "Clock", "MoveEvent", "Recruiter"):
        for field in definitions[name]["properties"]:
            assert re.search(rf"`(state\.|clock\.)?{field}`", described), f"{name}.{field}"


JOURNAL_LINES = [line for block in re.findall(r"```journal\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]


def test_every_line_of_the_journal_decodes_and_its_round_is_sound() -> None:
    lines = [msgspec.json.decode(line, type=JournalLine) for line in JOURNAL_LINES]
    assert [type(line) for line in lines] == [
        *(TournamentLine, BotLine, BotLine, RoundLine),
        *(VoidLine, ResumeLine, ReadmissionLine, RevealLine),
    ]
    for line, text in zip(lines, JOURNAL_LINES, strict=True):
        assert encoded(line).decode() == text + "\n"
    bots, played = lines[1:3], lines[3]
    verify(game_record(played))
    assert [(bot.name, bot.right_id) for bot in bots] == [*zip(played.bots, played.players, strict=True)]
    assert DealKey(lines[7].secret).hash == lines[0].config.seed_hash
    for field in (*RoundLine.__struct_fields__, *TournamentLine.__struct_fields__):
        assert f'"{field}"' in TEXT or field == "v"
    described = TEXT[TEXT.index("## The journal") :]
    fields = (*RoundLine.__struct_fields__, *BotLine.__struct_fields__)
    assert all(f"`{field}`" in described for field in fields if field != "v")


def test_every_error_code_has_its_line() -> None:
    faults = TEXT[TEXT.index("## Faults") : TEXT.index("## Versions")]
    advice = dict(re.findall(r"^\| `([a-z0-9-]+)` \| [^|]+ \| ([^|]+) \|$", faults, re.MULTILINE))
    assert {*Code, "illegal-move", "timeout"} <= advice.keys()
    assert all(len(text) >= 5 for text in advice.values())


def test_every_check_is_explained() -> None:
    table = section("What the checker asks", "##")
    for code in (check.code for check in CHECKS):
        assert f"`{code}`" in table or code in ("rules-expert", "rules-tactics", "rules-tactics-expert"), code


PROGRAMS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_bot_over_tcp_passes_the_check_at_the_address_that_is_printed(tmp_path: Path) -> None:
    (program,) = [text for text in PROGRAMS if "connect=" in text]
    write_sdk(tmp_path)
    words = [sys.executable, "-m", "arena", "check", "--listen", "127.0.0.1:0", "--rounds", "4", "--start-ms", "1500"]
    checker = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert checker.stderr is not None
    address = re.findall(r"at (127\.0\.0\.1:\d+)", checker.stderr.readline())[0]
    program = program.replace("127.0.0.1:4000", address)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=60)
    out, _ = checker.communicate(timeout=60)
    assert checker.returncode == 0, out
    assert "ok    rules-tactics-expert" in out


@pytest.mark.parametrize("program", [text for text in PROGRAMS if "connect=" not in text])
def test_the_python_bots_of_the_walk_through_pass_the_check(program: str, tmp_path: Path) -> None:
    write_sdk(tmp_path)
    (tmp_path / "first.py").write_text(program)
    check(f"{sys.executable} first.py", tmp_path)


@pytest.mark.parametrize("program", re.findall(r"```javascript\n(.*?)```", TEXT, re.DOTALL))
def test_the_javascript_bot_of_the_walk_through_passes_the_check(program: str, tmp_path: Path) -> None:
    if not shutil.which("node"):
        pytest.skip("no node on this machine")
    (tmp_path / "first.js").write_text(program)
    check("node first.js", tmp_path)


def check(command: str, folder: Path) -> None:
    arguments = [sys.executable, "-m", "arena", "check", command, "--rounds", "4"]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok    rules-tactics-expert" in done.stdout

"""The SDK, as its users meet it: a script that is started and spoken to over its streams or over TCP.

Every test is run twice: with the SDK of the project, and with the copy that `arena new-bot` makes, where no other
package is installed.
"""

import errno
import json
import os
import random
import select
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.devtools.sdk_copy import PACKAGE
from protocol.bot import Bot, hello_of
from protocol.fairness import deal_hash
from protocol.messages import (
    Bye,
    Error,
    MatchEnd,
    MatchStart,
    Message,
    RoundEnd,
    RoundStart,
    ServerHello,
    Welcome,
    encode,
)
from tests.helpers.paths import ROOT
from tests.helpers.sdk import write_sdk
from tests.helpers.wire import DEAL, EXAMPLES, request

TIMEOUT = 120  # seconds; nothing here takes one
FIRST = "def choose(request):\n    return request.legal[0]\n"
RUN = "from protocol.bot_runner import run\n"

TO_A_ROUND = [EXAMPLES[kind] for kind in (ServerHello, Welcome, MatchStart)]
ROUND_START = msgspec.structs.replace(EXAMPLES[RoundStart], deal_hash=deal_hash(DEAL.deck, DEAL.tactics, DEAL.salt))
FROM_A_ROUND = [EXAMPLES[kind] for kind in (RoundEnd, MatchEnd, Bye)]
ANSWER = {"type": "action", "id": 17, "move": "play r5 1"}


def lines_of(*messages: Message) -> bytes:
    return b"".join(map(encode, messages))


ASKED = lines_of(*TO_A_ROUND, ROUND_START, request(17))
WHOLE = ASKED + lines_of(*FROM_A_ROUND)


@pytest.fixture(params=["of the project", "of the author"], autouse=True)
def _sdk(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if request.param == "of the author":
        write_sdk(tmp_path)


def command(directory: Path, script: str) -> tuple[list[str], dict[str, Any]]:
    """The script in a file, and how to start it."""
    path = directory / "my_bot.py"
    if (directory / PACKAGE).exists():
        path.write_text(script.replace(RUN, f"from {PACKAGE} import run\n"), encoding="utf-8")
        return [sys.executable, "-E", "-S", str(path)], {"cwd": directory}
    path.write_text(script, encoding="utf-8")
    return [sys.executable, str(path)], {"cwd": directory, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}


class Played(msgspec.Struct):
    said: list[Any]
    told: str  # on stderr
    status: int


def play(directory: Path, script: str, heard: bytes = WHOLE) -> Played:
    """Starts the bot, says everything to it at once, then the end of input."""
    arguments, options = command(directory, RUN + script)
    done = subprocess.run(arguments, input=heard, capture_output=True, timeout=TIMEOUT, check=False, **options)
    return Played([json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode(), done.returncode)


def test_a_bot_is_a_function(tmp_path: Path) -> None:
    played = play(tmp_path, FIRST + "run(choose, name='first', version='1.2', author='me')")
    hello = {"type": "hello", "protocol": 1, "name": "first", "version": "1.2", "author": "me"}
    assert played == Played([hello, ANSWER], "", 0)


def test_a_bot_answers_at_once_and_waits_for_more(tmp_path: Path) -> None:
    arguments, options = command(tmp_path, RUN + FIRST + "run(choose)")
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **options) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            for heard, said in ((lines_of(TO_A_ROUND[0]), "hello"), (ASKED.split(b"\n", 1)[1], "action")):
                process.stdin.write(heard)
                assert select.select([process.stdout], [], [], TIMEOUT)[0], "nothing was said"
                assert json.loads(process.stdout.readline())["type"] == said
            assert process.poll() is None
            process.stdin.write(lines_of(*FROM_A_ROUND))
            assert process.wait(TIMEOUT) == 0
        finally:
            process.kill()


def test_a_bot_without_a_name_is_called_like_its_program(tmp_path: Path) -> None:
    played = play(tmp_path, FIRST + "run(choose)")
    assert played.said[0] == {"type": "hello", "protocol": 1, "name": "my_bot"}


def test_a_bot_can_do_without_the_list_of_legal_moves(tmp_path: Path) -> None:
    heard = lines_of(*TO_A_ROUND, ROUND_START, request(17, legal=()), *FROM_A_ROUND)
    played = play(tmp_path, "run(lambda request: 'pass' if request.legal == () else '?', legal=False)", heard)
    assert played.said == [
        {"type": "hello", "protocol": 1, "name": "my_bot", "legal": False},
        {"type": "action", "id": 17, "move": "pass"},
    ]


def test_a_note_goes_with_the_move(tmp_path: Path) -> None:
    played = play(tmp_path, "run(lambda request: (request.legal[1], 'because é'))")
    assert played.said[1] == {"type": "action", "id": 17, "move": "play r5 2", "note": "because é"}


def test_a_round_begins_with_its_seed_whatever_was_drawn_before(tmp_path: Path) -> None:
    script = """
import json, random
drawn = [random.random()]
run(
    lambda request: (request.legal[0], json.dumps([*drawn, random.random()])),
    on_round_start=lambda m: drawn.append(random.random()),
)
"""
    start, first_round = msgspec.structs.replace(ROUND_START, seed=2**53 - 1), [ROUND_START, request(16)]
    generator = random.Random(2**53 - 1)
    numbers = [generator.random(), generator.random()]  # for the hook, and for the move
    for earlier in ([], [*first_round, FROM_A_ROUND[0]]):
        played = play(tmp_path, script, lines_of(*TO_A_ROUND, *earlier, start, request(17), *FROM_A_ROUND))
        assert json.loads(played.said[-1]["note"])[-2:] == numbers


def test_a_server_without_seeds_leaves_the_generator_alone(tmp_path: Path) -> None:
    script = "import random\nrandom.seed(5)\nrun(lambda request: (request.legal[0], str(random.random())))"
    heard = lines_of(*TO_A_ROUND, msgspec.structs.replace(ROUND_START, seed=None), request(17), *FROM_A_ROUND)
    assert play(tmp_path, script, heard).said[-1]["note"] == str(random.Random(5).random())


def test_hooks_hear_of_matches_and_rounds_in_their_order(tmp_path: Path) -> None:
    script = """
heard = []
def choose(request):
    heard.append(("request", request.id, request.state.hand, request.events[0].move, request.clock.move_ms))
    return request.legal[0]
run(
    choose,
    on_match_start=lambda m: heard.append(("match_start", m.match, m.opponent, m.rules)),
    on_round_start=lambda m: heard.append(("round_start", m.round, m.first)),
    on_round_end=lambda m: heard.append(("round_end", m.result, m.ending, m.points.yours)),
    on_match_end=lambda m: heard.append(("match_end", m.result, m.points.theirs)),
)
import json, sys
print(json.dumps(heard), file=sys.stderr)
"""
    played = play(tmp_path, script)
    assert json.loads(played.told) == [
        ["match_start", "m1", "rival", "base"],
        ["round_start", 1, "you"],
        ["request", 17, ["r5", "joker"], "play g9 1", 1000],
        ["round_end", "win", "three-in-a-row", 5],
        ["match_end", "draw", 5],
    ]


def test_a_bot_without_io_takes_lines_and_gives_lines() -> None:
    told: list[str] = []
    bot = Bot(lambda request: request.legal[1], hello_of("pure", None, None, None, legal=True), told.append)
    said = [bot.answer(line) for line in (ASKED + lines_of(EXAMPLES[Error], *FROM_A_ROUND)).splitlines()]
    assert [json.loads(line) for line in said if line] == [
        {"type": "hello", "protocol": 1, "name": "pure"},
        {"type": "action", "id": 17, "move": "play r5 2"},
    ]
    assert told == ["the server says: r5 is not in your hand (illegal-move)"]
    assert bot.bye == EXAMPLES[Bye]


# stdout and stdin belong to the wire


def test_whatever_is_printed_lands_on_stderr_and_not_on_the_wire(tmp_path: Path) -> None:
    script = """
import os, subprocess, sys
def choose(request):
    print("printed")
    sys.stdout.write("written\\n")
    os.write(1, b"raw\\n")
    subprocess.run([sys.executable, "-c", "print('by a child')"], check=True)
    os.system("echo by a shell")
    return request.legal[0]
run(choose, on_match_start=lambda m: print("in a hook"))
"""
    played = play(tmp_path, script)
    assert [message["type"] for message in played.said] == ["hello", "action"]
    assert played.told.splitlines() == ["in a hook", "printed", "written", "raw", "by a child", "by a shell"]
    assert played.status == 0


def test_nobody_else_can_read_what_the_server_says(tmp_path: Path) -> None:
    script = """
import os, subprocess, sys
def choose(request):
    try:
        print("read", input("your move? "))
    except EOFError:
        print("nothing to read")
    print(os.read(0, 10), subprocess.run(["cat"], capture_output=True).stdout)
    return request.legal[0]
run(choose)
"""
    played = play(tmp_path, script)
    assert played.said[1:] == [ANSWER]
    assert played.told == "your move? nothing to read\nb'' b''\n"
    assert played.status == 0


def test_after_the_game_stdout_belongs_to_the_program_again(tmp_path: Path) -> None:
    arguments, options = command(tmp_path, RUN + FIRST + "run(choose)\nprint('left')")
    done = subprocess.run(arguments, input=WHOLE, capture_output=True, timeout=TIMEOUT, check=True, **options)
    assert done.stdout.splitlines()[2:] == [b"left"]


# Leaving


@pytest.mark.parametrize("heard", [b"", lines_of(TO_A_ROUND[0]), ASKED, WHOLE.rsplit(b"\n", 2)[0] + b"\n"])
def test_the_end_of_input_is_a_good_reason_to_leave(tmp_path: Path, heard: bytes) -> None:
    played = play(tmp_path, FIRST + "run(choose)", heard)
    assert played.status == 0
    assert played.told == ""


def test_after_bye_a_bot_listens_no_longer(tmp_path: Path) -> None:
    played = play(tmp_path, FIRST + "run(choose)", lines_of(TO_A_ROUND[0], EXAMPLES[Bye]) + b"nonsense\n")
    assert (len(played.said), played.told, played.status) == (1, "", 0)


@pytest.mark.parametrize(
    "failure", ["raise ValueError('no idea')", "open('/nowhere/at/all')", "raise ConnectionError('mine')"]
)
@pytest.mark.parametrize("place", ["choose", "on_round_start"])
def test_an_exception_of_the_author_is_shown_with_its_traceback(tmp_path: Path, failure: str, place: str) -> None:
    script = f"{FIRST}def fail(message):\n    {failure}\nrun(**{{'choose': choose, {place!r}: fail}})"
    played = play(tmp_path, script)
    assert [message["type"] for message in played.said] == ["hello"]
    assert "Traceback (most recent call last)" in played.told
    assert f"in fail\n    {failure}" in played.told
    assert played.told.splitlines()[-1] == "the bot failed; see the traceback above"
    assert played.status == 1


@pytest.mark.parametrize("value", ["None", "17", "b'pass'", "('pass',)", "('pass', 5)", "('a', 'b', 'c')"])
def test_what_is_no_move_is_shown_with_what_would_be_one(tmp_path: Path, value: str) -> None:
    played = play(tmp_path, f"run(lambda request: {value})")
    text = f"TypeError: choose() returned {value}; it must return a move such as 'play r5 1', or a move and a note"
    assert text in played.told.splitlines()
    assert played.status == 1


@pytest.mark.parametrize(
    ("heard", "text"),
    [
        (
            b"hello\n",
            "the line is not JSON: invalid character (byte 0); every line has to be a message; it was 'hello'",
        ),
        (b'{"type":"hello","protocol":2,"server":"x"}\n', "protocol 2 is not supported; it has to be 1"),
        (lines_of(request(1)), "'request' may not be sent now: the server has not said hello yet"),
        (b'{"type":"hello"', "the input ended in the middle of a line (15 bytes without a newline)"),
        (b" " * 65536, "a line is longer than 65536 bytes; each message is one line that ends in a newline"),
    ],
)
def test_a_server_that_makes_no_sense_is_left_with_one_clear_line(tmp_path: Path, heard: bytes, text: str) -> None:
    assert play(tmp_path, FIRST + "run(choose)", heard) == Played([], text + "\n", 1)


def test_too_long_an_answer_is_not_said(tmp_path: Path) -> None:
    played = play(tmp_path, "run(lambda request: ('pass', 'x' * 70_000))")
    assert len(played.said) == 1
    assert played.told == "this bot broke the protocol: a 'action' of 70050 bytes is too long\n"
    assert played.status == 1


# What the server may also say


def test_unknown_types_and_fields_are_ignored(tmp_path: Path) -> None:
    lines = [json.dumps({**json.loads(line), "new": {"a": [1]}}).encode() for line in WHOLE.splitlines()]
    heard = b"".join(b'{"type":"weather","sun":true}\n' + line + b"\n" for line in lines)
    played = play(tmp_path, FIRST + "run(choose)", heard)
    assert played.said[1:] == [ANSWER]
    assert (played.told, played.status) == ("", 0)


def test_an_error_of_the_server_is_shown(tmp_path: Path) -> None:
    played = play(tmp_path, FIRST + "run(choose)", ASKED + lines_of(EXAMPLES[Error], *FROM_A_ROUND))
    assert (played.told, played.status) == ("the server says: r5 is not in your hand (illegal-move)\n", 0)


def test_a_deal_that_was_not_the_promised_one_is_reported(tmp_path: Path) -> None:
    heard = WHOLE.replace(b'"salt":"salt"', b'"salt":"pepper"')
    played = play(tmp_path, FIRST + "run(choose)", heard)
    assert played.told == "the deal of round 1 is NOT the one that was promised by its hash\n"
    assert played.status == 0


# Over TCP


def test_over_tcp_a_bot_says_the_same_and_its_token(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(TIMEOUT)
        port = listener.getsockname()[1]
        script = f"{RUN}{FIRST}run(choose, connect='127.0.0.1:{port}', token='secret')\nprint('left')"
        arguments, options = command(tmp_path, script)
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
            try:
                connection, _ = listener.accept()
                connection.settimeout(TIMEOUT)
                with connection, connection.makefile("rb") as said:
                    connection.sendall(lines_of(TO_A_ROUND[0]))
                    hello = {"type": "hello", "protocol": 1, "name": "my_bot", "token": "secret"}
                    assert json.loads(said.readline()) == hello
                    connection.sendall(ASKED.split(b"\n", 1)[1])
                    assert json.loads(said.readline()) == ANSWER
                    connection.sendall(lines_of(*FROM_A_ROUND))
                    assert said.read() == b""
                told = b"the server says bye: the tournament is over; the only deal that was revealed is as promised"
                assert process.communicate(timeout=TIMEOUT) == (b"left\n", told + b" by its hash\n")
                assert process.returncode == 0
            finally:
                process.kill()


def test_a_refused_connection_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as bound:  # but nobody listens
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        played = play(tmp_path, f"{FIRST}run(choose, connect={address!r}, retry=0)")
    text = f"cannot connect to {address}: [Errno {errno.ECONNREFUSED}] Connection refused\n"
    assert played == Played([], text, 1)


@pytest.mark.parametrize(
    "address", ["localhost", "4000", ":4000", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:²", "a:65536"]
)
def test_what_is_no_address_is_told_in_one_line(tmp_path: Path, address: str) -> None:
    played = play(tmp_path, f"{FIRST}run(choose, connect={address!r})")
    assert played == Played([], f"{address!r} is not an address; an address looks like localhost:4000\n", 1)


@pytest.mark.parametrize("host", ["a..b", "x" * 70, "a\\0b"])
def test_a_host_that_cannot_be_is_told_in_one_line(tmp_path: Path, host: str) -> None:
    played = play(tmp_path, f"{FIRST}run(choose, connect='{host}:4000', retry=0)")
    assert played.told.startswith("cannot connect to ")
    assert (played.told.count("\n"), played.status) == (1, 1)

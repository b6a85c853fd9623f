"""`arena connect`, `arena token` and the library's `connect` as people start them: real processes."""

import contextlib
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trustme

from arena.cli.client_wording import client_text
from arena.client.bridge import Visit
from arena.client.client_events import ClientEvent, MatchBegan, MatchEnded, PlayEnded, Record, TokenUnprotected
from arena.client.dial import Destination
from arena.client.tally import MatchFollower, Tally
from arena.journal.lines import JournalLine, RoundLine, read
from arena.journal.verify import verify_journals
from arena.plan.bot_spec import BotSpec
from protocol.messages import MatchClock, MatchEnd, MatchStart, Points, RoundEnd
from tests.helpers.paths import ROOT, STEADY_BOT
from tests.helpers.processes import bad_command
from tests.helpers.running import TIMEOUT, free_port, rounds_in, running, serving
from tests.helpers.visitors import remote_bots, token_of

SPEC = (ROOT / "SPEC.md").read_text()


def test_a_bot_for_stdin_and_stdout_plays_at_a_server(tmp_path: Path) -> None:
    (tmp_path / "anna.token").write_text(token_of("anna") + "\n")
    with (
        serving(tmp_path, remote_bots("anna", "ben")) as (server, address),
        running(
            *("connect", address, "--token-file", "anna.token", "--journal", "anna.jsonl", "--", "random"), cwd=tmp_path
        ) as anna,
        running("connect", address, "--", "greedy", cwd=tmp_path, env={"ARENA_TOKEN": token_of("ben")}) as ben,
    ):
        status, out, _ = server.end()
        assert status == 0
        assert "Everything is in cup.jsonl." in out
        for bot in (anna, ben):
            status, _, told = bot.end()
            assert status == 0
            assert "The server says bye: the tournament is over" in told
            assert "all 2 deals that were revealed are as promised by their hashes" in told
    rounds = rounds_in(tmp_path)
    assert all(line.fault is None for line in rounds)
    assert verify_journals([tmp_path / "anna.jsonl"]).problems == []
    own = [each.line for each in read(tmp_path / "anna.jsonl", JournalLine) if isinstance(each.line, RoundLine)]
    assert [[move[:2] for move in line.moves] for line in own] == [[move[:2] for move in line.moves] for line in rounds]


def test_connect_says_as_whom_it_plays_and_how_it_goes(tmp_path: Path) -> None:
    with (
        serving(tmp_path, remote_bots("anna", "ben")) as (server, address),
        running("connect", address, "--token", token_of("anna"), "--", "random", cwd=tmp_path) as anna,
        running("connect", address, "--token", token_of("ben"), "--quiet", "--", "greedy", cwd=tmp_path) as ben,
    ):
        assert server.end()[0] == 0
        status, out, told = anna.end()
        assert ben.end() == (0, "", "")
    assert (status, out) == (0, "")
    rounds = rounds_in(tmp_path)
    ours, theirs = (sum(line.result.points[seat] for line in rounds) for seat in (0, 1))
    won, drawn = (sum(line.result.winner == who for line in rounds) for who in (0, None))
    result = "won" if ours > theirs else "lost" if ours < theirs else "drawn"
    matches = ", ".join(f"{int(word == result)} {word}" for word in ("won", "lost", "drawn"))
    assert told.splitlines() == [
        f"Connected to {address} as anna",
        "Match 1.1-2 against ben begins: 2 rounds",
        f"Match 1.1-2 against ben: {result}, {ours} to {theirs} points. So far {matches}",
        "The server says bye: the tournament is over; all 2 deals that were revealed are as promised by their hashes",
        f"Played 1 match ({matches}), 2 rounds ({won} won, {2 - won - drawn} lost, {drawn} drawn): "
        f"{ours} to {theirs} points",
    ]


def test_the_score_of_several_connections_is_one_and_a_match_that_goes_on_is_said_once() -> None:
    tally = Tally()
    one, two = MatchFollower(tally), MatchFollower(tally)
    clock = MatchClock(None, None, 0)
    start = MatchStart("1.1-2", "ben", 2, "base", clock)
    assert one.observe(start) == MatchBegan("1.1-2", "ben", 2)
    assert one.observe(RoundEnd(1, "win", "five-stones", Points(5, 1), (), ())) is None
    assert one.observe(start) is None  # the connection was lost
    assert two.observe(MatchStart("1.1-3", "cleo", 1, "base", clock)) == MatchBegan("1.1-3", "cleo", 1)
    assert two.observe(RoundEnd(1, "draw", "blocked", Points(2, 2), (), ())) is None
    drawn = two.observe(MatchEnd("1.1-3", "draw", Points(2, 2)))
    assert drawn == MatchEnded("1.1-3", "cleo", "draw", Points(2, 2), Record(drawn=1))
    assert one.observe(RoundEnd(2, "loss", "blocked", Points(3, 5), (), ())) is None
    won = one.observe(MatchEnd("1.1-2", "win", Points(8, 6)))
    assert won == MatchEnded("1.1-2", "ben", "win", Points(8, 6), Record(won=1, drawn=1))
    assert tally.final() == PlayEnded(Record(1, 0, 1), Record(1, 1, 1), Points(10, 8))


def test_a_wrong_token_is_told_in_one_line(tmp_path: Path) -> None:
    with (
        serving(tmp_path, remote_bots("anna", "ben")) as (_, address),
        running("connect", address, "--token", "guess", "--", "random", cwd=tmp_path) as stranger,
    ):
        status, _, told = stranger.end()
    assert status == 1
    assert told == ("Error: the server refuses: this token is not known here; the organiser has one for each bot\n")


def test_a_program_that_is_no_bot_is_told_in_one_line(tmp_path: Path) -> None:
    with (
        serving(tmp_path, remote_bots("anna", "ben")) as (_, address),
        running("connect", address, "--token", token_of("anna"), "--", "echo", "hello", cwd=tmp_path) as stranger,
        running("connect", address, "--token", token_of("anna"), "--", "true", cwd=tmp_path) as silent,
        running("connect", address, "--", "./no-such-bot", cwd=tmp_path) as missing,
    ):
        status, _, told = stranger.end()
        assert (status, told.count("\n")) == (1, 1)
        assert told.startswith("Error: the line is not JSON")
        status, _, told = silent.end()
        assert (status, told) == (1, "Error: the bot ended (exit status 0) before the server welcomed it\n")
        status, _, told = missing.end()
        assert status == 2
        assert "there is no program './no-such-bot'" in told


def test_whether_the_server_speaks_tls_is_guessed_in_one_line(tmp_path: Path) -> None:
    with serving(tmp_path, remote_bots("anna", "ben")) as (_, address):
        for words in (("connect", address, "--tls", "--", "random"), ("watch", address, "--tls")):
            with running(*words, cwd=tmp_path) as bot:
                assert bot.end()[::2] == (1, "Error: the server does not speak TLS; leave out --tls\n")
    authority = trustme.CA()
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    options = ("--cert", "server.pem", "--key", "server.pem", "--hello", "0.2")
    with serving(tmp_path, remote_bots("anna", "ben"), *options) as (_, address):
        with running("connect", address, "--retry", "0.1", "--", "random", cwd=tmp_path) as bot:
            assert "the server did not say hello; if it speaks TLS, add --tls" in bot.end()[2]
        with running("watch", address, cwd=tmp_path) as watcher:
            assert watcher.end()[2] == "Error: the server closed the connection; if it speaks TLS, add --tls\n"


def test_nobody_there_is_tried_for_a_while_and_then_told(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    with running("connect", address, "--retry", "0.5", "--", "random", cwd=tmp_path) as bot:
        status, _, told = bot.end()
    assert status == 1
    assert told.count(f"cannot connect to {address}: Connection refused; connecting again") == 1
    assert told.splitlines()[-1].endswith("gave up after 0.5 seconds")


SDK_BOT = """
from protocol.bot_runner import run
run(lambda request: request.legal[0], name="ben", connect={address!r}, token={token!r})
"""


def test_bots_come_back_to_a_server_that_was_stopped_and_started_again(tmp_path: Path) -> None:
    port = free_port()
    text = remote_bots("anna", "ben") + "\n"
    code = SDK_BOT.format(address=f"127.0.0.1:{port}", token=token_of("ben"))
    with contextlib.ExitStack() as stack:
        server, address = stack.enter_context(serving(tmp_path, text, "--cycles", "40", port=port))
        # It rests until the server is stopped.
        bot = (sys.executable, str(STEADY_BOT), "anna", f"rest=5:{tmp_path / 'stop'}")
        anna = stack.enter_context(running("connect", address, "--token", token_of("anna"), "--", *bot, cwd=tmp_path))
        ben = stack.enter_context(subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True))
        stack.callback(ben.kill)
        server.line_with("Finished round 3 ")
        server.process.send_signal(signal.SIGTERM)
        (tmp_path / "stop.over").touch()
        status, _, told = server.end()
        assert status == 130
        assert "Stopping: running matches may end" in told
        assert "Keep cup.secret beside it: the remaining deals are made from it." in told
        assert "To resume:  arena serve cup.toml" in told
        assert all(re.match(r"[\d-]{10} [\d:]{8} ", line) for line in told.splitlines())
        again, _ = stack.enter_context(serving(tmp_path, text, "--cycles", "40", port=port))
        assert again.end()[0] == 0
        status, _, told = anna.end()
        assert status == 0
        assert "the server stops and may start again; connecting again" in told
        assert told.count("cannot connect to") <= 1  # however often it was tried
        assert told.count(f"Connected again to {address} as anna") == 1
        assert "Played 40 matches (" in told
        _, told = ben.communicate(timeout=TIMEOUT)
        assert ben.returncode == 0
        assert "as promised by their hashes" in told
    rounds = rounds_in(tmp_path)
    assert len(rounds) == 80
    assert all(line.fault is None for line in rounds)


def test_a_bot_that_crashes_in_a_round_is_started_anew_and_comes_back(tmp_path: Path) -> None:
    text = remote_bots("anna", "ben")
    crashing = bad_command("crash").split()
    with (
        serving(tmp_path, text, "--max-faults", "0") as (server, address),
        running("connect", address, "--token", token_of("anna"), "--", *crashing, cwd=tmp_path) as anna,
        running("connect", address, "--token", token_of("ben"), "--", "random", cwd=tmp_path),
    ):
        assert "connecting again" in anna.line_with("the bot ended")
        assert server.end()[0] == 0
    assert len(rounds_in(tmp_path)) == 2


def test_through_tls_with_the_words_of_the_specification(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    (tmp_path / "first.token").write_text(token_of("anna"))
    (tmp_path / "first.py").write_text("from protocol.bot_runner import run\nrun(lambda request: request.legal[0])\n")
    (line,) = re.findall(r"^    arena (connect .*)$", SPEC, re.MULTILINE)
    trust = ("--tls", "--ca", "ca.pem")
    with serving(tmp_path, remote_bots("anna", "ben"), "--cert", "server.pem", "--key", "server.pem") as (
        server,
        address,
    ):
        words = line.replace("arena.example.org:4000", address).replace("--tls", "--tls --ca ca.pem")
        words = words.replace("python3", sys.executable)
        with running("connect", address, "--tls", "--", "random", cwd=tmp_path) as distrustful:
            status, _, told = distrustful.end()
            assert status == 1
            assert "the server's certificate is not trusted" in told
        for trusts, words_of in (("True", "the server's certificate is not trusted"), ("'no.pem'", "cannot use tls=")):
            code = SDK_BOT.format(address=address, token="x").replace("name=", f"tls={trusts}, name=")
            done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
            assert (done.returncode, done.stderr.count("\n")) == (1, 1)
            assert done.stderr.startswith(words_of)
        code = SDK_BOT.format(address=address, token=token_of("ben")).replace("name=", 'tls="ca.pem", name=')
        with (
            running("watch", address, *trust, "--json", cwd=tmp_path) as watcher,
            running(*words.split(), cwd=tmp_path) as anna,
        ):
            assert watcher.process.stdout is not None
            assert json.loads(watcher.process.stdout.readline())["type"] == "watching"
            subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=TIMEOUT)
            assert anna.end()[0] == 0
            status, seen, _ = watcher.end()
            assert status == 0
            assert json.loads(seen.splitlines()[-1])["type"] == "bye"
        assert server.end()[0] == 0
    assert all(each.fault is None for each in rounds_in(tmp_path))


def test_tokens_in_the_clear_get_a_warning_beyond_this_machine(tmp_path: Path) -> None:
    with running("serve", "cup.toml", "--listen", "0.0.0.0:0", cwd=tmp_path) as server:
        pass  # there is no file yet: just the wrong call
    (tmp_path / "cup.toml").write_text(remote_bots("anna", "ben"))
    with running("serve", "cup.toml", "--listen", "0.0.0.0:0", cwd=tmp_path) as server:
        assert "tokens cross the network unencrypted" in server.line_with("Warning")
    told: list[ClientEvent] = []
    visit = Visit(Destination("192.0.2.1:4000", "token"), BotSpec("x", ("x",)), told.append, None, Tally())
    visit.warn_of_clear_text("127.0.0.1")
    visit.warn_of_clear_text("::1")
    assert told == []
    visit.warn_of_clear_text("192.0.2.1")
    visit.warn_of_clear_text("192.0.2.1")
    assert told == [TokenUnprotected()]
    assert client_text(told[0]) == "Warning: the token crosses the network unencrypted; use --tls to encrypt it"


@pytest.mark.parametrize("words", [["watch", "nowhere"], ["connect", "nowhere", "--", "random"]])
def test_what_is_no_address_is_told_in_one_line(tmp_path: Path, words: list[str]) -> None:
    with running(*words, cwd=tmp_path) as command:
        status, _, told = command.end()
    assert (status, told) == (2, "Error: 'nowhere' is not an address; it looks like 127.0.0.1:4000 or [::1]:4000\n")


def test_a_token_is_made_with_the_lines_for_the_file(tmp_path: Path) -> None:
    with running("token", "Anna.2_b-c+", cwd=tmp_path) as command:
        status, out, _ = command.end()
    assert status == 0
    token = out.splitlines()[2]
    (tmp_path / "cup.toml").write_text(out[out.index("[[bot]]") :] + remote_bots("ben"))
    with (
        running("serve", "cup.toml", "--listen", "127.0.0.1:0", cwd=tmp_path) as server,
        running("connect", server.line_with("Listening").split()[-1], "--token", token, "--", "random", cwd=tmp_path),
    ):
        arrived = server.line_with("is here")
        assert re.fullmatch(r"[\d-]{10} [\d:]{8} Anna\.2_b-c\+ is here \(127\.0\.0\.1\)\n", arrived)

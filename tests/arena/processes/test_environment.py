"""What a bot gets of the arena's environment, and that no value of it is written anywhere: real processes."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.progress import Quiet
from arena.journal.lines import JournalLine, TournamentLine, read
from arena.plan.bot_spec import BotSpec
from arena.plan.config import Config, ConfigError, from_command_line
from arena.plan.config_file import from_file
from arena.processes.bot_process import spawn
from arena.tournament.run import run_tournament
from tests.helpers.paths import ROOT, STEADY_BOT
from tests.helpers.processes import bad_command

SECRET = "hunter2-of-the-organiser"


async def environment_of(spec: BotSpec) -> dict[str, str]:
    async with spawn(spec) as process:
        await process.wait_exit()
        said = await process.stream.receive_some(1 << 16)
    return dict(line.split("=", 1) for line in said.decode().splitlines())


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DEPLOY_KEY", "ARENA_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("TMPDIR", raising=False)


async def test_a_bot_gets_little_of_our_environment_and_what_env_names() -> None:
    found = await environment_of(BotSpec("x", ("env",), env=(("DEPTH", "3"), ("HOME", "/elsewhere"))))
    assert found == {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": "/elsewhere", "DEPTH": "3"}


async def test_whoever_needs_it_gets_the_whole_environment_but_never_the_token() -> None:
    found = await environment_of(BotSpec("x", ("env",), inherit_env=True))
    assert found == {name: value for name, value in os.environ.items() if name != "ARENA_TOKEN"}
    named = await environment_of(BotSpec("x", ("env",), env=(("ARENA_TOKEN", "mine"),), inherit_env=True))
    assert named["ARENA_TOKEN"] == "mine"


async def test_bytes_that_are_no_text_survive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", os.fsdecode(b"/tmp/\xff"))
    async with spawn(BotSpec("x", ("printenv", "TMPDIR"))) as process:
        await process.wait_exit()
        assert await process.stream.receive_some(100) == b"/tmp/\xff\n"


def configured(folder: Path, text: str) -> Config:
    (folder / "cup.toml").write_text(text)
    return from_file(folder / "cup.toml", {})


def test_the_environment_is_an_option_of_files_and_of_the_command_line(tmp_path: Path) -> None:
    own = '[[bot]]\ncmd = "greedy"\nenv = ["DEPLOY_KEY", "DEPTH=3"]\n[[bot]]\ncmd = "random"\n'
    one, two = configured(tmp_path, f"[each]\ninherit-env = true\n{own}").bots
    assert isinstance(one, BotSpec)
    assert isinstance(two, BotSpec)
    assert (one.env, one.inherit_env) == ((("DEPLOY_KEY", SECRET), ("DEPTH", "3")), True)
    assert (two.env, two.inherit_env) == ((), True)
    flags = {"env": f"DEPLOY_KEY={SECRET} DEPTH=3", "inherit-env": "true"}
    (other, third) = from_command_line(["greedy"], ["cmd=random inherit-env=false processes=7"], flags).bots
    assert isinstance(other, BotSpec)
    assert isinstance(third, BotSpec)
    assert (other.env, other.inherit_env) == (one.env, True)
    assert (third.env, third.inherit_env, third.processes) == (one.env, False, 7)


def test_a_mistake_in_the_environment_is_told_without_its_values(tmp_path: Path) -> None:
    for line, problem in (
        (f'env = {{KEY = "{SECRET}", DEPTH = 3}}', "cup.toml:3: env: expected a table of texts"),
        ('env = ["NO_SUCH_KEY"]', "cup.toml:3: env: expected NO_SUCH_KEY to be set in the environment of arena"),
    ):
        with pytest.raises(ConfigError) as caught:
            configured(tmp_path, f'[[bot]]\ncmd = "greedy"\n{line}\n[[bot]]\ncmd = "random"\n')
        assert problem in str(caught.value)
        assert SECRET not in str(caught.value)


def test_on_the_command_line_a_variable_needs_a_value(tmp_path: Path) -> None:
    """DEPLOY_KEY is set, but only a list in a file passes it on."""
    instead = 'to pass on your own DEPLOY_KEY, a tournament file with env = ["DEPLOY_KEY"]'
    expected = f"env: expected DEPLOY_KEY=VALUE, or, {instead}"
    spec = "cmd=random env='DEPTH=3 DEPLOY_KEY'"
    for specs, flags, where in (
        ([], {"env": "DEPTH=3 DEPLOY_KEY"}, "--env"),
        ([spec], {}, f"--bot {spec!r}"),
    ):
        with pytest.raises(ConfigError) as caught:
            from_command_line(["greedy", "random"], specs, flags)
        assert str(caught.value) == f"{where}: {expected}"
    with pytest.raises(ConfigError) as caught:
        configured(tmp_path, '[[bot]]\ncmd = "greedy"\nenv = "DEPLOY_KEY"\n[[bot]]\ncmd = "random"\n')
    assert str(caught.value) == f"{tmp_path / 'cup.toml'}:3: {expected}"


def play(config: Config) -> None:
    run_tournament(config, Quiet())


def faulty(journal: Path) -> Config:
    bots = (f"bad={bad_command('crash')}", f"good={sys.executable} {STEADY_BOT} good")
    options = {"rounds": "2", "seed": "7", "journal": str(journal), "env": f"KEY={SECRET} DEPTH=3"}
    return from_command_line(bots, (), options)


def opening(journal: Path) -> TournamentLine:
    line = next(read(journal, JournalLine)).line
    assert isinstance(line, TournamentLine)
    return line


def test_only_names_are_recorded(tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    config = faulty(journal)
    assert SECRET not in repr(config)
    play(config)
    assert [bot.env for bot in opening(journal).config.bots or ()] == [("DEPTH", "KEY")] * 2
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 5  # the journal, two bundles and what was said
    assert [path for path in written if SECRET in path.read_text()] == []


def test_a_round_is_played_again_with_the_variables_of_the_command(tmp_path: Path) -> None:
    play(faulty(tmp_path / "cup.jsonl"))
    bundle = next((tmp_path / "cup.faults").glob("*-bad"))
    words = [sys.executable, "-m", "arena", "rerun", str(bundle), "--yes"]
    hint = "Then, bad was started with --env DEPTH=… --env KEY=…. These are not taken from a bundle: add what it needs."
    for given, last in ((["--env", "KEY=k DEPTH=3"], "The fault came again."), ([], hint)):
        done = subprocess.run([*words, *given], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0
        assert done.stdout.splitlines()[-1] == last


def test_the_bots_that_come_along_are_found_from_anywhere(tmp_path: Path) -> None:
    """Also where nothing is installed and only PYTHONPATH says where we are."""
    packages = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    for environment in ({}, {"PYTHONPATH": os.pathsep.join([str(ROOT), packages])}):
        words = [sys.executable, *(["-S"] if environment else []), "-m", "arena", "play", "greedy", "random"]
        done = subprocess.run(
            [*words, "--rounds", "2"],
            cwd=tmp_path,
            env={"PATH": os.defpath} | environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert "did not start" not in done.stdout


def test_no_file_beside_a_bot_is_loaded_by_the_bots_that_come_along(tmp_path: Path) -> None:
    """A bot may be called engine.py or random.py, and may not keep its opponent from starting by such a name."""
    for name in ("engine", "msgspec", "random", "dis"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('I was loaded')")
    words = ["arena", "play", "greedy", "counting", "--rounds", "2"]
    done = subprocess.run([sys.executable, "-P", "-m", *words], cwd=tmp_path, capture_output=True, text=True)
    assert "I was loaded" not in done.stdout
    assert done.returncode == 0, done.stderr


BOT = """
import json, os, sys
for line in sys.stdin:
    if json.loads(line)["type"] == "hello":
        had = json.dumps(dict(os.environ))
        print(json.dumps({"type": "hello", "protocol": 1, "name": "x", "author": had}), flush=True)
"""


def test_the_token_is_for_the_server_and_not_for_the_bot(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        words = ["-m", "arena", "connect", address, "--env", "DEPTH=3", "--", sys.executable, "bot.py"]
        with subprocess.Popen([sys.executable, *words], cwd=tmp_path, stderr=subprocess.PIPE) as arena:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                connection.sendall(b'{"type":"hello","protocol":1,"server":"test"}\n')
                hello = json.loads(lines.readline())
                connection.sendall(b'{"type":"bye","reason":"enough"}\n')
            _, told = arena.communicate(timeout=60)
    assert hello["token"] == SECRET
    assert json.loads(hello["author"]).keys() - {"LC_CTYPE"} == {"PATH", "HOME", "LANG", "DEPTH"}
    assert b"The server says bye: enough" in told


def test_env_may_be_given_more_than_once(tmp_path: Path) -> None:
    bot = "x=python3 -c 'import os, sys; sys.exit(str(sorted(os.environ)))'"
    words = [sys.executable, "-m", "arena", "play", bot, "random", "--rounds", "1"]
    words += ["--env", f"DEPLOY_KEY={SECRET}", "--env", "DEPTH=3 SPEED=2"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}  # the fault is kept there
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    for name in ("DEPLOY_KEY", "DEPTH", "SPEED"):
        assert f"'{name}'" in done.stdout
    assert SECRET not in done.stdout + done.stderr

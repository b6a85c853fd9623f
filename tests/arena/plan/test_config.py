"""The tournament file and the command line: one config, and errors that say where."""

import re
from pathlib import Path

import pytest

from arena.plan.bot_spec import BotSpec, Restart, missing_part
from arena.plan.config import Config, ConfigError, from_command_line
from arena.plan.config_file import from_file
from arena.plan.recorded_config import differences
from arena.plan.round_clock import RoundClock
from arena.plan.schedule import Format
from arena.plan.server_config import read_server_file
from arena.plan.time_control import ClockError, TimeLimits, parse_tc
from engine.cards import SEATS
from engine.ruleset import PRESETS
from protocol.messages import Clock

FILE = """\
event = "Evening cup"
rules = "tactics"
format = "gauntlet"
cycles = 2
rounds = 20
seed = 7
max-faults = 3

[each]
tc = "10+0.1"
restart = "match"

[[bot]]
cmd = "greedy"

[[bot]]
name = "mine"
cmd = ["./mybot", "--fast"]
args = ["--depth", "3"]
dir = "."
env = { DEPTH = "3" }
st = 0.5
timemargin = 10
restart = "round"
memory = "512M"
cpu = 60
"""


def make_bot(folder: Path) -> None:
    (folder / "mybot").write_text("#!/bin/sh\n")
    (folder / "mybot").chmod(0o755)


def file(tmp_path: Path, text: str, **options: str) -> Config:
    path = tmp_path / "cup.toml"
    path.write_text(text)
    make_bot(tmp_path)
    return from_file(path, options)


def test_a_file_says_everything(tmp_path: Path) -> None:
    config = file(tmp_path, FILE)
    assert (config.event, config.rules, config.form) == ("Evening cup", PRESETS["tactics"], Format.GAUNTLET)
    assert (config.cycles, config.rounds, config.seed, config.max_faults) == (2, 20, "7", 3)
    assert config.journal == tmp_path / "cup.jsonl"
    greedy, mine = config.bots
    assert isinstance(mine, BotSpec)
    assert (greedy.name, greedy.restart, greedy.limits.bank_ms) == ("greedy", Restart.MATCH, 10_000)
    assert greedy.limits.move_ms is None
    assert (mine.name, mine.command) == ("mine", ("./mybot", "--fast", "--depth", "3"))
    assert mine.limits == TimeLimits(move_ms=500, bank_ms=10_000, increment_ms=100, margin_ms=10)
    assert (mine.restart, mine.memory, mine.cpu_seconds) == (Restart.ROUND, 512 * 2**20, 60)
    assert (mine.cwd, mine.env) == (tmp_path, (("DEPTH", "3"),))


def test_file_and_command_line_give_the_same_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bot(tmp_path)
    monkeypatch.chdir(tmp_path)
    spec = (
        "name=mine cmd='./mybot --fast' args='--depth 3' dir=. env=DEPTH=3 st=0.5 timemargin=10 restart=round "
        "memory=512M cpu=60"
    )
    options = {
        "event": "Evening cup", "rules": "tactics", "format": "gauntlet", "cycles": "2", "rounds": "20", "seed": "7",
        "max-faults": "3", "tc": "10+0.1", "restart": "match",
    }  # fmt: skip
    assert differences(from_command_line(["greedy"], [spec], options).recorded(), file(tmp_path, FILE).recorded()) == []


def test_options_take_precedence_over_the_file(tmp_path: Path) -> None:
    config = file(tmp_path, FILE, rounds="2", st="3", concurrency="7")
    assert (config.rounds, config.concurrency) == (2, 7)
    assert {bot.limits.move_ms for bot in config.bots} == {3000}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("rounds = 20", 'rounds = "ten"', "cup.toml:5: rounds = 'ten', but expected a whole number, 1 or more"),
        ("rounds = 20", "rounds = 0", "cup.toml:5: rounds = 0, but expected a whole number, 1 or more"),
        ("rounds = 20", "rounds = 1000000000", "rounds = 1000000000, but expected a whole number, 999999999 or less"),
        ("rounds = 20", 'rounds = "1000000000"', "rounds = '1000000000', but expected a whole number, 999999999 or"),
        ('rules = "tactics"', 'rules = "tactic"', "cup.toml:2: rules = 'tactic', but expected base, expert, tactics"),
        ('rules = "tactics"', "rules = 3", "cup.toml:2: rules = 3, but expected base, expert, tactics"),
        ('format = "gauntlet"', 'format = "swiss"', "toml:3: format = 'swiss', but expected roundrobin or gauntlet"),
        ("cycles = 2", "cycels = 2", "cup.toml:4: 'cycels' is not an option here; there are: rules, format, cycles"),
        ('tc = "10+0.1"', 'tc = "40/60"', "toml:10: tc = '40/60', but expected seconds for the whole round"),
        ('restart = "match"', 'restart = "often"', "toml:11: restart = 'often', but expected never or match or"),
        ("st = 0.5", "st = -1", "cup.toml:22: st = -1, but expected a number of seconds, such as 0.5"),
        ('memory = "512M"', 'memory = "much"', "cup.toml:25: memory = 'much', but expected a number of bytes"),
        ('memory = "512M"', "memory = 512", "toml:25: memory = 512, but expected 1M or more; 512 bytes. write 512M$"),
        ('memory = "512M"', "memory = 512000", "cup.toml:25: memory = 512000, but expected 1M or more$"),
        ('memory = "512M"', 'memory = "512K"', "cup.toml:25: memory = '512K', but expected 1M or more$"),
        ('dir = "."', 'dir = "nowhere"', "cup.toml:16: there is no folder '.*nowhere'"),
        ('cmd = "greedy"', 'name = "greedy"', "cup.toml:13: a bot needs a cmd, the command that starts it"),
        ('name = "mine"', 'name = "greedy"', "cup.toml:16: two bots are named 'greedy'"),
        ('name = "mine"', 'name = " x"', "cup.toml:17: name = ' x', but expected 1 to 32 ASCII letters"),
        ('env = { DEPTH = "3" }', "env = { DEPTH = 3 }", "toml:21: env: expected a table of texts, such as"),
        ("seed = 7", "seed = ", r"cup.toml: Invalid value \(at line 6, column 8\)"),
        ("[each]", "[[each]]", "cup.toml:9: what bots share is written as one"),
        ('cmd = ["./mybot", "--fast"]', 'cmd = "./nobot"', "toml:16: there is no program"),

    ],
)  # fmt: skip
def test_a_mistake_in_the_file_is_told_with_its_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert FILE.count(old) == 1
    with pytest.raises(ConfigError, match=problem):
        file(tmp_path, FILE.replace(old, new))


@pytest.mark.parametrize(
    ("bots", "specs", "options", "problem"),
    [
        (["greedy"], [], {}, "a tournament needs two bots or more, found 1"),
        (["x=greedy", "x=greedy"], [], {}, "two bots are named 'x'; give one of them another"),
        (["greedy=random"], ["cmd=random name=greedy"], {}, "two bots are named 'greedy'; give one of them another"),
        (["greedy", "'x"], [], {}, "is not a command line: No closing quotation"),
        (["greedy", "random"], [], {"rounds": "many"}, "--rounds: rounds = 'many', but expected a whole number"),
        (["greedy"], ["name=x"], {}, "--bot 'name=x': a bot needs a cmd"),
        (["greedy", "gredy"], [], {}, "'gredy': there is no program 'gredy'; did you mean greedy"),
        (["greedy"], ["cmd='x"], {}, "No closing quotation; expected words like cmd="),
        (["greedy", "random"], [], {"memory": "512"}, "--memory: memory = '512', but .*; 512 bytes. write 512M$"),
        (["greedy"], ["cmd=random memory=64"], {}, "--bot 'cmd=random memory=64': memory = '64', but .* write 64M$"),
        (["greedy", "python3 gone.py"], [], {}, "^'python3 gone.py': there is no file 'gone.py'$"),
        (["greedy"], ["cmd=x speed=3"], {}, "--bot 'cmd=x speed=3': 'speed' is not an option here"),
    ],
)
def test_a_mistake_on_the_command_line_is_told(
    bots: list[str], specs: list[str], options: dict[str, str], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        from_command_line(bots, specs, options)


BOTS = '[[bot]]\ncmd = "greedy"\n[[bot]]\ncmd = "random"\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"ronds = 4\n{BOTS}", "cup.toml:1: 'ronds' is not an option here; there are: rules, .*; did you mean rounds?"),
        (f'tc = "5+1"\n{BOTS}', "cup.toml:1: 'tc' is not an option here; it belongs in [each], or in the [[bot]]"),
        (f'cmd = "greedy"\n{BOTS}', "cup.toml:1: 'cmd' is not an option here; it belongs in a [[bot]]"),
        (f'listen = "[::1]:1"\n{BOTS}', "cup.toml:1: 'listen' is not an option here; it belongs in [server]"),
        (f"env = {{A = 'x'}}\n{BOTS}", "cup.toml:1: 'env' is not an option here; it belongs in [each], or in the"),
        (f"{BOTS}rounds = 4\n", "cup.toml:5: 'rounds' is not an option here; it belongs at the top of the file"),
        (BOTS.replace("[bot]", "[bots]"), "cup.toml:1: [[bots]] is not a table .*; did you mean [[bot]]?"),
        ('bots = ["greedy", "random"]\n', "cup.toml:1: [[bots]] is not a table of .*; did you mean [[bot]]?"),
        (f"[serve]\ngrace = 3\n{BOTS}", "cup.toml:1: [serve] is not a table .*; did you mean [server]?"),
        (f"[each]\nmemroy = '1G'\n{BOTS}", "cup.toml:2: 'memroy' is not an option here; .*; did you mean memory?"),
        (f"rules = 'tactcs'\n{BOTS}", "cup.toml:1: rules = 'tactcs', but expected base, .*; did you mean tactics?"),
    ],
)
def test_a_misspelt_or_misplaced_key_is_reported_with_what_was_meant(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=".*".join(map(re.escape, problem.split(".*")))):
        file(tmp_path, text)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("cmd=random rounds=4", "'rounds' is not an option here; it is an option of the whole tournament: --rounds"),
        ("cmd=random memroy=1G", "'memroy' is not an option here; there are: .*; did you mean memory?"),
    ],
)
def test_a_wrong_key_of_a_bot_on_the_command_line_is_reported_with_what_was_meant(spec: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=".*".join(map(re.escape, problem.split(".*")))):
        from_command_line(["greedy"], [spec], {})


@pytest.mark.parametrize(
    ("bots", "specs", "names"),
    [
        (["greedy", "greedy"], [], ["greedy", "greedy-2"]),
        (["greedy", "greedy --seed 3", "greedy"], [], ["greedy", "greedy-2", "greedy-3"]),
        (["greedy", "greedy=random"], [], ["greedy-2", "greedy"]),  # a name that was given is kept
        (["greedy", "greedy-2=random"], ["cmd=greedy"], ["greedy", "greedy-2", "greedy-3"]),
    ],
)
def test_a_bot_without_a_given_name_gets_a_number_where_its_name_is_taken(
    bots: list[str], specs: list[str], names: list[str]
) -> None:
    assert [bot.name for bot in from_command_line(bots, specs, {}).bots] == names


@pytest.mark.parametrize("text", ["bot = [1, 2]", "[bot]\ncmd = 'greedy'"])
def test_bots_that_are_no_tables_are_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"bots are written as \[\[bot\]\] tables"):
        file(tmp_path, text)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: No such file or directory"):
        from_file(tmp_path / "none.toml", {})


def test_the_differences_of_two_configs_are_shown_one_by_one() -> None:
    one = from_command_line(["greedy", "random"], [], {"seed": "1", "st": "2"}).recorded()
    two = from_command_line(["greedy", "random"], [], {"seed": "2", "st": "3"}).recorded()
    assert differences(one, one) == []
    slower = "the journal has st = 2, now it is 3"
    assert differences(one, two) == [f"bot greedy: {slower}", f"bot random: {slower}"]
    three = from_command_line(["greedy", "counting"], [], {"seed": "1", "st": "2"}).recorded()
    assert differences(one, three) == ["the journal has the bots greedy, random, now there are greedy, counting"]


def test_differences_are_reported_in_the_words_of_the_options() -> None:
    one = from_command_line(["greedy", "random"], [], {}).recorded()
    flags = {"memory": "1G", "tc": "3+0.5", "start": "none", "timemargin": "7", "cpu": "9", "cycles": "2"}
    two = from_command_line(["greedy", "random"], [], flags).recorded()
    found = [line.removeprefix("bot greedy: ") for line in differences(one, two) if "random" not in line]
    assert found == [
        "the journal has cycles = 1, now it is 2",
        "the journal has tc = none, now it is 3+0.5",
        "the journal has st = 10, now it is none",
        "the journal has start = 10, now it is none",
        "the journal has timemargin = 50, now it is 7",
        'the journal has memory = none, now it is "1G"',
        "the journal has cpu = none, now it is 9",
    ]


def test_a_bot_may_have_no_limit_to_start() -> None:
    assert from_command_line(["greedy", "random"], [], {"start": "none"}).bots[0].limits.start_ms is None


def test_a_command_with_an_equals_sign_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "y=z").write_text("#!/bin/sh\n")
    (tmp_path / "y=z").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    bot = from_command_line(["x=./y=z", "random"], [], {}).bots[0]
    assert isinstance(bot, BotSpec)
    assert bot.command == ("./y=z",)


@pytest.mark.parametrize(("text", "parsed"), [("10+0.1", (10_000, 100)), ("0.5", (500, 0)), ("60+1", (60_000, 1000))])
def test_time_controls_are_written_as_in_chess(text: str, parsed: tuple[int, int]) -> None:
    assert parse_tc(text) == parsed


@pytest.mark.parametrize("text", ["", "fast", "10+", "-1", "40/60+0.6"])
def test_other_time_controls_are_refused(text: str) -> None:
    with pytest.raises(ClockError, match="10"):
        parse_tc(text)


def test_a_bank_shrinks_by_thinking_and_grows_by_the_increment() -> None:
    clock = RoundClock(
        (TimeLimits(move_ms=None, bank_ms=1000, increment_ms=100, margin_ms=50), TimeLimits(move_ms=300))
    )
    assert [clock.left(seat)[1] for seat in SEATS] == [1050, 350]
    clock.spend(SEATS[0], 400.4)
    clock.spend(SEATS[1], 400)
    assert clock.left(SEATS[0]) == (Clock(None, 700), 750)
    assert clock.left(SEATS[1]) == (Clock(300, None), 350)
    clock.spend(SEATS[0], 740)  # within the margin
    assert clock.left(SEATS[0]) == (Clock(None, 100), 150)


def test_without_limits_time_is_endless() -> None:
    limits = TimeLimits(move_ms=None)
    assert RoundClock((limits, limits)).left(SEATS[0])[1] == float("inf")


def test_all_programs_that_are_missing_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as told:
        from_command_line(["./one", "greedy"], ["cmd=./two name=second"], {})
    assert str(told.value).splitlines() == [
        "'./one': there is no program './one'",
        "--bot 'cmd=./two name=second': there is no program './two'",
    ]
    with pytest.raises(ConfigError) as told:
        file(tmp_path, '[[bot]]\ncmd = "./one"\n[[bot]]\ncmd = "greedy"\n[[bot]]\ncmd = "./two"\n')
    assert [line.partition(": ")[0].rpartition("/")[2] for line in str(told.value).splitlines()] == [
        "cup.toml:1",
        "cup.toml:5",
    ]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with interpreters, which nothing here starts, and with one script beside it."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("python3.12", "pypy3", "node", "bash", "sh", "ruby", "java", "on-the-path.sh"):
        (folder / name).touch(mode=0o755)
    (tmp_path / "mybot.py").touch()
    return folder


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ("python3.12 gone.py", "gone.py"),
        ("python3.12 -u -OO gone.py --fast", "gone.py"),
        ("programs/python3.12 bots/gone", "bots/gone"),
        ("pypy3 mybot.py/gone.py", "mybot.py/gone.py"),
        ("node gone.js", "gone.js"),
        ("bash gone.sh", "gone.sh"),
        ("sh ./on-the-path.sh", "./on-the-path.sh"),
        ("ruby gone.rb mybot.py", "gone.rb"),
    ],
)
def test_a_script_that_is_missing_is_found_before_the_start(words: str, file: str, programs: Path) -> None:
    spec = BotSpec("x", tuple(words.split()), cwd=programs.parent, env=(("PATH", str(programs)),))
    assert missing_part(spec) == f"there is no file {file!r} in {programs.parent}"


def test_a_script_with_an_absolute_path_is_missing_there_and_nowhere_else(programs: Path) -> None:
    spec = BotSpec("x", (f"{programs}/node", "/no/such/bot.js"), cwd=programs.parent)
    assert missing_part(spec) == "there is no file '/no/such/bot.js'"


@pytest.mark.parametrize(
    "words",
    [
        "python3.12 -u mybot.py gone.py",
        "python3.12",
        "python3.12 -",
        "python3.12 -m gone",
        "python3.12 -W ignore gone.py",  # perhaps the value of an option
        "python3.12 programs",  # a folder with a __main__.py
        "node gone",  # which may be gone.js
        "node --require gone.js bot.js",
        "bash -c gone.sh",
        "bash on-the-path.sh",
        "java Gone",
    ],
)
def test_a_command_that_does_not_plainly_name_a_missing_script_is_tried(words: str, programs: Path) -> None:
    spec = BotSpec("x", tuple(words.split()), cwd=programs.parent, env=(("PATH", str(programs)),))
    assert missing_part(spec) is None


def test_a_server_refuses_a_seed(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text('seed = 7\n[server]\nlisten = "127.0.0.1:0"\n[[bot]]\ncmd = "greedy"\n[[bot]]\ncmd = "random"\n')
    with pytest.raises(ConfigError, match=r"cup\.toml:1: a server does not take a seed, because anyone who"):
        read_server_file(path, {})


@pytest.mark.parametrize(
    ("options", "bank"), [({}, 60_000), ({"st": "2"}, 12_000), ({"tc": "5+1"}, 5_000), ({"st": "none"}, None)]
)
def test_a_stranger_cannot_take_the_whole_limit_for_each_answer(
    tmp_path: Path, options: dict[str, str], bank: int | None
) -> None:
    path = tmp_path / "open.toml"
    path.write_text('[[bot]]\ncmd = "random"\n')
    config, server = read_server_file(path, {"listen": "127.0.0.1:0", "open": "true", "forever": "true"} | options)
    assert server.bot_limits.bank_ms == bank
    assert config.bots[0].limits.bank_ms == (5_000 if "tc" in options else None)

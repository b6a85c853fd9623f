"""The options of a sandbox: in files, for one bot, on the command line; what is recorded and compared."""

import json
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pytest

from arena.cli.progress import Quiet
from arena.journal.lines import JournalError, JournalLine, TournamentLine, read
from arena.plan.bot_spec import BotSpec
from arena.plan.config import Config, ConfigError, bot_from_command_line, from_command_line
from arena.plan.config_file import from_file
from arena.plan.recorded_config import RecordedBot, differences, recorded_bot, spec_of
from arena.plan.sandbox import SCRATCH, Level, Sandbox
from arena.tournament.run import run_tournament
from tests.helpers.commands import arena


def in_file(folder: Path, each: str = "", own: str = "") -> list[Sandbox]:
    """The sandboxes of two bots; `own` belongs to the first."""
    (folder / "cup.toml").write_text(f'[each]\n{each}\n[[bot]]\ncmd = "greedy"\n{own}\n[[bot]]\ncmd = "random"\n')
    return sandboxes(from_file(folder / "cup.toml", {}))


def sandboxes(config: Config) -> list[Sandbox]:
    assert all(isinstance(bot, BotSpec) for bot in config.bots)
    return [bot.sandbox for bot in config.bots if isinstance(bot, BotSpec)]


def problem_in_file(folder: Path, each: str = "", own: str = "") -> str:
    with pytest.raises(ConfigError) as caught:
        in_file(folder, each, own)
    return str(caught.value).removeprefix(f"{folder / 'cup.toml'}")


# In a file


def test_there_is_none_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert in_file(tmp_path) == [Sandbox(Level.NONE, SCRATCH, (), False, None)] * 2


@pytest.mark.parametrize(
    ("text", "level"), [("true", Level.FULL), ("false", Level.NONE), ('"try"', Level.TRY), ('"true"', Level.FULL)]
)
def test_the_level_is_for_all_bots_or_for_one(text: str, level: Level, tmp_path: Path) -> None:
    assert [box.level for box in in_file(tmp_path, f"sandbox = {text}")] == [level, level]
    assert [box.level for box in in_file(tmp_path, own=f"sandbox = {text}")] == [level, Level.NONE]
    both = in_file(tmp_path, "sandbox = true", f"sandbox = {text}")
    assert [box.level for box in both] == [level, Level.FULL]


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    for name in ("books", "mine", "data"):
        (tmp_path / name).mkdir()
    own = 'dir = "mine"\nexpose = ["books", "mine/../data", "/etc/passwd"]\nscratch = "1M"\nsandbox-user = "games"'
    one, two = in_file(tmp_path, "sandbox = true", own)
    assert one == Sandbox(Level.FULL, 2**20, ("../books", "../data", "/etc/passwd"), True, "games")
    exposed = (str(tmp_path / "books"), str(tmp_path / "data"), "/etc/passwd")
    assert one.exposed(tmp_path / "mine") == exposed
    assert two == Sandbox(Level.FULL)
    assert in_file(tmp_path, 'expose = "books"')[1].expose == ("books",)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('sandbox = "maybe"', """sandbox = 'maybe', but expected true, false or "try\""""),
        ("sandbox = 1", 'sandbox = 1, but expected true, false or "try"'),
        ('scratch = "1K"', "scratch = '1K', but expected a size from 64K to 4G, such as 16M"),
        ('scratch = "5G"', "scratch = '5G', but expected a size from 64K to 4G, such as 16M"),
        ('scratch = "much"', "scratch = 'much', but expected a size from 64K to 4G, such as 16M"),
        ('expose = [""]', "expose = [''], but expected paths that are not empty"),
        ("expose = 3", "expose = 3, but expected "),
        ("sandbox-user = 0", "sandbox-user = 0, but expected "),
        ('sandbox-user = ""', "sandbox-user = '', but expected the name of a user"),
    ],
)
def test_a_bad_value_is_told_with_its_line(line: str, problem: str, tmp_path: Path) -> None:
    assert problem_in_file(tmp_path, own=line).startswith(f":5: {problem}")
    assert "\n" not in problem_in_file(tmp_path, own=line)


def test_a_path_that_does_not_exist_cannot_be_exposed(tmp_path: Path) -> None:
    told = problem_in_file(tmp_path, own='sandbox = true\nexpose = ["no-such"]')
    assert told.endswith(f"expose = {str(tmp_path / 'no-such')!r}, but expected a path that exists")


@pytest.mark.parametrize("level", ["true", '"try"'])
def test_the_whole_environment_is_not_for_a_sandbox(level: str, tmp_path: Path) -> None:
    told = problem_in_file(tmp_path, own=f"sandbox = {level}\ninherit-env = true")
    assert told.endswith("inherit-env passes on what sandbox keeps away from a bot; leave out one of them")
    assert in_file(tmp_path, own="sandbox = false\ninherit-env = true")[0].level is Level.NONE


# On the command line


def test_options_are_for_all_bots_and_words_of_bot_for_one() -> None:
    specs = ["cmd=random sandbox=try scratch=64K expose='/etc/passwd /etc/group'"]
    one, two = sandboxes(from_command_line(["greedy"], specs, {"sandbox": "true", "sandbox-user": "games"}))
    assert one == Sandbox(Level.FULL, user="games")
    assert two == Sandbox(Level.TRY, 2**16, ("/etc/passwd", "/etc/group"), False, "games")


def test_a_bot_outside_of_a_tournament_takes_them_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "books").mkdir()
    found = bot_from_command_line("greedy", {"sandbox": "try", "expose": "books", "scratch": "32M"})
    assert found.sandbox == Sandbox(Level.TRY, 2**25, ("books",))
    with pytest.raises(ConfigError, match="inherit-env passes on what sandbox keeps away"):
        bot_from_command_line("greedy", {"sandbox": "true", "inherit-env": "true"})


NO_PROGRAM = "there is no program 'no-such-bot'"  # which is found out after all options were read


@pytest.mark.parametrize(
    "words",
    [
        ("no-such-bot", "random", "--sandbox"),
        ("--sandbox", "no-such-bot", "random"),
        ("no-such-bot", "--sandbox", "random"),
        ("--sandbox", "try", "no-such-bot", "random"),
        ("--sandbox=try", "no-such-bot", "random"),
        ("no-such-bot", "random", "--sandbox=try"),
        ("no-such-bot", "--sandbox", "true", "random"),
        ("--sandbox", "--rounds", "2", "no-such-bot", "random"),
        ("--rounds", "2", "--sandbox", "--", "no-such-bot", "random"),
        ("--affinity", "--sandbox", "no-such-bot", "random"),
        ("--affinity", "no-such-bot", "random"),
        ("--affinity", "false", "no-such-bot", "random", "--sandbox", "false"),
    ],
)
def test_an_option_that_may_stand_alone_takes_no_bot_for_its_value(words: tuple[str, ...]) -> None:
    done = arena("play", *words)
    assert done.exit_code == 2
    assert NO_PROGRAM in done.stderr


@pytest.mark.parametrize("words", [("--sandbox=maybe", "greedy", "random"), ("greedy", "random", "--sandbox=")])
def test_a_bad_level_is_told(words: tuple[str, ...]) -> None:
    done = arena("play", *words)
    assert done.exit_code == 2
    assert """but expected true, false or "try\"""" in done.stderr
    assert "Traceback" not in done.stderr


# Recorded, and compared


FULL = Sandbox(Level.FULL, 2**20, ("/etc/passwd", "../books"), True, "games")


def recorded(bot: BotSpec) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(msgspec.json.encode(recorded_bot(bot)))
    return found


def test_a_sandbox_is_recorded_and_read_again() -> None:
    bot = BotSpec("x", ("x",), sandbox=FULL)
    assert recorded(bot)["sandbox"] == {
        "level": "full",
        "scratch": 2**20,
        "expose": ["/etc/passwd", "../books"],
        "own_dir": True,
        "user": "games",
    }
    again = msgspec.json.decode(msgspec.json.encode(recorded_bot(bot)), type=RecordedBot)
    assert again.sandbox == FULL
    assert spec_of(again).sandbox == attrs.evolve(FULL, expose=(), user=None)  # the starter's own


def test_the_record_does_not_show_where_the_tournament_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so the tournament resumes from another folder, and in another place."""
    place = tmp_path / "one" / "cup"
    for name in ("mine", "books"):
        (place / name).mkdir(parents=True)
    text = 'sandbox = true\n[[bot]]\ncmd = "greedy"\ndir = "mine"\nexpose = "books"\n[[bot]]\ncmd = "random"\n'
    (place / "cup.toml").write_text(f"[each]\n{text}")
    monkeypatch.chdir(place)
    here = from_file(Path("cup.toml"), {}).recorded()
    assert str(tmp_path) not in msgspec.json.encode(here).decode()
    monkeypatch.chdir(place.parent)
    assert differences(here, from_file(Path("cup/cup.toml"), {}).recorded()) == []
    place.parent.rename(tmp_path / "two")
    assert differences(here, from_file(tmp_path / "two" / "cup" / "cup.toml", {}).recorded()) == []


def test_nothing_is_recorded_of_a_bot_without_one() -> None:
    """So journals of tournaments without sandboxes stay as they were."""
    assert "sandbox" not in recorded(BotSpec("x", ("x",)))
    assert spec_of(recorded_bot(BotSpec("x", ("x",)))).sandbox == Sandbox()


def with_level(config: Config, level: Level, scratch: int = SCRATCH, **others: Any) -> Config:
    sandbox = Sandbox(level, scratch, **others)
    bots = [attrs.evolve(bot, sandbox=sandbox) for bot in config.bots if isinstance(bot, BotSpec)]
    return attrs.evolve(config, bots=tuple(bots))


def test_a_tournament_does_not_go_on_at_another_level(journal: Path) -> None:
    """At MISSING, because that is possible on every machine."""
    config = from_command_line(["greedy", "random"], [], {"rounds": "2", "journal": str(journal)})
    missing = with_level(config, Level.MISSING)
    run_tournament(missing, Quiet())
    opening = next(read(journal, JournalLine)).line
    assert isinstance(opening, TournamentLine)
    assert [bot.sandbox for bot in opening.config.bots or ()] == [Sandbox(Level.MISSING)] * 2
    before = journal.read_bytes()
    for other, told in (
        (with_level(config, Level.FULL), 'the journal has sandbox = "try", but it was unavailable, now it is true'),
        (config, 'the journal has sandbox = "try", but it was unavailable, now it is false'),
        (with_level(config, Level.MISSING, 2**20), "scratch"),
        (with_level(config, Level.MISSING, expose=("/etc/passwd",)), "bot greedy: the journal has expose = "),
        (with_level(config, Level.MISSING, user="games"), "bot greedy: the journal has sandbox-user = "),
    ):
        with pytest.raises(JournalError) as caught:
            run_tournament(other, Quiet())
        assert told in str(caught.value)
        assert journal.read_bytes() == before
    run_tournament(missing, Quiet())  # nothing is left to play
    assert next(entry.line for entry in read(journal, JournalLine)) == opening

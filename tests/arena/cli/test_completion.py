"""Completion by the Tab key, with the script that --help names, in a real bash."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from arena.cli.main import main
from arena.devtools.starters import LANGUAGES
from arena.plan.options import BOT, SERVER, TOURNAMENT
from engine.ruleset import RULE_SETS
from tests.helpers.processes import workers_of
from tests.helpers.pty_session import arena_in_terminal

ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
SETUP = 'eval "$(_ARENA_COMPLETE=bash_source arena)"'
pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="no bash on this machine")


def completed(*words: str, folder: Path) -> list[str]:
    """What bash would offer for the last word."""
    complete = 'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _arena_completion arena'
    script = f'{SETUP}; {complete}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    # Outside of a real completion `compopt` complains, on stderr.
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", "arena", *words],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["re"], ["replay", "report", "regress", "rerun"]),
        (["play", ""], ["random", "greedy", "counting", "human"]),
        (["play", "gr"], ["greedy"]),
        (["play", "greedy", "c"], ["counting"]),
        (["run", "greedy", "random", "coun"], ["counting"]),
        (["check", "ra"], ["random"]),
        (["regress", "cup.jsonl", "gr"], ["greedy"]),
        (["connect", "127.0.0.1:4000", "--", "gr"], ["greedy"]),
        (["play", "greedy", "random", "--rules", "tac"], [name for name in RULE_SETS if name.startswith("tac")]),
        (["run", "--rules", ""], list(RULE_SETS)),
        (["replay", "cup.jsonl", "--rules", "cl"], ["classic"]),
        (["run", "--format", ""], ["roundrobin", "gauntlet"]),
        (["run", "--restart", ""], ["never", "match", "round"]),
        (["run", "--affinity", "t"], ["true"]),
        (["table", "cup.jsonl", "--format", "c"], ["csv"]),
        (["export", "cup.jsonl", "--what", ""], ["rounds", "moves", "positions"]),
        (["serve", "cup.toml", "--begin", ""], ["all", "key"]),
        (["new-bot", ""], list(LANGUAGES)),
        (["play", "--max-"], ["--max-faults", "--max-voids"]),
    ],
)
def test_commands_bots_rule_sets_and_choices_are_offered(words: list[str], offered: list[str], tmp_path: Path) -> None:
    assert completed(*words, folder=tmp_path) == offered


def test_every_choice_that_is_offered_can_be_read() -> None:
    offered = [(option, word) for option in (*TOURNAMENT, *BOT, *SERVER) for word in option.choices]
    choices = {"rules", "format", "affinity", "changed", "restart", "begin", "sandbox"}
    assert {option.name for option, _ in offered} == choices
    for option, word in offered:
        option.read(word)


def test_the_tab_key_completes_a_bot_a_file_and_a_rule_set(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_text("")
    shell = ["bash", "-c", "exec bash --norc --noprofile -i"]
    with arena_in_terminal([], tmp_path, {**ENVIRONMENT, "PS1": "$ "}, around=shell) as session:
        session.press(f"{SETUP}; echo re''ady\r")
        session.wait_for("ready")
        session.press("arena play gre\t")
        session.wait_for("arena play greedy")
        session.press("--rules cla\t")
        session.wait_for("arena play greedy --rules classic")
        session.press("\x15arena run lea\t")
        session.wait_for("arena run league.toml")


def test_the_help_names_the_line_that_switches_it_on() -> None:
    assert f"  {SETUP}  " in CliRunner().invoke(main, ["--help"]).output


def test_the_tab_key_starts_no_worker() -> None:
    context = click.Context(main, resilient_parsing=True)
    with context:
        main.resolve_command(context, ["run", "--rul"])
        assert workers_of(os.getpid()) == []

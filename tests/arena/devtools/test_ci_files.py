"""`arena new-bot --ci github`: the steps of the workflow, run as the service would run them."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from click.testing import CliRunner

from arena.cli.main import main
from arena.devtools import starters
from arena.devtools.starters import new_bot
from arena.support.version import installed_from

pytestmark = pytest.mark.extended

INSTALL = "pip install "


def create(language: str, folder: Path, *options: str) -> None:
    assert CliRunner().invoke(main, ["new-bot", language, str(folder), "--ci", "github", *options]).exit_code == 0


def workflow_of(folder: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load((folder / ".github" / "workflows" / "arena.yml").read_text())
    return found


def jobs_of(folder: Path) -> dict[str, Any]:
    workflow = workflow_of(folder)
    assert workflow["permissions"] == {"contents": "read"}  # a pull request may come from a stranger
    assert workflow[True] == {"push": None, "pull_request": None}  # of any branch; YAML reads "on" as true
    found: dict[str, Any] = workflow["jobs"]
    return found


def run_steps(job: dict[str, Any], workspace: Path, programs: Path) -> list[int]:
    """The exit statuses of the commands of a job, up to the first that fails."""
    programs.mkdir(exist_ok=True)
    arena = programs / "arena"
    arena.write_text(f'#!/bin/sh\nexec {sys.executable} -m arena "$@"\n')
    arena.chmod(0o755)
    variables = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    statuses = []
    for command in [step["run"] for step in job["steps"] if "run" in step]:
        if not command.startswith(INSTALL):
            words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command]  # as GitHub starts it
            statuses.append(subprocess.run(words, cwd=workspace, env=variables, timeout=300).returncode)
            if statuses[-1]:
                break
    return statuses


@pytest.mark.parametrize(("language", "options"), [("python", ["--strategy", "greedy"]), ("c", [])])
def test_the_job_that_checks_a_bot_builds_tests_and_checks_it(
    language: str, options: list[str], tmp_path: Path
) -> None:
    if not shutil.which(new_bot(language, "mybot").needs):
        pytest.skip(f"no compiler for {language} on this machine")
    folder = tmp_path / "mybot"
    create(language, folder, *options)
    job = jobs_of(folder)["check"]
    assert run_steps(job, folder, tmp_path / "bin") == [0, 0]
    assert ElementTree.parse(folder / "check.xml").getroot().attrib["failures"] == "0"
    (kept,) = [step["with"]["path"].split() for step in job["steps"] if "upload" in step.get("uses", "")]
    assert kept == ["check.xml", "transcript.txt"]
    assert all((folder / file).exists() for file in kept)


def test_the_workflow_names_where_the_arena_came_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starters, "installed_from", lambda: "git+https://example.org/a.git@12ab")
    create("c", tmp_path / "mybot")
    assert workflow_of(tmp_path / "mybot")["env"] == {"ARENA": "git+https://example.org/a.git@12ab"}


def test_a_workflow_without_an_address_fails_and_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starters, "installed_from", lambda: None)
    made = CliRunner().invoke(main, ["new-bot", "c", str(tmp_path / "mybot"), "--ci", "github"])
    file = tmp_path / "mybot" / ".github" / "workflows" / "arena.yml"
    assert made.output.endswith(f"Before that, set ARENA in {file}: what pip installs the arena from.\n")
    workflow = workflow_of(tmp_path / "mybot")
    assert workflow["env"] == {"ARENA": ""}
    for job in workflow["jobs"].values():
        (install,) = [step["run"] for step in job["steps"] if step.get("run", "").startswith(INSTALL)]
        done = subprocess.run(["bash", "-c", install], env={"ARENA": ""}, capture_output=True, text=True)
        assert done.returncode != 0
        assert "ARENA: set it in .github/workflows/arena.yml" in done.stderr


@pytest.mark.parametrize(
    ("recorded", "address"),
    [
        ('{"url":"https://h/a.git","vcs_info":{"vcs":"git","commit_id":"12ab"}}', "git+https://h/a.git@12ab"),
        ('{"url":"https://h/a.whl","archive_info":{}}', "https://h/a.whl"),
        ('{"url":"file:///home/anna/a","dir_info":{"editable":true}}', None),  # nobody else has this folder
        (None, None),  # from an index, or a folder of wheels
    ],
)
def test_an_address_is_one_that_other_machines_can_use(
    recorded: str | None, address: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if recorded is not None:
        (tmp_path / "direct_url.json").write_text(recorded)
    found = importlib.metadata.PathDistribution(tmp_path)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: found)
    assert installed_from() == address


def test_a_bot_that_fails_fails_the_job_and_its_report_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "mybot"
    create("python", folder)
    (folder / "mybot.py").write_text("raise SystemExit('out of order')\n")
    assert run_steps(jobs_of(folder)["check"], folder, tmp_path / "bin") == [1]
    assert "out of order" in (folder / "check.xml").read_text()


def test_a_better_bot_passes_the_comparison_and_a_worse_one_does_not(tmp_path: Path) -> None:
    create("python", tmp_path / "new", "--strategy", "greedy")
    create("python", tmp_path / "base")
    shutil.move(tmp_path / "base" / "base.py", tmp_path / "base" / "new.py")  # both are the same bot's repository
    job = jobs_of(tmp_path / "new")["better"]
    assert [step["with"]["path"] for step in job["steps"] if "path" in step.get("with", {})] == ["new", "base"]
    assert run_steps(job, tmp_path, tmp_path / "bin") == [0]
    (tmp_path / "new" / "sprt.jsonl").unlink()
    better, worse = (tmp_path / folder / "new.py" for folder in ("new", "base"))
    text = better.read_text()
    better.write_text(worse.read_text())
    worse.write_text(text)
    assert run_steps(job, tmp_path, tmp_path / "bin") == [1]


def test_a_pull_request_that_changes_nothing_of_the_bot_passes_without_a_test(tmp_path: Path) -> None:
    create("python", tmp_path / "new")
    shutil.copytree(tmp_path / "new", tmp_path / "base")
    (tmp_path / "new" / "README.md").write_text("My bot\n")
    job, journal = jobs_of(tmp_path / "new")["better"], tmp_path / "new" / "sprt.jsonl"
    assert run_steps(job, tmp_path, tmp_path / "bin") == [0]
    assert not journal.exists()
    for folder in ("new", "base"):  # so that a test is short
        test = tmp_path / folder / "sprt.toml"
        test.write_text(test.read_text().replace("max-rounds = 20000", "max-rounds = 2"))
    (tmp_path / "new" / "weights.json").write_text("{}")
    assert run_steps(job, tmp_path, tmp_path / "bin") == [0]
    assert journal.exists()


@pytest.mark.parametrize(
    ("language", "patterns"), [("python", ["**/*.py"]), ("javascript", ["**/*.js"]), ("c", ["**/*.c"])]
)
def test_the_test_knows_which_files_belong_to_a_bot(language: str, patterns: list[str], tmp_path: Path) -> None:
    create(language, tmp_path / "mybot")
    test = tomllib.loads((tmp_path / "mybot" / "sprt.toml").read_text())
    assert test["each"]["fingerprint"] == patterns
    assert all([*(tmp_path / "mybot").glob(pattern)] for pattern in patterns)

"""Files with which a CI service checks a bot and compares it with the bot that it would replace. Pure."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import indent
from typing import Final

WORKFLOW: Final = ".github/workflows/arena.yml"
TEST: Final = "sprt.toml"
_SOURCES: Final = (".py", ".js", ".mjs", ".sh", ".c", ".cpp", ".cc", ".java", ".rs", ".go")
_TEST_TEXT: Final = """\
# `arena sprt sprt.toml` asks: is the bot in this folder better than the one in the folder `base` beside it?
# To put a copy there:  mkdir -p ../base && cp -r . ../base/
# or the branch main:   git worktree add ../base main

[sprt]
elo0 = 0              # not better
elo1 = 20             # better; the smaller the difference, the more rounds it takes to see it
max-rounds = 20000

[each]
# What belongs to a bot besides its program, such as "net.bin". Name all that it reads: a test never mixes two versions
# of these files. A pull request that changes no file of the folder, other than *.md, passes without a test.
fingerprint = {fingerprint}

[[bot]]
name = "new"
dir = "."
cmd = {command}

[[bot]]
name = "base"
dir = "../base"
cmd = {command}
"""
_IGNORED: Final = """\
__pycache__/
/base/
/check.xml
/transcript.txt
/sprt.*
!/sprt.toml
"""
_WORKFLOW_TEXT: Final = """\
# Checks the bot on every push. For a pull request it also plays the new bot against the one that it would replace:
# sprt.toml says how much better it has to be.
name: arena

on:
  push:
  pull_request:

permissions:
  contents: read

env:
  # What pip installs the arena from, such as git+https://HOST/OWNER/schotten-arena.git for a repository.
  ARENA: {arena}

jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Install the arena
        run: |
          pip install "${{ARENA:?set it in .github/workflows/arena.yml, to what pip installs the arena from}}"
{own_steps}\
      - name: Check
        run: |
          {check} --junit check.xml --transcript transcript.txt
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: check
          path: |
            check.xml
            transcript.txt

  better:
    if: github.event_name == 'pull_request'
    needs: check
    runs-on: ubuntu-latest
    timeout-minutes: 120
    steps:
      - uses: actions/checkout@v4
        with:
          path: new
      - uses: actions/checkout@v4
        with:
          ref: ${{{{ github.event.pull_request.base.sha }}}}
          path: base
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Install the arena
        run: |
          pip install "${{ARENA:?set it in .github/workflows/arena.yml, to what pip installs the arena from}}"
{build_both}\
      - name: Is the new bot better?
        run: |
          arena sprt new/sprt.toml || [ $? = 3 ]  # 3: undecided after all rounds, or the same bot as before
"""


def github_files(check: str, build: str | None, run_tests: str | None, arena: str) -> dict[str, str]:
    """A workflow for GitHub, which plays the test below, by path. The arguments
    are commands for its folder; `arena` is what pip installs the arena from, or empty for the author to fill in."""
    own_steps = _steps([("Build", build), ("Test", run_tests)])
    build_both = _steps([(f"Build {folder}", build and f"cd {folder}\n{build}") for folder in ("new", "base")])
    workflow = _WORKFLOW_TEXT.format(arena=json.dumps(arena), own_steps=own_steps, check=check, build_both=build_both)
    return {WORKFLOW: workflow, ".gitignore": _IGNORED}


def sequential_test(files: Iterable[str], run: str) -> dict[str, str]:
    """The sequential test of a bot with these files against an earlier version of it, by path."""
    patterns = sorted({f"**/*{path.suffix}" for path in map(Path, files) if path.suffix in _SOURCES})
    text = _TEST_TEXT.format(command=json.dumps(run, ensure_ascii=False), fingerprint=json.dumps(patterns))
    return {TEST: text}


def _steps(commands: Sequence[tuple[str, str | None]]) -> str:
    named = [(name, command) for name, command in commands if command]
    return "".join(f"      - name: {name}\n        run: |\n{indent(command, ' ' * 10)}\n" for name, command in named)

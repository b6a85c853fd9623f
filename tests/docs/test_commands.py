"""What README.md, CONTRIBUTING.md and the pages in docs/ tell people to run does run."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import attrs
import pytest
import trustme

from tests.docs.documents import CONTRIBUTING, PAGES, README, Document
from tests.helpers.cluster import free_port
from tests.helpers.paths import ROOT
from tests.helpers.person import Person
from tests.helpers.pty_session import arena_in_terminal
from tests.helpers.sandboxes import needs_sandbox, reachable_folder

pytestmark = pytest.mark.extended

DOCUMENTS = (README, CONTRIBUTING, *PAGES)
SANDBOX = Document("docs/sandbox.md")
CLUSTER = Document("docs/cluster.md")
INSTALLS = [
    "pipx install .",
    "uv tool install .",
    "ARENA_COMPILED=1 pipx install .",
    "pip install -e '.[dask]'",
    "pip install -e '.[parquet]'",
]  # the test of the wheel installs what these would
LISTENING = "127.0.0.1:4000"
PATIENCE = 120  # seconds for what takes a few


def is_for_make(command: str) -> bool:
    return command.startswith("make ")


def environment(folder: Path) -> dict[str, str]:
    """Ours, with an `arena` on the path that is the one of this tree."""
    programs = folder / "bin"
    programs.mkdir()
    arena = programs / "arena"
    arena.write_text(f'#!/bin/sh\nexec {sys.executable} -m arena "$@"\n')
    arena.chmod(0o755)
    author = {"GIT_AUTHOR_NAME": "Anna", "GIT_AUTHOR_EMAIL": "anna@example.org"}
    committer = {"GIT_COMMITTER_NAME": "Anna", "GIT_COMMITTER_EMAIL": "anna@example.org"}
    return os.environ | author | committer | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def write_files(document: Document, folder: Path) -> None:
    for name, text in document.files().items():
        (folder / name).write_text(text.replace(LISTENING, "127.0.0.1:0"))


def test_the_first_two_commands_are_make_demo_and_make_test() -> None:
    assert README.commands()[:2] == ["make demo", "make test"]
    assert README.commands()[2:5] == INSTALLS[:3]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_make_target_exists(document: Document) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    in_code = {command.split()[1] for command in document.commands() if is_for_make(command)}
    quoted = set(re.findall(r"`make ([a-z-]+)", document.text))
    assert in_code | quoted <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_no_command_stands_where_no_test_runs_it(document: Document) -> None:
    assert re.findall(r"^(?:\$ )?(?:arena|make|pipx|uv|pip) .*", document.untested_code(), re.MULTILINE) == []


def run_commands(document: Document, folder: Path, variables: Mapping[str, str]) -> None:
    """In an empty folder with the tournament files of the page, as a reader would."""
    write_files(document, folder)
    for command in document.commands():
        if is_for_make(command) or command in INSTALLS:
            continue
        if command.startswith("arena play human "):
            check_that_a_person_can_play(command, folder)
            continue
        done = subprocess.run(
            command, shell=True, cwd=folder, env=variables, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert done.stdout + done.stderr, command


def check_that_a_person_can_play(command: str, folder: Path) -> None:
    with arena_in_terminal(shlex.split(command)[1:], folder) as session:
        person = Person(session)
        person.wait()
        person.decide(change=0)
        session.press("\x03")
        assert session.wait_for_status() == 130


@pytest.mark.parametrize(
    "document",
    [each for each in DOCUMENTS if each.commands() and each not in (SANDBOX, CLUSTER)],
    ids=lambda document: document.name,
)
def test_the_commands_of_a_page_run_one_after_the_other(document: Document, tmp_path: Path) -> None:
    run_commands(document, tmp_path, environment(tmp_path))


@needs_sandbox
def test_the_commands_about_the_sandbox_run_one_after_the_other() -> None:
    """With a folder and a python3 that every user can reach, because root starts sandboxed bots as another user."""
    with reachable_folder() as folder:
        variables = environment(folder)
        run_commands(SANDBOX, folder, variables | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.defpath}"})


def test_the_tournament_of_the_readme_prints_such_a_table_and_can_be_verified(tmp_path: Path) -> None:
    write_files(README, tmp_path)
    variables = environment(tmp_path)

    def printed(*words: str) -> str:
        return subprocess.run(words, cwd=tmp_path, env=variables, stdout=subprocess.PIPE, text=True, check=True).stdout

    table = printed("arena", "run", "cup.toml", "--quiet")
    sample = next(block for block in README.blocks("text") if block.lstrip().startswith("Rank"))
    assert set(sample.splitlines()[0].split()) <= set(table.splitlines()[0].split())  # there may be voids as well
    assert "24 rounds of 1 tournament, 0 void: all in order" in printed("arena", "verify", "cup.jsonl")


def test_a_match_prints_what_the_readme_shows(tmp_path: Path) -> None:
    """By a public seed, so that the bots play the same rounds each time."""
    (command,) = [command for command in README.commands() if "--seed" in command]
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
    sample = next(block for block in README.blocks("text") if block.startswith("Finished round 1"))
    assert done.stdout == sample


@pytest.mark.xdist_group("cluster")
def test_the_cluster_of_the_page_plays(tmp_path: Path) -> None:
    """With all machines of the page on loopback, and the scheduler on a free port."""
    port = free_port()
    (block,) = CLUSTER.blocks("bash")

    def here(command: str) -> str:
        return command.replace("192.168.1.10:8786", f"127.0.0.1:{port}").replace("192.168.1.10", "127.0.0.1")

    write_files(CLUSTER, tmp_path)
    with Terminals(tmp_path) as terminals:
        scheduler, *workers = map(here, block.splitlines())
        dask = f"{sys.executable} -m distributed.cli.dask_"
        terminals.open(scheduler.replace("dask ", dask) + f" --port {port}").wait_for("Scheduler at")
        for number, worker in enumerate(workers, 1):
            opened = terminals.open(f"ARENA_HOST=machine-{number} " + worker.replace("dask ", dask))
            opened.wait_for("(?s)Registered to.*Registered to")
        for command in map(here, CLUSTER.commands()):
            if command not in INSTALLS:
                done = subprocess.run(
                    command, shell=True, cwd=tmp_path, env=terminals.variables, capture_output=True, text=True
                )
                assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
                assert done.stdout + done.stderr, command
            if "--by host" in command:
                assert {"machine-1", "machine-2"} <= set(done.stdout.split())


TERMINALS = [(document, block) for document in DOCUMENTS for block in document.blocks("bash") if document != CLUSTER]


@pytest.mark.parametrize(("document", "block"), TERMINALS, ids=[document.name for document, _ in TERMINALS])
def test_the_terminals_of_a_page_play_together(document: Document, block: str, tmp_path: Path) -> None:
    """The first is a server, here on a free port; the others connect to it. All end by themselves, except where a
    server plays for ever: there Ctrl-C ends each of them after some rounds."""
    write_files(document, tmp_path)
    write_certificates(tmp_path)
    serve, *others = block.splitlines()
    file = re.findall(r"[\w-]+\.toml", serve)[0]
    forever = "forever = true" in document.files()[file]
    with Terminals(tmp_path) as terminals:
        server = terminals.open(serve)
        address = server.wait_for(r"127\.0\.0\.1:[1-9]\d*")
        clients = []
        for command in others:
            clients.append(terminals.open(command.replace(LISTENING, address)))
            if "arena watch" in command:
                clients[-1].wait_for("waiting for a round")
        if forever:
            server.wait_for(r"(?s)Finished round.*Finished round")
        for terminal in (server, *clients):
            if forever:
                terminal.process.send_signal(signal.SIGINT)
            assert terminal.process.wait(PATIENCE) == (130 if forever else 0), terminal.said
    assert "anna" in server.said


def write_certificates(folder: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(folder / "chain.pem")


@attrs.frozen
class Terminal:
    process: "subprocess.Popen[bytes]"
    screen: Path

    @property
    def said(self) -> str:
        return self.screen.read_text()

    def wait_for(self, pattern: str) -> str:
        """The first text on the screen that matches."""
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.said)):
            assert time.monotonic() < deadline, self.said
            time.sleep(0.02)
        return found[0]


class Terminals:
    """Commands that run at once in one folder; those that are left at the end are killed."""

    def __init__(self, folder: Path):
        self._folder = folder
        self.variables = environment(folder)
        self._opened: list[Terminal] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for terminal in self._opened:
            if terminal.process.poll() is None:
                terminal.process.kill()
                terminal.process.wait()

    def open(self, command: str) -> Terminal:
        screen = self._folder / f"terminal{len(self._opened)}.txt"
        with open(screen, "wb") as file:
            process = subprocess.Popen(
                f"exec env {command}",
                shell=True,
                cwd=self._folder,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        self._opened.append(Terminal(process, screen))
        return self._opened[-1]


_READS_FILE = re.compile(r"""["'][\w-]+\.(?:csv|jsonl|parquet)["']""")
PROGRAMS = [(document, block) for document in DOCUMENTS for block in document.blocks("python")]


@pytest.mark.parametrize(("document", "program"), PROGRAMS, ids=[document.name for document, _ in PROGRAMS])
def test_the_python_of_a_page_runs(document: Document, program: str, tmp_path: Path) -> None:
    """A program that reads a file finds it where the commands of the page have written it."""
    folder, variables = ROOT, dict(os.environ)
    if _READS_FILE.search(program):
        folder, variables = tmp_path, environment(tmp_path) | {"PYTHONPATH": str(ROOT)}
        run_commands(document, folder, variables)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, env=variables)
    for _, comment in re.findall(r"print\((.*)\)  # (.*)", program):
        assert comment.removesuffix("…") in done.stdout, document.name
    assert (done.returncode, done.stderr) == (0, "")

"""What `arena cluster-check` finds on real Dask workers, and folders that are sent along."""

import os
import stat
import sys
from pathlib import Path

import pytest

from arena.cluster.packed_folder import packed
from tests.helpers.cluster import Cluster, done, kill, on
from tests.helpers.paths import ROOT
from tests.helpers.sandboxes import needs_sandbox
from tests.helpers.tournaments import heard, rounds_in, running, steady

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("cluster")]
WHERE_BOT = """#!{python}
import json, sys
from helper import chosen
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{{"type":"hello","protocol":1,"name":"where"}}', flush=True)
    elif message["type"] == "request":
        action = {{"type": "action", "id": message["id"], "move": chosen(message["legal"]), "note": __file__}}
        print(json.dumps(action), flush=True)
    elif message["type"] == "bye":
        break
"""


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """The folder of a bot that tells in its notes where it runs; it consists of a program and a module."""
    folder = tmp_path / "where"
    folder.mkdir()
    (folder / "bot.py").write_text(WHERE_BOT.format(python=sys.executable))
    (folder / "bot.py").chmod(0o750)
    (folder / "helper.py").write_text("def chosen(legal):\n    return legal[0]\n")
    return folder


def check(cluster: Cluster, *words: str) -> tuple[int, list[str]]:
    ran = done([sys.executable, "-m", "arena", "cluster-check", *words, "--scheduler", cluster.address])
    assert "Traceback" not in ran.stderr
    return ran.returncode, (ran.stdout + ran.stderr).splitlines()


def test_equal_machines_are_in_order(cluster: Cluster, bot: Path) -> None:
    status, lines = check(cluster, "greedy", f"where={bot}/bot.py")
    assert status == 0, lines
    assert [line.rpartition(": ")[2] for line in lines] == ["in order", "in order", "All 2 can play."]
    assert {line.split()[0] for line in lines[:2]} == {"host-1", "host-2"}


def test_each_difference_is_told_with_its_remedy(tmp_path: Path, bot: Path) -> None:
    """One machine has another arena, and another one no program of this name; the third is in order."""
    changed = tmp_path / "changed"
    changed.mkdir()
    (changed / "sitecustomize.py").write_text("import arena.support.version as v\nv.VERSION = '0.0.1'\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "my-bot").symlink_to(bot / "bot.py")
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    with Cluster(tmp_path, size=0) as cluster:
        cluster.workers = [
            cluster.start_worker(ARENA_HOST="old", PYTHONPATH=f"{changed}{os.pathsep}{ROOT}", PATH=path),
            cluster.start_worker(ARENA_HOST="poor"),
            cluster.start_worker(ARENA_HOST="good", PATH=path),
        ]
        cluster.await_workers(3)
        words = [sys.executable, "-m", "arena", "cluster-check", "greedy", "my-bot", "--scheduler", cluster.address]
        ran = done(["env", f"PATH={path}", *words])
        refused = done(["env", f"PATH={path}", *on(cluster, tmp_path / "cup.jsonl", "greedy", "my-bot")])
    said = {line.split()[0]: line.partition("): ")[2] for line in ran.stdout.splitlines()[:3]}
    assert ran.returncode == 1
    assert said["good"] == "in order"
    assert said["old"].startswith("it has arena 0.0.1, here it is ")
    assert said["old"].endswith("; install the same version there")
    assert said["poor"] == "bot my-bot: there is no program 'my-bot'; install it there"
    assert ran.stdout.splitlines()[3] == "2 of 3 Dask workers cannot play."
    assert refused.returncode == 2
    assert "the machines of the cluster differ from this one:" in refused.stderr
    assert not (tmp_path / "cup.jsonl").exists()


@pytest.mark.parametrize("ship", [[], ["--ship"]])
def test_a_machine_without_the_arena_is_told_how_to_install_it(tmp_path: Path, bot: Path, ship: list[str]) -> None:
    """As in an environment into which only Dask was installed."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class NoArena:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'arena':\n"
        "            raise ModuleNotFoundError(\"No module named 'arena'\", name=name)\n"
        "sys.meta_path.insert(0, NoArena())\n"
    )
    with Cluster(tmp_path, size=1, everywhere={"PYTHONPATH": str(tmp_path)}) as cluster:
        status, lines = check(cluster, "greedy", f"where={bot}/bot.py", *ship)
    assert status == 1, lines
    assert lines[0].endswith(": the arena is not installed there; `pip install 'schotten-arena[dask]'`")


def test_a_tournament_says_at_once_that_no_machine_can_play(tmp_path: Path) -> None:
    """Its only machine leaves, and one with another arena comes; then one comes that fits."""
    changed = tmp_path / "changed"
    changed.mkdir()
    (changed / "sitecustomize.py").write_text("import arena.support.version as v\nv.VERSION = '0.0.1'\n")
    journal = tmp_path / "cup.jsonl"
    size = {"rounds": "200", "cycles": "2"}
    with (
        Cluster(tmp_path, size=1) as cluster,
        running(on(cluster, journal, steady("a"), steady("b"), **size)) as process,
    ):
        heard(process, "Finished round 2")
        kill(cluster.workers.pop())
        heard(process, "no machine of the cluster can play (it has no Dask workers); waiting up to 5 minutes")
        old = cluster.start_worker(ARENA_HOST="old", PYTHONPATH=f"{changed}{os.pathsep}{ROOT}")
        cluster.workers.append(old)
        heard(process, "old does not play: it has arena 0.0.1, here it is ")
        cluster.workers.append(cluster.start_worker(ARENA_HOST="good"))
        heard(process, "Finished round")
    assert {line.host for line in rounds_in(journal)} == {"host-1", "good"}


def test_a_scheduler_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.metadata as m\n"
        "true = m.version\n"
        "m.version = lambda name: '2020.1.0' if name == 'distributed' else true(name)\n"
    )
    with Cluster(tmp_path, size=0, everywhere={"PYTHONPATH": str(tmp_path)}) as cluster:
        status, lines = check(cluster, "greedy", "random")
    assert (status, len(lines)) == (2, 1), lines
    assert lines[0].startswith(f"Error: the scheduler at {cluster.address} has distributed 2020.1.0, here it is ")


@needs_sandbox
def test_a_machine_that_cannot_make_a_sandbox_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with Cluster(tmp_path, size=0) as cluster:
        cluster.workers = [cluster.start_worker(ARENA_HOST="poor", PATH=str(empty))]
        cluster.await_workers(1)
        assert check(cluster, "greedy", "random")[0] == 0
        status, lines = check(cluster, "greedy", "random", "--sandbox")
        journal = tmp_path / "cup.jsonl"
        refused = done([*on(cluster, journal, "a=/usr/bin/cat", "b=/usr/bin/true"), "--sandbox"])
    assert status == 1, lines
    assert "no sandbox for greedy: bubblewrap (bwrap) is not installed" in lines[0]
    assert refused.returncode == 2, refused.stderr
    assert "bubblewrap (bwrap) is not installed" in refused.stderr
    assert not journal.exists()


def test_folders_that_are_sent_along_are_used_and_removed(cluster: Cluster, bot: Path, tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    ran = done([*on(cluster, journal, "greedy", f"where={bot}/bot.py"), "--ship"])
    assert ran.returncode == 0, ran.stderr
    places = {Path(note) for line in rounds_in(journal) for note in line.notes.values()}
    assert places
    for place in places:
        assert place.name == "bot.py"
        assert place.parent != bot
        assert not place.parent.exists()
    assert not any(line.fault for line in rounds_in(journal))


def test_a_bot_may_lie_in_the_folder_in_which_the_tournament_is_played(cluster: Cluster, bot: Path) -> None:
    """Its folder changes while it plays, because the journal grows there."""
    journal = bot / "cup.jsonl"
    ran = done(on(cluster, journal, "greedy", f"where={bot}/bot.py", seed=None))
    assert ran.returncode == 0, ran.stderr
    assert rounds_in(journal)


def test_a_folder_that_is_too_large_is_refused(bot: Path) -> None:
    with open(bot / "book.bin", "wb") as file:
        file.truncate(65 << 20)
    ran = done(
        [sys.executable, "-m", "arena", "cluster-check", "greedy", f"{bot}/bot.py", "--ship",
         "--scheduler", "tcp://127.0.0.1:8786"]
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"Error: --ship: {bot} has more than 64 MB; copy it to each machine instead\n"


def test_modes_of_files_are_kept(bot: Path, tmp_path: Path) -> None:
    from arena.cluster.packed_folder import unpacked_into

    unpacked_into(tmp_path / "there", packed(bot))
    assert stat.S_IMODE((tmp_path / "there/bot.py").stat().st_mode) == 0o750
    assert (tmp_path / "there/helper.py").read_text() == (bot / "helper.py").read_text()

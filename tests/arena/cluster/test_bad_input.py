"""What a user can do wrong with a cluster: one sentence each, exit status 2, and nothing is begun."""

import asyncio
import re
import socket
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from arena.cli import cluster_command as cluster_commands
from arena.cluster import cluster_check, scheduler
from arena.cluster.preparation import Terms
from arena.cluster.scheduler import ClusterError
from tests.helpers.cluster import Cluster, done, free_port
from tests.helpers.commands import arena

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("cluster")]


def refused(*words: str) -> str:
    """What the arena says on stderr when it refuses a call."""
    ran = done([sys.executable, "-m", "arena", *words])
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    assert "Traceback" not in ran.stderr
    return ran.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_scheduler_that_is_not_there(journal: Path, host: str) -> None:
    address = f"tcp://{host}:{free_port()}"
    said = refused("run", "greedy", "random", "--journal", str(journal), "--scheduler", address)
    assert said == f"Error: there is no Dask scheduler at {address}: Connection refused; `dask scheduler` starts one\n"
    assert not journal.exists()


def test_a_port_that_is_none() -> None:
    said = refused("cluster-check", "greedy", "random", "--scheduler", "tcp://127.0.0.1:99999")
    assert said.startswith("Error: there is no Dask scheduler at tcp://127.0.0.1:99999: Port out of range 0-65535; ")


def test_a_program_that_accepts_connections_and_says_nothing(journal: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        said = refused("run", "greedy", "random", "--journal", str(journal), "--scheduler", address)
    assert said == f"Error: there is no Dask scheduler at {address}: it does not answer; `dask scheduler` starts one\n"


def test_a_scheduler_that_hangs_after_it_has_accepted_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hanging() -> None:
        await asyncio.Event().wait()

    async def connected(_: str) -> Any:
        return Mock(scheduler=Mock(versions=hanging), close=AsyncMock())

    monkeypatch.setattr(cluster_check, "connected", connected)
    monkeypatch.setattr(cluster_check, "SILENT_SECONDS", 0.01)
    with pytest.raises(ClusterError, match="at tcp://there:1 was lost: it does not answer"):
        cluster_check.compared("tcp://there:1", Terms.of([], None, ship=False))


@pytest.mark.parametrize("address", ["nowhere", "ftp://127.0.0.1:1", "tcp://127.0.0.1:x", ""])
def test_an_address_that_is_none(address: str) -> None:
    said = refused("cluster-check", "greedy", "random", "--scheduler", address)
    assert said.count("\n") == 1, said
    assert "tcp://HOST:8786" in said


def test_a_scheduler_of_another_version_of_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not know a word of the client's first call, as one of distributed 2025.1 and a client of 2026.8."""

    class Misunderstood:
        close = AsyncMock()

        def __await__(self) -> Any:
            raise TypeError("Scheduler.identity() got an unexpected keyword argument 'n_workers'")

    monkeypatch.setattr(scheduler, "Client", lambda *_, **__: Misunderstood())
    with socket.create_server(("127.0.0.1", 0)) as there, pytest.raises(ClusterError) as told:
        cluster_check.compared(f"tcp://127.0.0.1:{there.getsockname()[1]}", Terms.of([], None, ship=False))
    advice = f"which `pip install distributed=={version('distributed')}` installs there: Scheduler.identity() got"
    assert f"cannot be used, perhaps because its version of Dask is not the one here, {advice}" in str(told.value)


def test_a_program_that_is_not_a_scheduler(cluster: Cluster, journal: Path) -> None:
    """Here it is a Dask worker."""
    worker = re.findall(r"Start worker at:\s+(tcp://\S+)", cluster.log.read_text())[0]
    said = refused("run", "greedy", "random", "--journal", str(journal), "--scheduler", worker)
    assert said.count("\n") == 1, said
    assert worker in said


def test_a_cluster_without_workers(tmp_path: Path, journal: Path) -> None:
    with Cluster(tmp_path, size=0) as empty:
        said = refused("run", "greedy", "random", "--journal", str(journal), "--scheduler", empty.address)
    assert said == (f"Error: the cluster of {empty.address} has no workers; `dask worker {empty.address}` starts one\n")


def test_the_extra_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_commands, "find_spec", lambda _: None)
    ran = arena("run", "greedy", "random", "--scheduler", "tcp://127.0.0.1:8786")
    assert ran.exit_code == 2
    assert "--scheduler needs Dask, which is not installed: pip install 'schotten-arena[dask]'" in ran.output


def test_bots_that_connect(tmp_path: Path) -> None:
    file = tmp_path / "league.toml"
    token = "sha256:" + "0" * 64
    file.write_text(f'[[bot]]\ncmd = "greedy"\n\n[[bot]]\nname = "anna"\ntoken = "{token}"\n')
    said = refused("run", str(file), "--scheduler", "tcp://127.0.0.1:8786")
    assert "'anna' has a token, so it connects: use arena serve, and no cluster, because its time is measured" in said
    said = refused("serve", str(file), "--scheduler", "tcp://127.0.0.1:8786")
    assert said.startswith("Error: --scheduler does not go with a server: the time of a bot that connects is measured")


def test_commands_that_play_on_this_machine() -> None:
    scheduler = ("--scheduler", "tcp://127.0.0.1:8786")
    assert refused("play", "greedy", "random", *scheduler) == (
        "Error: one match is played on this machine; `arena run` with --scheduler plays a tournament\n"
    )
    assert refused("sprt", "greedy", "random", *scheduler) == (
        "Error: a sequential test is played on this machine; leave out --scheduler\n"
    )


def test_ship_without_a_cluster(journal: Path) -> None:
    said = refused("run", "greedy", "random", "--journal", str(journal), "--ship")
    assert "--ship sends folders to the machines of a cluster; name its scheduler: --scheduler" in said

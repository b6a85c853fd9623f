"""A real Dask cluster on loopback: a scheduler, and workers of one thread each, as processes that a test may kill."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import attrs

from tests.helpers.processes import is_running, workers_of
from tests.helpers.tournaments import command

PATIENCE = 300  # seconds for what takes a few


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@attrs.define(eq=False)
class Cluster:
    """All processes end with the block, whatever happens. `everywhere` are variables for all of them."""

    folder: Path
    size: int = 2
    everywhere: dict[str, str] = attrs.field(factory=dict)
    port: int = attrs.field(factory=free_port)
    scheduler: "subprocess.Popen[bytes] | None" = None
    workers: list["subprocess.Popen[bytes]"] = attrs.field(factory=list)
    seen: set[int] = attrs.field(factory=set)  # worker processes of the arena that `players` found

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.folder / "dask.log"

    def __enter__(self) -> Self:
        self.tend()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, traceback: TracebackType | None) -> None:
        for process in (*self.workers, *filter(None, [self.scheduler])):
            process.kill()
            process.wait()

    def tend(self) -> None:
        """Start what is not running, and wait until the scheduler listens and the new workers are registered."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.scheduler = self._start("dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port))
            self._await_scheduler()
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        registered = self._registered() + self.size - len(self.workers)
        while len(self.workers) < self.size:
            self.workers.append(self.start_worker(ARENA_HOST=f"host-{len(self.workers) + 1}"))
        self.await_workers(registered)

    def start_worker(self, **variables: str) -> "subprocess.Popen[bytes]":
        return self._start("dask_worker", self.address, "--nthreads", "1", "--no-nanny", **variables)

    def _start(self, module: str, *words: str, **variables: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", f"distributed.cli.{module}", *words, "--no-dashboard"]
        with open(self.log, "ab") as log:
            return subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder, env=os.environ | self.everywhere | variables
            )

    def _await_scheduler(self) -> None:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port)):
                    return
            except ConnectionRefusedError:
                assert time.monotonic() < until, self.log.read_text()
                time.sleep(0.05)

    def _registered(self) -> int:
        """The number of workers that have said in the log that they are registered."""
        return self.log.read_text().count("Registered to:")

    def await_workers(self, count: int) -> None:
        """Wait until this number of workers was registered, of which some may be gone again."""
        until = time.monotonic() + PATIENCE
        while self._registered() < count:
            assert time.monotonic() < until, self.log.read_text()
            time.sleep(0.05)

    def players(self) -> list[int]:
        """The worker processes of the arena that are running in the cluster."""
        return [pid for worker in self.workers for pid in self.players_of(worker)]

    def players_of(self, worker: "subprocess.Popen[bytes]") -> list[int]:
        found = workers_of(worker.pid)
        self.seen.update(found)
        return found

    def left_players(self) -> list[int]:
        """Those among all that `players` ever found that are still running when patience ends."""
        until = time.monotonic() + PATIENCE
        while (left := [pid for pid in self.seen if is_running(pid)]) and time.monotonic() < until:
            time.sleep(0.05)
        return left


def kill(process: "subprocess.Popen[bytes] | None") -> None:
    if process is not None and process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.wait()


def on(cluster: Cluster, journal: Path, *bots: str, seed: str | None = "7", **options: str) -> list[str]:
    """The command that plays these bots on a cluster."""
    words = command(journal, *bots, scheduler=cluster.address, **options)
    place = words.index("--seed")
    return [*words[:place], *(["--seed", seed] if seed else []), *words[place + 2 :]]


def done(words: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)

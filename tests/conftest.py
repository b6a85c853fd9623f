import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from arena.support import compilation
from tests.helpers import forking

# Machines differ in speed: no test of ours fails for being slow. `make fuzz` asks for many more examples.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", settings.get_profile("default"), max_examples=20_000)
settings.load_profile("default")


def pytest_configure() -> None:
    if problem := compilation.outdated():
        raise pytest.UsageError(problem)
    # A shell ignores these for a job in the background, and so would every program that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    forking.install()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()  # what is loaded now stays, so no collection need search it, in this process or in its forks


def pytest_report_header() -> str:
    return f"the arena runs {compilation.kind()}"


@pytest.fixture
def new_interpreters() -> Iterator[None]:
    """For a test of what only a new interpreter shows: nothing is forked from this one."""
    forking.uninstall()
    yield
    forking.install()


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Where a test may write a journal; there is none yet."""
    return tmp_path / "cup.jsonl"

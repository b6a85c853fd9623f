"""The memory of a bot in a sandbox, where the organiser sets no limit."""

from pathlib import Path

import pytest

from arena.processes import default_memory as module
from arena.processes.default_memory import default_memory, memory_of_machine

GIB = 2**30


@pytest.mark.parametrize(("at_once", "machine", "megabytes"), [
    (2, 24 * GIB, 4096),
    (16, 24 * GIB, 1152),
    (64, 24 * GIB, 512),
    (2, 1 * GIB, 512),
])  # fmt: skip
def test_bots_share_three_quarters_of_the_machine(at_once: int, machine: int, megabytes: int) -> None:
    assert default_memory(at_once, machine) == megabytes * 2**20


def test_the_smallest_limit_of_the_control_groups_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = memory_of_machine()
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.setattr(module, "groups_of_this", lambda: [inner, inner.parent, tmp_path / "none"])
    (inner / "memory.max").write_text("max\n")
    assert memory_of_machine() <= max(whole, memory_of_machine())
    (inner.parent / "memory.limit_in_bytes").write_text("300000000\n")
    assert memory_of_machine() == 300_000_000

"""What pyproject.toml declares is what the packages import, and no release of a tool changes what `make` runs."""

import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.helpers.paths import ROOT
from tests.test_architecture import ALLOWED

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PINS = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(each).name) for each in requirements}


def test_what_may_be_imported_is_declared() -> None:
    """Here the names of packages are those of their modules."""
    assert set().union(*ALLOWED.values()) - set(ALLOWED) == names(
        PROJECT["dependencies"] + EXTRAS["dask"] + EXTRAS["parquet"]
    )


@pytest.mark.parametrize("requirement", EXTRAS["test"] + EXTRAS["check"])
def test_every_tool_has_one_version(requirement: str) -> None:
    pinned = [each for each in (requirement, *PINS) if "==" in each and names([each]) == names([requirement])]
    assert len(pinned) == 1


def test_only_tools_are_pinned() -> None:
    """The arena is tested with what its users get."""
    assert all(str(Requirement(pin).specifier).startswith("==") for pin in PINS)
    assert not names(PINS) & names(PROJECT["dependencies"])

"""Leave most of the parameters of a test to `make test-all`."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(values: Iterable[Any], *kept: Any) -> list[Any]:
    """All values as parameters; only those to be kept belong to `make test`."""
    return [value if value in kept else pytest.param(value, marks=pytest.mark.extended) for value in values]

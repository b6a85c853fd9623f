from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.cluster import Cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two Dask workers that no test may harm."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture
def frail(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster of one test, which may kill it."""
    folder = tmp_path / "dask"
    folder.mkdir()
    with Cluster(folder) as found:
        yield found

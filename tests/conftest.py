from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Machines differ in speed: no test of ours fails for being slow. `make fuzz` asks for many more examples.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", settings.get_profile("default"), max_examples=20_000)
settings.load_profile("default")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Where a test may write a journal; there is none yet."""
    return tmp_path / "cup.jsonl"

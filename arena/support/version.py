"""The name and the version that the arena shows to others. pyproject.toml has the only version number."""

from importlib.metadata import version
from typing import Final

SERVER: Final = f"schotten-arena {version('schotten-arena')}"

"""The name and the version that the arena shows to others. The version number stands here and nowhere else:
pyproject.toml reads it, because reading it back from the installed package takes longer than many commands."""

from typing import Final

VERSION: Final = "0.2.0"
SERVER: Final = f"schotten-arena {VERSION}"

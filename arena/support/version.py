"""The version number, and the name that the server sends to bots."""

from typing import Final

VERSION: Final = "0.2.0"  # the same as in pyproject.toml
SERVER: Final = f"schotten-arena {VERSION}"

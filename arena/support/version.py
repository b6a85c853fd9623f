"""What we call ourselves."""

from typing import Final

VERSION: Final = "0.2.0"  # the same as in pyproject.toml
SERVER: Final = f"schotten-arena {VERSION}"

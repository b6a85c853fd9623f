"""The arena joins the rules (engine) and the wire (protocol). Its rooms, and which of them may import which, are
listed in tests/test_architecture.py.

`arena.play` plays a match between two Python functions.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.embedded.play import play as play

__all__ = ["play"]


def __getattr__(name: str) -> Any:
    """Load what other programs use when they use it: each command of the arena imports this package."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from arena.embedded import play

    return getattr(play, name)

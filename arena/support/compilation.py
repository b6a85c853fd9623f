"""Which code is running: the sources, or modules that setup.py had compiled from them.

Python prefers a compiled module to its source, even to a newer one. A build therefore records the sources that it was
made from, and the arena does not run a build that its sources no longer match.
"""

import os
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import source_hash
from typing import Final

_ROOT: Final = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_RECORD: Final = os.path.join(os.path.dirname(__file__), "compiled_from.txt")


def is_compiled() -> bool:
    """Whether there is a build for this interpreter; Python ignores the builds for others."""
    return any(os.path.exists(os.path.join(_ROOT, f"engine/compiled__mypyc{suffix}")) for suffix in EXTENSION_SUFFIXES)


def kind() -> str:
    """What is running, in words."""
    return "compiled" if is_compiled() else "pure Python"


def outdated() -> str | None:
    """What is wrong with the build, and what to do; None if it matches the sources or nothing was compiled."""
    if not is_compiled():
        return None
    with open(_RECORD, encoding="utf-8") as record:
        entries = [line.split() for line in record]
    changed = [path for recorded, path in entries if _hash_of(path) != recorded]
    if not changed:
        return None
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return f"{changed[0]}{more} changed after the build: run `make compiled` again, or `make pure` to run the sources"


def _hash_of(path: str) -> str:
    """As setup.py computed it; empty if the source is gone."""
    try:
        with open(os.path.join(_ROOT, path), "rb") as source:
            return source_hash(source.read()).hex()
    except FileNotFoundError:
        return ""

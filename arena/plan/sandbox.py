"""The sandbox of a bot, as it is planned and recorded. arena/sandbox/bubblewrap.py says how it is made."""

import enum
import os
from pathlib import Path
from typing import Final

import attrs

SCRATCH: Final = 16 * 2**20  # bytes of a bot's /tmp, by default
# The whole environment of a sandboxed bot, except for what its `env` adds: nothing of our own.
VARIABLES: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}


class Level(enum.Enum):
    """How a bot is kept apart from the machine. TRY is only a wish: before a bot starts it becomes FULL or MISSING."""

    NONE = "none"
    TRY = "try"
    MISSING = "missing"  # it was to be tried, but this machine cannot make a sandbox
    FULL = "full"


@attrs.frozen
class Sandbox:
    level: Level = Level.NONE
    scratch: int = SCRATCH
    expose: tuple[str, ...] = ()  # what the bot may read besides /usr and what its command names; see `exposed`
    own_dir: bool = False  # whether the organiser named the bot's folder; else it follows from the command
    user: str | None = None  # whom an arena that runs as root starts the bot as

    def exposed(self, cwd: Path) -> tuple[str, ...]:
        """The absolute paths in `expose`, for a bot in the folder `cwd`."""
        return tuple(absolute(cwd / path) for path in self.expose)


def seen_from(cwd: Path, folder: Path, path: str) -> str:
    """A path that is relative to `folder`, relative to `cwd`; an absolute one as it is."""
    return absolute(Path(path)) if os.path.isabs(path) else os.path.relpath(absolute(folder / path), absolute(cwd))


def absolute(path: Path) -> str:
    """The path without ".." and with one slash at its beginning, so that it can be compared with others."""
    return "/" + os.path.abspath(path).lstrip("/")

"""The sandbox of a bot, as it is planned and recorded. arena/bots/sandbox.py says how it is made."""

import enum
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

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
    expose: tuple[str, ...] = ()  # absolute paths that the bot may read besides /usr and what its command names
    folder: str | None = None  # the bot's own, if the organiser named it; else it follows from the command
    user: str | None = None  # whom an arena that runs as root starts the bot as

    def with_options(self, keys: Mapping[str, Any], folder: Path) -> "Sandbox":
        """The sandbox as the options in `keys` change it. Paths are relative to `folder`."""
        return attrs.evolve(
            self,
            level=keys.get("sandbox", self.level),
            scratch=keys.get("scratch", self.scratch),
            expose=(*self.expose, *(absolute(folder / path) for path in keys.get("expose", ()))),
            user=keys.get("sandbox-user", self.user),
        )


def absolute(path: Path) -> str:
    """The path without ".." and with one slash at its beginning, so that it can be compared with others."""
    return "/" + os.path.abspath(path).lstrip("/")

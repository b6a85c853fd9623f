"""What a bot is to the arena: a name and a command; and the bots that come along."""

import enum
import shlex
import sys
from pathlib import Path
from typing import Any, Final

import attrs

from arena.clock import Limits


class BotError(Exception):
    """What somebody wrote is no bot that can be started."""


class Restart(enum.Enum):
    """When a bot is started anew even though it did nothing wrong."""

    NEVER = "never"
    MATCH = "match"
    ROUND = "round"


@attrs.frozen
class BotSpec:
    name: str
    command: tuple[str, ...]
    cwd: Path | None = None
    env: tuple[tuple[str, str], ...] = ()  # added to our own environment
    limits: Limits = attrs.field(factory=Limits)
    restart: Restart = Restart.NEVER
    memory: int | None = None  # bytes
    cpu_seconds: int | None = None

    def recorded(self) -> dict[str, Any]:
        """As the journal keeps it."""
        own = self.command[: len(_PYTHON)] == _PYTHON
        return {
            "name": self.name,
            "cmd": ["python", *self.command[1:]] if own else list(self.command),
            "dir": str(self.cwd) if self.cwd else None,
            "env": dict(self.env),
            "clock": attrs.asdict(self.limits),
            "restart": self.restart.value,
            "memory": self.memory,
            "cpu": self.cpu_seconds,
        }


# The command of a bot that comes along begins so; which Python it is does not matter for the tournament.
_PYTHON: Final = (sys.executable, "-m")


@attrs.frozen
class OwnBot:
    module: str
    summary: str

    def spec(self, name: str) -> BotSpec:
        return BotSpec(name, (*_PYTHON, self.module))


OWN_BOTS: Final = {
    "random": OwnBot("example_bots.random_bot", "any legal move"),
    "greedy": OwnBot("example_bots.greedy", "takes what it can prove, builds the strongest formations"),
    "counting": OwnBot("example_bots.counting", "estimates each stone from the cards that are still unseen"),
}


def parse_bot(text: str) -> BotSpec:
    """A bot as it is written on the command line: a name that comes along, a command, or name=command."""
    name, equals, command = text.partition("=")
    named = bool(equals) and name.strip() != "" and not set(name) & set(" /'\"")
    if not named:
        name, command = "", text
    if command in OWN_BOTS:
        return OWN_BOTS[command].spec(name or command)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BotError(f"{command!r} is no command line: {error}") from None
    if not words:
        raise BotError(f"{text!r} names no command; write a command, name=command or one of {', '.join(OWN_BOTS)}")
    return BotSpec(name or _name_from(words), tuple(words))


def _name_from(words: list[str]) -> str:
    """The program's name, or of a script that an interpreter runs, the script's."""
    scripts = [word for word in words[1:] if not word.startswith("-") and Path(word).suffix]
    program = Path(words[0]).name
    runs_scripts = program.startswith(("python", "node", "bash", "sh", "java", "ruby", "perl", "deno"))
    return Path(scripts[0]).stem if scripts and runs_scripts else Path(program).stem or program

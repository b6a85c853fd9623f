"""Options as the user wrote them, and where, so that each mistake is reported with its place. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from arena.plan.options import BOT, SERVER, SPRT, TOURNAMENT, Option, by_name
from arena.support.suggestion import did_you_mean


class ConfigError(Exception):
    """A mistake in a tournament file or on the command line: what was found, and what was expected."""


class Source(Struct, frozen=True):
    """Values as the user wrote them, and where, for error messages."""

    values: Mapping[str, Any]
    where: Callable[[str], str]  # the place of a key: "cup.toml:3" or "--rounds"

    def read(self, options: Mapping[str, Option], elsewhere: Callable[[str], str] = lambda _key: "") -> dict[str, Any]:
        """Read the value of each option. For a key that is not one of `options`, `elsewhere` says where it belongs, or
        nothing. Raises ConfigError."""
        found = {}
        for key, value in self.values.items():
            if key not in options:
                hint = elsewhere(key) or f"there are: {', '.join(options)}{did_you_mean(key, options)}"
                raise ConfigError(f"{self.where(key)}: {key!r} is not an option here; {hint}")
            try:
                found[key] = options[key].read(value)
            except ValueError as error:
                said = ":" if options[key].secret else f" = {value!r}, but"
                raise ConfigError(f"{self.where(key)}: {key}{said} expected {error}") from None
        return found


def flag_of(key: str) -> str:
    """The place of a key that was given on the command line: its flag."""
    return f"--{key}" if key in by_name(TOURNAMENT, BOT, SERVER, SPRT) else "the command line"

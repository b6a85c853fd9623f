"""How the config of a journal differs from another one, in the words of the options that a user would change. Pure."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from arena.plan.time_control import Limits

_UNITS: Final = ((2**30, "G"), (2**20, "M"), (2**10, "K"))


def differences(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What differs between two configs as the journal keeps them, a line for each."""
    found = []
    for key in [*recorded, *(key for key in now if key not in recorded)]:
        before, after = recorded.get(key), now.get(key)
        if key == "bots" and isinstance(before, list) and isinstance(after, list):
            found += _bot_differences(before, after)
        elif before != after and key != "dir":  # a tournament may go on from another place
            found.append(f"{key}: the journal has {_written(before)}, now it is {_written(after)}")
    return found


def _bot_differences(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[str]:
    old, new = ({bot.get("name"): bot for bot in bots} for bots in (before, after))
    if list(old) != list(new):
        return [f"bots: the journal has {', '.join(map(str, old))}, now there are {', '.join(map(str, new))}"]
    return [f"bot {name}: {line}" for name in old for line in differences(_by_option(old[name]), _by_option(new[name]))]


def _by_option(bot: Mapping[str, Any]) -> dict[str, Any]:
    """A bot with its clock and its memory as the options write them, and with the names of its environment alone: older
    journals have the values as well."""
    found = dict(bot)
    if isinstance(env := bot.get("env"), dict | list):
        found["env"] = sorted(map(str, env))
    if isinstance(memory := bot.get("memory"), int):
        found["memory"] = _size(memory)
    try:
        limits = msgspec.convert(bot.get("clock"), Limits, strict=True)
    except msgspec.ValidationError:
        return found  # damaged, and shown as it is
    del found["clock"]
    bank = limits.bank_ms
    return found | {
        "st": _seconds(limits.move_ms),
        "tc": None if bank is None else f"{_seconds(bank)}+{_seconds(limits.increment_ms)}",
        "start": _seconds(limits.start_ms),
        "timemargin": limits.margin_ms,
    }


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000 if ms % 1000 else ms // 1000


def _size(number: int) -> str | int:
    return next((f"{number // unit}{sign}" for unit, sign in _UNITS if number and not number % unit), number)


def _written(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return repr(value)

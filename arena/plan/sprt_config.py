"""Make the config of a sequential test: pairs of rounds between two bots, as many as may be needed."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import attrs

from arena.plan.config import Config, ConfigError, from_command_line
from arena.plan.options import JOURNAL, SPRT, by_name
from arena.plan.source import Source, flag_of
from arena.plan.sprt import MOST_ROUNDS, Sprt

_PAIR = 2  # rounds of each match, so that pairs can be played at once; the bots stay alive from one to the next


def test_from_command_line(bots: Iterable[str], options: Mapping[str, str]) -> Config:
    """Make a config from two BOT arguments and options. Raises ConfigError."""
    names = by_name(SPRT)
    keys = Source({key: value for key, value in options.items() if key in names}, flag_of).read(names)
    others = {"journal": JOURNAL} | {key: value for key, value in options.items() if key not in names}
    bots = tuple(bots)
    check_two_bots(len(bots))
    return as_test(from_command_line(bots, (), others), keys, others, flag_of)


def as_test(config: Config, keys: Mapping[str, Any], given: Collection[str], where: Callable[[str], str]) -> Config:
    """The config as that of a sequential test with the options in `keys`. `given` are the options of the tournament
    that the user chose, and `where` gives the place of a key. Raises ConfigError."""
    check_two_bots(len(config.bots))
    for key in ("rounds", "cycles"):
        if key in given:
            raise ConfigError(
                f"{where(key)}: a test plays pairs of rounds until it is decided; leave out {key}, or limit the test "
                "by max-rounds"
            )
    if "changed" in given:
        raise ConfigError(f"{where('changed')}: a test is of one version of each bot; leave out changed")
    if not config.paired:
        raise ConfigError(
            f"{where('rules')}: a test needs pairs of rounds in which each bot begins once, but in {config.rules.name} "
            "the winner of a round begins the next one"
        )
    bounds = {key: value for key, value in keys.items() if key != "max-rounds"}
    try:
        sprt = Sprt(**bounds)
    except ValueError as error:
        raise ConfigError(f"{where(next(iter(bounds), 'elo1'))}: {error}") from None
    return attrs.evolve(config, sprt=sprt, rounds=_PAIR, cycles=keys.get("max-rounds", MOST_ROUNDS) // _PAIR)


def check_two_bots(count: int) -> None:
    if count != 2:
        raise ConfigError(f"a test is between two bots, the new one and the base, found {count}")

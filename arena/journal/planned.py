"""The plan of a tournament, made from its opening line, to compare the rounds of its journal with. Pure."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, TypeVar

import attrs

from arena.journal.lines import AnyRound, VoidLine
from arena.plan.config import ConfigError
from arena.plan.deals import SCHEME
from arena.plan.recorded_config import RecordedConfig
from arena.plan.schedule import PlannedMatch, PlannedRound, pairing_count, schedule
from engine.errors import EngineError
from engine.ruleset import Begins, RuleSet

# An edited journal may claim any plan. These limits are above every real tournament, and such a plan fits in memory.
_MOST_MATCHES: Final = 2_000_000
_LONGEST_MATCH: Final = 1_000_000
_MATCHES_AT_ONCE: Final = 256  # whose rounds are cached
_ROUNDS_AT_ONCE: Final = 1_000_000  # cached in all

T = TypeVar("T")


@attrs.define(slots=False)  # it has attributes that are not fields
class Plan:
    rules: RuleSet
    total: int  # rounds
    _names: tuple[str, ...]
    _matches: dict[str, PlannedMatch]

    def __attrs_post_init__(self) -> None:
        self._rules_name = self.rules.name  # looked up once
        longest = max((match.length for match in self._matches.values()), default=1)
        self._rounds = lru_cache(max(1, min(_MATCHES_AT_ONCE, _ROUNDS_AT_ONCE // longest)))(self._rounds_of)

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def _rounds_of(self, match: str) -> dict[str, PlannedRound]:
        return {planned.id: planned for planned in self._matches[match].rounds}

    @property
    def matches(self) -> Iterable[str]:
        """The ids of all matches, in the order of the schedule."""
        return self._matches

    def meetings(self) -> Iterator[tuple[str, tuple[str, str], int]]:
        """Yield each match, in the order of the schedule: its id, its bots, and how many rounds it has."""
        for match in self._matches.values():
            yield match.id, (self._names[match.bots[0]], self._names[match.bots[1]]), match.length

    def find(self, id: str) -> tuple[PlannedRound, tuple[str, str]] | None:
        """The planned round with this id, and its bots; None if there is none."""
        match = self._matches.get(id.rpartition(".")[0])
        planned = self._rounds(match.id).get(id) if match else None
        if match is None or planned is None:
            return None
        return planned, (self._names[match.bots[0]], self._names[match.bots[1]])

    def differences(self, line: AnyRound) -> Iterator[str]:
        """Yield how the round differs from the planned one with its id. Deals are not compared."""
        found = self.find(line.id)
        if found is None:
            yield "it is not in the schedule of this tournament"
            return
        planned, names = found
        for name, said, right in (
            ("match", line.match, planned.id.rpartition(".")[0]),
            ("round", line.round, planned.number),
            ("pair", line.pair, planned.pair),
        ):
            if said != right:
                yield f"its {name} is {said}, but the schedule says {right}"
        if line.bots != names:
            yield f"it is between {' and '.join(line.bots)}, but the schedule says {' and '.join(names)}"
        if planned.first is not None and planned.first != line.first:
            yield f"seat {line.first} began, but the schedule says seat {planned.first}"
        if line.rules != self._rules_name:
            yield f"it was played by {line.rules}, but the tournament by {self._rules_name}"

    def differences_of_void(self, line: VoidLine) -> Iterator[str]:
        """Yield how a void round differs from the planned one with its id."""
        found = self.find(line.id)
        if found is None:
            yield "it is not in the schedule of this tournament"
        elif (line.match, line.round, line.bots) != (found[0].id.rpartition(".")[0], found[0].number, found[1]):
            yield "its match, round or bots are not those of the schedule"


def plan_of(config: RecordedConfig) -> Plan:
    """Make the plan of a recorded configuration. Raises ConfigError if the configuration does not say which rounds
    there are, or how they were dealt."""
    bots = _needed(config.bots, "bots")
    form = _needed(config.format, "format")
    cycles = _needed(config.cycles, "cycles")
    rounds = _needed(config.rounds, "rounds")
    mirror = _needed(config.mirror, "mirror")
    try:
        rules = RuleSet.named(_needed(config.rules, "rules"))
    except EngineError as error:
        raise ConfigError(str(error)) from None
    if len(bots) < 2:
        raise ConfigError(f"expected two bots or more, but there are {len(bots)}")
    _check_deals(config)
    matches = pairing_count(len(bots), form) * cycles
    if matches > _MOST_MATCHES or rounds > _LONGEST_MATCH:
        raise ConfigError(f"{matches} matches of {rounds} rounds are more than a journal can hold")
    if mirror and (rules.begins is Begins.WINNER or rounds % 2):
        raise ConfigError(f"{rounds} rounds of {rules.name} cannot be mirrored")
    paired = bool(config.pairs)
    planned = schedule(len(bots), form, cycles, rounds, mirror, rules, config.first_cycle, paired=paired)
    names = tuple(bot.name for bot in bots)
    return Plan(rules, matches * rounds, names, {match.id: match for match in planned})


def _needed(value: T | None, name: str) -> T:
    if value is None:
        raise ConfigError(f"`{name}` is missing")
    return value


def _check_deals(config: RecordedConfig) -> None:
    if config.deals is None:
        _needed(config.seed, "seed")
    elif config.deals != SCHEME:
        raise ConfigError(f"deals by {config.deals[:40]!r} are unknown to this version; it knows {SCHEME!r}")
    elif bool(config.seed) is bool(config.seed_hash):
        raise ConfigError("expected either `seed` or `seed_hash`")

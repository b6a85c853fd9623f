"""The plan of a tournament, made from its opening line, to compare the rounds of its journal with. Pure."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, TypeVar

import attrs

from arena.journal.identity import is_recorded_name
from arena.journal.lines import AnyRound, VoidLine
from arena.plan.deals import SCHEME
from arena.plan.recorded_config import RecordedConfig
from arena.plan.schedule import PlannedMatch, PlannedRound, pairing_count, schedule, size_problem
from arena.plan.source import ConfigError
from engine.errors import EngineError
from engine.ruleset import Begins, RuleSet

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
    def schedule(self) -> Iterable[PlannedMatch]:
        """All matches, in the order in which they begin."""
        return self._matches.values()

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
    try:
        rules = RuleSet.named(_needed(config.rules, "rules"))
    except EngineError as error:
        raise ConfigError(str(error)) from None
    if len(bots) < 2:
        raise ConfigError(f"expected two bots or more, but there are {len(bots)}")
    if wrong := [bot.name for bot in bots if not is_recorded_name(bot.name)]:
        raise ConfigError(f"{wrong[0]!r} is not a name of a bot")
    _check_deals(config)
    if problem := size_problem(len(bots), form, cycles, rounds):
        raise ConfigError(problem)
    if _needed(config.pairs, "pairs") is not (rules.begins is Begins.ALTERNATE):
        raise ConfigError(f"`pairs` does not fit the rules {rules.name}")
    planned = schedule(len(bots), form, cycles, rounds, rules, config.first_cycle)
    names = tuple(bot.name for bot in bots)
    return Plan(rules, pairing_count(len(bots), form) * cycles * rounds, names, {match.id: match for match in planned})


def _needed(value: T | None, name: str) -> T:
    if value is None:
        raise ConfigError(f"`{name}` is missing")
    return value


def _check_deals(config: RecordedConfig) -> None:
    deals = _needed(config.deals, "deals")
    if deals != SCHEME:
        raise ConfigError(f"deals by {deals[:40]!r} are unknown to this version; it knows {SCHEME!r}")
    if bool(config.seed) is bool(config.seed_hash):
        raise ConfigError("expected either `seed` or `seed_hash`")

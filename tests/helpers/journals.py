"""Journals of real random rounds, made quickly: for the tests of pages and for the benchmark."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, cycle, islice
from pathlib import Path

import msgspec

from arena.journal.endings import Fault
from arena.journal.lines import RoundLine, TournamentLine, encoded
from arena.plan.deals import SCHEME
from arena.plan.recorded_config import RecordedBot, RecordedConfig
from arena.plan.schedule import Format
from arena.plan.time_control import TimeLimits
from engine.record import GameRecord
from engine.ruleset import PRESETS
from tests.helpers.rounds import STARTED, recorded_round
from tests.helpers.walks import played

HOSTILE = "<script>alert(1)</script>"
HOSTILE_NOTE = '</script><img src=x onerror="alert(2)"> & "quotes" \u2028 end'
NAMES = ("greedy", "counting", "random", HOSTILE)


def opening(bots: Sequence[str], rounds: int, rules: str = "tactics", event: str = "Evening cup") -> TournamentLine:
    clock, env = TimeLimits(move_ms=1000), ("TOKEN",)
    config = RecordedConfig(
        event=event,
        site="",
        rules=rules,
        format=Format.ROUND_ROBIN,
        cycles=1,
        rounds=rounds,
        pairs=True,
        deals=SCHEME,
        seed="7",
        max_faults=5,
        bots=tuple(RecordedBot(name=name, cmd=("./bot",), env=env, clock=clock) for name in bots),
    )
    return TournamentLine(config=config, started=STARTED)


@cache
def game(rules: str, seed: int) -> GameRecord:
    return played(PRESETS[rules], seed)[1]


def numbered_round(
    number: int, bots: tuple[str, str], rules: str = "tactics", seed: int = 0, fault: Fault | None = None
) -> RoundLine:
    """A whole round; with a fault, one that stops in its middle."""
    record, rng = game(rules, seed), random.Random(number)
    if fault is not None:
        record = GameRecord(record.rules, record.deal, record.first, record.moves[: len(record.moves) // 2])
    match, place = divmod(number, 2)
    return recorded_round(
        f"{match + 1}.{place + 1}",
        record,
        [int(rng.expovariate(1 / 40)) for _ in record.moves],
        fault or Fault.TIMEOUT,
        "the answer came after 1034 ms, but it had 1000 ms",
        pair=f"{match + 1}.1",
        seed=str(seed),
        bots=bots,
        notes={"2": HOSTILE_NOTE, "5": "hoping for a run"},
        started=f"2026-01-31T12:{number // 60 % 60:02}:{number % 60:02}Z",
    )


def rounds(count: int, names: Sequence[str] = NAMES, rules: str = "tactics", games: int = 40) -> Iterator[RoundLine]:
    """Of `games` different random rounds, in which bots named earlier win more often; now and then a fault."""
    rng = random.Random(count)
    pairs = cycle(combinations(range(len(names)), 2))
    for number, (better, worse) in enumerate(islice((pair for pair in pairs for _ in (0, 1)), count)):
        seed = number % games
        said = game(rules, seed).outcome
        assert said is not None
        bots = [names[better], names[worse]]
        wins = rng.random() < 0.5 + 0.12 * (worse - better)
        if (said.winner == 1) == wins:
            bots.reverse()
        fault = Fault.TIMEOUT if number % 11 == 10 and names[-1] in bots else None
        yield numbered_round(number, (bots[0], bots[1]), rules, seed, fault)


def write(path: Path, count: int, names: Sequence[str] = NAMES, rules: str = "tactics") -> Path:
    with open(path, "wb") as file:
        file.write(encoded(opening(names, 2, rules)))
        file.writelines(encoded(line) for line in rounds(count, names, rules))
    return path


def write_many(path: Path, count: int, names: Sequence[str] = NAMES) -> Path:
    """The same, when there are very many: encoded once, then only the ids change."""
    kept = [msgspec.json.encode(line) for line in rounds(min(count, 600), names)]
    with open(path, "wb") as file:
        file.write(encoded(opening(names, 2)))
        for number in range(count):
            match = number // 2
            raw = kept[number % len(kept)]
            old = (number % len(kept)) // 2 + 1
            raw = raw.replace(b'"id":"%d.' % old, b'"id":"%d.' % (match + 1), 1)
            raw = raw.replace(b'"match":"%d"' % old, b'"match":"%d"' % (match + 1), 1)
            raw = raw.replace(b'"pair":"%d.' % old, b'"pair":"%d.' % (match + 1), 1)
            file.write(raw + b"\n")
    return path

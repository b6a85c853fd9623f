"""Journals of real random rounds, made quickly: for the tests of pages and for the benchmark."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, cycle, islice
from pathlib import Path

import msgspec

from arena.journal.endings import Fault
from arena.journal.lines import FaultLine, ResultLine, RoundLine, TournamentLine, encoded
from arena.plan.recorded_config import RecordedBot, RecordedConfig
from arena.plan.schedule import Format
from arena.plan.time_control import TimeLimits
from engine.cards import SEATS, card_texts
from engine.record import GameRecord, replay
from engine.ruleset import PRESETS
from engine.scoring import Outcome
from tests.helpers.walks import played

HOSTILE = "<script>alert(1)</script>"
HOSTILE_NOTE = '</script><img src=x onerror="alert(2)"> & "quotes" \u2028 end'
NAMES = ("greedy", "counting", "random", HOSTILE)


def opening(bots: Sequence[str], rounds: int, rules: str = "tactics", event: str = "Evening cup") -> TournamentLine:
    clock, env = TimeLimits(move_ms=1000), {"TOKEN": "hunter2"}
    config = RecordedConfig(
        event=event,
        site="",
        rules=rules,
        format=Format.ROUND_ROBIN,
        cycles=1,
        rounds=rounds,
        mirror=True,
        seed="7",
        max_faults=5,
        bots=tuple(RecordedBot(name=name, cmd=("./bot",), env=env, clock=clock) for name in bots),
    )
    return TournamentLine(config=config, started="2026-01-31T12:00:00Z")


@cache
def game(rules: str, seed: int) -> GameRecord:
    return played(PRESETS[rules], seed)[1]


def round_line(
    number: int, bots: tuple[str, str], rules: str = "tactics", seed: int = 0, fault: Fault | None = None
) -> RoundLine:
    """A whole round; with a fault, one that stops in its middle."""
    record, rng = game(rules, seed), random.Random(number)
    moves, said, broken = record.moves, record.outcome, None
    assert said is not None
    if fault is not None:
        moves = moves[: len(moves) // 2]
        stopped = replay(GameRecord(record.rules, record.deal, record.first, moves))
        said = Outcome.of(SEATS[1 - stopped.to_move], fault, stopped.owners)
        broken = FaultLine(stopped.to_move, "the answer came after 1034 ms, but it had 1000 ms")
    match, place = divmod(number, 2)
    return RoundLine(
        v=1,
        id=f"{match + 1}.{place + 1}",
        match=str(match + 1),
        round=place + 1,
        pair=f"{match + 1}.1",
        rules=rules,
        seed=str(seed),
        bots=bots,
        first=record.first,
        deck=card_texts(record.deal.clan),
        tactics=card_texts(record.deal.tactics),
        moves=tuple((seat, text, int(rng.expovariate(1 / 40))) for seat, text in moves),
        notes={"2": HOSTILE_NOTE, "5": "hoping for a run"},
        result=ResultLine(said.winner, said.ending.value, said.points, said.owners),
        started=f"2026-01-31T12:{number // 60 % 60:02}:{number % 60:02}Z",
        fault=broken,
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
        yield round_line(number, (bots[0], bots[1]), rules, seed, fault)


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

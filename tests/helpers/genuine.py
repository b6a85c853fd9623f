"""Journals that `arena verify` finds in order, made without bots: each round is played at random by the rules, with the
deal that its tournament promised. For tests and benchmarks that need more rounds than bots can play."""

import random
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import attrs

from arena.journal.endings import Fault
from arena.journal.lines import RevealLine, RoundLine, TournamentLine, encoded, outcome_of
from arena.plan.config import Config
from arena.plan.deals import DealKey, Dealt
from arena.plan.schedule import PlannedMatch, PlannedRound
from arena.tournament.ledger import planned_matches
from engine.cards import Seat
from engine.game import Game
from engine.record import GameRecord
from engine.scoring import Score
from tests.helpers.rounds import STARTED, recorded_round
from tests.helpers.walks import TEMPERS, choose

SECRET = 64 * "5"  # of the deals


def lines(config: Config) -> Iterator[bytes]:
    """The whole journal of a tournament. Its deals are secret unless the configuration has a seed."""
    config = attrs.evolve(config, key=DealKey(config.seed, is_public=True) if config.seed else DealKey(SECRET))
    yield encoded(TournamentLine(config=config.recorded(), started=STARTED))
    for match in planned_matches(config):
        yield from map(encoded, _rounds(config, match))
    if not config.seed:
        yield encoded(RevealLine(secret=SECRET))


def write_copies(path: Path, config: Config, count: int) -> Path:
    """A journal of `count` rounds: the same tournament again and again, each time as another event."""
    opening, *rounds = lines(config)
    with open(path, "wb") as file:
        for copy in range(-(-count // len(rounds))):
            file.write(opening.replace(b'"event":""', b'"event":"%d"' % copy))
            file.writelines(rounds[: count - copy * len(rounds)])
    return path


def write_unfinished(path: Path, config: Config, count: int, different: int = 500) -> Path:
    """The first `count` rounds of a long tournament. Only the first `different` are played; the others are copies of
    them between the same bots, begun by the same seat, with ids of their own: all that a resume looks at."""
    opening, *played = islice(lines(config), different + 1)
    planned = list(islice(((match, each) for match in planned_matches(config) for each in match.rounds), count))
    alike: dict[object, list[bytes]] = {}
    for each, raw in zip(planned, played, strict=False):
        assert raw.count(_ids(*each)) == 1
        alike.setdefault(_kind(*each), []).append(raw.replace(_ids(*each), b"@"))
    copies = {kind: cycle(raws) for kind, raws in alike.items()}
    with open(path, "wb") as file:
        file.write(opening)
        file.writelines(next(copies[_kind(*each)]).replace(b"@", _ids(*each), 1) for each in planned)
    return path


def _kind(match: PlannedMatch, planned: PlannedRound) -> tuple[tuple[int, int], Seat | None]:
    return match.bots, planned.first


def _ids(match: PlannedMatch, planned: PlannedRound) -> bytes:
    ids = f'"id":"{planned.id}","match":"{match.id}","round":{planned.number},"pair":"{planned.pair}"'
    return ids.encode()


def _rounds(config: Config, match: PlannedMatch) -> Iterator[RoundLine]:
    assert config.key is not None
    score = Score(config.rules, match.first)
    for planned in match.rounds:
        score = score.begun_by(planned.first)
        dealt = config.key.deal(planned, config.rules)
        line = _played(config, match, planned, score.first, dealt)
        yield line
        score = score.after(outcome_of(line.result))


def _played(config: Config, match: PlannedMatch, planned: PlannedRound, first: Seat, dealt: Dealt) -> RoundLine:
    game, rng = Game.new(config.rules, dealt.deal, first), random.Random(dealt.seed)
    tempers = rng.choices(TEMPERS, k=2)
    moves: list[tuple[Seat, str]] = []
    ms: list[int | None] = []
    while game.outcome is None:
        ms.append(int(rng.expovariate(1 / 40)) if len(game.legal_actions()) > 1 else None)
        action = choose(game, tempers[game.to_move], rng)
        moves.append((game.to_move, action.text))
        game.apply(action)
    return recorded_round(
        planned.id,
        GameRecord(config.rules, dealt.deal, first, tuple(moves), game.outcome),
        ms,
        Fault.TIMEOUT,
        "",
        match=match.id,
        round=planned.number,
        pair=planned.pair,
        seed=dealt.seed,
        salt=dealt.salt,
        bots=(config.bots[match.bots[0]].name, config.bots[match.bots[1]].name),
    )

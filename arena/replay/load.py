"""Reads one round of a journal and builds its replay."""

from pathlib import Path

import attrs

from arena.journal.index import find_round
from arena.journal.lines import JournalError
from arena.replay.build import replay_of
from arena.replay.positions import Replay
from arena.support.text import printable
from engine.errors import EngineError


def load_replay(path: Path, address: str) -> Replay:
    """The replay of the round with this address. Raises JournalError if the journal has no such round, or if the round
    was not played by the rules."""
    number, line, state = find_round(path, address)
    one, two = map(state.players.version, line.players or (None, None))
    try:
        return attrs.evolve(replay_of(line), versions=(one, two))
    except (EngineError, ValueError) as error:
        raise JournalError(f"{path}:{number}: round {printable(line.id)}: {printable(str(error))}") from None

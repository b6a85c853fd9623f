"""Check that the rounds of a recorded tournament name the players that were recorded for their bots. Pure."""

from collections.abc import Collection, Iterator

import attrs

from arena.journal.lines import BotLine, RoundLine
from arena.journal.players import Players


@attrs.define
class PlayerAudit:
    """Checks the players of one tournament, line by line."""

    _players: Players  # those that lines before describe
    _known: int = 0  # rounds that say who played
    _unknown: int = 0  # rounds that do not

    def check(self, line: BotLine, names: Collection[str] | None) -> Iterator[str]:
        """Yield what is wrong with an identity. `names` are the bots of the tournament, if they can be read."""
        if line.id != line.right_id:
            yield f"bot {line.name}: its id is {line.id}, but {line.right_id} follows from what the line says"
        if names is not None and line.name not in names:
            yield f"bot {line.name}: it is not one of the bots of this tournament"

    def check_round(self, line: RoundLine) -> Iterator[str]:
        """Yield what is wrong with the players of a round."""
        if line.players is None:
            self._unknown += 1
            return
        self._known += 1
        for seat, (name, id) in enumerate(zip(line.bots, line.players, strict=True)):
            if id is None:
                if any(mover == seat and ms is not None for mover, _, ms in line.moves):
                    yield f"it does not say who {name} was, although {name} made a decision"
            elif not self._players.has(name, id):
                found = self._players.find(id)
                who = "no line before it says who that is" if found is None else f"that is {found.name}"
                yield f"it says that {name} was {id}, but {who}"

    def remarks(self) -> Iterator[str]:
        if self._known and self._unknown:
            rounds = self._known + self._unknown
            do = "does" if self._unknown == 1 else "do"
            yield f"{self._unknown} of {rounds} rounds {do} not say which versions of the bots played"

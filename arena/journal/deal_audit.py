"""Check that the deals of a recorded tournament are those that were promised. Pure: verify.py reads the lines.

A secret key is revealed only at the end of the journal. Until then each deal is checked against its round's own seed,
and the seeds and salts are kept for the key to confirm.
"""

from collections.abc import Iterator
from pathlib import Path

import attrs

from arena.journal.lines import RoundLine
from arena.journal.tournament_state import TournamentState
from arena.plan.deals import DealKey
from arena.plan.schedule import PlannedRound
from arena.support.text import counted

Place = tuple[Path, int]  # a journal, and the number of a line in it


@attrs.frozen
class _Claim:
    """What a round line says about its deal, for the key to confirm."""

    place: Place
    planned: PlannedRound
    voids: int
    resumes: int
    seed: str
    salt: str

    def problem(self, key: DealKey) -> str | None:
        """Why the deal or its salt does not follow from the key; None if both do."""
        counts = self.planned.id, self.voids, self.resumes
        if self.seed != key.seed(*counts):
            return "its deal is not the one that follows from the tournament's seed"
        if self.salt != key.salt(*counts):
            return "its salt is not the one that follows from the tournament's seed"
        return None


class DealAudit:
    """Checks the deals of one tournament, round by round. The caller feeds its state with all lines, with those that
    determine deals before the rounds after them are checked."""

    def __init__(self, state: TournamentState):
        self._state = state
        self._unconfirmed: list[_Claim] = []
        self.revealed_at: Place | None = None  # the line that has the secret

    @property
    def is_revealed(self) -> bool:
        return self.revealed_at is not None

    def check(self, place: Place, line: RoundLine, planned: PlannedRound, deal_follows: bool | None) -> Iterator[str]:
        """Yield what is wrong with the deal of the round at this place. `deal_follows` says whether it follows from the
        seed in the line; None if it cannot be read, which is reported elsewhere."""
        if deal_follows is None:
            return
        if not deal_follows:
            yield "its deal is not the one that follows from its own seed"
        claim = _Claim(place, planned, *self._state.attempt(line.id), line.seed, line.salt)
        if self._state.key is None:
            self._unconfirmed.append(claim)
        elif self.is_revealed:
            yield "it was played after the secret of the deals was revealed"
        elif problem := claim.problem(self._state.key):
            yield problem

    def reveal(self, place: Place, secret: str) -> Iterator[tuple[Place, str]]:
        """Check all rounds so far against the secret that the line at this place reveals. Yields what is wrong, and
        where."""
        key = DealKey(secret)
        if key.hash != self._state.config.seed_hash:
            yield place, "this secret is not the one whose hash opened the tournament"
            return
        self.revealed_at = place
        for claim in self._unconfirmed:
            if problem := claim.problem(key):
                yield claim.place, f"round {claim.planned.id}: {problem}"
        self._unconfirmed.clear()

    def unproven(self) -> tuple[Place, str] | None:
        """The place of the last round whose deal is not confirmed yet, and the number of such deals, in words."""
        if not self._unconfirmed:
            return None
        return self._unconfirmed[-1].place, counted(len(self._unconfirmed), "deal")

    @property
    def is_public(self) -> bool:
        return self._state.key is not None and self._state.key.is_public

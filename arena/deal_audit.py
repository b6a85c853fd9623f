"""Whether the deals of a recorded tournament are those that were promised. Pure: verify.py reads the lines.

A secret key is known only at the end of the journal. Until then every round is held against its own seed, and what the
key has to confirm is remembered.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from arena.deals import DealKey, is_recorded
from arena.journal import RoundLine, game_record
from arena.legacy_deals import legacy_deal
from arena.schedule import PlannedRound
from engine.deal import Deal
from engine.errors import EngineError
from engine.ruleset import RuleSet


@attrs.frozen
class _Claim:
    """What a round says of its deal, for the key to confirm."""

    number: int  # of the line
    planned: PlannedRound
    voids: int
    resumes: int
    seed: str
    salt: str

    def problem(self, key: DealKey) -> str | None:
        counts = self.planned.id, self.voids, self.resumes
        if self.planned.mirrors is None and self.seed != key.seed(*counts):
            return "its deal is not the one that follows from the tournament's seed"
        if self.salt != key.salt(*counts):
            return "its salt is not the one that follows from the tournament's seed"
        return None


class DealAudit:
    def __init__(self, config: Mapping[str, Any], rules: RuleSet):
        self._rules = rules
        public = config.get("seed")
        self._legacy_seed = None if is_recorded(config) else str(public)
        self._key = DealKey(str(public), is_public=True) if is_recorded(config) and public is not None else None
        self._promise = config.get("seed_hash")
        self._seeds: dict[str, str] = {}  # by round
        self._voids: Counter[str] = Counter()  # by round
        self._resumes = 0
        self._unconfirmed: list[_Claim] = []

    def add_void(self, round_id: str) -> None:
        self._voids[round_id] += 1

    def add_resume(self) -> None:
        self._resumes += 1

    def check(self, number: int, line: RoundLine, planned: PlannedRound) -> Iterator[str]:
        """What is wrong with the deal of a round, whose line has this number."""
        try:
            recorded = game_record(line).deal
        except (EngineError, ValueError):
            return  # verify says so
        if self._legacy_seed is not None:
            if (line.seed, recorded) != legacy_deal(planned, self._legacy_seed, self._rules):
                yield "its deal is not the one that follows from the tournament's seed"
            return
        self._seeds[line.id] = line.seed
        if recorded != Deal.from_seed(line.seed, self._rules.tactics):
            yield "its deal is not the one that follows from its own seed"
        if planned.mirrors and line.seed != self._seeds.get(planned.mirrors):
            yield f"its deal is not that of round {planned.mirrors}, which it mirrors"
        claim = _Claim(number, planned, self._voids[line.id], self._resumes, line.seed, line.salt)
        if self._key is None:
            self._unconfirmed.append(claim)
        elif not self._key.is_public:
            yield "it was played after the secret of the deals was revealed"
        elif problem := claim.problem(self._key):
            yield problem

    def reveal(self, number: int, secret: str) -> Iterator[tuple[int, str]]:
        """The secret, in the line of this number. Returns numbers of lines, and what is wrong with them."""
        key = DealKey(secret)
        if key.hash != self._promise:
            yield number, "this secret is not the one whose hash opened the tournament"
            return
        self._key = key
        for claim in self._unconfirmed:
            if problem := claim.problem(key):
                yield claim.number, f"round {claim.planned.id}: {problem}"
        self._unconfirmed.clear()

    def remark(self) -> str | None:
        """What there is to say at the end of the tournament."""
        if self._key is not None and self._key.is_public:
            return "the deals come from a public seed: whoever knew it could know them beforehand"
        if self._unconfirmed:
            return (
                f"the secret of the deals is not revealed yet; when it is, at the end of the tournament, it will prove "
                f"{len(self._unconfirmed)} deals"
            )
        return None

"""Derive deals from a key and the id of the round. Pure.

By default the key is a secret. The journal's opening line contains its hash and a last line reveals the key, so any
reader of the journal can check that every deal follows from what was promised before the first round (verify.py). A
seed that the organiser chose is also a key, but a public one: a bot author who knows or guesses it knows every deal.

No bot sees a deal twice. A void round is played again with another deal, and so are the rounds that were unfinished
when a tournament stopped: the label of a deal contains both counts. The exception is a
public seed, whose deals stay the same however often the tournament is stopped.

Each bot also gets a seed for its own randomness, from the same key. It reveals nothing about deals and other seeds, and
is another one for each attempt at a round: an opponent that has seen a void attempt knows nothing about the next one.
"""

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

import attrs
from msgspec import Struct

from arena.plan.schedule import PlannedRound, RoundId
from engine.cards import Seat, card_texts
from engine.deal import Deal
from engine.ruleset import RuleSet
from protocol.messages import RevealedDeal

SCHEME: Final = "hmac-sha256"  # how a journal's configuration names this way of dealing
PROMISED: Final = "promised"  # deals of a server, of whose way only their hashes are known
_SALT_DIGITS: Final = 32  # hexadecimal: 128 bits
_BOT_SEED_BITS: Final = 53  # as many as are exact in a double: in many languages all numbers are doubles


class Dealt(Struct, frozen=True):
    """The deal of one round."""

    seed: str  # of this round alone; it reveals nothing about other rounds
    salt: str  # hashed together with the deal, so that the deal cannot be guessed by hashing candidates
    deal: Deal
    attempt: int = 1  # higher if the round was void or may have been unfinished before
    bot_seeds: tuple[int | None, int | None] | None = None  # by seat, for their own randomness; None if they get none

    def bot_seed(self, seat: Seat) -> int | None:
        return self.bot_seeds[seat] if self.bot_seeds else None

    def revealed(self, number: int) -> RevealedDeal:
        """The deal as the bots receive it after the round of this number."""
        return RevealedDeal(number, card_texts(self.deal.clan), card_texts(self.deal.tactics), self.salt, self.attempt)


@attrs.frozen
class DealKey:
    """The key of all deals of one tournament."""

    text: str = attrs.field(repr=False)
    is_public: bool = False

    @property
    def hash(self) -> str:
        return "sha256:" + hashlib.sha256(self.text.encode()).hexdigest()

    def deal(
        self,
        planned: PlannedRound,
        rules: RuleSet,
        *,
        voids: int = 0,
        resumes: int = 0,
        bots: tuple[str, str] | None = None,
    ) -> Dealt:
        """The deal of a round, after it was void and the tournament was resumed this many times. `bots` are the names
        of those that get seeds of their own."""
        seed = self.seed(planned.id, voids, resumes)
        salt = self.salt(planned.id, voids, resumes)
        bot_seeds = None if bots is None else self.bot_seeds(planned.id, voids, resumes, bots)
        return Dealt(seed, salt, Deal.from_seed(seed, rules.tactics), 1 + voids + resumes, bot_seeds)

    def seed(self, round_id: RoundId, voids: int, resumes: int) -> str:
        """The seed of a round, after it was void and the tournament was resumed this many times."""
        return self._derived(f"deal {round_id} {voids} {resumes}")

    def salt(self, round_id: RoundId, voids: int, resumes: int) -> str:
        return self._derived(f"salt {round_id} {voids} {resumes}")[:_SALT_DIGITS]

    def bot_seeds(self, round_id: RoundId, voids: int, resumes: int, bots: tuple[str, str]) -> tuple[int, int]:
        """The seeds of the two bots of a round, by seat."""
        one, two = (self._derived(f"bot {round_id} {voids} {resumes} {name}") for name in bots)
        return _leading_bits(one), _leading_bits(two)

    def _derived(self, label: str) -> str:
        return hmac.digest(self.text.encode(), label.encode(), "sha256").hex()


def _leading_bits(digits: str) -> int:
    return int(digits, 16) >> (4 * len(digits) - _BOT_SEED_BITS)


@attrs.frozen
class GrantedDeals:
    """Takes the place of a DealKey where the key must not be known: it has the deals of single rounds, and more can be
    added."""

    _deals: dict[tuple[str, int], Dealt] = attrs.field(factory=dict, repr=False)  # by round and its number of voids

    def has(self, round_id: str, voids: int) -> bool:
        return (round_id, voids) in self._deals

    def add(self, deals: Mapping[tuple[str, int], Dealt]) -> None:
        self._deals.update(deals)

    def deal(
        self,
        planned: PlannedRound,
        rules: RuleSet,  # noqa: ARG002
        *,
        voids: int = 0,
        resumes: int = 0,  # noqa: ARG002
        bots: tuple[str, str] | None = None,  # noqa: ARG002
    ) -> Dealt:
        """The deal of a round that was granted."""
        return self._deals[planned.id, voids]

"""The proof of fair deals: a hash of deal and salt before the round, both of them after it."""

import hashlib
from collections.abc import Iterable

from protocol.messages import MatchStart, Message, RevealedDeal, RoundEnd, RoundStart


def deal_hash(deck: Iterable[str], tactics: Iterable[str], salt: str) -> str:
    """SHA-256, in hexadecimal, of three lines: the salt, the clan deck, the tactic deck, cards separated by spaces."""
    text = "\n".join((salt, " ".join(deck), " ".join(tactics)))
    return hashlib.sha256(text.encode()).hexdigest()


def hash_of(deal: RevealedDeal) -> str:
    return deal_hash(deal.deck, deal.tactics, deal.salt)


class DealCheck:
    """Hears what a bot hears, and keeps the server to its promises."""

    def __init__(self) -> None:
        self._match: str | None = None
        self._promised: dict[tuple[int, int], str] = {}  # by round of the match and attempt, until it is revealed
        self.kept = 0
        self.broken = 0
        self._never_revealed = 0  # promises of matches that are over

    def hear(self, message: Message) -> str | None:
        """What is wrong, if something is."""
        match message:
            case MatchStart() if message.match != self._match:  # else it is told again, after a lost connection
                self._match = message.match
                self._never_revealed += len(self._promised)
                self._promised.clear()
            case RoundStart():
                before = self._promised.setdefault((message.round, message.attempt), message.deal_hash)
                if before != message.deal_hash:
                    self.broken += 1
                    return f"the hash of round {message.round} is NOT the one that was told first"
            case RoundEnd():
                wrong = [str(deal.round) for deal in message.deals if not self._keeps(deal)]
                if wrong:
                    return f"the deal of round {', '.join(wrong)} is NOT the one that was promised by its hash"
            case _:
                pass
        return None

    def _keeps(self, deal: RevealedDeal) -> bool:
        """A deal of a round that was announced while the bot was away cannot be checked; one that is revealed for
        another attempt than any that was promised is not kept."""
        others = any(number == deal.round for number, _ in self._promised)
        promised = self._promised.pop((deal.round, deal.attempt), None)
        kept = promised == hash_of(deal) if promised is not None else not others
        self.kept += kept and promised is not None
        self.broken += not kept
        return kept

    def summary(self) -> str:
        if self.broken:
            return f"{self.broken} deals were NOT as promised, {self.kept} were"
        if not self.kept:
            return "no deal was revealed yet"
        left = (
            f"; {self._never_revealed} of rounds that were broken off were not revealed" if self._never_revealed else ""
        )
        return f"all {self.kept} deals that were revealed are as promised by their hashes{left}"

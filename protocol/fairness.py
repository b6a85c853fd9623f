"""The proof of fair deals: the server sends a hash of deal and salt before the round, and reveals both after it."""

import hashlib
from collections.abc import Iterable

from protocol.messages import MatchStart, Message, RevealedDeal, RoundEnd, RoundStart


def deal_hash(deck: Iterable[str], tactics: Iterable[str], salt: str) -> str:
    """The hexadecimal SHA-256 of three lines: salt, clan deck, tactic deck, with the cards separated by spaces."""
    text = "\n".join((salt, " ".join(deck), " ".join(tactics)))
    return hashlib.sha256(text.encode()).hexdigest()


def hash_of(deal: RevealedDeal) -> str:
    """The hash that was announced for a deal, if it is this one."""
    return deal_hash(deal.deck, deal.tactics, deal.salt)


class DealCheck:
    """Observes the messages that a bot receives, and checks every revealed deal against its hash."""

    def __init__(self) -> None:
        self._match: str | None = None
        self._promised: dict[tuple[int, int], str] = {}  # hash by round of the match and attempt, until revealed
        self.kept = 0
        self.broken = 0
        self._never_revealed = 0  # promises of matches that are over

    def observe(self, message: Message) -> str | None:
        """Process a message. Returns a complaint if it shows that the server broke a promise, otherwise None."""
        match message:
            case MatchStart() if message.match != self._match:  # otherwise it is repeated after a lost connection
                self._match = message.match
                self._never_revealed += len(self._promised)
                self._promised.clear()
            case RoundStart():
                before = self._promised.setdefault((message.round, message.attempt), message.deal_hash)
                if before != message.deal_hash:
                    self.broken += 1
                    return f"the hash of round {message.round} is NOT the one that was announced first"
            case RoundEnd():
                wrong = [str(deal.round) for deal in message.deals if not self._keeps(deal)]
                if wrong:
                    return f"the deal of round {', '.join(wrong)} is NOT the one that was promised by its hash"
            case _:
                pass
        return None

    def _keeps(self, deal: RevealedDeal) -> bool:
        """Whether a revealed deal is as promised. The deal of a round that was announced while the bot was away cannot
        be checked and counts as kept. A deal whose attempt was never announced, although another attempt at the same
        round was, counts as broken."""
        others = any(number == deal.round for number, _ in self._promised)
        promised = self._promised.pop((deal.round, deal.attempt), None)
        kept = promised == hash_of(deal) if promised is not None else not others
        self.kept += kept and promised is not None
        self.broken += not kept
        return kept

    def summary(self) -> str:
        """A sentence for the bot's author about all deals so far."""
        if self.broken:
            were = "deal was" if self.broken == 1 else "deals were"
            return f"{self.broken} {were} NOT as promised, {self.kept} as promised"
        if not self.kept:
            return "no deal was revealed yet"
        lost = "deal of an interrupted round was" if self._never_revealed == 1 else "deals of interrupted rounds were"
        left = f"; {self._never_revealed} {lost} not revealed" if self._never_revealed else ""
        kept = (
            "the only deal that was revealed is" if self.kept == 1 else f"all {self.kept} deals that were revealed are"
        )
        return f"{kept} as promised by {'its hash' if self.kept == 1 else 'their hashes'}{left}"

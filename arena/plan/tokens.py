"""What lets a bot in: a secret for its author, a hash of it for the tournament file."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Final

_SCHEME: Final = "sha256:"
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")


def new_token() -> str:
    """192 bits from the system: nothing to guess, so a plain hash of it keeps it secret."""
    return secrets.token_urlsafe(24)


def token_hash(token: str) -> str:
    return _SCHEME + hashlib.sha256(token.encode()).hexdigest()


def is_token_hash(text: object) -> bool:
    return isinstance(text, str) and _HASH.fullmatch(text) is not None


class Owners:
    """Whose token it is, of names and the hashes of their tokens.

    Found by a keyed hash of the hash: strangers make us look as often as they like, so it takes the same time however
    many bots there are, and that time tells nothing about the hashes.
    """

    def __init__(self, hashes: Mapping[str, str]):
        self._key = secrets.token_bytes(32)
        self._names = {self._keyed(kept): name for name, kept in hashes.items()}
        self.names = frozenset(hashes)

    def of(self, token: str) -> str | None:
        return self._names.get(self._keyed(token_hash(token)))

    def _keyed(self, text: str) -> bytes:
        return hmac.digest(self._key, text.encode(), "sha256")

"""Tokens that admit a bot to a server: the author gets the token, the tournament file contains its hash."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Final

_SCHEME: Final = "sha256:"
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")


def new_token() -> str:
    """A new random token. It has 192 bits and cannot be guessed, so an unsalted hash is enough to keep it secret."""
    return secrets.token_urlsafe(24)


def token_hash(token: str) -> str:
    return _SCHEME + hashlib.sha256(token.encode()).hexdigest()


def is_token_hash(text: object) -> bool:
    return isinstance(text, str) and _HASH.fullmatch(text) is not None


class Owners:
    """Finds the bot that a token belongs to, given the hash of each bot's token.

    The lookup uses a keyed hash of the hash. Strangers can try tokens as often as they like, so a lookup takes the same
    time for any number of bots, and that time reveals nothing about the hashes.
    """

    def __init__(self, hashes: Mapping[str, str]):
        self._key = secrets.token_bytes(32)
        self._names = {self._keyed(kept): name for name, kept in hashes.items()}
        self.names = frozenset(hashes)

    def of(self, token: str) -> str | None:
        """The name of the bot with this token, or None."""
        return self._names.get(self._keyed(token_hash(token)))

    def _keyed(self, text: str) -> bytes:
        return hmac.digest(self._key, text.encode(), "sha256")

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


def owner_of(token: str, hashes: Mapping[str, str]) -> str | None:
    """Whose token it is, of names and their hashes. Looks at all of them, whatever it finds: the time that it takes
    tells nobody anything."""
    given, found = token_hash(token), None
    for name, kept in hashes.items():
        if hmac.compare_digest(given, kept):
            found = name
    return found

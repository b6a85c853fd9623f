"""Which bot owns which name at an open server, remembered as long as the journal exists.

A bot claims its name for good with a token that its author chose, or that the tournament file has. A bot without a
token claims its name with a key, which the server sends inside the `session` of its welcome; that claim lasts as long
as the bot plays in the tournament. The server keeps only hashes, in a file beside the journal that only its owner can
read. They are not in the journal, because a journal is meant to be published, and a weak token could be guessed from
its hash. Each claim knows where its bot came from, because the number of names of an address is limited.
"""

import hmac
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from arena.journal.file import JournalError, beside
from arena.plan.tokens import token_hash
from arena.server.rates import Place
from arena.support.whole_files import write_private
from protocol.messages import BotHello


class Claim(Struct, frozen=True, omit_defaults=True):
    """The hash of the secret that proves that a bot owns its name; salted, unless it is that of the tournament file."""

    name: str
    by: Literal["token", "session", "file"]
    salt: str
    hash: str
    address: str = ""  # that the bot came from first, and its network
    network: str = ""
    played: bool = True  # or has a token of the tournament file

    @property
    def is_for_good(self) -> bool:
        return self.by != "session"

    def is_proven_by(self, hello: BotHello) -> bool:
        secret = key_of(hello.session) if self.by == "session" else hello.token
        if secret is None:
            return False
        found = token_hash(secret) if self.by == "file" else _hashed(secret, self.salt)
        return hmac.compare_digest(found, self.hash)


def claim_with(name: str, by: Literal["token", "session"], secret: str, place: Place) -> Claim:
    """The claim of a bot that has not played yet."""
    salt = secrets.token_hex(16)
    return Claim(name, by, salt, _hashed(secret, salt), place.address, place.network, played=False)


def claim_of_file(name: str, hash_of_token: str) -> Claim:
    """The claim of a bot that has a token of the tournament file."""
    return Claim(name, "file", "", hash_of_token)


def _hashed(secret: str, salt: str) -> str:
    return hmac.new(salt.encode(), secret.encode(), "sha256").hexdigest()


def new_key() -> str:
    return secrets.token_urlsafe(16)


def session_with(key: str | None) -> str:
    """A new session for a connection; with a key it also proves which bot the connection belongs to."""
    own = secrets.token_urlsafe(16)
    return f"{own}.{key}" if key else own


def key_of(session: str | None) -> str | None:
    """The key inside a session, or None."""
    return session.partition(".")[2] or None if session else None


class NamesFile:
    """The file cup.names beside cup.jsonl, with one claim per line."""

    def __init__(self, journal: Path):
        self.path = beside(journal, "names")
        self._written: bytes | None = None

    def read(self) -> list[Claim]:
        """The claims in the file; none if it does not exist. Raises JournalError if the file contains anything else."""
        try:
            self._written = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror}") from None
        try:
            return [msgspec.json.decode(line, type=Claim) for line in self._written.splitlines()]
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise JournalError(
                f"{self.path}: this is not a file of an open server's names ({error}); repair the file"
            ) from None

    def write(self, claims: Iterable[Claim]) -> None:
        """Replace all claims in the file atomically; they are on the disk when this returns. Raises JournalError."""
        data = b"".join(msgspec.json.encode(claim) + b"\n" for claim in claims)
        if data == (self._written or b""):
            return
        try:
            write_private(self.path, data)
        except OSError as error:
            raise JournalError(f"{self.path}: cannot write: {error.strerror}") from error
        self._written = data

"""Whose a name is at an open server, remembered for as long as its journal lives.

A name is claimed with a token of the author's own choice. A bot without one claims its name with a key that the server
hands out inside the `session` of its welcome, for as long as it plays in the tournament. Only salted hashes are kept,
in a file beside the journal that nobody but its owner can read: a token that somebody made up may be weak enough to be
guessed from its hash, so the hashes do not belong into the journal, which is made to be published. The file holds only
names that played, so it is a small fraction of the journal, however many strangers come.
"""

import hmac
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from arena.journal.lines import JournalError
from arena.support.whole_files import write_private
from protocol.messages import BotHello


class Claim(Struct, frozen=True):
    """What proves that a bot may have its name."""

    name: str
    by: Literal["token", "session"]
    salt: str
    hash: str

    def is_proven_by(self, hello: BotHello) -> bool:
        secret = hello.token if self.by == "token" else key_of(hello.session)
        return secret is not None and hmac.compare_digest(_hashed(secret, self.salt), self.hash)


def claim_with(name: str, by: Literal["token", "session"], secret: str) -> Claim:
    salt = secrets.token_hex(16)
    return Claim(name, by, salt, _hashed(secret, salt))


def _hashed(secret: str, salt: str) -> str:
    return hmac.new(salt.encode(), secret.encode(), "sha256").hexdigest()


def new_key() -> str:
    return secrets.token_urlsafe(16)


def session_with(key: str | None) -> str:
    """A new name for a connection; with a key it also proves whose connection it is."""
    own = secrets.token_urlsafe(16)
    return f"{own}.{key}" if key else own


def key_of(session: str | None) -> str | None:
    """The key in a session, if there is one."""
    return session.partition(".")[2] or None if session else None


class NamesFile:
    """cup.names, beside cup.jsonl: a claim on each line."""

    def __init__(self, journal: Path):
        self.path = journal.with_name(f"{journal.name.removesuffix('.jsonl')}.names")
        self._written: bytes | None = None

    def read(self) -> list[Claim]:
        """Raises JournalError if there is something else in the file."""
        try:
            self._written = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror}") from None
        try:
            return [msgspec.json.decode(line, type=Claim) for line in self._written.splitlines()]
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise JournalError(f"{self.path}: these are no names of an open server ({error}); mend the file") from None

    def write(self, claims: Iterable[Claim]) -> None:
        """All of them at once, or none; they are on the disk when this returns. Raises JournalError."""
        data = b"".join(msgspec.json.encode(claim) + b"\n" for claim in claims)
        if data == (self._written or b""):
            return
        try:
            write_private(self.path, data)
        except OSError as error:
            raise JournalError(f"{self.path}: cannot write: {error.strerror}") from error
        self._written = data

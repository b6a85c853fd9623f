"""The secret that deals come from, in a file beside the journal that only its owner can read: cup.jsonl has cup.secret.

Whoever has it knows every deal to come. It is needed to go on with a tournament, and is removed when the tournament is
over and its key stands in the journal.
"""

import os
import secrets
from pathlib import Path
from typing import Final

from arena.deals import DealKey, key_of_tournament
from arena.journal import JournalError
from arena.whole_files import write_private

_BYTES: Final = 32


def secret_path(journal: Path) -> Path:
    return journal.with_name(f"{journal.name.removesuffix('.jsonl')}.secret")


def new_secret(journal: Path | None) -> str:
    """Replaces one that is there: it belonged to a journal that is gone. Without a journal it is kept nowhere. Raises
    JournalError."""
    secret = secrets.token_hex(_BYTES)
    if journal is not None:
        path = secret_path(journal)
        try:
            write_private(path, f"{secret}\n".encode())
        except OSError as error:
            raise JournalError(f"{path}: cannot write the secret of the deals: {error.strerror}") from None
    return secret


def read_secret(journal: Path) -> str | None:
    """None if there is none. Raises JournalError for a file that holds none."""
    path = secret_path(journal)
    try:
        os.chmod(path, 0o600)  # it may have come from another machine
        text = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise JournalError(f"{path}: cannot read the secret of the deals: {error}") from None
    if len(text) != 2 * _BYTES or set(text) - set("0123456789abcdef"):
        raise JournalError(f"{path}: this is no secret of deals; it is {2 * _BYTES} hexadecimal digits")
    return text


def promised_key(journal: Path, number: int, promise: str) -> DealKey:
    """The key whose hash opened the journal's tournament of this number. Raises JournalError."""
    secret, path = read_secret(journal), secret_path(journal)
    if secret is None:
        raise JournalError(
            f"{path} is missing: without it the deals of {journal} cannot be made. Put it back beside the journal, or "
            "begin another journal."
        )
    key = key_of_tournament(secret, number)
    if key.hash != promise:
        raise JournalError(
            f"{path} is not the secret of {journal}: its hash is not the one that the journal opened with. Put the "
            "right one back, or begin another journal."
        )
    return key


def forget_secret(journal: Path) -> None:
    secret_path(journal).unlink(missing_ok=True)

"""The secret that deals are derived from, in a file beside the journal: cup.jsonl has cup.secret.

Only the owner can read the file, because the secret gives away all future deals. It is needed to resume a tournament,
and is removed when the tournament is over and its key is in the journal.
"""

import itertools
import secrets
import stat
from pathlib import Path
from typing import Final

from arena.journal.file import JournalError, beside
from arena.plan.deals import DealKey
from arena.support.whole_files import write_private

_BYTES: Final = 32


def secret_path(journal: Path) -> Path:
    return beside(journal, "secret")


def new_key(journal: Path | None, *, kept: bool) -> DealKey:
    """Make a new key, and save it beside the journal if there is one, which may be `kept`. Raises JournalError."""
    secret = secrets.token_hex(_BYTES)
    if journal is not None:
        path = secret_path(journal)
        try:
            _move_aside(path)
            write_private(path, f"{secret}\n".encode(), kept=kept)
        except OSError as error:
            raise JournalError(f"{path}: cannot write the secret of the deals: {error.strerror}") from None
    return DealKey(secret)


def _move_aside(path: Path) -> None:
    """Rename an existing secret to cup.secret.1 or the next free number: it belongs to another journal, which may be
    resumed later."""
    if path.exists():
        numbers = itertools.count(1)
        path.rename(next(free for number in numbers if not (free := Path(f"{path}.{number}")).exists()))


def promised_key(journal: Path, promise: str) -> DealKey:
    """Read the key of the journal's last tournament. Raises JournalError unless its hash is `promise`, the one in the
    tournament's opening line."""
    path = secret_path(journal)
    key = DealKey(_read(path, journal))
    if key.hash != promise:
        raise JournalError(
            f"{path} is not the secret of {journal}: its hash is not the one in the journal's opening line. Put the "
            f"right one back (an earlier one is called {path.name}.1), or begin another journal."
        )
    return key


def _read(path: Path, journal: Path) -> str:
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise JournalError(f"{path}: this is not a regular file; expected the secret of the deals")
        if mode & 0o077:  # it may have been copied from another machine
            path.chmod(0o600)
        text = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise JournalError(
            f"{path} is missing: without it the arena cannot make the deals of {journal}. Put it back beside the "
            "journal, or begin another journal."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise JournalError(f"{path}: cannot read the secret of the deals: {error}") from None
    if len(text) != 2 * _BYTES or set(text) - set("0123456789abcdef"):
        raise JournalError(f"{path}: this is not a secret of deals; a secret has {2 * _BYTES} hexadecimal digits")
    return text


def forget_secret(journal: Path) -> None:
    """Remove the secret's file, if it exists. Raises OSError."""
    secret_path(journal).unlink(missing_ok=True)

"""Who a player is: what the arena started, and what the player said of itself. Pure.

Two rounds were played by the same player if their identities are equal. A fingerprint says which program was started,
as far as the arena can know. Version and author are only claims of the bot; bots that connect have nothing else.
"""

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from arena.journal.file import VERSION
from arena.support.text import cropped, printable

if TYPE_CHECKING:
    from protocol.messages import BotHello

_ID_LENGTH: Final = 16  # hexadecimal digits
_SHORT: Final = 8  # digits of a hash that people are shown
_LONGEST: Final = 64  # characters that are kept of a bot's version and author
_MOST_CHANGES: Final = 5  # named one by one


class Fingerprint(Struct, frozen=True):
    """What the arena started: the command, and the hashes of the files that belong to it."""

    command: tuple[str, ...]
    files: dict[str, str]  # by name; a file that was not hashed has a text that says why

    @property
    def short(self) -> str:
        """For people, who compare it at a glance."""
        return _hash([self.command, sorted(self.files.items())])[:_SHORT]


def _hash(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()


def _identity_id(
    name: str, version: str | None, author: str | None, calls_itself: str | None, fingerprint: Fingerprint | None
) -> str:
    """The id of an identity follows from its content, so it is the same in every journal."""
    started = None if fingerprint is None else [fingerprint.command, sorted(fingerprint.files.items())]
    return _hash([name, version, author, calls_itself, started])[:_ID_LENGTH]


def _claimed(text: str | None) -> str | None:
    """What a bot says of itself, as the journal keeps it; None if it says nothing."""
    return cropped(printable(text or "").strip(), _LONGEST) or None


class BotLine(Struct, frozen=True, tag_field="type", tag="bot", kw_only=True, omit_defaults=True):
    """Who a player is, written before the first round that refers to its id."""

    v: int
    id: str
    name: str  # that it plays under
    started: str  # when the arena first started it, or it first connected
    version: str | None = None  # as it says
    author: str | None = None  # likewise
    calls_itself: str | None = None  # the name in its hello, if it is another one
    fingerprint: Fingerprint | None = None  # None for a bot that connected

    @property
    def short(self) -> str:
        """Which version this is, for people: what it says, and the fingerprint of what was started."""
        started = self.fingerprint.short if self.fingerprint else None
        return " ".join(filter(None, (self.version, started)))

    @property
    def right_id(self) -> str:
        """The id that follows from the content."""
        return _identity_id(self.name, self.version, self.author, self.calls_itself, self.fingerprint)


def bot_line(name: str, hello: "BotHello | None", fingerprint: Fingerprint | None, started: str) -> BotLine:
    """The identity of a player; without a hello if it did not say any."""
    version, author = (_claimed(hello.version), _claimed(hello.author)) if hello else (None, None)
    other_name = hello.name if hello and hello.name != name else None
    found = _identity_id(name, version, author, other_name, fingerprint)
    return BotLine(
        v=VERSION,
        id=found,
        name=name,
        started=started,
        version=version,
        author=author,
        calls_itself=other_name,
        fingerprint=fingerprint,
    )


def changes(before: Fingerprint, now: Fingerprint) -> Iterator[str]:
    """Yield how two fingerprints differ, for people."""
    if before.command != now.command:
        yield f"its command was {_joined(before.command)}, now it is {_joined(now.command)}"
    names = sorted(before.files.keys() | now.files.keys())
    different = [name for name in names if before.files.get(name) != now.files.get(name)]
    for name in different[:_MOST_CHANGES]:
        yield f"{printable(name)} {_change(before.files.get(name), now.files.get(name))}"
    if more := len(different[_MOST_CHANGES:]):
        yield f"and {more} more files"


def _change(before: str | None, now: str | None) -> str:
    if before is None:
        return "belongs to it now, but did not before"
    if now is None:
        return "belonged to it before, but does not now"
    return f"is another file now ({_shown(now)}, before {_shown(before)})"


def _shown(content: str) -> str:
    """A hash shortened, any other text as it is."""
    return content[:_SHORT] if len(content) == hashlib.sha256().digest_size * 2 else printable(content)


def _joined(command: tuple[str, ...]) -> str:
    return repr(printable(" ".join(command)))

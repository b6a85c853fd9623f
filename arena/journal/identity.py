"""Who a player is: what the arena started, and what the player said of itself. Pure.

Two rounds were played by the same player if their identities are equal. A fingerprint says which program was started,
as far as the arena can know. Version and author are only claims of the bot; bots that connect have nothing else.
"""

import hashlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from arena.journal.file import VERSION
from arena.plan.bot_spec import has_interpreter
from arena.support.text import counted, cropped, printable

if TYPE_CHECKING:
    from protocol.messages import BotHello

_ID_LENGTH: Final = 16  # hexadecimal digits
_SHORT: Final = 8  # digits of a hash that people are shown
_LONGEST: Final = 64  # characters that are kept of a bot's version and author
_READ: Final = 4 * _LONGEST  # and looked at: to measure thousands takes milliseconds, and some have no width
_LONGEST_NAME: Final = 64
_MOST_CHANGES: Final = 5  # named one by one
UNREAD: Final = "not read: "  # how the text begins that a file has instead of a hash
GROUP: Final = " files, "  # what stands between the number of files that are one entry, and their hash


def is_recorded_name(text: str) -> bool:
    """Whether a player of a journal may have this name. Journals that were written when names were not yet ASCII stay
    readable."""
    return 1 <= len(text) <= _LONGEST_NAME and text.isprintable()


class Fingerprint(Struct, frozen=True):
    """What the arena started: the command, and the hashes of the files that belong to it."""

    command: tuple[str, ...]
    files: dict[str, str]  # by name; what was not hashed has a text that says why, and many files may be one entry

    @property
    def short(self) -> str:
        """For people, who compare it at a glance."""
        return _hash([self.command, sorted(self.files.items())])[:_SHORT]

    @property
    def main(self) -> str:
        """The program, or the script that an interpreter runs."""
        scripts = self.command[1:] if has_interpreter(self.command) else ()
        return next((word for word in scripts if word in self.files), self.command[0])

    @property
    def summary(self) -> str:
        """What was started, for people: mybot.py and 3 files. An interpreter does not count."""
        own = self.files.keys() - {self.main, self.command[0]}
        unread = [f"{name}: {self.files[name]}" for name in sorted(self.files) if self.files[name].startswith(UNREAD)]
        count = sum(_count(self.files[name]) for name in own)
        words = f"{self.main} and {counted(count, 'file')}" if count else self.main
        return printable(f"{words} ({unread[0]})" if unread else words)


def _count(content: str) -> int:
    """Of how many files this is the content."""
    number, is_group, _ = content.partition(GROUP)
    return int(number) if is_group and number.isdigit() else 0 if content.startswith(UNREAD) else 1


def same_wherever_it_lies(one: Fingerprint, two: Fingerprint) -> bool:
    """Whether both are the same program, as copies in two folders are. False if a file was not read."""
    unread = any(content.startswith(UNREAD) for content in one.files.values())
    return not unread and _without_place(one) == _without_place(two)


def _without_place(found: Fingerprint) -> tuple[list[str], dict[str, str]]:
    """The words of the command, by their content if they name files, and the other files from the folder of the first.
    An interpreter counts by its name, too: what it is may depend on where it lies. Copies of the script make no
    difference, such as an earlier version that is kept beside it."""
    words, folder = list(found.command), os.path.dirname(found.main)
    for place in range(has_interpreter(words), len(words)):
        words[place] = found.files.get(words[place], words[place])
    start = f"{os.path.normpath(folder)}/" if folder else ""
    itself = found.files.get(found.main)
    others = {name.removeprefix(start): text for name, text in found.files.items() if text != itself}
    return [*words, found.files.get(found.command[0], "")], others


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
    return cropped(printable((text or "")[:_READ]).strip(), _LONGEST) or None


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
    def summary(self) -> str:
        """What plays, for people: mybot.py and 3 files, 0.2."""
        return ", ".join(filter(None, (self.fingerprint.summary if self.fingerprint else None, self.version)))

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
    are = "are other files" if GROUP in now else "is another file"
    return f"{are} now ({_shown(now)}, before {_shown(before)})"


def _shown(content: str) -> str:
    """A hash shortened, any other text as it is."""
    count, is_group, last = content.rpartition(GROUP)
    is_hash = len(last) == hashlib.sha256().digest_size * 2
    return f"{count}{is_group}{last[:_SHORT]}" if is_hash else printable(content)


def _joined(command: tuple[str, ...]) -> str:
    return repr(printable(" ".join(command)))

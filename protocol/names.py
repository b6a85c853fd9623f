"""Which names bots may have. Pure.

There are two rules. `Name` is the rule of the wire and the journal: a pattern, so that the JSON Schema can express it.
A new bot must also pass `name_problem`, which uses Unicode properties: no invisible characters, and no stacks of
combining marks. The rule for new bots may become stricter; names that were recorded under an older rule stay readable.
"""

import unicodedata
from typing import Annotated, Final

import msgspec
from msgspec import Meta

# No white space, no control or invisible characters, none that changes the writing direction.
_WORD: Final = r"[^\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+"
_END: Final = r"$(?!\n)"  # Python's $ alone also matches before a final newline
NAME_RULE: Final = "1 to 64 printable characters, words separated by single spaces"
Name = Annotated[str, Meta(min_length=1, max_length=64, pattern=f"^{_WORD}( {_WORD})*{_END}")]

# Control, format, surrogate, private and unassigned characters; line, paragraph and space separators.
_INVISIBLE_CATEGORIES: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))
_MARKS: Final = frozenset(("Mn", "Mc", "Me"))
# Invisible characters of other categories: joiners, fillers, blanks and variation selectors.
_BLANKS: Final = frozenset(
    map(
        chr,
        (
            0x034F,  # combining grapheme joiner
            *(0x115F, 0x1160, 0x3164, 0xFFA0),  # Hangul fillers
            *(0x17B4, 0x17B5),  # inherent vowels of Khmer
            *range(0x180B, 0x1810),  # Mongolian variation selectors
            *(0x2800, 0x1D159),  # Braille blank, null notehead
            *range(0xFE00, 0xFE10),  # variation selectors
            *range(0xE0100, 0xE01F0),
        ),
    )
)
_MOST_MARKS: Final = 4  # in a row; no language needs more (Unicode Technical Standard 39, section 5.4)


def is_recorded_name(text: str) -> bool:
    """Whether `text` may occur as a name in a journal, that is, whether any version allowed it."""
    try:
        msgspec.convert(text, Name)
        return bool(text.encode())
    except (msgspec.ValidationError, UnicodeEncodeError):
        return False


def is_name(text: object) -> bool:
    """Whether `text` is a valid name for a new bot."""
    return name_problem(text) is None


def name_problem(text: object) -> str | None:
    """Why `text` is not a valid name for a new bot; None if it is valid."""
    if not isinstance(text, str):
        return "it is not a text"
    if not 1 <= len(text) <= 64:
        return f"it has {len(text)} characters"
    for place, char in enumerate(text, 1):
        if char != " " and (char in _BLANKS or unicodedata.category(char) in _INVISIBLE_CATEGORIES):
            return f"the character U+{ord(char):04X} at position {place} is invisible"
    if not is_recorded_name(text):
        return "its words are not separated by single spaces"
    return _problem_of_marks(text)


def _problem_of_marks(text: str) -> str | None:
    row: list[str] = []
    for place, char in enumerate(text):
        if unicodedata.category(char) not in _MARKS:
            row.clear()
            continue
        if not row and (place == 0 or text[place - 1] == " "):
            return f"the combining mark U+{ord(char):04X} at position {place + 1} has no base letter"
        if char in row[-1:] and unicodedata.category(char) != "Mc":
            return f"the combining mark U+{ord(char):04X} at position {place + 1} repeats the one before it"
        row.append(char)
        if len(row) > _MOST_MARKS:
            return (
                f"more than {_MOST_MARKS} combining marks in a row end at position {place + 1}; no language needs more"
            )
    return None

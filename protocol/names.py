"""What a bot may be called. Pure.

Two rules. `Name` is what fits on the wire and in a journal: a pattern, which the JSON Schema can say as well. A new bot
has to pass `name_problem`, too, which knows Unicode: nothing invisible, and no piles of marks over the letters. The
rule for new bots may become stricter; what was recorded under the old one stays readable.
"""

import unicodedata
from typing import Annotated, Final

import msgspec
from msgspec import Meta

# No white space, no control characters, none that is invisible or turns the direction of writing.
_WORD: Final = r"[^\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+"
_END: Final = r"$(?!\n)"  # Python's $ alone also matches before a last newline
NAME_RULE: Final = "1 to 64 printable characters, words separated by single spaces"
Name = Annotated[str, Meta(min_length=1, max_length=64, pattern=f"^{_WORD}( {_WORD})*{_END}")]

# Control, format, surrogate, private and unassigned characters; separators of lines, paragraphs and words.
_UNSEEN_CATEGORIES: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))
_MARKS: Final = frozenset(("Mn", "Mc", "Me"))
# Those of other categories that leave nothing to see: joiners, fillers, blanks and variation selectors.
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
    """Whether a journal may have it: whatever was ever allowed."""
    try:
        msgspec.convert(text, Name)
        return bool(text.encode())
    except (msgspec.ValidationError, UnicodeEncodeError):
        return False


def is_name(text: object) -> bool:
    """Whether a new bot may be called so."""
    return name_problem(text) is None


def name_problem(text: object) -> str | None:
    """Why no new bot may be called so; None if it may."""
    if not isinstance(text, str):
        return "it is no text"
    if not 1 <= len(text) <= 64:
        return f"it has {len(text)} characters"
    for place, char in enumerate(text, 1):
        if char != " " and (char in _BLANKS or unicodedata.category(char) in _UNSEEN_CATEGORIES):
            return f"the character U+{ord(char):04X} at place {place} cannot be seen"
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
            return f"the mark U+{ord(char):04X} at place {place + 1} has no letter to stand on"
        if char in row[-1:] and unicodedata.category(char) != "Mc":
            return f"the mark U+{ord(char):04X} at place {place + 1} stands there twice in a row"
        row.append(char)
        if len(row) > _MOST_MARKS:
            return f"more than {_MOST_MARKS} marks in a row end at place {place + 1}; no language needs as many"
    return None

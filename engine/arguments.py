"""The arguments that callers pass to public functions: wrong types are refused in the same words by both builds.

mypyc checks the arguments of what it compiles against the annotations, in words of its own, before our code runs. A
union with a protocol it leaves to the code. So public functions annotate arguments with `Given`, and check them.
"""

from typing import Final, Never, Protocol, TypeVar, Union

from engine.cards import SEATS, Seat

T = TypeVar("T")


class _Nothing(Protocol):
    nothing_has_this: Never


Given = Union[T, _Nothing]  # noqa: UP007  # a T to type checkers, any object to mypyc; with a bar it is no type alias

A_SEAT: Final = "a seat, 0 or 1"
A_RULE_SET: Final = "a RuleSet, such as PRESETS['base']"
A_POSITION: Final = "a Position, such as game.position()"
AN_ACTION: Final = "an Action, such as parse('play r5 3')"
A_RECORD: Final = "a GameRecord"
A_TEXT: Final = "a str"
_MOST_SHOWN: Final = 40  # characters of a wrong argument


def unexpected(value: object, expected: str) -> TypeError:
    """The error for an argument of a wrong type; `expected` says what would have been right."""
    kind = type(value).__name__
    match value:
        case None:
            found = "None"
        case str() if len(value) > _MOST_SHOWN:
            found = f"a str of {len(value)} characters"
        case str() | bool() | int() | float():
            found = f"the {kind} {value!a}"
        case _:
            found = f"an object of the type {kind}"
    return TypeError(f"expected {expected}, not {found}")


def checked(value: Given[T], kind: type[T], expected: str) -> T:
    """The argument. Raises TypeError if it is not of this kind."""
    if isinstance(value, kind):
        return value
    raise unexpected(value, expected)


def checked_seat(value: Given[Seat]) -> Seat:
    """The argument. Raises TypeError if it is not a number, and ValueError if it is not a seat."""
    if not isinstance(value, int):
        raise unexpected(value, A_SEAT)
    if value not in SEATS:
        raise ValueError(f"expected {A_SEAT}, not {value}")
    return value

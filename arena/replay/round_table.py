"""The rounds of a journal as a table, for people and for programs. Pure."""

import json
from collections.abc import Iterable
from typing import Final

import attrs
from tabulate import tabulate

from arena.journal.index import ListedRound
from arena.support.text import cropped, printable

_NAME_WIDTH: Final = 16  # of a bot in the table
HEADERS: Final = ("Round", "Bots", "Rules", "Winner", "Ending", "Points", "Moves", "Date")


def row(each: ListedRound) -> tuple[str, ...]:
    """The row of a round, with one cell for each of HEADERS."""
    names = [cropped(printable(name), _NAME_WIDTH) for name in each.bots]
    return (
        printable(each.address),
        f"{names[0]} - {names[1]}",
        printable(each.rules),
        "draw" if each.winner is None else names[each.winner],
        _ending(each),
        f"{each.points[0]} - {each.points[1]}",
        str(each.moves),
        printable(each.started[:10]),
    )


def _ending(each: ListedRound) -> str:
    remarks = {"not rated": not each.rated, "withdrawn": each.withdrawn}
    said = ", ".join(remark for remark, holds in remarks.items() if holds)
    return f"{each.ending.value} ({said})" if said else each.ending.value


def table(rounds: Iterable[ListedRound]) -> str:
    aligned = ("left", "left", "left", "left", "left", "left", "right", "left")
    return tabulate([row(each) for each in rounds], HEADERS, tablefmt="simple", colalign=aligned, disable_numparse=True)


def json_text(rounds: Iterable[ListedRound]) -> str:
    """The rounds as JSON, one line for each; `round` is the address that names it on the command line."""
    rows = ({"round": each.address} | attrs.asdict(each) | {"ending": each.ending.value} for each in rounds)
    return "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]"

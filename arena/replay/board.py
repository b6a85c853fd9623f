"""Draw a step of a round as text, at most 80 columns wide. Pure.

Seat 1 is above the stones, seat 0 below; the newest card of a side is farthest from its stone. A claimed stone is moved
towards its owner, as on a table. A star marks the cards that the last step moved.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len

from arena.replay.movements import CLAN, TACTIC, places_of
from arena.replay.positions import Replay, ReplayStep
from arena.support.text import cropped, padded, printable
from engine.cards import SEATS, Card, card_texts
from engine.phase import Phase
from engine.position import Position, StonePosition

WIDTH: Final = 80
_CELL: Final = 8
_MARGIN: Final = "      "
_NAME: Final = 12  # columns for a bot's name
_NOTE_LINES: Final = 3
SHORT: Final = {"shield-bearer": "shield", "blind-mans-bluff": "blind", "mud-fight": "mud"}
_MOVED: Final = "*"
# What the player to move has to decide, in words.
_DECISIONS: Final = {
    Phase.CLAIM: "claim or be done",
    Phase.PLAY: "play",
    Phase.DRAW: "draw",
    Phase.RETURN: "return a card",
}
Bots = tuple[str, str]  # the names by seat
_COLOUR_CODES: Final = {"r": "31", "o": "33", "y": "93", "g": "32", "b": "94", "p": "35"}
_CARD: Final = re.compile(r"(?<![\w-])([roygbp])([1-9])(\*?)(?![\w*-])")


def board(bots: Bots, step: ReplayStep, *, steady: bool = False) -> list[str]:
    """The position as lines. `steady` keeps empty rows, so that nothing jumps from one step to the next."""
    position, moved = step.position, _moved(step)
    below, above = SEATS
    rows = [_hand(bots, position, above, moved)]
    depths = [_depth(position, seat, steady) for seat in SEATS]
    rows += [_side_row(position, above, depth, moved) for depth in reversed(range(depths[above]))]
    rows += _stone_rows(step, moved, steady)
    rows += [_side_row(position, below, depth, moved) for depth in range(depths[below])]
    rows.append(_hand(bots, position, below, moved))
    return rows + [row for line in _table_lines(bots, position, moved) for row in _wrapped(line, "    ")]


def title(replay: Replay, step: ReplayStep) -> str:
    left = f"Round {printable(replay.id)}  {printable(replay.rules)}  {_versus(replay)}"
    right = f"position {step.number} of {replay.steps[-1].number}, turn {step.turn}"
    space = WIDTH - len(right) - 2
    return f"{padded(left, space)}  {right}"


def happened(replay: Replay, step: ReplayStep) -> list[str]:
    """The move that led to the position, and the result if the round is over."""
    lines = [*_what_happened(replay, step)]
    if step is replay.steps[-1]:
        lines += _wrapped(result_text(replay), "")
        lines += _wrapped(_versions(replay), "")
    return lines


def _versions(replay: Replay) -> str:
    """Which versions of the bots played, if the journal knows it."""
    known = [f"{_name(replay, seat)} {printable(replay.versions[seat])}" for seat in SEATS if replay.versions[seat]]
    return f"Versions: {', '.join(known)}." if known else ""


def result_text(replay: Replay) -> str:
    points = f"{replay.points[0]} - {replay.points[1]}"
    remark = f"; {printable(replay.remark)}" if replay.remark else ""
    if replay.winner is None:
        return f"The round is a draw ({replay.ending}), points {points}{remark}."
    return f"{_name(replay, replay.winner)} wins ({replay.ending}), points {points}{remark}."


def text(replay: Replay, step: ReplayStep) -> str:
    """Everything about one step, for a pipe."""
    return "\n".join([title(replay, step), *happened(replay, step), "", *board(replay.bots, step)]) + "\n"


def coloured(line: str) -> str:
    """The line with its cards in their colours; cards that just moved are inverted, so that they stand out."""
    return _CARD.sub(
        lambda found: f"\x1b[{'7;' if found[3] else ''}{_COLOUR_CODES[found[1]]}m{found[0]}\x1b[0m",
        line,
    )


def _what_happened(replay: Replay, step: ReplayStep) -> Iterator[str]:
    if step.fault:
        whose = "neither bot" if step.fault.seat is None else _name(replay, step.fault.seat)
        detail = f": {printable(step.fault.detail)}" if step.fault.detail else ""
        yield from _wrapped(f"{step.number}. {whose}: {step.fault.ending}{detail}", "    ")
        return
    if step.seat is None or step.move is None:
        yield f"0. The deal; {_name(replay, replay.first)} begins."
        return
    how = "the only legal move" if step.by_referee else f"{step.ms} ms"
    drawn = f", draws {' '.join(_short(each.card) for each in step.drawn)}" if step.drawn else ""
    yield from _wrapped(f"{step.number}. {_name(replay, step.seat)}: {step.move}{drawn}  ({how})", "    ")
    if step.reason:
        yield from _wrapped(f"    {printable(step.reason)}", "    ")
    if step.note is not None:
        note = _wrapped(f"    note: {printable(step.note)}", "      ")
        yield from note[:_NOTE_LINES]
        if len(note) > _NOTE_LINES:
            yield "      …"


def _wrapped(line: str, indent: str) -> list[str]:
    columns = WIDTH if cell_len(line) == len(line) else WIDTH // 2  # characters may be two columns wide
    return [cropped(each, WIDTH) for each in textwrap.wrap(line, columns, subsequent_indent=indent)]


def _name(replay: Replay, seat: int) -> str:
    return cropped(printable(replay.bots[seat]), 2 * _NAME)


def _versus(replay: Replay) -> str:
    return " - ".join(cropped(printable(name), _NAME) for name in replay.bots)


def _short(card: str) -> str:
    return SHORT.get(card, card)


def _moved(step: ReplayStep) -> dict[str, set[int]]:
    """Where the cards lie now that the step moved: place -> indices."""
    places = places_of(step.position)
    found: dict[str, set[int]] = {}
    for each in step.movements:
        cards = places[each.target]
        if each.after in cards and each.target not in ("deck", "tactics"):
            last = len(cards) - 1 - cards[::-1].index(each.after)
            found.setdefault(each.target, set()).add(last)
    return found


def _marked(cards: tuple[Card, ...], place: str, moved: dict[str, set[int]]) -> list[str]:
    indices = moved.get(place, ())
    return [_short(card) + (_MOVED if index in indices else "") for index, card in enumerate(card_texts(cards))]


def _hand(bots: Bots, position: Position, seat: int, moved: dict[str, set[int]]) -> str:
    """The row of a hand: its cards, or, if they lie face down, how many there are."""
    texts = card_texts(position.hands[seat])
    hand = [f"{texts.count(back)} {back}" for back in (CLAN, TACTIC) if back in texts]
    hand = hand or _marked(position.hands[seat], f"hand{seat}", moved)
    turn = f"> {_DECISIONS[position.phase]}" if position.decides == seat else ""
    name = padded(printable(bots[seat]), _NAME)
    cards = " ".join(hand) or "no cards"
    return cropped(f"{name} {cards}   {turn}".rstrip(), WIDTH)


def _depth(position: Position, seat: int, steady: bool) -> int:
    most = max(len(stone.sides[seat]) for stone in position.stones)
    return max(3, most) if steady else most


def _side_row(position: Position, seat: int, depth: int, moved: dict[str, set[int]]) -> str:
    cells = []
    for number, stone in enumerate(position.stones, 1):
        cards = _marked(stone.sides[seat], f"stone{number}.{seat}", moved)
        cells.append(cards[depth] if depth < len(cards) else "")
    return _row(cells)


def _stone_rows(step: ReplayStep, moved: dict[str, set[int]], steady: bool) -> list[str]:
    below, above = SEATS
    position, claimed = step.position, step.claim.stone if step.claim else None
    rows = []
    for owner, form in ((above, "({})"), (None, "[{}]"), (below, "({})")):
        cells = [
            form.format(number) + _first_complete(stone) + _MOVED * (number == claimed) if stone.owner == owner else ""
            for number, stone in enumerate(position.stones, 1)
        ]
        if steady or any(cells):
            rows.append(_row(cells, margin=""))
    modes = [_marked(stone.modes, f"mode{number}", moved) for number, stone in enumerate(position.stones, 1)]
    return rows + [
        _row([mode[depth] if depth < len(mode) else "" for mode in modes]) for depth in range(max(map(len, modes)))
    ]


def _first_complete(stone: StonePosition) -> str:
    """An arrow to the side that was complete first, as long as the stone is unclaimed."""
    if stone.owner is not None or stone.complete_first is None:
        return ""
    return "v" if stone.complete_first == SEATS[0] else "^"


def _row(cells: Sequence[str], margin: str = " ") -> str:
    return (_MARGIN + "".join(f"{margin + cell:<{_CELL}}" for cell in cells)).rstrip()


def _table_lines(bots: Bots, position: Position, moved: dict[str, set[int]]) -> Iterator[str]:
    stones = _by_name(bots, [str(held) for held in position.stones_held])
    yield f"stones: {stones}   clan deck {len(position.clan_deck)}" + (
        f", tactic deck {len(position.tactic_deck)}" if position.rules.tactics else ""
    )
    if position.discard:
        yield f"discard: {' '.join(_marked(position.discard, 'discard', moved))}"
    if position.rules.tactics:
        played = [" ".join(map(_short, card_texts(each))) for each in position.tactics_played]
        yield f"tactics played: {_by_name(bots, played)}"


def _by_name(bots: Bots, values: Sequence[str]) -> str:
    return ", ".join(
        f"{cropped(printable(name), _NAME)} {value or '-'}" for name, value in zip(bots, values, strict=True)
    )

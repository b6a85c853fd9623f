"""Play without a terminal: what is printed for each message, and what a line of answer means. Pure."""

from collections.abc import Iterator
from typing import Final

from arena.human.screen import YOU, Stage, TableScreen, Wish
from arena.human.view import ME, RIVAL
from engine.cards import card_texts
from engine.position import Position, StonePosition

_HELP: Final = "answer with a legal move; ? MOVE says why a move is illegal"
_TAKE_BACK: Final = ", u takes back your last decision"


def position_line(position: Position) -> str:
    """The position in one line: the hand, then each stone on which something lies, yours before theirs."""
    hand = " ".join(card_texts(position.hands[ME])) or "no cards"
    stones = [f"{number}: {_stone(stone)}" for number, stone in enumerate(position.stones, 1) if stone != _EMPTY]
    decks = f"decks {len(position.clan_deck)}" + (f" + {len(position.tactic_deck)}" if position.rules.tactics else "")
    return " | ".join([f"hand {hand}", *stones, decks])


_EMPTY: Final = StonePosition()


def _stone(stone: StonePosition) -> str:
    sides = " / ".join(" ".join(card_texts(stone.sides[seat])) or "-" for seat in (ME, RIVAL))
    modes = "".join(f" {mode}" for mode in card_texts(stone.modes))
    owner = {ME: " yours", RIVAL: " theirs", None: ""}[stone.owner]
    return sides + modes + owner


def question(screen: TableScreen) -> Iterator[str]:
    """The lines that ask for a decision; the last one has the legal moves."""
    assert screen.choice is not None
    yield from screen.news
    if screen.hint:
        yield screen.hint
    yield position_line(screen.choice.view.position)
    yield legal_line(screen)


def legal_line(screen: TableScreen) -> str:
    assert screen.choice is not None
    return f"legal: {', '.join(screen.choice.view.legal)}"


def answered(screen: TableScreen, line: str) -> str | Wish | list[str]:
    """What the person answers: a legal move, a wish, or the lines to print before they are asked again."""
    assert screen.choice is not None
    view, words = screen.choice.view, " ".join(line.split())
    if words in view.legal:
        return words
    if words == "u":
        taken_back = screen.press("u")
        if isinstance(taken_back, Wish):
            return taken_back
        return [taken_back.message, legal_line(screen)]  # type: ignore[union-attr]
    if words in ("", "?"):
        return [_HELP if screen.at_server else _HELP + _TAKE_BACK, legal_line(screen)]
    move = words.removeprefix("?").strip()
    if move in view.legal:
        why = view.why_claim(move, screen.opponent)
        return [f"{move}: {why or 'this is legal'}", legal_line(screen)]
    return [view.refusal(move), legal_line(screen)]


def heading(screen: TableScreen) -> list[str]:
    """What is printed when a round begins or ends, or when the match ends."""
    match screen.stage:
        case Stage.OVER if screen.position is not None:
            *moves, result = screen.news
            return [*[text for text in moves if not text.startswith(YOU)], position_line(screen.position), result]
        case Stage.ENDED:
            return [screen.news[-1]]
        case Stage.THINKING:
            return [f"Round {screen.round} of {screen.rounds}, {screen.rules.name}, against {screen.opponent}."]
    return []

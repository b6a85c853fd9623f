"""Describe one position: as the text of a file, or as a board with legal moves and the answer to each claim. Pure."""

import textwrap
from collections.abc import Iterator
from typing import Final

from arena.replay.board import WIDTH, board
from arena.replay.claim_reasons import reason_for
from arena.replay.positions import Replay, ReplayStep
from arena.support.text import printable
from engine.actions import CLAIMS, grouped
from engine.cards import STONES, Seat, stone_number
from engine.game import Game
from engine.legality import reason_illegal
from engine.phase import Phase
from engine.position import Position
from engine.position_check import face_down
from engine.position_text import position_to_text
from engine.scoring import Outcome
from engine.table import provable_stones

NAMES: Final = ("you", "opponent")  # by seat, as in the text of a position
_INDENT: Final = "    "


def text_at(replay: Replay, at: int) -> str:
    """The position of this number as a text for `arena show`. A fault moves nothing, so it has the text before it."""
    step = replay.steps[at - 1] if replay.steps[at].fault else replay.steps[at]
    return titled_text(step.position, f"round {replay.id}, position {at} of {replay.steps[-1].number}", replay.bots)


def titled_text(position: Position, title: str, bots: tuple[str, str]) -> str:
    """The text of the position below a comment that says where it comes from and who the players are."""
    comment = f"# {title}; you are {bots[0]}, the opponent is {bots[1]}"
    return f"{printable(comment)}\n{position_to_text(position)}"


def title_of(text: str) -> str:
    """The comment at the top of a position's text, which says where the position comes from; empty if there is none."""
    first = text.partition("\n")[0]
    return printable(first.lstrip("# ")) if first.startswith("#") else ""


def position_report(position: Position, seat: Seat | None = None, title: str = "") -> str:
    """The position as a board, with its legal moves and claims; with `seat`, only what that seat may see."""
    seen = position if seat is None else position.seen_by(seat)
    head = [*textwrap.wrap(title, WIDTH), f"Rules {position.rules.name}"]
    lines = [*head, "", *board(NAMES, ReplayStep(number=0, position=seen)), ""]
    if face_down(position):
        lines.append("Cards lie face down in this position, so its legal moves are not known.")
    else:
        lines += _decision(Game.from_position(position), seat)
    return "\n".join(lines) + "\n"


def _decision(game: Game, seat: Seat | None) -> Iterator[str]:
    if game.outcome is not None:
        yield _result(game.outcome)
        return
    if seat in (None, game.to_move):
        legal = game.legal_actions()
        yield f"Legal moves ({len(legal)}):"
        for text in grouped(legal):
            yield from _wrapped(text)
    else:
        yield f"{_whose(game)} legal moves depend on a hand that this seat cannot see."
    yield ""
    yield from _claims(game)


def _result(outcome: Outcome) -> str:
    won = "drawn" if outcome.winner is None else f"won by {NAMES[outcome.winner]}"
    return f"The round is over: {won} ({outcome.ending.value}), points {outcome.points[0]} - {outcome.points[1]}."


def _claims(game: Game) -> Iterator[str]:
    """What the referee says to the player to move about each claim, as the cards lie now."""
    later = "" if game.phase is Phase.CLAIM else f" (not now: stones are claimed {game.rules.claims.words})"
    whom = ("you", 'the opponent ("your" is the opponent\'s)')[game.to_move]
    yield from textwrap.wrap(f"What the referee answers {whom} to each claim{later}:", WIDTH)
    asked = game.copy()
    asked.phase, asked.claimable = Phase.CLAIM, provable_stones(game, game.to_move)
    for stone in STONES:
        refused = reason_illegal(asked, CLAIMS[stone])
        answer = f"no, {refused}" if refused else f"yes, {reason_for(game, game.to_move, stone).text('your opponent')}"
        yield from _wrapped(f"claim {stone_number(stone)}: {answer}")


def _whose(game: Game) -> str:
    return ("Your", "The opponent's")[game.to_move]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT * 2, break_on_hyphens=False)

"""`arena replay`: parse, call, print; and the loop between screen and keys."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.scoring import Ending

if TYPE_CHECKING:
    from arena.positions import Replay
    from arena.round_list import ListedRound, Wanted
    from arena.screens import BoardScreen
    from arena.terminal import Terminal
    from engine.cards import Seat

_LISTED = 50  # rounds, without --limit
_journal = click.argument("journal", type=click.Path(exists=True, dir_okay=False, path_type=Path))


@click.command()
@_journal
@click.argument("round_id", metavar="[ROUND]", required=False)
@click.option("--bot", "bots", metavar="NAME", multiple=True, help="Rounds of this bot; twice: of these two.")
@click.option(
    "--ending",
    "endings",
    multiple=True,
    type=click.Choice([ending.value for ending in Ending]),
    metavar="ENDING",
    help="Rounds that ended so: five-stones, three-adjacent, blocked or a fault such as timeout.",
)
@click.option("--rules", metavar="NAME", multiple=True, help="Rounds by these rules.")
@click.option("--faults", is_flag=True, help="Rounds that ended by a fault.")
@click.option("--longest", metavar="N", type=click.IntRange(1), help="The N rounds with the most moves.")
@click.option("--closest", metavar="N", type=click.IntRange(1), help="The N rounds in which the stones were most even.")
@click.option("--limit", metavar="N", type=click.IntRange(0), help="List at most so many; 0 is all.  [50]")
@click.option("--all", "every", is_flag=True, help="Print every step of the round.")
@click.option("--at", metavar="N", type=click.IntRange(0), help="Print one position; 0 is after the deal.")
@click.option("--json", "as_json", is_flag=True, help="The positions as JSON; without a round, the list.")
@click.option(
    "--html",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the round as a page to look at.",
)
@click.option("--seat", metavar="0|1|NAME", help="Only what this seat could see.")
@click.option("--color/--no-color", default=None, help="Colours, or none.  [on a terminal, unless NO_COLOR is set]")
def replay(
    journal: Path,
    round_id: str | None,
    bots: tuple[str, ...],
    endings: tuple[str, ...],
    rules: tuple[str, ...],
    faults: bool,
    longest: int | None,
    closest: int | None,
    limit: int | None,
    every: bool,
    at: int | None,
    as_json: bool,
    html: Path | None,
    seat: str | None,
    color: bool | None,
) -> None:
    """Looks at the rounds of a journal: the list of them, or one on a board, step by step.

    Without ROUND, the rounds are listed; on a terminal, one can be chosen. With ROUND, its board: arrow keys step
    forwards and backwards, c goes to the next claim, v changes between both hands and the view of one seat, ? shows all
    keys. Where there is no terminal, the last position is printed.

    Position 0 is after the deal, and each move makes one more. A claim comes with the reason why it holds. In the view
    of one seat the other's hand, its draws and its notes are hidden.

    With --html, the round becomes one page for a browser, which needs nothing else. With --seat as well, nothing that
    the seat could not see is in it.

    \b
    Examples:
      arena replay cup.jsonl
      arena replay cup.jsonl --bot greedy --closest 5
      arena replay cup.jsonl 1.1-2.3
      arena replay cup.jsonl 1.1-2.3 --all --seat greedy
      arena replay cup.jsonl 1.1-2.3 --at 17
      arena replay cup.jsonl 1.1-2.3 --json
      arena replay cup.jsonl 1.1-2.3 --html round.html
    """
    from arena.journal import JournalError
    from arena.round_list import Order, Wanted

    if longest and closest:
        raise click.UsageError("--longest and --closest are two orders; choose one")
    order = Order.LONGEST if longest else Order.CLOSEST if closest else Order.AS_PLAYED
    wanted = Wanted(bots, endings, rules, faults, order, longest or closest)
    try:
        if round_id is None:
            if every or at is not None or seat is not None or html is not None:
                raise click.UsageError("--all, --at, --seat and --html are for one round; name it after the journal")
            _list(journal, wanted, limit, as_json, _painter(color))
        else:
            if wanted != Wanted() or limit is not None:
                raise click.UsageError("which rounds to list, and one round by name: choose one of the two")
            if html is not None:
                if every or at is not None or as_json:
                    raise click.UsageError("--html writes a page with all positions; --all, --at and --json print")
                _write_page(load(journal, round_id), seat, html)
            else:
                _show(load(journal, round_id), every, at, as_json, seat, _painter(color))
    except JournalError as error:
        raise click.ClickException(str(error)) from None


Paint = Callable[[str], str]


def _painter(color: bool | None) -> Paint:
    from os import environ

    from arena.board import coloured

    wanted = color if color is not None else sys.stdout.isatty() and not environ.get("NO_COLOR")
    return coloured if wanted else str


def _print(text: str, paint: Paint) -> None:
    click.echo("\n".join(map(paint, text.split("\n"))), nl=False, color=True)


def load(journal: Path, address: str) -> "Replay":
    """The round of the journal. Raises JournalError if it is not there, or was not played by the rules."""
    from arena.journal import JournalError
    from arena.plain_text import printable
    from arena.replays import replay_of
    from arena.round_list import find_round
    from engine.errors import EngineError

    number, line = find_round(journal, address)
    try:
        return replay_of(line)
    except (EngineError, ValueError) as error:
        raise JournalError(f"{journal}:{number}: round {printable(line.id)}: {printable(str(error))}") from None


def _list(journal: Path, wanted: "Wanted", limit: int | None, as_json: bool, paint: Paint) -> None:
    from arena.round_list import chosen, json_text, rounds_in, table
    from arena.terminal import is_interactive

    rounds, problems = rounds_in(journal)
    try:
        found = chosen(rounds, wanted)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if found and limit is None and not as_json and is_interactive():
        _choose(journal, found, problems, paint)
    most = len(found) if limit == 0 or (as_json and limit is None) else limit or _LISTED
    for problem in problems:
        click.echo(problem, err=True)
    if as_json:
        click.echo(json_text(found[:most]))
    elif not found:
        click.echo(f"None of the {len(rounds)} rounds is such a one." if rounds else "No round was played yet.")
    elif limit is not None or not is_interactive():
        click.echo(table(found[:most]))
        if len(found) > most:
            click.echo(f"… and {len(found) - most} more; --limit 0 lists all")


def _choose(journal: Path, rounds: "list[ListedRound]", problems: list[str], paint: Paint) -> None:
    """The list on the terminal, and each round that is chosen from it."""
    import attrs

    from arena.journal import JournalError
    from arena.round_list import ListedRound
    from arena.screens import BoardScreen, ListScreen
    from arena.terminal import Terminal

    damage = f"{len(problems)} problems: {problems[0]}" if problems else ""
    screen = ListScreen(tuple(rounds), message=damage)
    with Terminal(paint) as terminal:
        while True:
            _, height = terminal.size()
            terminal.show(attrs.evolve(screen, page=max(1, height - 3)).lines(*terminal.size()))
            match screen.press(terminal.key()):
                case None:
                    return
                case ListScreen() as screen:
                    pass
                case ListedRound() as opened:
                    try:
                        look_at(terminal, BoardScreen.of(load(journal, opened.address)))
                        message = ""
                    except JournalError as error:
                        message = str(error)
                    screen = attrs.evolve(screen, cursor=rounds.index(opened), typed="", message=message)


def look_at(terminal: "Terminal", screen: "BoardScreen") -> None:
    """One round, until somebody leaves it."""
    shown: BoardScreen | None = screen
    while shown is not None:
        terminal.show(shown.lines(*terminal.size()))
        shown = shown.press(terminal.key())


def _show(replay: "Replay", every: bool, at: int | None, as_json: bool, seat: str | None, paint: Paint) -> None:
    from arena import board
    from arena.masking import one_seats_view
    from arena.positions import json_text
    from arena.screens import BoardScreen
    from arena.terminal import Terminal, is_interactive

    if sum((every, at is not None, as_json)) > 1 and not (as_json and at is not None):
        raise click.UsageError("--all, --at and --json are three ways to print; choose one (or --json --at)")
    viewer = _seat(replay, seat)
    shown = replay if viewer is None else one_seats_view(replay, viewer)
    last = len(shown.steps) - 1
    if at is not None and at > last:
        raise click.UsageError(f"--at {at}, but the round has the positions 0 to {last}")
    if as_json:
        click.echo(json_text(shown, at))
    elif every:
        for step in shown.steps:
            _print(board.text(shown, step) + "\n", paint)
    elif at is not None:
        _print(board.text(shown, shown.steps[at]), paint)
    elif is_interactive():
        with Terminal(paint) as terminal:
            look_at(terminal, BoardScreen.of(replay, viewer))
    else:
        _print(board.text(shown, shown.steps[-1]), paint)
        click.echo("This is the last position; --all prints every step, --at N one of them.", err=True)


def _write_page(replay: "Replay", seat: str | None, path: Path) -> None:
    from arena.masking import one_seats_view
    from arena.viewer import round_data, viewer_page

    viewer = _seat(replay, seat)
    shown = replay if viewer is None else one_seats_view(replay, viewer)
    path.write_text(viewer_page(round_data(shown)), encoding="utf-8")
    click.echo(f"Open {path} in a browser.")


def _seat(replay: "Replay", text: str | None) -> "Seat | None":
    from engine.cards import SEATS

    if text is None:
        return None
    if text in ("0", "1"):
        return SEATS[int(text)]
    seats = [seat for seat in SEATS if replay.bots[seat] == text]
    if len(seats) != 1:
        from arena.plain_text import printable

        a, b = map(printable, replay.bots)
        raise click.UsageError(f"--seat {text!r}, but expected 0 ({a}) or 1 ({b})")
    return seats[0]

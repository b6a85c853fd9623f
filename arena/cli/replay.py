"""`arena replay`: parse, call, print."""

import os
import sys
from pathlib import Path

import click

from arena.cli.interactive import Paint, browse_list, browse_round
from arena.cli.table import journal_argument
from arena.cli.terminal import is_interactive
from arena.journal.index import Order, Wanted, chosen, rounds_in
from arena.journal.lines import JournalError
from arena.pages.viewer import round_data, viewer_page
from arena.replay import board
from arena.replay.load import load_replay
from arena.replay.positions import Replay
from arena.replay.positions import json_text as positions_as_json
from arena.replay.round_table import json_text as list_as_json
from arena.replay.round_table import table
from arena.replay.seat_view import one_seats_view
from arena.support.text import printable
from arena.support.whole_files import write_whole
from engine.cards import SEATS, Seat
from engine.scoring import Ending

_LISTED = 50  # rounds, without --limit


@click.command()
@journal_argument
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
                if html.exists() and html.samefile(journal):
                    raise click.UsageError(f"--html {html} is the journal itself; name another file")
                _write_page(load_replay(journal, round_id), seat, html)
            else:
                _show(load_replay(journal, round_id), every, at, as_json, seat, _painter(color))
    except JournalError as error:
        raise click.ClickException(str(error)) from None


def _painter(color: bool | None) -> Paint:
    wanted = color if color is not None else sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return board.coloured if wanted else str


def _print(text: str, paint: Paint) -> None:
    click.echo("\n".join(map(paint, text.split("\n"))), nl=False, color=True)


def _list(journal: Path, wanted: Wanted, limit: int | None, as_json: bool, paint: Paint) -> None:
    rounds, problems = rounds_in(journal)
    try:
        found = chosen(rounds, wanted)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    browsed = bool(found) and limit is None and not as_json and is_interactive()
    if browsed:
        browse_list(journal, found, problems, paint)
    for problem in problems:
        click.echo(problem, err=True)
    if as_json:
        click.echo(list_as_json(found[: limit or None]))
    elif not found:
        click.echo(f"None of the {len(rounds)} rounds is such a one." if rounds else "No round was played yet.")
    elif not browsed:
        most = len(found) if limit == 0 else limit or _LISTED
        click.echo(table(found[:most]))
        if len(found) > most:
            click.echo(f"… and {len(found) - most} more; --limit 0 lists all")


def _show(replay: Replay, every: bool, at: int | None, as_json: bool, seat: str | None, paint: Paint) -> None:
    if every and (as_json or at is not None):
        raise click.UsageError("--all prints every step as text; choose it, or --json, or --at")
    viewer = _seat(replay, seat)
    shown = replay if viewer is None else one_seats_view(replay, viewer)
    last = len(shown.steps) - 1
    if at is not None and at > last:
        raise click.UsageError(f"--at {at}, but the round has the positions 0 to {last}")
    if as_json:
        click.echo(positions_as_json(shown, at))
    elif every:
        for step in shown.steps:
            _print(board.text(shown, step) + "\n", paint)
    elif at is not None:
        _print(board.text(shown, shown.steps[at]), paint)
    elif is_interactive():
        browse_round(replay, viewer, paint)
    else:
        _print(board.text(shown, shown.steps[-1]), paint)
        click.echo("This is the last position; --all prints every step, --at N one of them.", err=True)


def _write_page(replay: Replay, seat: str | None, path: Path) -> None:
    viewer = _seat(replay, seat)
    shown = replay if viewer is None else one_seats_view(replay, viewer)
    write_whole(path, viewer_page(round_data(shown)))
    click.echo(f"Open {path} in a browser.")


def _seat(replay: Replay, text: str | None) -> Seat | None:
    if text is None:
        return None
    if text in ("0", "1"):
        return SEATS[int(text)]
    seats = [seat for seat in SEATS if replay.bots[seat] == text]
    if len(seats) != 1:
        a, b = map(printable, replay.bots)
        raise click.UsageError(f"--seat {text!r}, but expected 0 ({a}) or 1 ({b})")
    return seats[0]

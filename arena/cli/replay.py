"""`arena replay`: parse, call, print."""

from pathlib import Path

import click

from arena.cli import completion
from arena.cli.interactive import browse_list, browse_round
from arena.cli.painting import Paint, color_option, echo_painted, painter
from arena.cli.table import journal_argument
from arena.cli.terminal import is_interactive
from arena.journal.endings import ENDINGS
from arena.journal.index import Order, Wanted, chosen, rounds_in
from arena.journal.lines import JournalError
from arena.pages.viewer import round_data, viewer_page
from arena.replay import board
from arena.replay.load import load_replay
from arena.replay.position_report import text_at
from arena.replay.positions import Replay
from arena.replay.positions import json_text as positions_as_json
from arena.replay.round_table import json_text as list_as_json
from arena.replay.round_table import table
from arena.replay.seat_view import one_seats_view
from arena.support.text import printable
from arena.support.whole_files import write_whole
from engine.cards import SEATS, Seat

_LISTED = 50  # rounds, without --limit


@click.command()
@journal_argument
@click.argument("round_id", metavar="[ROUND]", required=False)
@click.option("--bot", "bots", metavar="NAME", multiple=True, help="Rounds of this bot; twice: of these two.")
@click.option(
    "--ending",
    "endings",
    multiple=True,
    type=click.Choice(list(ENDINGS)),
    metavar="ENDING",
    help="Rounds that ended so: five-stones, three-adjacent, blocked or a fault such as timeout.",
)
@click.option(
    "--rules", metavar="NAME", multiple=True, help="Rounds by these rules.", shell_complete=completion.rule_set
)
@click.option("--faults", is_flag=True, help="Rounds that ended by a fault.")
@click.option("--longest", metavar="N", type=click.IntRange(1), help="The N rounds with the most moves.")
@click.option("--closest", metavar="N", type=click.IntRange(1), help="The N rounds in which the stones were most even.")
@click.option("--limit", metavar="N", type=click.IntRange(0), help="List at most so many; 0 is all.  [50]")
@click.option("--all", "every", is_flag=True, help="Print every step of the round.")
@click.option("--at", metavar="N", type=click.IntRange(0), help="Print one position; 0 is after the deal.")
@click.option("--position", "as_position", is_flag=True, help="With --at: the position as a text for `arena show`.")
@click.option("--json", "as_json", is_flag=True, help="The positions as JSON; without a round, the list.")
@click.option(
    "--html",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the round as a page to look at.",
)
@click.option("--seat", metavar="0|1|NAME", help="Only what this seat could see.")
@color_option
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
    as_position: bool,
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
      arena replay cup.jsonl 1.1-2.3 --at 17 --position | arena show -
      arena replay cup.jsonl 1.1-2.3 --json
      arena replay cup.jsonl 1.1-2.3 --html round.html
    """
    if longest and closest:
        raise click.UsageError("--longest and --closest are two orders; choose one")
    order = Order.LONGEST if longest else Order.CLOSEST if closest else Order.AS_PLAYED
    wanted = Wanted(bots, endings, rules, faults, order, longest or closest)
    try:
        if round_id is None:
            if every or at is not None or as_position or seat is not None or html is not None:
                options = "--all, --at, --position, --seat and --html"
                raise click.UsageError(f"{options} are for one round; name it after the journal")
            _list(journal, wanted, limit, as_json, painter(color))
        else:
            if wanted != Wanted() or limit is not None:
                raise click.UsageError("which rounds to list, and one round by name: choose one of the two")
            if html is not None:
                if every or at is not None or as_position or as_json:
                    options = "--all, --at, --position and --json"
                    raise click.UsageError(f"--html writes a page with all positions; {options} print")
                if html.exists() and html.samefile(journal):
                    raise click.UsageError(f"--html {html} is the journal itself; name another file")
                _write_page(load_replay(journal, round_id), seat, html)
            elif as_position:
                if at is None:
                    raise click.UsageError("--position prints one position; say which with --at N")
                if every or as_json:
                    raise click.UsageError("--position, --all and --json are three ways to print; choose one")
                _show_position(load_replay(journal, round_id), at, seat)
            else:
                _show(load_replay(journal, round_id), every, at, as_json, seat, painter(color))
    except JournalError as error:
        raise click.ClickException(str(error)) from None


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
    if at is not None:
        _check_number(replay, at)
    if as_json:
        click.echo(positions_as_json(shown, at))
    elif every:
        for step in shown.steps:
            echo_painted(board.text(shown, step) + "\n", paint)
    elif at is not None:
        echo_painted(board.text(shown, shown.steps[at]), paint)
    elif is_interactive():
        browse_round(replay, viewer, paint)
    else:
        echo_painted(board.text(shown, shown.steps[-1]), paint)
        click.echo("This is the last position; --all prints every step, --at N one of them.", err=True)


def _show_position(replay: Replay, at: int, seat: str | None) -> None:
    viewer = _seat(replay, seat)
    _check_number(replay, at)
    click.echo(text_at(replay if viewer is None else one_seats_view(replay, viewer), at), nl=False)


def _check_number(replay: Replay, at: int) -> None:
    last = len(replay.steps) - 1
    if at > last:
        raise click.UsageError(f"--at {at}, but the round has the positions 0 to {last}")


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

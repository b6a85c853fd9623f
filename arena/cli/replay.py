"""`arena replay`: parse, call, print."""

from pathlib import Path

import attrs
import click

from arena.cli import completion
from arena.cli.interactive import browse_list, browse_round
from arena.cli.painting import Paint, color_option, echo_painted, painter
from arena.cli.shared import gathered, journal_errors
from arena.cli.table import journal_argument
from arena.cli.terminal import is_interactive
from arena.journal.endings import ENDINGS
from arena.journal.index import Order, Wanted, chosen, rounds_in
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


@attrs.frozen
class _Output:
    """What the options say about printing one round."""

    every: bool
    at: int | None
    as_position: bool
    as_json: bool
    html: Path | None
    seat: str | None

    def check_for_list(self) -> None:
        if self.every or self.at is not None or self.as_position or self.seat is not None or self.html is not None:
            options = "--all, --at, --position, --seat and --html"
            raise click.UsageError(f"{options} are for one round; name it after the journal")

    def check_for_round(self, journal: Path) -> None:
        if self.html is not None:
            if self.every or self.at is not None or self.as_position or self.as_json:
                options = "--all, --at, --position and --json"
                raise click.UsageError(f"--html writes a page with all positions; {options} print")
            if self.html.exists() and self.html.samefile(journal):
                raise click.UsageError(f"--html {self.html} is the journal itself; name another file")
        elif self.as_position:
            if self.at is None:
                raise click.UsageError("--position prints one position; say which with --at N")
            if self.every or self.as_json:
                raise click.UsageError("--position, --all and --json are three ways to print; choose one")
        elif self.every and (self.as_json or self.at is not None):
            raise click.UsageError("--all prints every step as text; choose it, or --json, or --at")


_one_round = gathered(
    "output", _Output,
    click.option("--all", "every", is_flag=True, help="Print every step of the round."),
    click.option("--at", metavar="N", type=click.IntRange(0), help="Print one position; 0 is after the deal."),
    click.option("--position", "as_position", is_flag=True, help="With --at: the position as a text for `arena show`."),
    click.option("--json", "as_json", is_flag=True, help="The positions as JSON; without a round, the list."),
    click.option(
        "--html", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
        help="Write the round as a page for a browser.",
    ),
    click.option("--seat", metavar="0|1|NAME", help="Only what this seat could see."),
)  # fmt: skip


def _wanted(
    bots: tuple[str, ...],
    endings: tuple[str, ...],
    rules: tuple[str, ...],
    faults: bool,
    longest: int | None,
    closest: int | None,
) -> Wanted:
    if longest and closest:
        raise click.UsageError("--longest and --closest are two orders; choose one")
    order = Order.LONGEST if longest else Order.CLOSEST if closest else Order.AS_PLAYED
    return Wanted(bots, endings, rules, faults, order, longest or closest)


_which_rounds = gathered(
    "wanted", _wanted,
    click.option("--bot", "bots", metavar="NAME", multiple=True, help="Rounds of this bot; twice: of these two."),
    click.option(
        "--ending", "endings", multiple=True, type=click.Choice(list(ENDINGS)), metavar="ENDING",
        help="Rounds with this ending: five-stones, three-adjacent, blocked or a fault such as timeout.",
    ),
    click.option(
        "--rules", metavar="NAME", multiple=True, help="Rounds with these rules.", shell_complete=completion.rule_set
    ),
    click.option("--faults", is_flag=True, help="Rounds that ended by a fault."),
    click.option("--longest", metavar="N", type=click.IntRange(1), help="The N rounds with the most moves."),
    click.option(
        "--closest", metavar="N", type=click.IntRange(1), help="The N rounds in which the stones were most even."
    ),
)  # fmt: skip


@click.command()
@journal_argument
@click.argument("round_id", metavar="[ROUND]", required=False)
@_which_rounds
@click.option("--limit", metavar="N", type=click.IntRange(0), help="List at most N rounds; 0 is all.  [50]")
@_one_round
@color_option
def replay(
    journal: Path, round_id: str | None, wanted: Wanted, limit: int | None, output: _Output, color: bool | None
) -> None:
    """Look at the rounds of a journal: list them, or step through one on a board.

    Without ROUND, the rounds are listed; on a terminal, you can choose one. With ROUND, its board is shown: arrow keys
    step forwards and backwards, c goes to the next claim, v changes between both hands and the view of one seat, ?
    shows all keys. Where there is no terminal, the last position is printed.

    Position 0 is after the deal, and each move makes one more. A claim is shown with the reason why it holds. The view
    of one seat hides the other's hand, draws and notes.

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
    with journal_errors():
        if round_id is None:
            output.check_for_list()
            _list(journal, wanted, limit, output.as_json, painter(color))
        else:
            if wanted != Wanted() or limit is not None:
                raise click.UsageError("options that choose rounds are for the list; leave them out to show one round")
            output.check_for_round(journal)
            _show(load_replay(journal, round_id), output, painter(color))


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
        click.echo(f"No round matches ({len(rounds)} in the journal)." if rounds else "No round was played yet.")
    elif not browsed:
        most = len(found) if limit == 0 else limit or _LISTED
        click.echo(table(found[:most]))
        if len(found) > most:
            click.echo(f"… and {len(found) - most} more; --limit 0 lists all")


def _show(replay: Replay, output: _Output, paint: Paint) -> None:
    viewer, at = _seat(replay, output.seat), output.at
    shown = replay if viewer is None else one_seats_view(replay, viewer)
    if at is not None and at >= len(replay.steps):
        raise click.UsageError(f"--at {at}, but the round has the positions 0 to {len(replay.steps) - 1}")
    if output.html is not None:
        from arena.pages.viewer import round_data, viewer_page

        write_whole(output.html, viewer_page(round_data(shown)))
        click.echo(f"Open {output.html} in a browser.")
    elif output.as_json:
        click.echo(positions_as_json(shown, at))
    elif output.every:
        for step in shown.steps:
            echo_painted(board.text(shown, step) + "\n", paint)
    elif at is not None:
        if output.as_position:
            click.echo(text_at(shown, at), nl=False)
        else:
            echo_painted(board.text(shown, shown.steps[at]), paint)
    elif is_interactive():
        browse_round(replay, viewer, paint)
    else:
        echo_painted(board.text(shown, shown.steps[-1]), paint)
        click.echo("This is the last position; --all prints every step, --at N one of them.", err=True)


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

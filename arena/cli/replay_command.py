"""`arena replay`: parse, call, print."""

from pathlib import Path

import attrs
import click

from arena.cli import completion
from arena.cli.interactive import browse_list, browse_round
from arena.cli.painting import Paint, color_option, echo_painted, painter
from arena.cli.reading import bar
from arena.cli.shared import gathered, journal_errors
from arena.cli.table_command import journal_argument
from arena.cli.terminal import is_interactive
from arena.evaluation.counting import bundled_evaluator
from arena.journal.endings import ENDINGS
from arena.journal.index import ListedRound, Order, RoundFilter, chosen, rounds_in
from arena.replay import board, opinion
from arena.replay.analysis import analyse
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
    evaluate: bool

    def check_for_list(self) -> None:
        many = self.every or self.as_position or self.evaluate
        if many or self.at is not None or self.seat is not None or self.html is not None:
            options = "--all, --at, --position, --seat, --evaluate and --html"
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
            if self.every or self.as_json or self.evaluate:
                raise click.UsageError("--position, --all, --json and --evaluate are four ways to print; choose one")
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
    click.option(
        "--evaluate", is_flag=True,
        help="What the bundled counting bot thinks: the curve of the round; with --at, --all or --json, of positions.",
    ),
)  # fmt: skip


def _wanted(
    bots: tuple[str, ...],
    endings: tuple[str, ...],
    rules: tuple[str, ...],
    faults: bool,
    lost_by: str | None,
    won_by: str | None,
    longest: int | None,
    closest: int | None,
) -> RoundFilter:
    if longest and closest:
        raise click.UsageError("--longest and --closest are two orders; choose one")
    order = Order.LONGEST if longest else Order.CLOSEST if closest else Order.AS_PLAYED
    return RoundFilter(bots, endings, rules, faults, lost_by, won_by, order, longest or closest)


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
    click.option("--lost-by", metavar="NAME", help="Rounds that this bot lost."),
    click.option("--won-by", metavar="NAME", help="Rounds that this bot won."),
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
@click.option(
    "--mistakes", metavar="N", type=click.IntRange(1),
    help="With --bot: the N decisions of this bot that lost most, in the opinion of the bundled counting bot.",
)  # fmt: skip
@_one_round
@color_option
def replay(
    journal: Path,
    round_id: str | None,
    wanted: RoundFilter,
    limit: int | None,
    mistakes: int | None,
    output: _Output,
    color: bool | None,
) -> None:
    """Look at the rounds of a journal: list them, or step through one on a board.

    Without ROUND, the rounds are listed; on a terminal, you can choose one. With ROUND, its board is shown: arrow keys
    step forwards and backwards, c goes to the next claim, v changes between both hands and the view of one seat, ?
    shows all keys. Where there is no terminal, the last position is printed.

    Position 0 is after the deal, and each move makes one more. A claim is shown with the reason why it holds. The view
    of one seat hides the other's hand, draws and notes.

    With --html, the round becomes one page for a browser, which needs nothing else. With --seat as well, nothing that
    the seat could not see is in it.

    Why did a bot lose? --lost-by lists its lost rounds. A round is evaluated by the bundled counting bot: what each
    position lets a player expect, and which decisions lost most, each from what its player could see. On the board, m
    goes to the next of these decisions and e shows the curve; --evaluate prints it. --bot NAME --mistakes 10 lists the
    ten worst decisions of a bot over all its rounds. It is the opinion of a simple bot, and a better bot will often be
    right against it.

    \b
    Examples:
      arena replay cup.jsonl
      arena replay cup.jsonl --bot greedy --closest 5
      arena replay cup.jsonl --lost-by greedy --won-by counting
      arena replay cup.jsonl --bot greedy --mistakes 10
      arena replay cup.jsonl 1.1-2.3
      arena replay cup.jsonl 1.1-2.3 --all --seat greedy
      arena replay cup.jsonl 1.1-2.3 --at 17
      arena replay cup.jsonl 1.1-2.3 --evaluate
      arena replay cup.jsonl 1.1-2.3 --at 17 --position | arena show -
      arena replay cup.jsonl 1.1-2.3 --json
      arena replay cup.jsonl 1.1-2.3 --html round.html
    """
    with journal_errors():
        if round_id is None:
            output.check_for_list()
            if mistakes is not None:
                _list_mistakes(journal, wanted, limit, mistakes, output.as_json)
            else:
                _list(journal, wanted, limit, output.as_json, painter(color))
        else:
            if wanted != RoundFilter() or limit is not None or mistakes is not None:
                raise click.UsageError("options that choose rounds are for the list; leave them out to show one round")
            output.check_for_round(journal)
            _show(load_replay(journal, round_id), output, painter(color))


def _list(journal: Path, wanted: RoundFilter, limit: int | None, as_json: bool, paint: Paint) -> None:
    rounds, found, problems = _found(journal, wanted)
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


def _found(journal: Path, wanted: RoundFilter) -> tuple[list[ListedRound], list[ListedRound], list[str]]:
    """All rounds of the journal, the wanted ones, and what is wrong with its lines."""
    rounds, problems = rounds_in(journal)
    try:
        return rounds, chosen(rounds, wanted), problems
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _list_mistakes(journal: Path, wanted: RoundFilter, limit: int | None, most: int, as_json: bool) -> None:
    from arena.pages.report_files import pages_of_rounds, report_beside
    from arena.replay.mistake_list import mistakes_json, mistakes_text
    from arena.replay.mistakes import mistakes_of

    if len(wanted.bots) != 1:
        raise click.UsageError("--mistakes lists the decisions of one bot; say which with --bot NAME, once")
    if limit is not None:
        raise click.UsageError("--limit is for the list of rounds; --mistakes N says how many decisions to list")
    rounds, found, problems = _found(journal, wanted)
    with bar("Evaluating rounds", len(found)) as progress:
        mistakes = mistakes_of(wanted.bots[0], journal, found, most, progress)
    for problem in (*problems, *mistakes.problems):
        click.echo(problem, err=True)
    if as_json:
        click.echo(mistakes_json(mistakes, journal))
    elif not found:
        click.echo(f"No round matches ({len(rounds)} in the journal).")
    else:
        pages = pages_of_rounds(report_beside(journal))
        click.echo(mistakes_text(mistakes, wanted.bots[0], journal, len(found), pages))


def _show(replay: Replay, output: _Output, paint: Paint) -> None:
    viewer, at = _seat(replay, output.seat), output.at
    shown = replay if viewer is None else one_seats_view(replay, viewer)
    if at is not None and at >= len(replay.steps):
        raise click.UsageError(f"--at {at}, but the round has the positions 0 to {len(replay.steps) - 1}")
    if output.evaluate or output.html is not None:
        _show_evaluated(replay, shown, output, paint)
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


def _show_evaluated(replay: Replay, shown: Replay, output: _Output, paint: Paint) -> None:
    """Prints or writes what the evaluator thinks as well. `shown` is the replay, or the view of a seat."""
    analysis = analyse(replay, bundled_evaluator())
    if shown.view is not None:
        analysis = analysis.seen_by(shown.view)
    if output.html is not None:
        from arena.pages.viewer import round_data, viewer_page

        write_whole(output.html, viewer_page(round_data(shown, analysis)))
        click.echo(f"Open {output.html} in a browser.")
    elif output.as_json:
        click.echo(positions_as_json(shown, output.at, opinion.as_facts(analysis, shown)))
    elif output.every or output.at is not None:
        for step in shown.steps if output.at is None else [shown.steps[output.at]]:
            words = "\n".join(opinion.words(analysis, shown, step.number))
            echo_painted(f"{board.text(shown, step)}\n{words}\n" + "\n" * output.every, paint)
    else:
        echo_painted(opinion.curve_text(analysis, shown), paint)


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

"""Render a report as an HTML page. No I/O, except that `page` reads the assets."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import attrs

from arena.pages.charts import Axis, interval, lines, scale, swatch
from arena.pages.markup import Content, Markup, joined, tag
from arena.pages.page import page
from arena.pages.report_reading import reading_link, reading_section
from arena.pages.report_sections import (
    Section,
    bot,
    endings_section,
    first_player_section,
    table,
    thinking_section,
    upsets_section,
)
from arena.pages.report_settings import settings_section, versions_section, voids_section
from arena.stats.columns import NO_VALUE, StandingsRow, ranks_text
from arena.stats.head_to_head import HeadToHead
from arena.stats.report_data import ReportContents
from arena.stats.tables import notes
from arena.support.text import printable
from arena.support.version import SERVER

_HEAT: Final = 10  # shades of colour on either side of an even score
_MOST_CURVES: Final = 24  # readers cannot tell more lines apart


@attrs.frozen
class Sample:
    """How many rounds have a replay in a report that does not include all of them."""

    rounds: int
    faults: int  # of these


def report_page(report: ReportContents, embedded: Collection[int], sample: Sample | None) -> str:
    """The report as HTML. `embedded` are the numbers of the rounds that have a replay; `sample` is None if all have."""
    title = _title(report)
    sections = (
        _standings_section(report),
        _cross_section(report),
        _course_section(report),
        upsets_section(report, embedded),
        endings_section(report),
        first_player_section(report),
        thinking_section(report),
        _rounds_section(report, sample),
        reading_section(report),
        versions_section(report),
        settings_section(report),
        voids_section(report),
    )
    shown = [each for each in sections if each is not None]
    body = joined(
        _header(report, title, shown),
        tag("main", *_remarks(report), *(_section(each) for each in shown)),
        tag("footer", tag("p", f"Made by {SERVER} from {', '.join(printable(path.name) for path in report.paths)}.")),
    )
    styles, scripts = ("base.css", "report.css"), ("theme.js", "report.js")
    return page(title, "report", body, styles, scripts, loads_files=True)


def _title(report: ReportContents) -> str:
    events = [line.config.event or "" for line in report.gathered.tournaments]
    named = list(dict.fromkeys(event for event in events if event))
    return ", ".join(named[:3]) + (", …" if len(named) > 3 else "") if named else printable(report.paths[0].stem)


def _section(section: Section) -> Markup:
    name, heading, content = section
    return tag("section", tag("h2", heading, id=f"{name}-title"), content, id=name, aria_labelledby=f"{name}-title")


def _header(report: ReportContents, title: str, sections: Iterable[Section]) -> Markup:
    gathered = report.gathered
    facts = [
        (f"{len(report.rows):,}", "bots"),
        (f"{report.standings.rounds:,}", "rounds"),
        (f"{gathered.decisions:,}", "moves"),
        (", ".join(sorted(gathered.rules)) or NO_VALUE, "rules"),
        (_dates(report), "UTC"),
    ]
    return tag(
        "header",
        tag("div", tag("h1", title), tag("button", "Theme", id="theme", type="button"), class_="head"),
        tag("ul", *(tag("li", tag("b", fact), " ", words) for fact, words in facts), class_="facts"),
        tag("nav", *(tag("a", heading, href=f"#{name}") for name, heading, _ in sections), aria_label="Sections"),
    )


def _dates(report: ReportContents) -> str:
    starts = [state.opening.started for state in report.gathered.tournaments] + [report.gathered.last_started]
    days = sorted(start.replace("T", " ")[:16] for start in starts if start)
    if not days:
        return NO_VALUE
    return days[0] if days[0] == days[-1] else f"{days[0]} – {days[-1]}"


def _remarks(report: ReportContents) -> list[Markup]:
    found = [tag("p", remark, class_="remark") for remark in notes(report.standings, report.rows)]
    if report.problems:
        words = "One line of the journal could not be used:"
        if len(report.problems) > 1:
            words = f"{len(report.problems)} lines of the journal could not be used:"
        problems = tag("ul", *(tag("li", problem) for problem in report.problems))
        found.append(tag("details", tag("summary", words), problems, class_="remark bad", open=True))
    return found


def _standings_section(report: ReportContents) -> Section:
    if not report.rows:
        return "standings", "Standings", tag("p", "No rounds yet.")
    rated = [row for row in report.rows if row.elo is not None]
    axis = Axis.around([end for row in rated for end in _ends(row)])
    groups = report.rows[-1].group > 1
    head: list[Content] = [
        "",
        "Bot",
        "Elo",
        "±",
        "Ranks",
        scale(axis),
        "Rounds",
        "Score",
        "Won",
        "Drawn",
        "Lost",
        "Points",
        "Faults",
    ]
    forfeits = bool(report.standings.forfeits)
    if forfeits:
        head.append("Forfeits")
    if groups:
        head.insert(1, "Group")
    body = []
    for row in report.rows:
        totals = row.totals
        cells: list[Content] = [row.rank, bot(totals.name), _elo(row), _margin(row)]
        cells += [ranks_text(row.ranks), _strip(axis, row)]
        cells += [f"{totals.rounds:,}", NO_VALUE if totals.score is None else f"{100 * totals.score:.1f}%"]
        cells += [f"{totals.wins:,}", f"{totals.draws:,}", f"{totals.losses:,}", f"{totals.points:,}"]
        cells.append(f"{sum(totals.faults.values()):,}")
        if forfeits:
            cells.append(f"{totals.forfeits:,}")
        if groups:
            cells.insert(1, row.group)
        body.append(cells)
    words = "Elo by maximum likelihood over all rounds. The bars are 95 % intervals, with pairs of rounds as the unit. "
    note = tag("p", words, reading_link(), class_="note")
    return "standings", "Standings", joined(table(head, body, "standings sortable"), note)


def _ends(row: StandingsRow) -> tuple[float, float]:
    elo, margin = row.elo or 0, row.margin or 0
    return elo - margin, elo + margin


def _elo(row: StandingsRow) -> str:
    return NO_VALUE if row.elo is None else f"{row.elo:.0f}" + ("*" if row.bound else "")


def _margin(row: StandingsRow) -> str:
    return NO_VALUE if row.margin is None else f"{row.margin:.0f}"


def _strip(axis: Axis, row: StandingsRow) -> Content:
    if row.elo is None or row.margin is None:
        return None
    words = f"Elo {row.elo:.0f}, from {row.elo - row.margin:.0f} to {row.elo + row.margin:.0f}"
    return interval(axis, row.elo, row.margin, words + (" (a bound)" if row.bound else ""), open_ended=row.bound)


def _cross_section(report: ReportContents) -> Section | None:
    if not report.rows:
        return None
    versus = {(each.bot, each.opponent): each for each in report.standings.versus()}
    head = ["", "Bot", *(str(number) for number in range(1, len(report.rows) + 1))]
    body = []
    for number, name in enumerate(report.names, 1):
        cells: list[Content] = [tag("th", number, scope="row"), tag("th", bot(name), scope="row", class_="name")]
        cells += [_heat_cell(name, other, versus.get((name, other))) for other in report.names]
        body.append(tag("tr", *cells))
    heading = tag("tr", *(tag("th", text, scope="col") for text in head))
    grid = tag("table", tag("thead", heading), tag("tbody", *body), class_="cross")
    words = "The score of the row against the column, in percent; a draw counts half. Choose a cell to see its rounds."
    return "cross", "Cross table", joined(tag("div", grid, class_="wide"), tag("p", words, class_="note"))


def _heat_cell(name: str, other: str, versus: HeadToHead | None) -> Markup:
    if name == other:
        return tag("td", class_="self")
    if versus is None or versus.score is None:
        return tag("td", NO_VALUE, class_="none")
    heat = round((versus.score - 0.5) * 2 * _HEAT)
    words = f"{name} against {other}: {versus.wins} won, {versus.draws} drawn, {versus.losses} lost"
    pair = {"data_one": name, "data_other": other, "title": words}
    link = tag("a", f"{100 * versus.score:.0f}", href="#rounds", class_="cell", **pair)
    return tag("td", link, class_=f"heat {'up' if heat > 0 else 'down' if heat < 0 else 'even'}{abs(heat) or ''}")


def _course_section(report: ReportContents) -> Section | None:
    if len(report.course) < 2:
        return None
    shown = report.names[:_MOST_CURVES]
    curves = [_curve(report, name) for name in shown]
    axis = Axis.around([elo for curve in curves for _, elo in curve])
    ends = [f"{curve[-1][1]:.0f}" if curve else NO_VALUE for curve in curves]
    titles = [f"{name}: {end}" for name, end in zip(shown, ends, strict=True)]
    last = report.course[-1].rounds
    legend = tag(
        "ol",
        *(
            tag("li", swatch(place), tag("span", place + 1, class_="place"), bot(name), tag("span", end, class_="end"))
            for place, (name, end) in enumerate(zip(shown, ends, strict=True))
        ),
        class_="legend",
    )
    words = f"Elo over all rounds so far, at {len(report.course)} times, from the first round to the last ({last:,})."
    if len(report.names) > _MOST_CURVES:
        words += f" The best {_MOST_CURVES} of {len(report.names)} bots."
    axis_words = tag("p", *_round_ticks(last), class_="ticks", aria_hidden="true")
    chart = tag("div", lines(curves, axis, last, titles), axis_words, class_="chart")
    return "course", "Elo over the course", joined(chart, legend, tag("p", words, class_="note"))


def _round_ticks(last: int) -> Sequence[Markup]:
    return [tag("span", f"{round(last * quarter / 4):,}") for quarter in range(5)]


def _curve(report: ReportContents, name: str) -> list[tuple[float, float]]:
    return [(float(point.rounds), point.elo[name]) for point in report.course if name in point.elo]


def _rounds_section(report: ReportContents, sample: Sample | None) -> Section:
    parts: list[Content] = [] if sample is None else [_sample_remark(report, sample)]
    options = [tag("option", name, value=name) for name in report.names]
    endings = [ending for ending, count in report.gathered.endings.most_common() if count]
    filters = tag(
        "form",
        _choice("Bot", "one", [tag("option", "any", value=""), *options]),
        _choice("Against", "other", [tag("option", "any", value=""), *options]),
        _choice("Result", "result", [tag("option", words, value=key) for key, words in _RESULTS.items()]),
        _choice("Ending", "ending", [tag("option", "any", value="")] + [_ending_option(each) for each in endings]),
        _choice("Order", "order", [tag("option", words, value=key) for key, words in _ORDERS.items()]),
        tag("button", "Clear", type="reset"),
        class_="filters",
        id="filters",
    )
    parts += [
        filters,
        tag("p", "The list of rounds needs JavaScript.", id="count", role="status"),
        tag("div", id="list", class_="wide"),
        tag("div", id="pager", class_="pager"),
    ]
    return "rounds", "Rounds", joined(*parts)


def _sample_remark(report: ReportContents, sample: Sample) -> Markup:
    faults = len(report.gathered.faults)
    which = f"{sample.faults:,} of {faults:,}" if sample.faults < faults else f"all {faults:,}"
    words = (
        f"A sample: {sample.rounds:,} of {report.standings.rounds:,} rounds can be replayed here: the most surprising "
        f"ones, {which} that ended by a fault, and an even selection of the others. Any other round is shown by "
    )
    replay = tag("code", f"arena replay {printable(report.paths[0].name)} ROUND")
    more = tag("code", "arena report --rounds")
    return tag("p", words, replay, "; a report includes more rounds with ", more, ".", class_="remark", id="sample")


_RESULTS: Final = {"": "any", "won": "the bot won", "lost": "the bot lost", "drawn": "drawn"}
_ORDERS: Final = {"number": "as played", "moves": "longest", "lead": "closest", "ms": "most thought"}


def _ending_option(ending: str) -> Markup:
    return tag("option", ending.replace("-", " "), value=ending)


def _choice(label: str, name: str, options: Sequence[Markup]) -> Markup:
    return tag("label", tag("span", label), tag("select", *options, name=name))

"""Sections of the report: endings and faults, first-player advantage, thinking times, surprising results. Pure."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from arena.journal.endings import ENDINGS, WITHDRAWN, Fault
from arena.pages.charts import Axis, Part, dumbbell, interval, range_on_log, scale, stacked
from arena.pages.markup import Content, Markup, joined, tag
from arena.stats.columns import NO_VALUE
from arena.stats.report_data import ReportContents, Seating, Upset
from engine.scoring import Ending

Section = tuple[str, str, Markup]  # id, heading, content

_NUMBER: Final = re.compile(r"[-–±%*.,\d ]*")
# CSS class -> words, in the order of the parts of a bar
_RESULTS: Final = {
    "won-five": "won with five stones",
    "won-three": "won with three adjacent stones",
    "won-blocked": "won when blocked",
    "won-fault": "won by the other's fault or forfeit",
    "drawn": "drawn",
    "lost": "lost",
    "lost-fault": "lost by its own fault",
    "lost-withdrawn": "forfeited, because it was withdrawn",
}
_WON_BY: Final = {
    Ending.FIVE_STONES: "won-five",
    Ending.THREE_ADJACENT: "won-three",
    Ending.BLOCKED: "won-blocked",
}


def table(head: Sequence[Content], rows: Sequence[Sequence[Content]], kind: str) -> Markup:
    """A table with the CSS class `kind`. Columns of numbers are aligned right; the page's script sorts tables of the
    class `sortable`."""
    kinds = [_kind([row[column] for row in rows]) for column in range(len(head))]
    heads = [tag("th", cell, scope="col", class_=kinds[column]) for column, cell in enumerate(head)]
    body = [tag("tr", *(tag("td", cell, class_=kinds[column]) for column, cell in enumerate(row))) for row in rows]
    return tag("div", tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body), class_=kind), class_="wide")


def _kind(column: Sequence[Content]) -> str | None:
    """The CSS class of the cells of a column, derived from their contents."""
    texts = [cell.text if isinstance(cell, Markup) else str(cell) for cell in column if cell is not None]
    if any(text.startswith("<svg") for text in texts):
        return "drawing"
    if any(text.startswith("<bdi") for text in texts):
        return "name"
    return "number" if all(_NUMBER.fullmatch(text) for text in texts) else None


def bot(name: str) -> Markup:
    return tag("bdi", name, class_="bot", title=name)


def endings_section(report: ReportContents) -> Section | None:
    if not report.rows:
        return None
    gathered, total = report.gathered, report.standings.rounds
    overall: list[list[Content]] = [
        [ending.replace("-", " "), _bar(count, total), f"{count:,}", f"{100 * count / total:.1f}%"]
        for ending, count in gathered.endings.most_common()
    ]
    counts = {name: _results_of(report, name) for name in report.names}
    present = [kind for kind in _RESULTS if any(count[kind] for count in counts.values())]
    rows: list[list[Content]] = []
    for name in report.names:
        parts = [Part(kind, counts[name][kind], _RESULTS[kind]) for kind in present]
        words = f"{name}: " + ", ".join(f"{part.amount} {part.words}" for part in parts if part.amount)
        rows.append([bot(name), stacked(parts, sum(counts[name].values()), words)])
    keys = tag("ul", *(tag("li", tag("span", class_=f"key {kind}"), _RESULTS[kind]) for kind in present), class_="keys")
    content = joined(
        table(["Ending", tag("span", "Share"), "Rounds", ""], overall, "bars"),
        tag("h3", "By bot"),
        keys,
        table(["Bot", tag("span", "Its rounds")], rows, "bars by-bot"),
        _faults(report),
    )
    return "endings", "Endings and faults", content


def _bar(count: int, total: int) -> Markup:
    return stacked([Part("plain", count, "rounds")], total, f"{count} of {total} rounds")


def _results_of(report: ReportContents, name: str) -> dict[str, int]:
    found = dict.fromkeys(_RESULTS, 0)
    for (bot_name, ending, half_points), count in report.gathered.results.items():
        if bot_name == name:
            found[_result_kind(ending, half_points)] += count
    return found


def _result_kind(name: str, half_points: int) -> str:
    if name == WITHDRAWN:
        return "won-fault" if half_points == 2 else "lost-withdrawn"
    ending = ENDINGS[name]
    if isinstance(ending, Fault):
        return "won-fault" if half_points == 2 else "lost-fault"
    return ("lost", "drawn", _WON_BY[ending])[half_points]


def _faults(report: ReportContents) -> Markup:
    totals = [row.totals for row in report.rows if row.totals.faults]
    if not totals:
        return tag("p", "No bot ended a round by a fault.", class_="note")
    kinds = [kind for kind in Fault if any(each.faults.get(kind) for each in totals)]
    most = max(sum(each.faults.values()) for each in totals)
    rows: list[list[Content]] = []
    for each in sorted(totals, key=lambda each: -sum(each.faults.values())):
        count = sum(each.faults.values())
        numbers = [each.faults.get(kind, 0) or NO_VALUE for kind in kinds]
        drawn = stacked([Part("lost-fault", count, "faults")], most, f"{each.name}: {count} faults")
        rows.append([bot(each.name), drawn, count, *numbers])
    head: list[Content] = ["Bot", tag("span", "Faults"), "All", *(kind.value.replace("-", " ") for kind in kinds)]
    return joined(tag("h3", "Faults"), table(head, rows, "bars"))


def upsets_section(report: ReportContents, embedded: Collection[int]) -> Section | None:
    """The most surprising results; `embedded` are the numbers of the rounds that have a replay."""
    if not report.upsets:
        return None
    rows: list[list[Content]] = [
        [
            bot(upset.winner),
            bot(upset.loser),
            f"{100 * upset.expected:.0f}%",
            f"{upset.points[0]}–{upset.points[1]}",
            upset.ending.value.replace("-", " "),
            _replay_link(upset) if upset.number in embedded else f"round {upset.id}",
        ]
        for upset in report.upsets
    ]
    words = "Wins that the final ratings made least likely, the least likely first; at most two per pairing. Expected is the score that the ratings predict for the winner."  # noqa: E501
    head = ["Winner", "Loser", "Expected", "Points", "Ending", ""]
    return (
        "surprises",
        "Most surprising results",
        joined(table(head, rows, "upsets sortable"), tag("p", words, class_="note")),
    )


def _replay_link(upset: Upset) -> Markup:
    return tag("a", f"round {upset.id}", href=f"replay.html#round={upset.number}")


def first_player_section(report: ReportContents) -> Section | None:
    """Whether beginning helps, over all rounds; and how each bot scores beginning and second."""
    score = report.gathered.beginning.score()
    if score is None:
        return None
    mean, margin = score
    rounds = report.gathered.beginning.units.rounds
    words = f"{100 * mean:.1f} % ± {100 * margin:.1f} %"
    axis = Axis(0.0, 100.0, (0.0, 25.0, 50.0, 75.0, 100.0))
    overall = interval(axis, 100 * mean, 100 * margin, f"The first player scores {words}")
    rows: list[list[Content]] = [[tag("b", "all"), overall, f"{100 * mean:.1f}%", NO_VALUE]]
    for name in report.names:
        if (seating := report.gathered.seatings.get(name)) is not None:
            rows.append(_seating_row(name, seating, axis))
    sentence = tag(
        "p", "The bot that begins scores ", tag("b", words), f" over {rounds:,} rounds: {_verdict(mean, margin)}."
    )
    note = tag(
        "p", "95 % interval, with pairs of rounds as the unit; without rounds that ended by a fault.", class_="note"
    )
    return (
        "beginning",
        "First-player advantage",
        joined(sentence, table(["Bot", scale(axis), "Beginning", "Second"], rows, "bars"), note),
    )


def _verdict(mean: float, margin: float) -> str:
    if abs(mean - 0.5) <= margin:
        return "it is not clear yet whether beginning helps"
    return "beginning helps" if mean > 0.5 else "beginning hurts"


def _seating_row(name: str, seating: Seating, axis: Axis) -> list[Content]:
    first, second = (
        None if not count else 50 * half / count
        for count, half in zip(seating.rounds, seating.half_points, strict=True)
    )
    drawn = None
    if first is not None and second is not None:
        words = f"{name}: {first:.1f} % beginning (dot), {second:.1f} % second (ring)"
        drawn = dumbbell(axis, first, second, words)
    return [bot(name), drawn, *(NO_VALUE if each is None else f"{each:.1f}%" for each in (first, second))]


def thinking_section(report: ReportContents) -> Section | None:
    times = {name: report.standings.thinking(name) for name in report.names}
    known = {name: time for name, time in times.items() if time.moves}
    if not known:
        return None
    most = max(time.longest for time in known.values())
    rows: list[list[Content]] = []
    for name, time in known.items():
        median, p99 = time.percentile(50) or 0, time.percentile(99) or 0
        words = f"{name}: median {median} ms, 99 % within {p99} ms, longest {time.longest} ms"
        drawn = range_on_log((median, p99, time.longest), most, words)
        mean = f"{time.mean or 0:,.1f}"
        rows.append([bot(name), drawn, f"{median:,}", mean, f"{p99:,}", f"{time.longest:,}", f"{time.moves:,}"])
    head: list[Content] = [
        "Bot",
        tag("span", "Up to the longest"),
        "Median ms",
        "Mean ms",
        "P99 ms",
        "Longest ms",
        "Moves",
    ]
    note = "Bar: the median; line: 99 of 100 moves; ring: the longest. The scale is logarithmic."
    return "thinking", "Thinking times", joined(table(head, rows, "bars sortable"), tag("p", note, class_="note"))

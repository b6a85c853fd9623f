"""Charts for the report, as inline SVG. Positions are percentages, so that a chart fills the available width while its
texts keep their size. Every chart has a text alternative. Pure."""

import math
from collections.abc import Sequence
from typing import Final

import attrs

from arena.pages.markup import Markup, joined, tag

SERIES: Final = 8  # colours of lines; further lines reuse them with other dashes
_DASHES: Final = 3
_STEPS: Final = (1, 2, 5)


@attrs.frozen
class Axis:
    """A scale from the lowest to the highest value, with round numbers as ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @staticmethod
    def around(values: Sequence[float], wanted: int = 5) -> "Axis":
        """An axis that covers all values, with about `wanted` ticks."""
        low, high = min(values, default=0.0), max(values, default=0.0)
        if high - low < 1:
            low, high = low - 1, high + 1
        step = next(
            size * 10**power
            for power in range(-1, 12)
            for size in _STEPS
            if (high - low) / (size * 10**power) <= wanted
        )
        first, last = math.floor(low / step), math.ceil(high / step)
        ticks = tuple(float(place * step) for place in range(first, last + 1))
        return Axis(ticks[0], ticks[-1], ticks)

    def share(self, value: float) -> float:
        """The position of a value on the axis, in percent of its length."""
        return 100 * (value - self.low) / (self.high - self.low)


def percent(value: float) -> str:
    return f"{value:.2f}%"


def interval(axis: Axis, value: float, margin: float, words: str, open_ended: bool = False) -> Markup:
    """A dot and the interval around it. With `open_ended` the value is only a bound, and the dot becomes a ring."""
    low, high = (min(100.0, max(0.0, axis.share(end))) for end in (value - margin, value + margin))
    grid = [_rule(axis.share(tick), "grid") for tick in axis.ticks]
    whiskers = [_rule(end, "whisker", "25%", "75%") for end in (low, high)]
    return tag(
        "svg",
        tag("title", words),
        *grid,
        tag("line", x1=percent(low), x2=percent(high), y1="50%", y2="50%", class_="whisker"),
        *whiskers,
        tag("circle", cx=percent(axis.share(value)), cy="50%", r="4.5", class_="ring" if open_ended else "dot"),
        class_="strip",
        role="img",
        aria_label=words,
    )


def dumbbell(axis: Axis, dot: float, ring: float, words: str) -> Markup:
    """Two values, a dot and a ring, joined by a line."""
    at_dot, at_ring = percent(axis.share(dot)), percent(axis.share(ring))
    return tag(
        "svg",
        tag("title", words),
        *(_rule(axis.share(tick), "grid") for tick in axis.ticks),
        tag("line", x1=at_dot, x2=at_ring, y1="50%", y2="50%", class_="whisker"),
        tag("circle", cx=at_dot, cy="50%", r="4.5", class_="dot"),
        tag("circle", cx=at_ring, cy="50%", r="4.5", class_="ring"),
        class_="strip",
        role="img",
        aria_label=words,
    )


def scale(axis: Axis) -> Markup:
    """The axis labels above a column of charts."""
    labels = []
    for place, tick in enumerate(axis.ticks):
        anchor = "start" if place == 0 else "end" if place == len(axis.ticks) - 1 else "middle"
        labels.append(tag("text", f"{tick:g}", x=percent(axis.share(tick)), y="75%", text_anchor=anchor))
    return tag("div", tag("svg", *labels, class_="strip scale", aria_hidden="true"), class_="room")


def _rule(x: float, kind: str, top: str = "0%", bottom: str = "100%") -> Markup:
    return tag("line", x1=percent(x), x2=percent(x), y1=top, y2=bottom, class_=kind)


@attrs.frozen
class Part:
    """One part of a stacked bar."""

    kind: str  # the CSS class that determines its colour
    amount: int
    words: str


def stacked(parts: Sequence[Part], whole: int, words: str) -> Markup:
    """A bar of adjacent parts, each labelled with its number if there is room. A single part has no label, because its
    number is in the table beside the bar."""
    drawn, at = [], 0.0
    for part in parts:
        width = 100 * part.amount / whole if whole else 0
        if part.amount:
            label = None
            if len(parts) > 1 and width >= 4 + 3 * len(str(part.amount)):
                label = tag("text", part.amount, x=percent(at + width / 2), y="50%", class_=f"on-{part.kind}")
            box = tag("rect", x=percent(at), width=percent(width), y="0", height="100%", class_=f"part {part.kind}")
            drawn.append(tag("g", tag("title", f"{part.words}: {part.amount}"), box, label))
        at += width
    return tag("svg", *drawn, class_="strip stacked", role="img", aria_label=words)


def range_on_log(values: tuple[float, float, float], most: float, words: str) -> Markup:
    """Three times (typical, long, longest) on a logarithmic scale from 0 to `most`."""
    top = math.log10(1 + most)
    typical, far, longest = (100 * math.log10(1 + value) / top if top else 0.0 for value in values)
    return tag(
        "svg",
        tag("title", words),
        *(_rule(100 * power / top, "grid") for power in range(math.floor(top) + 1) if top),
        tag("rect", x="0%", width=percent(typical), y="25%", height="50%", class_="part typical"),
        tag("line", x1=percent(typical), x2=percent(far), y1="50%", y2="50%", class_="whisker"),
        _rule(far, "whisker", "20%", "80%"),
        tag("circle", cx=percent(longest), cy="50%", r="3", class_="ring"),
        class_="strip",
        role="img",
        aria_label=words,
    )


def series(place: int) -> str:
    """The CSS classes for the colour and the dashes of the line at this index."""
    return f"s{place % SERIES} d{place // SERIES % _DASHES}"


def swatch(place: int) -> Markup:
    line = tag("line", x1="0", x2="100%", y1="50%", y2="50%", class_=f"curve {series(place)}")
    return tag("svg", line, class_="swatch", aria_hidden="true")


def lines(curves: Sequence[Sequence[tuple[float, float]]], axis: Axis, widest: float, titles: Sequence[str]) -> Markup:
    """Curves over a common x axis from 0 to `widest`, each labelled at its end with its number, from 1."""
    drawn = []
    for place, curve in enumerate(curves):
        points = " ".join(f"{100 * x / widest:.2f},{100 - axis.share(y):.2f}" for x, y in curve)
        line = tag("polyline", points=points, class_=f"curve {series(place)}", vector_effect="non-scaling-stroke")
        drawn.append(tag("g", tag("title", titles[place]), line))
    plot = tag("svg", *drawn, viewBox="0 0 100 100", preserveAspectRatio="none", width="100%", height="100%")
    grid = [tag("line", x1="0%", x2="100%", y1=_y(axis, t), y2=_y(axis, t), class_="grid") for t in axis.ticks]
    return tag(
        "div",
        tag("svg", *(tag("text", f"{t:g}", x="100%", y=_y(axis, t)) for t in axis.ticks), class_="values"),
        tag("svg", *grid, plot, class_="plot", role="img", aria_label="Elo over the rounds; the table has the numbers"),
        tag("svg", _end_numbers(curves, axis), class_="ends"),
        class_="lines",
    )


def _y(axis: Axis, value: float) -> str:
    return percent(100 - axis.share(value))


def _end_numbers(curves: Sequence[Sequence[tuple[float, float]]], axis: Axis, apart: float = 5.0) -> Markup:
    """The numbers of the curves beside their ends, moved apart so that they do not overlap."""
    ends = sorted((100 - axis.share(curve[-1][1]), place) for place, curve in enumerate(curves) if curve)
    places: list[float] = []
    for wanted, _ in ends:
        places.append(max(wanted, places[-1] + apart) if places else wanted)
    over = max(0.0, places[-1] - 100) if places else 0.0
    for index in reversed(range(len(places))):
        if over and (index == len(places) - 1 or places[index] > places[index + 1] - apart):
            places[index] = 100.0 if index == len(places) - 1 else places[index + 1] - apart
    return joined(
        *(
            tag("text", place + 1, x="0%", y=percent(y), class_=f"end {series(place)}")
            for y, (_, place) in zip(places, ends, strict=True)
        )
    )

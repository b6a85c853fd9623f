"""A section of the report: how to read its numbers. Pure.

A report has to explain itself wherever it is opened. docs/statistics.md begins with the same sentences.
"""

from typing import Final

from arena.pages.markup import Markup, joined, tag
from arena.pages.report_sections import Section
from arena.stats.report_data import ReportContents

READING: Final = {
    "Elo": "How strong a bot is. Only differences mean anything: 100 Elo more mean a score of 64 % against the other "
    "bot, 200 mean 76 %, 400 mean 91 %. The score is the share of rounds that are won, where a draw counts half.",
    "±": "Elo is an estimate, because there is luck in every round. The true value is at most so much higher or lower, "
    "with a certainty of 95 %. Four times as many rounds make ± half as large.",
    "Bars": "A bar reaches from Elo - ± to Elo + ±. If the bars of two bots do not overlap, the upper one is better, "
    "with a certainty of at least 95 %. If they overlap, the bots may be equally good, unless their ranks are apart: "
    "ranks compare two bots directly.",
    "Ranks": "The ranks that a bot may truly have, with a certainty of 95 %. With 2–4 one bot is certainly better, and "
    "up to three may be. A single number is certain, and more rounds make ranges narrower.",
    "Asterisk": "A group of bots, or a single one, never lost to the others, so the distance between the groups is "
    "unknown: it may be small or very large. Between two groups Elo says only which one is ahead; within a group it "
    "means what it always does.",
}
_LINK: Final = "reading"


def reading_section(report: ReportContents) -> Section | None:
    if not report.rows:
        return None
    terms = [joined(tag("dt", term), tag("dd", text)) for term, text in READING.items()]
    return _LINK, "How to read the numbers", tag("dl", *terms)


def reading_link() -> Markup:
    return tag("a", "How to read the numbers", href=f"#{_LINK}")

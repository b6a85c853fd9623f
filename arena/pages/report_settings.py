"""Sections of the report: who played, the settings of each tournament, and the void rounds, which are played again.
Pure.

The journal contains the commands, folders and environments of bots. A report does not, because it is meant to be
shared.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from arena.journal.tournament_state import TournamentState
from arena.pages.markup import Content, joined, tag
from arena.pages.report_sections import Section, bot, table
from arena.plan.option_rows import Option
from arena.plan.options import LIMITS
from arena.plan.recorded_config import bot_settings, sprt_settings, tournament_settings
from arena.plan.time_control import TimeLimits
from arena.stats.columns import NO_VALUE
from arena.stats.report_data import ReportContents

_MOST_TOURNAMENTS: Final = 20
_MOST_VERSIONS: Final = 200


def settings_section(report: ReportContents) -> Section | None:
    tournaments = report.gathered.tournaments
    parts = [_tournament(state) for state in tournaments[:_MOST_TOURNAMENTS]]
    if not parts:
        return None
    if len(tournaments) > _MOST_TOURNAMENTS:
        parts.append(tag("p", f"… and {len(tournaments) - _MOST_TOURNAMENTS:,} more tournaments.", class_="note"))
    return "settings", "Settings", joined(*parts)


def _tournament(state: TournamentState) -> Content:
    config = state.config
    settings = [*tournament_settings(config)]
    test = sprt_settings(config.sprt).items() if config.sprt else ()
    pairs: list[tuple[str, str | None]] = [
        *_labelled(each for each in settings if each[0] not in LIMITS),
        ("Sequential test", ", ".join(f"{name} {text}" for name, text in test)),
        ("Public seed", config.seed),
        ("Hash of the secret seed", config.seed_hash),
        *_labelled(each for each in settings if each[0] in LIMITS),
        ("Started", state.opening.started),
    ]
    words = [tag(name, text) for pair in pairs if pair[1] for name, text in zip(("dt", "dd"), pair, strict=True)]
    rows: list[list[Content]] = []
    head: list[Content] = []
    for each in config.bots or ():
        own = dict(_labelled(bot_settings(each)))
        head = ["Bot", "Clock", *own]
        values = (NO_VALUE if each.remote else text or NO_VALUE for text in own.values())
        rows.append([bot(each.name), _clock(each.clock), *values])
    return joined(tag("dl", *words), table(head, rows, "players") if rows else None)


def _labelled(settings: Iterable[tuple[Option, Any]]) -> Iterator[tuple[str, str]]:
    """The settings that a report shows: their words, and their values; empty without a value."""
    return ((row.label, "" if value is None else row.in_words(value)) for row, value in settings if row.label)


def versions_section(report: ReportContents) -> Section | None:
    """Who played: all identities, without commands and files."""
    lines = sorted(report.standings.roster.lines(), key=lambda line: (line.name, line.started))
    if not lines:
        return None
    rows: list[list[Content]] = [
        [
            bot(line.name),
            line.version or NO_VALUE,
            line.author or NO_VALUE,
            tag("code", line.fingerprint.short) if line.fingerprint else NO_VALUE,
            line.started.replace("T", " ")[:16],
        ]
        for line in lines[:_MOST_VERSIONS]
    ]
    words = "Version and author are what the bots say; the fingerprint is a hash of what the arena started."
    if len(lines) > _MOST_VERSIONS:
        words += f" The first {_MOST_VERSIONS} of {len(lines):,}."
    head: list[Content] = ["Bot", "Version", "Author", "Fingerprint", "Since (UTC)"]
    return "versions", "Versions", joined(table(head, rows, "versions"), tag("p", words, class_="note"))


def _clock(clock: TimeLimits | None) -> str:
    """The time limits in seconds, in words."""
    if clock is None:
        return NO_VALUE
    parts = []
    if clock.move_ms is not None:
        parts.append(f"{clock.move_ms / 1000:g} s for a move")
    if clock.bank_ms is not None:
        added = f" + {clock.increment_ms / 1000:g} s" if clock.increment_ms else ""
        parts.append(f"{clock.bank_ms / 1000:g} s{added} for a round")
    return ", ".join(parts) or "no limit"


def voids_section(report: ReportContents) -> Section | None:
    voids, total = report.gathered.voids, report.standings.voids
    if not voids:
        return None
    rows: list[list[Content]] = [[void.id, bot(void.bots[0]), bot(void.bots[1]), void.reason] for void in voids]
    words = "Rounds that failed by a fault of the arena, not of a bot; they are not counted, and are played again."
    if total > len(voids):
        words += f" The first {len(voids)} of {total:,}."
    return (
        "voids",
        "Void rounds",
        joined(table(["Round", "Bot", "Bot", "Reason"], rows, "voids"), tag("p", words, class_="note")),
    )

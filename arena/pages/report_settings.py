"""Sections of the report: who played, the settings of each tournament, and the void rounds, which are played again.
Pure.

The journal contains the commands, folders and environments of bots. A report does not, because it is meant to be
shared.
"""

from typing import Final

from arena.journal.tournament_state import TournamentState
from arena.pages.markup import Content, joined, tag
from arena.pages.report_sections import Section, bot, table
from arena.plan.max_voids import in_words
from arena.plan.recorded_config import RecordedConfig
from arena.plan.sandbox import Level
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


def _settings(config: RecordedConfig) -> dict[str, object]:
    return {
        "Event": config.event,
        "Site": config.site,
        "Rules": config.rules,
        "Format": config.format and config.format.value,
        "Matches of each pair": config.cycles,
        "Rounds of each match": config.rounds,
        "Sequential test": config.sprt and ", ".join(f"{name} {text}" for name, text in config.sprt.settings().items()),
        "Public seed": config.seed,
        "Hash of the secret seed": config.seed_hash,
        "Faults in a row until withdrawn": config.max_faults,
        "Voids granted to each bot": None if config.max_voids is None else in_words(config.max_voids),
    }


def _tournament(state: TournamentState) -> Content:
    pairs: list[Content] = []
    for words, value in _settings(state.config).items():
        if value not in (None, ""):
            pairs += [tag("dt", words), tag("dd", _plain(value))]
    pairs += [tag("dt", "Started"), tag("dd", state.opening.started)]
    rows: list[list[Content]] = [
        [
            bot(each.name),
            _clock(each.clock),
            each.restart.value if each.restart else NO_VALUE,
            f"{each.memory:,} bytes" if each.memory else NO_VALUE,
            NO_VALUE if each.remote else each.sandbox.level.value if each.sandbox else Level.NONE.value,
        ]
        for each in state.config.bots or ()
    ]
    players = table(["Bot", "Clock", "Restart", "Memory", "Sandbox"], rows, "players") if rows else None
    return joined(tag("dl", *pairs), players)


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


def _plain(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


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

"""Sections of the report: what their tables and charts say."""

from pathlib import Path

from arena.pages.report_sections import first_player_section
from arena.stats.report_data import gather
from tests.helpers.summaries import line, opening, written


def test_the_first_player_section_compares_beginning_with_second(tmp_path: Path) -> None:
    journal = written(
        tmp_path / "journal.jsonl",
        opening(rounds=4, mirror=False),
        line("m.1", 0, (5, 2), first=0),
        line("m.2", 1, (2, 5), first=1),
        line("m.3", 1, (2, 5), first=0),
        line("m.4", 1, (0, 5), first=1, bots=("a", "c")),
    )
    section = first_player_section(gather([journal]))
    assert section is not None
    name, _, content = section
    assert name == "beginning"
    for text in (">Beginning<", ">Second<", "over 4 rounds: it is not clear yet whether beginning helps."):
        assert text in content.text
    assert 'aria-label="a: 50.0 % beginning (dot), 0.0 % second (ring)"' in content.text
    assert "c: " not in content.text  # it only began, so there is nothing to compare


def test_without_rounds_by_the_rules_there_is_no_first_player_section(tmp_path: Path) -> None:
    crashed = line("m.1", 1, (0, 5), first=0, ending="crashed")
    assert first_player_section(gather([written(tmp_path / "journal.jsonl", opening(), crashed)])) is None

"""Sections of the report: what their tables and charts say."""

import re
from pathlib import Path
from typing import Any

from arena.pages.report_page import report_page
from arena.pages.report_reading import READING
from arena.pages.report_sections import first_player_section
from arena.stats.report_data import gather
from tests.helpers.summaries import line, opening, written


def test_the_first_player_section_compares_beginning_with_second(tmp_path: Path) -> None:
    journal = written(
        tmp_path / "journal.jsonl",
        opening(rounds=4, pairs=False),
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


def test_the_standings_have_ranges_of_ranks_and_a_link_to_what_the_numbers_mean(tmp_path: Path) -> None:
    rounds = [line(f"m.{n}", 0, (5, 2), pair=f"m.{n - 1 + n % 2}") for n in range(1, 13)]
    even = [line("n.1", 0, (5, 2), bots=("a", "c")), line("n.2", 1, (2, 5), bots=("a", "c"), pair="n.1")]
    journal = written(tmp_path / "journal.jsonl", opening(rounds=12, bots=3), *rounds, *even)
    text = report_page(gather([journal]), (), None)
    standings = text.partition('id="standings"')[2].partition("</section>")[0]
    assert "Ranks</th>" in standings
    assert '<td class="number">1–3</td>' in standings
    (target,) = re.findall(r'href="#(\w+)">How to read the numbers</a></p>', standings)
    explained = text.partition(f'<section id="{target}"')[2].partition("</section>")[0]
    for term, words in READING.items():
        assert f"<dt>{term}</dt><dd>{words}</dd>" in explained


def test_a_report_whose_rounds_ended_by_faults_in_more_than_half_says_so(tmp_path: Path) -> None:
    crash: dict[str, Any] = {"ending": "crashed", "fault": {"seat": 1}}
    rounds = [line("m.1", 0, (5, 0), **crash), line("m.2", 0, (5, 0), **crash), line("m.3", 0, (5, 2))]
    journal = written(tmp_path / "journal.jsonl", opening(rounds=3, pairs=False), *rounds)
    assert "2 of 3 rounds ended by a fault" in report_page(gather([journal]), (), None)

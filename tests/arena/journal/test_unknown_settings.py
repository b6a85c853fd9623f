"""Opening lines with settings that this version does not know, and with some that cannot be read."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.journal.lines import JournalError
from arena.journal.verify import verify_journals
from arena.stats.standings import fold
from tests.helpers.tournaments import anonymous, configured, played, steady

BOTS = (steady("a"), steady("b"))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "cup.jsonl"
    played(configured(*BOTS, journal=path, rounds="4"))
    return anonymous(path)


def change_opening(
    journal: Path, *, rounds: int | None = None, bot: dict[str, Any] | None = None, **fields: Any
) -> Path:
    """Changes the configuration, or the first bot in it, and keeps this many rounds."""
    opening, *rest = journal.read_bytes().splitlines(keepends=True)
    line = msgspec.json.decode(opening)
    line["config"] |= fields
    line["config"]["bots"][0] |= bot or {}
    journal.write_bytes(msgspec.json.encode(line) + b"\n" + b"".join(rest[:rounds]))
    return journal


@pytest.mark.parametrize(
    ("change", "name"),
    [({"swiss": True}, "swiss"), ({"bot": {"gpu": 1}}, "gpu"), ({"pairs": False}, "`pairs` does not fit")],
)
def test_a_tournament_is_not_resumed_with_other_settings_than_it_began_with(
    journal: Path, change: dict[str, Any], name: str
) -> None:
    change_opening(journal, rounds=0, **change)
    before = journal.read_bytes()
    with pytest.raises(JournalError, match=name):
        played(configured(*BOTS, journal=journal, rounds="4"))
    assert journal.read_bytes() == before


def test_tournaments_that_differ_only_in_an_unknown_setting_both_count(journal: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(journal.read_bytes())
    change_opening(other, swiss=True)
    standings, problems = fold([journal, other])
    assert (standings.rounds, problems) == (8, [])
    assert fold([journal, journal])[0].rounds == 4


@pytest.mark.parametrize("bots", [0, False, "", [], {}, [7], [{}], None])
def test_bots_that_cannot_be_read_are_a_problem_and_no_traceback(journal: Path, bots: object) -> None:
    opening, *rest = journal.read_bytes().splitlines(keepends=True)
    line = msgspec.json.decode(opening)
    line["config"]["bots"] = bots
    journal.write_bytes(msgspec.json.encode(line) + b"\n" + b"".join(rest))
    assert verify_journals([journal]).problems
    assert fold([journal])[0].rounds == 4


def test_a_setting_that_cannot_be_read_does_not_switch_off_the_comparison_with_the_plan(journal: Path) -> None:
    change_opening(journal, rounds=3, bot={"restart": "sometimes"}, event=7)
    report = verify_journals([journal])
    assert len(report.problems) == 1
    assert "the configuration is damaged: event: " in str(report.problems[0])
    assert any("3 of 4 rounds" in remark for remark in report.remarks)  # so the plan was read
    text = journal.read_bytes()
    journal.write_bytes(text.replace(b'"pair":"1.1-2.1"', b'"pair":"1.1-2.9"', 1))
    assert any("pair" in str(problem) for problem in verify_journals([journal]).problems[1:])

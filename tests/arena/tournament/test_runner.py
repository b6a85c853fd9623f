"""Tournaments with real processes: every round is played, and failures of the arena charge no bot."""

from collections import Counter
from pathlib import Path

import pytest

from arena.journal.lines import JournalError
from arena.journal.verify import verify_journals
from arena.tournament.ledger import planned_matches
from tests.helpers.tournaments import configured, essence, played, steady


def test_a_tournament_plays_every_round_and_its_journal_is_verified(journal: Path) -> None:
    config = configured(steady("a"), steady("b"), steady("c"), journal=journal, rounds="4", rules="tactics")
    lines = played(config)
    assert {line.id for line in lines} == {each.id for match in planned_matches(config) for each in match.rounds}
    assert all(line.fault is None for line in lines)
    report = verify_journals([journal])
    assert (report.problems, report.rounds, report.tournaments) == ([], 12, 1)
    assert report.points == Counter(
        {name: sum(line.result.points[line.bots.index(name)] for line in lines if name in line.bots) for name in "abc"}
    )


def test_concurrency_changes_nothing_but_order_and_times(tmp_path: Path) -> None:
    bots = [steady("a"), steady("b"), steady("c"), steady("d")]
    journals = []
    for concurrency in ("1", "8"):
        journals.append(
            played(configured(*bots, journal=tmp_path / f"{concurrency}.jsonl", rounds="4", concurrency=concurrency))
        )
    assert essence(journals[0]) == essence(journals[1])
    assert len(journals[0]) == 24


def test_a_file_that_is_no_journal_is_left_alone(journal: Path) -> None:
    for text in ('{"precious": "data"}', "my diary"):
        journal.write_text(text)
        with pytest.raises(JournalError, match="this is not a journal; nothing was changed"):
            played(configured(steady("a"), steady("b"), journal=journal))
        assert journal.read_text() == text


@pytest.mark.parametrize(("restart", "processes"), [("never", 1), ("match", 3), ("round", 12)])
def test_a_bot_is_started_once_a_worker_a_match_or_a_round(journal: Path, restart: str, processes: int) -> None:
    config = configured(
        steady("a", "note"), steady("b"), journal=journal, rounds="4", cycles="3", restart=restart, concurrency="1"
    )
    pids = {note for line in played(config) for note in line.notes.values()}
    assert len(pids) == processes

"""Whatever is done to the lines of a journal, no reader ends in a traceback."""

import contextlib
import random
from pathlib import Path

import msgspec
import pytest

from arena.journal.bot_history import Meetings
from arena.journal.lines import Journal, JournalError, VoidLine, encoded
from arena.plan.config import from_command_line
from arena.tournament.ledger import resume
from tests.helpers.commands import arena
from tests.helpers.raw_journals import Line, damaged, readers
from tests.helpers.sampling import sampled
from tests.helpers.tournaments import steady


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", sampled(range(40), *range(15)))
def test_whatever_is_done_to_a_journal_no_reader_ends_in_a_traceback(
    seed: int, lines: list[Line], journal: Path, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    void = VoidLine(id="1.1-2.2", match="1.1-2", round=2, bots=("a", "b"), reason="late", started="")
    broken = msgspec.to_builtins(lines[1]) | {
        "moves": [],
        "result": {"winner": 0, "ending": "crashed", "points": [5, 0], "owners": [None] * 9},
        "fault": {"seat": 1, "detail": "gone"},
    }
    config = from_command_line([steady("a"), steady("b")], (), {"rounds": "4", "seed": "7", "st": "60"})
    sound = [lines[0], broken, lines[2], msgspec.json.decode(encoded(void)), *lines[3:]]
    for _ in range(10):
        journal.write_bytes(damaged(sound, rng))
        saved = journal.read_bytes()
        for command, arguments in readers(journal, tmp_path).items():
            if command == "regress":
                continue  # its reading is tried below: its bot would take too long
            result = arena(*arguments)
            assert isinstance(result.exception, SystemExit | None), (command, saved)
        with contextlib.suppress(JournalError):
            meetings = Meetings(journal)
            for name in meetings.names:
                list(meetings.matches(name, list(meetings.rounds_of(name))))
        with Journal(journal) as writer, contextlib.suppress(JournalError):
            resume(writer, config)

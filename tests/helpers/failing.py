"""The ways in which a bad bot (tests/bots/bad_bots.py) loses a round: how the round ends, and words of the reason."""

from pathlib import Path
from typing import Final

import pytest

from arena.plan.config import Config
from tests.helpers.processes import bad_command
from tests.helpers.tournaments import configured, limited, steady

_WAYS: Final = [
    ("crash-at-start", "failed-to-start", "before it said hello; exit status 1; on stderr: no licence"),
    ("slow-start", "failed-to-start", "it did not say hello (the limit is 500 ms)"),
    ("old-protocol", "failed-to-start", "protocol 2 is not supported"),
    ("crash", "crashed", "it ended (exit status 3); on stderr: I am leaving"),
    ("exit-0", "crashed", "it ended (exit status 0); on stderr: I am leaving"),
    ("close-input", "crashed", "the bot closed its end, but it is still running"),
    ("hang", "timeout", "no answer after "),
    ("late", "timeout", "ms; the limit was 300 ms for an answer"),
    ("ignore-sigterm", "timeout", "no answer after "),
    ("fork", "timeout", "no answer after "),
    ("flood-lines", "timeout", "the limit was 300 ms for an answer"),
    ("half-line", "timeout", "12 bytes arrived, but no newline: "),
    ("old-id", "timeout", "no answer after "),
    ("flood-stdout", "malformed", "a line is longer than 65536 bytes"),
    ("garbage", "malformed", "the line is not UTF-8"),
    ("chatter", "malformed", "the line is not JSON"),
    ("twice", "malformed", "a second answer to request"),
    ("future-id", "malformed", "but the latest request was"),
    ("illegal", "illegal-move", "stone"),
    ("no-action", "illegal-move", "'resign' is not an action"),
    ("eat-memory", "out-of-memory", " MiB of memory in all its processes; the limit is 200.0 MiB (option memory)"),
    ("eat-memory-at-start", "failed-to-start", "the limit is 200.0 MiB (option memory), before it said hello"),
    ("eat-memory-later", "out-of-memory", "the limit is 200.0 MiB (option memory)"),
    ("eat-memory-in-child", "out-of-memory", "the limit is 200.0 MiB (option memory)"),
    ("torn-by-memory", "out-of-memory", "the limit is 200.0 MiB (option memory)"),
    ("fork-bomb", "out-of-processes", " or more processes at once; the limit is 40 (option processes)"),
    ("daemon", "timeout", "no answer after "),
]  # fmt: skip
_TOO_LATE: Final = [way for way, ending, _ in _WAYS if ending == "timeout"]
every_way_to_fail = pytest.mark.parametrize(("way", "ending", "detail"), _WAYS)


def against(way: str, journal: Path | None = None, **options: str) -> Config:
    """A bot that fails in this way, against a good one. It has little time only if that is what it exceeds."""
    limits = {"memory": "200M", "processes": "40", "timemargin": "0"}
    limits |= {"start": "0.5"} if way == "slow-start" else {"st": "0.3"} if way in _TOO_LATE else {}
    return configured(limited(f"bad={bad_command(way)}", **limits), steady("good"), journal=journal, **options)

"""A journal that somebody deletes, replaces, cuts or writes to while the arena runs: nothing finished is lost."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.journal.file import JournalChangedError, rescue
from arena.journal.lines import Journal, JournalLine, RoundLine, read
from arena.journal.verify import verify_journals
from arena.plan.config import from_command_line
from arena.server import server
from arena.tournament.run import run_tournament
from arena.tournament.tournament_events import RoundFinished, TournamentEvent
from tests.helpers import visitors
from tests.helpers.tournaments import steady

OPENING = b'{"type":"tournament","v":1}\n'
Change = Callable[[Path], None]


def delete(path: Path) -> None:
    path.unlink()


def move_away(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replace(path: Path) -> None:
    """As an editor saves a file: another one takes its name."""
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 10)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def append(path: Path) -> None:
    with open(path, "ab") as file:
        file.write(b'{"type":"note"}\n')


def edit_end(path: Path) -> None:
    with open(path, "r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(b"  }")


CHANGES: list[tuple[Change, str]] = [
    (delete, "this file was deleted or moved away"),
    (move_away, "this file was deleted or moved away"),
    (replace, "this file was replaced by another one"),
    (cut, "10 bytes were cut off the end of this file"),
    (empty, "bytes were cut off the end of this file"),
    (append, "another program wrote 16 bytes to this file"),
    (edit_end, "the end of this file was changed"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_a_changed_journal_is_noticed_before_the_next_append(change: Change, words: str, tmp_path: Path) -> None:
    path = tmp_path / "cup.jsonl"
    with Journal(path) as journal:
        journal.append(OPENING)
        journal.append(b'{"type":"round","v":1}\n')
        change(path)
        left = path.read_bytes() if path.exists() else None
        with pytest.raises(JournalChangedError, match="while the arena was writing to it") as told:
            journal.append(b"more\n")
        assert words in str(told.value)
        assert (path.read_bytes() if path.exists() else None) == left


def test_a_rescue_has_all_that_is_left_and_what_could_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "cup.jsonl"
    rounds = [b'{"type":"round","v":1,"id":"%d"}\n' % number * 20 for number in range(3)]
    whole = OPENING + rounds[0] + rounds[1] + rounds[2]
    expected = [
        (delete, whole),
        (replace, whole),
        (append, whole),
        (cut, OPENING + (rounds[0] + rounds[1])[:-32] + rounds[2]),
        (empty, OPENING + rounds[2]),
    ]
    for number, (change, content) in enumerate(expected, 1):
        path.unlink(missing_ok=True)
        with Journal(path) as journal:
            for data in (OPENING, rounds[0], rounds[1]):
                journal.append(data)
            change(path)
            found = rescue(journal, rounds[2], 20)
        assert found.path == tmp_path / f"cup.rescued{'' if number == 1 else f'-{number}'}.jsonl"
        assert found.path.read_bytes() == content, change


def test_a_rescue_that_fails_says_so_and_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    with Journal(folder / "cup.jsonl") as journal:
        journal.append(OPENING)
        (folder / "cup.jsonl").unlink()
        folder.rmdir()
        found = rescue(journal, b"more\n", 1)
    assert found.path is None
    assert "cup.rescued.jsonl: No such file or directory" in found.outcome
    assert "will be played again" in found.outcome


OPTIONS = {"rounds": "40", "seed": "7", "st": "60", "concurrency": "1"}


def bots(journal: Path) -> list[str]:
    """After 20 rounds they wait until the journal has been changed."""
    return [steady(name, f"rest=20:{journal.with_suffix('.changed')}") for name in ("a", "b")]


def run(journal: Path) -> list[str]:
    words = [word for name, value in OPTIONS.items() for word in (f"--{name}", value)]
    return ["run", *bots(journal), *words, "--journal", str(journal)]


def serve(journal: Path) -> list[str]:
    text = "".join(f'[[bot]]\nname = "{bot[0]}"\ncmd = "{bot[2:]}"\n' for bot in bots(journal))
    cup = journal.with_suffix(".toml")
    cup.write_text(f'rounds = 40\n[server]\nlisten = "127.0.0.1:0"\n[each]\nst = 60\n{text}')
    return ["serve", str(cup)]


def rounds_in(journal: Path) -> list[str]:
    return [entry.line.id for entry in read(journal, JournalLine) if isinstance(entry.line, RoundLine)]


@pytest.mark.parametrize("command", [run, pytest.param(serve, marks=pytest.mark.extended)])
@pytest.mark.parametrize("change", [delete, replace, cut, append])
def test_a_running_tournament_stops_with_what_happened_and_can_go_on(
    change: Change, command: Callable[[Path], list[str]], tmp_path: Path
) -> None:
    journal, rescued = tmp_path / "cup.jsonl", tmp_path / "cup.rescued.jsonl"
    words = [sys.executable, "-m", "arena", *command(journal)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as arena:
        assert arena.stderr is not None
        assert any("Finished round 5 " in line for line in arena.stderr)
        change(journal)
        journal.with_suffix(".changed.over").touch()
        said = arena.stderr.read()
        assert arena.wait(60) == 1
    assert "Traceback" not in said
    assert f"Stopped: {journal}: " in said
    assert f"are in {rescued}" in said
    assert f"mv -i {rescued} {journal}" in said
    assert 4 <= len(rounds_in(rescued)) < 40
    assert verify_journals([rescued]).problems == []
    if change is delete:
        again = subprocess.run(words, capture_output=True, text=True)  # nothing begins anew while that lies there
        assert again.returncode == (1 if "serve" in words else 2)  # a server has begun by then
        assert f"{rescued} holds what was rescued of {journal}. To resume it:  mv -i" in again.stderr
    rescued.replace(journal)
    subprocess.run(words, check=True, capture_output=True)
    assert len(rounds_in(journal)) == len(set(rounds_in(journal))) == 40
    assert verify_journals([journal]).problems == []


def test_a_journal_that_is_gone_when_the_last_round_was_written_is_noticed(tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"

    class Deleting:
        def heard(self, event: TournamentEvent, /) -> None:
            if isinstance(event, RoundFinished) and event.line.round == 2:
                journal.unlink()

    config = from_command_line(bots(journal), (), OPTIONS | {"rounds": "2", "journal": str(journal)})
    ran = run_tournament(config, Deleting())
    assert ran.failure is not None
    assert "this file was deleted or moved away" in ran.failure
    assert ran.rescue is not None
    assert ran.rescue.path is not None
    assert len(rounds_in(ran.rescue.path)) == 2


def test_a_server_rescues_such_a_journal_once(tmp_path: Path) -> None:
    bots = "".join(f'[[bot]]\nname = "{name}"\ncmd = "random"\n' for name in "ab")
    config, door = visitors.configured(tmp_path, bots)
    journal = tmp_path / "cup.jsonl"
    assert config.journal == journal

    class Deleting:
        def heard(self, event: object, /) -> None:
            if isinstance(event, RoundFinished) and event.line.round == 2:
                journal.unlink()

    ran = server.serve(config, door, Deleting())
    assert ran.failure is not None
    assert "this file was deleted or moved away" in ran.failure
    assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == ["cup.rescued.jsonl"]
    assert ran.rescue is not None
    assert ran.rescue.path == tmp_path / "cup.rescued.jsonl"

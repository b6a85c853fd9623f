"""Whether two bots are the same program: real files beside them, which differ in every way."""

import os
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

from arena.plan.bot_spec import BotSpec, parse_bot
from arena.plan.time_control import TimeLimits
from arena.processes.same_program import difference_beside, is_same_bot, same_program


def write(path: Path, text: str = "one") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def copies(folder: Path) -> tuple[BotSpec, BotSpec]:
    """The same program in two folders, under different names."""
    for name in ("new/mybot.py", "old/first.py"):
        write(folder / name)
        write(folder / name).with_name("util.py").write_text("shared")
    one, two = (sys.executable, "new/mybot.py", "--deep"), (sys.executable, "old/first.py", "--deep")
    return BotSpec("new", one, folder), BotSpec("old", two, folder)


def test_copies_in_two_folders_are_the_same_bot(tmp_path: Path) -> None:
    new, old = copies(tmp_path)
    assert is_same_bot(new, old)
    inside = [attrs.evolve(spec, cwd=tmp_path / folder) for spec, folder in ((new, "new"), (old, "old"))]
    named = zip(inside, ("mybot.py", "first.py"), strict=True)
    assert is_same_bot(*(attrs.evolve(spec, command=(sys.executable, "-u", script)) for spec, script in named))
    write(tmp_path / "new/copy.py", "one")  # the same file once more
    assert is_same_bot(new, attrs.evolve(new, command=(sys.executable, "new/copy.py", "--deep")))
    program = [attrs.evolve(new, command=(write(tmp_path / name).as_posix(),)) for name in ("mybot", "mybot-1.0")]
    assert is_same_bot(*program)
    assert is_same_bot(parse_bot("new=greedy"), parse_bot("greedy"))


@pytest.mark.parametrize(
    "other",
    [
        {"command": (sys.executable, "old/first.py")},
        {"command": ("python3", "old/first.py", "--deep")},
        {"env": (("DEPTH", "3"),)},
        {"limits": TimeLimits(move_ms=77)},
        {"memory": 1 << 30},
    ],
)
def test_other_arguments_variables_or_settings_are_another_program(tmp_path: Path, other: dict[str, Any]) -> None:
    new, old = copies(tmp_path)
    assert not is_same_bot(new, attrs.evolve(old, **other))


def test_a_change_in_any_file_that_belongs_to_a_bot_makes_another_program(tmp_path: Path) -> None:
    new, old = copies(tmp_path)
    write(tmp_path / "old/pack/deep.py", "more")
    assert not is_same_bot(new, old)
    write(tmp_path / "new/pack/deep.py", "more")
    assert is_same_bot(new, old)
    write(tmp_path / "old/first.py", "two")
    assert not is_same_bot(new, old)
    folders = [write(tmp_path / name / "bin/python", name).parent for name in ("new", "old")]
    runs = [BotSpec("bot", ("./python", "-m", "x"), folder) for folder in folders]
    assert not is_same_bot(*runs)  # another interpreter
    assert not is_same_bot(parse_bot("greedy"), parse_bot("counting"))
    assert not is_same_bot(parse_bot("greedy"), parse_bot("greedy --fast"))


def test_a_file_that_no_fingerprint_has_is_a_difference(tmp_path: Path) -> None:
    new, old = copies(tmp_path)
    write(tmp_path / "new/nets/weights.json", "new")
    assert same_program(new, old)
    assert difference_beside(new, old) == "nets/weights.json differs"  # one of them has none
    write(tmp_path / "old/nets/weights.json", "old")
    assert difference_beside(new, old) == "nets/weights.json differs"
    named = [attrs.evolve(spec, fingerprint=("**/*.py",)) for spec in (new, old)]
    assert difference_beside(*named) == "nets/weights.json differs"  # whatever the organiser named
    write(tmp_path / "old/nets/weights.json", "new")
    assert is_same_bot(new, old)


def test_a_file_in_the_folder_in_which_a_bot_is_started_is_a_difference(tmp_path: Path) -> None:
    script = write(tmp_path / "bot/mybot.py")
    for name in ("new", "old"):
        write(tmp_path / name / "weights.json", name)
    new, old = (BotSpec(name, (sys.executable, str(script)), tmp_path / name) for name in ("new", "old"))
    assert difference_beside(new, old) == "weights.json differs"
    assert is_same_bot(new, attrs.evolve(old, cwd=new.cwd))


def test_a_folder_that_only_one_of_them_finds_is_a_difference(tmp_path: Path) -> None:
    for name in ("new", "old"):
        write(tmp_path / name / "bot/mybot.py")
    write(tmp_path / "new/nets/weights.json")
    command = (sys.executable, "mybot.py", "../nets")
    new, old = (BotSpec(name, command, tmp_path / name / "bot") for name in ("new", "old"))
    assert same_program(new, old)
    for one, two in ((new, old), (old, new)):
        assert difference_beside(one, two) == f"only one of them has {tmp_path / 'new/nets'}"
    write(tmp_path / "old/nets/weights.json")
    assert is_same_bot(new, old)


def test_what_differs_in_every_copy_and_what_is_for_people_is_no_difference(tmp_path: Path) -> None:
    new, old = copies(tmp_path)
    for name in (".git/HEAD", "__pycache__/mybot.pyc", "README.md"):
        write(tmp_path / "new" / name)
    write(tmp_path / "old/test.jsonl", '{"type":"tournament","v":1}\n')
    assert is_same_bot(new, old)


def test_links_are_where_they_lead_to(tmp_path: Path) -> None:
    new, old = copies(tmp_path)
    write(tmp_path / "shared/weights.json")
    for name in ("new", "old"):
        os.symlink("../shared", tmp_path / name / "outside")
        os.symlink(".", tmp_path / name / "inside")
        os.symlink("../shared/weights.json", tmp_path / name / "weights.json")
    assert is_same_bot(new, old)
    write(tmp_path / "new/local/weights.json")
    write(tmp_path / "old/local/weights.json")
    os.unlink(tmp_path / "old/outside")
    os.symlink("local", tmp_path / "old/outside")
    assert difference_beside(new, old) == "outside differs"


def test_what_cannot_be_read_is_a_difference(tmp_path: Path) -> None:
    new, old = copies(tmp_path)
    for name in ("new", "old"):
        os.symlink("nowhere", tmp_path / name / "broken")
    assert difference_beside(new, old) == "broken differs"
    os.unlink(tmp_path / "new/broken")
    os.unlink(tmp_path / "old/broken")
    os.mkfifo(tmp_path / "new/pipe")
    os.mkfifo(tmp_path / "old/pipe")
    assert difference_beside(new, old) == "pipe differs"


def test_a_folder_that_is_too_large_is_not_compared(tmp_path: Path) -> None:
    new, old = copies(tmp_path)
    crowded = attrs.evolve(old, cwd=Path("/tmp"), command=(sys.executable, str(tmp_path / "old/first.py"), "--deep"))
    assert difference_beside(new, crowded) == "what lies in /tmp was not compared: it is not the folder of one bot"
    for name in ("new", "old"):
        (tmp_path / name / "giant.bin").touch()
        os.truncate(tmp_path / name / "giant.bin", 1 << 40)
    assert difference_beside(new, old) == f"what lies in {tmp_path / 'new'} was not compared: it has more than 256 MB"
    for name in ("new", "old"):
        (tmp_path / name / "giant.bin").unlink()
    for number in range(5001):
        (tmp_path / "old" / f"{number}.dat").touch()
    assert (
        difference_beside(new, old) == f"what lies in {tmp_path / 'old'} was not compared: it has more than 5000 files"
    )

"""What belongs to a bot, as far as its command says: real files, changed in every way."""

import hashlib
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest

from arena.journal.identity import changes
from arena.plan.bot_spec import BotSpec, is_crowded, parse_bot
from arena.processes.fingerprint import fingerprint_of
from arena.processes.same_program import same_program
from tests.helpers.commands import arena

PACK = {"pack/main.py", "pack/__init__.py"}


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def bot(folder: Path, *command: str, patterns: Sequence[str] | None = None) -> BotSpec:
    return BotSpec("bot", command, folder, fingerprint=None if patterns is None else tuple(patterns))


def write(path: Path, text: str = "one") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def files_of(spec: BotSpec) -> set[str]:
    return set(fingerprint_of(spec).files)


def test_the_program_and_the_script_are_hashed(tmp_path: Path) -> None:
    write(tmp_path / "mybot.py")
    found = fingerprint_of(bot(tmp_path, sys.executable, "mybot.py", "--depth", "3"))
    assert found.command == (sys.executable, "mybot.py", "--depth", "3")
    assert found.files == {
        "mybot.py": sha("one"),
        sys.executable: hashlib.sha256(Path(sys.executable).read_bytes()).hexdigest(),
    }


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (("./bin/mybot", "-x"), {"./bin/mybot"}),
        (("sh", "-c", "cd . && exec ./bin/mybot; true"), {"./bin/mybot"}),
        (("sh", "-c", "cd bin && exec python3 -u ./mybot"), {"bin/./mybot"}),
        (("sh", "-c", "cd bin && cd .. && exec bin/mybot"), {"bin/mybot"}),
        (("bash", "-c", "python3 mybot.py --net=net.bin 2>/dev/null"), {"mybot.py", "net.bin", *PACK}),
        (("sh", "-c", "it's not closed"), set()),
        (("env", "A=1", "python3", "mybot.py"), {"mybot.py", *PACK}),
        (("python3", "mybot.py", "--net=net.bin"), {"mybot.py", "net.bin", *PACK}),
        (("python3", "-m", "pack.main"), PACK),
        (("python3", "pack"), PACK),
        (("java", "-cp", "classes:lib/*", "Main"), {"classes/Main.class", "classes/inner/Other.class", "lib/x.jar"}),
        (("java", "-jar", "lib/x.jar"), {"lib/x.jar"}),
        (("python3", "mybot.py", "missing.py", "-", "", "\x00"), {"mybot.py", *PACK}),
        (("python3", "/dev/zero", "/dev/stdin"), set()),
    ],
)
def test_every_file_that_a_command_names_belongs_to_the_bot(
    tmp_path: Path, command: tuple[str, ...], named: set[str]
) -> None:
    names = ["bin/mybot", "mybot.py", "net.bin", "pack/main.py", "pack/__init__.py", "pack/log.txt", "lib/x.jar"]
    for name in (*names, "classes/Main.class", "classes/inner/Other.class", "classes/notes.md"):
        write(tmp_path / name)
    assert files_of(bot(tmp_path, *command)) - {"sh", "bash", "env", "python3", "java"} == named


def test_what_a_script_can_load_beside_and_below_it_belongs_to_the_bot(tmp_path: Path) -> None:
    names = ["bots/mybot.py", "bots/util.py", "bots/pack/deep/more.py"]
    others = ["bots/log.txt", "bots/.hidden.py", "bots/.venv/a.py", "bots/node_modules/b.py", "bots/__pycache__/c.py"]
    for name in (*names, *others, "bots/venv/lib/site-packages/d.py", "elsewhere.py"):
        write(tmp_path / name)
    spec = bot(tmp_path, sys.executable, "bots/mybot.py")
    assert files_of(spec) == {sys.executable, *names}
    assert fingerprint_of(spec).summary == "bots/mybot.py and 2 files"
    before = fingerprint_of(spec)
    write(tmp_path / "bots/pack/deep/more.py", "two")
    assert [text.partition(" (")[0] for text in changes(before, fingerprint_of(spec))] == [
        "bots/pack/deep/more.py is another file now"
    ]
    assert files_of(attrs.evolve(spec, command=(str(tmp_path / "bots/mybot.py"),))) == {
        str(tmp_path / name) for name in names
    }


@pytest.mark.parametrize("patterns", [(), ("bots/log.txt",)])
def test_the_option_says_what_belongs_to_a_script_instead(tmp_path: Path, patterns: Sequence[str]) -> None:
    for name in ("bots/mybot.py", "bots/util.py", "bots/log.txt"):
        write(tmp_path / name)
    spec = bot(tmp_path, sys.executable, "bots/mybot.py", patterns=patterns)
    assert files_of(spec) == {sys.executable, "bots/mybot.py", *patterns}


def test_a_script_in_a_folder_that_is_that_of_no_bot_counts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("mybot.py", "util.py"):
        write(tmp_path / name)
    assert files_of(bot(tmp_path, "./mybot.py")) == {"./mybot.py"}
    assert all(map(is_crowded, map(Path, ("/", "/tmp", "/home", "/usr/local/bin"))))


def test_a_script_behind_a_link_has_what_lies_beside_the_script(tmp_path: Path) -> None:
    for name in ("src/mybot.py", "src/util.py", "bin/other.py"):
        write(tmp_path / name)
    os.symlink("../src/mybot.py", tmp_path / "bin/run.py")
    os.symlink("src", tmp_path / "link")
    assert files_of(bot(tmp_path, "bin/run.py")) == {"bin/run.py", str(tmp_path / "src/util.py")}
    assert files_of(bot(tmp_path, "link/mybot.py")) == {"link/mybot.py", "link/util.py"}


def test_what_lies_beside_a_script_is_read_with_care(tmp_path: Path) -> None:
    write(tmp_path / "mybot.py")
    os.mkfifo(tmp_path / "fifo.py")
    os.symlink("nowhere", tmp_path / "broken.py")
    os.symlink(".", tmp_path / "loop")
    (tmp_path / "folder.py").mkdir()
    spec = bot(tmp_path, "./mybot.py")
    assert files_of(spec) == {"./mybot.py"}
    (tmp_path / "giant.py").touch()
    os.truncate(tmp_path / "giant.py", 1 << 40)
    found = fingerprint_of(spec)
    assert found.summary == (
        "./mybot.py (**/*.py: not read: it has more than 256 MB of code; name those of the bot by fingerprint)"
    )
    assert not same_program(spec, spec)  # nobody knows


def test_too_many_scripts_in_a_folder_are_not_read(tmp_path: Path) -> None:
    for number in range(1002):
        (tmp_path / f"{number}.py").touch()
    assert "it has more than 1000 files of code" in fingerprint_of(bot(tmp_path, "./7.py")).files["**/*.py"]


def test_many_scripts_are_one_entry_with_their_number(tmp_path: Path) -> None:
    for number in range(50):
        write(tmp_path / f"bots/{number}.py", str(number))
    spec = bot(tmp_path, "./bots/7.py")
    before = fingerprint_of(spec)
    assert set(before.files) == {"./bots/7.py", "bots/**/*.py"}
    assert before.summary == "./bots/7.py and 49 files"
    (tmp_path / "bots/8.py").unlink()
    (text,) = changes(before, fingerprint_of(spec))
    assert re.fullmatch(r"bots/\*\*/\*\.py are other files now \(48 files, \w{8}, before 49 files, \w{8}\)", text)


def test_patterns_add_files(tmp_path: Path) -> None:
    for name in ("mybot.py", "util.py", "deep/er/more.py", "net.bin", "log.txt"):
        write(tmp_path / name)
    spec = bot(tmp_path, "./mybot.py", patterns=("*.py", "net.bin"))
    assert files_of(spec) == {"./mybot.py", "mybot.py", "util.py", "net.bin"}
    before = fingerprint_of(spec)
    write(tmp_path / "util.py", "two")
    write(tmp_path / "new.py")
    (tmp_path / "net.bin").unlink()
    assert list(changes(before, fingerprint_of(spec))) == [
        "net.bin belonged to it before, but does not now",
        "new.py belongs to it now, but did not before",
        f"util.py is another file now ({sha('two')[:8]}, before {sha('one')[:8]})",
    ]
    assert "deep/er/more.py" in files_of(attrs.evolve(spec, fingerprint=("**/*.py",)))


def test_many_files_of_one_pattern_are_one_entry_that_still_notices_each(tmp_path: Path) -> None:
    for number in range(100):
        write(tmp_path / f"{number}.dat")
    spec = bot(tmp_path, "./mybot", patterns=("*.dat",))
    before = fingerprint_of(spec)
    assert set(before.files) == {"*.dat"}
    write(tmp_path / "77.dat", "two")
    assert fingerprint_of(spec) != before


def test_a_change_that_leaves_size_and_time_as_they_were_is_noticed(tmp_path: Path) -> None:
    script = write(tmp_path / "mybot.py", "one")
    spec = bot(tmp_path, "python3", "mybot.py")
    before, found = fingerprint_of(spec), script.stat()
    script.write_text("two")
    os.utime(script, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert fingerprint_of(spec) != before


def test_a_file_that_has_not_changed_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = write(tmp_path / "mybot.py")
    spec, soon, real = bot(tmp_path, "./mybot.py"), time.time() + 100, hashlib.sha256
    hashes: list[int] = []

    def counted() -> object:
        hashes.append(1)
        return real()

    monkeypatch.setattr("arena.processes.fingerprint.time.time", lambda: soon)  # as if it had been written long ago
    monkeypatch.setattr("arena.processes.fingerprint.hashlib.sha256", counted)
    before = fingerprint_of(spec)
    assert fingerprint_of(spec) == before
    assert len(hashes) == 1
    script.write_text("longer")
    assert fingerprint_of(spec) != before
    assert len(hashes) == 2


def test_a_bot_that_makes_a_fifo_or_a_giant_of_its_own_file_blocks_nothing(tmp_path: Path) -> None:
    script = tmp_path / "mybot.py"
    os.mkfifo(script)
    spec = bot(tmp_path, "./mybot.py", patterns=("mybot.*",))
    assert fingerprint_of(spec).files == {}
    script.unlink()
    script.touch()
    os.truncate(script, 1 << 40)
    assert fingerprint_of(spec).files["./mybot.py"].startswith("not read: it has 1099511627776 bytes")


@pytest.mark.extended
def test_a_folder_with_too_many_files_is_not_searched_to_its_end(tmp_path: Path) -> None:
    for number in range(5001):
        (tmp_path / f"{number}.txt").touch()
    too_many = "not read: it has more than 5000 files; name those of the bot by fingerprint"
    assert fingerprint_of(bot(tmp_path, "./bot", ".")).files == {".": too_many}
    write(tmp_path / "mybot.py")
    found = fingerprint_of(bot(tmp_path, "./mybot.py"))
    assert found.files == {"./mybot.py": sha("one"), "**/*.py": too_many}
    assert found.summary == f"./mybot.py (**/*.py: {too_many})"


def test_links_are_followed_and_names_that_are_not_utf8_are_escaped(tmp_path: Path) -> None:
    write(tmp_path / "real.py")
    strange = os.fsdecode(b"\xff\x1b.py")
    os.symlink("real.py", tmp_path / strange)
    assert fingerprint_of(bot(tmp_path, "./bot", strange)).files == {r"\udcff\x1b.py": sha("one")}


def test_a_bundled_bot_is_its_sources_whatever_python_runs_it() -> None:
    greedy, rival = fingerprint_of(parse_bot("greedy")), fingerprint_of(parse_bot("counting"))
    assert (greedy.command, rival.command) == (("greedy",), ("counting",))
    assert set(greedy.files) == {"greedy.py", "reading.py"}  # and what else it would import from beside it
    assert {"counting.py", "reading.py"} <= set(rival.files)
    assert "greedy.py" not in rival.files


def test_a_pattern_that_matches_nothing_for_any_bot_is_a_mistake(tmp_path: Path) -> None:
    write(tmp_path / "a.py", "#!/bin/sh\n").chmod(0o755)
    cup = write(
        tmp_path / "cup.toml",
        '[each]\nfingerprint = ["*.py"]\n[[bot]]\ncmd = "greedy"\n[[bot]]\ncmd = "./a.py"\nfingerprint = "net.bin"\n',
    )
    done = arena("run", cup)
    assert done.exit_code == 2
    assert f"cup.toml:5: fingerprint = 'net.bin', but no file in {tmp_path} matches it" in done.stderr
    for wrong in ("7", '[""]', "[7]"):
        cup.write_text(f'[[bot]]\ncmd = "greedy"\n[[bot]]\ncmd = "./a.py"\nfingerprint = {wrong}\n')
        assert arena("run", cup).exit_code == 2


def test_a_journal_and_what_lies_beside_it_belong_to_no_bot(tmp_path: Path) -> None:
    write(tmp_path / "mybot.py")
    for name in (
        "cup.secret",
        "cup.names",
        "cup.notes",
        "cup.faults/1.1-2.1-mine/rerun.sh",
        "cup.report/page.js",
        "other.secret",
    ):
        write(tmp_path / name)
    spec = bot(tmp_path, sys.executable, ".", patterns=["*", "**/*.js"])
    assert "cup.secret" in files_of(spec)  # nothing says that it belongs to a journal
    write(tmp_path / "cup.jsonl", '{"type":"tournament","v":1}\n')
    assert files_of(spec) == {sys.executable, "mybot.py", "other.secret"}


def test_a_resume_in_the_folder_of_a_bot_is_not_refused_because_of_the_journal(tmp_path: Path) -> None:
    write(tmp_path / "cup.toml", f'rounds = 2\n[each]\nfingerprint = ["*"]\n[[bot]]\ncmd = "{sys.executable} a.py"\n')
    with open(tmp_path / "cup.toml", "a") as file:
        file.write(f'[[bot]]\ncmd = "{sys.executable} b.py"\n')
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("import sys; sys.exit('no')")
    assert arena("run", tmp_path / "cup.toml", "--max-faults", "0").exit_code == 0
    lines = (tmp_path / "cup.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "cup.jsonl").write_bytes(b"".join(line for line in lines if b'"type":"reveal"' not in line)[:-1])
    done = arena("run", tmp_path / "cup.toml", "--max-faults", "0")
    assert "has changed" not in done.stderr

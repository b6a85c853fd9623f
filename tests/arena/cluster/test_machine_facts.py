"""What is compared of a machine, without any cluster."""

import os
import sys
import zlib
from pathlib import Path

import attrs
import msgspec
import pytest

from arena.cluster.comparison import differences
from arena.cluster.folder import FolderError, folder_of
from arena.cluster.machine_facts import MachineFacts, asked_about, facts_of
from arena.cluster.packed_folder import discard, packed, receive, unpacked_into
from arena.cluster.preparation import Terms
from arena.journal.identity import Fingerprint
from arena.plan.bot_spec import BotSpec, parse_bot
from arena.plan.config import from_command_line
from arena.plan.sandbox import Level, Sandbox
from arena.processes.fingerprint import fingerprint_of
from arena.worker.job import Relocation
from arena.worker.relocation import at_home, localized, portable


def facts(folder: Path, run: str) -> MachineFacts:
    return facts_of(asked_about(run, [BotSpec("mine", (str(folder / "bot"),))], Relocation(str(folder))))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "mine"
    (found / "data").mkdir(parents=True)
    (found / "bot").write_text("#!/bin/sh\n")
    (found / "bot").chmod(0o755)
    (found / "data/book").write_text("e4")
    return found


def test_the_digest_of_a_folder_sees_names_contents_and_modes_but_no_caches(folder: Path) -> None:
    before = facts(folder, "1")
    assert differences(before, facts(folder, "2")) == []
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/bot.pyc").write_bytes(b"x")
    assert differences(before, facts(folder, "3")) == []
    (folder / "data/book").chmod(0o755)
    (problem,) = differences(before, facts(folder, "4"))
    assert problem == (
        f"bot mine: {folder}/data/book is not the same as here; copy it there, or send it along with --ship"
    )
    (folder / "data/book").chmod(0o644)
    (folder / "data/book").write_text("d4")
    assert len(differences(before, facts(folder, "5"))) == 1
    (folder / "data/book").write_text("e4")
    (folder / "more").touch()
    assert f"{folder}/more is not the same" in differences(before, facts(folder, "6"))[0]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("arena", "9", "it has arena 9, here it is"),
        ("sources", "9", "was built from other sources; install the same there"),
        ("python", "2.7", "it runs Python 2.7, here it is"),
        ("kind", "compiled", "its arena is compiled, here it is pure Python; install both with the same"),
        ("packages", {"distributed": "1"}, "it has distributed 1, here it is"),
        ("sandbox", "no sandbox for mine: bubblewrap (bwrap) is not installed", "bubblewrap (bwrap) is not installed"),
    ],
)
def test_each_fact_is_compared(folder: Path, field: str, value: object, said: str) -> None:
    ours = msgspec.structs.replace(facts(folder, "1"), kind="pure Python")
    assert said in differences(ours, msgspec.structs.replace(ours, **{field: value}))[0]


def test_a_machine_is_told_no_values_of_environments() -> None:
    spec = BotSpec("mine", ("true",), env=(("API_KEY", "s3cret"), ("PATH", "/bin")))
    assert dict(asked_about("1", [spec], Relocation("/")).bots[0].env) == {"API_KEY": "", "PATH": "/bin"}


def test_the_folder_of_a_bot(folder: Path) -> None:
    def of(command: str, **options: str) -> Path | None:
        bot = from_command_line([command, "greedy"], (), options).bots[0]
        assert isinstance(bot, BotSpec)
        return folder_of(bot)

    script = folder / "data/bot.py"
    script.touch()
    assert of(f"{folder}/bot") == folder
    assert of(f"python3 {script}") == folder / "data"
    assert of("sh bot", dir=str(folder)) == folder
    assert folder_of(parse_bot("greedy")) is None
    assert folder_of(parse_bot("true")) is None
    assert folder_of(BotSpec("mine", ("sh", "/etc/hostname"))) == Path("/etc/hostname")  # many other files are there


@pytest.mark.parametrize("is_named_by_dir", [True, False])
def test_a_folder_that_is_not_there_is_not_called_different(folder: Path, is_named_by_dir: bool) -> None:
    (folder / "bot.py").touch()
    command, options = ("sh bot", {"dir": str(folder)}) if is_named_by_dir else (f"python3 {folder}/bot.py", {})
    bot = from_command_line([command, "greedy"], (), options).bots[0]
    assert isinstance(bot, BotSpec)

    def found(run: str) -> MachineFacts:
        return facts_of(asked_about(run, [bot], Relocation("/")))

    ours = found("1")
    folder.rename(folder.with_name("elsewhere"))
    what = f"folder {str(folder)!r}" if is_named_by_dir else str(folder)
    assert differences(ours, found("2")) == [
        f"bot {bot.name}: there is no {what}; copy it there to the same place, or send it along with --ship"
    ]


def test_a_bot_that_was_sent_along_is_started_where_it_is_now(folder: Path) -> None:
    spec = BotSpec("mine", ("python3", f"{folder}/bot", "--book", f"{folder}-2/book"), cwd=Path("data"))
    relocation = Relocation(str(folder), {"mine": (str(folder), "/there/0")})
    found = localized(portable(spec), relocation)
    assert found.command == ("python3", "/there/0/bot", "--book", f"{folder}-2/book")
    assert found.cwd == Path("/there/0/data")


def test_what_is_exposed_to_a_bot_is_expected_at_the_same_place(folder: Path) -> None:
    box = Sandbox(Level.FULL, expose=("../books", "/etc/passwd"))
    spec = BotSpec("mine", ("python3", "bot"), cwd=Path("mine"), sandbox=box)
    for folders in ({}, {"mine": (str(folder), "/there/0")}):
        found = localized(portable(spec), Relocation(str(folder.parent), folders))
        assert found.cwd is not None
        assert found.sandbox.exposed(found.cwd) == (str(folder.parent / "books"), "/etc/passwd")


def test_a_bot_that_was_sent_along_needs_no_folder_of_the_owner(folder: Path) -> None:
    """The place where the tournament is played need not exist on another machine."""
    spec = BotSpec("mine", ("python3", "mine/bot", f"--book={folder}/data/book", "fast"))
    relocation = Relocation(str(folder.parent), {"mine": (str(folder), "/there/0")})
    found = localized(portable(spec), relocation)
    assert found.command == ("python3", "/there/0/bot", "--book=/there/0/data/book", "fast")
    assert found.cwd == Path("/there/0")
    assert localized(portable(parse_bot("greedy")), Relocation("/nowhere")).cwd is None


def test_a_fingerprint_taken_elsewhere_is_that_of_the_owner(folder: Path, tmp_path: Path) -> None:
    """It names what the command of the owner names, and not where that was sent, or which interpreter is there."""
    spec = BotSpec("mine", ("python3", "mine/bot", f"--book={folder}/data/book"), cwd=tmp_path)
    (tmp_path / "there").mkdir()
    unpacked_into(tmp_path / "there/0", packed(folder))
    relocation = Relocation(str(tmp_path), {"mine": (str(folder), str(tmp_path / "there/0"))}, {"mine": "theirs"})
    found = at_home(fingerprint_of(localized(portable(spec), relocation)), portable(spec), relocation)
    ours = fingerprint_of(spec)
    assert found == Fingerprint(ours.command, ours.files | {"python3": "theirs"})
    script = attrs.evolve(spec, command=("python3", "mine/x.py", *spec.command[2:]))
    for place in (folder, tmp_path / "there/0"):
        for name in ("x.py", "util.py", "data/deep.py"):
            (place / name).write_text(name)
    found = at_home(fingerprint_of(localized(portable(script), relocation)), portable(script), relocation)
    assert {"mine/x.py", "mine/util.py", "mine/data/deep.py"} < found.files.keys()
    assert found.files == fingerprint_of(script).files | {"python3": "theirs"}
    (tmp_path / "there/0/bot").write_text("another one")
    changed = at_home(fingerprint_of(localized(portable(spec), relocation)), portable(spec), relocation)
    assert changed.files["mine/bot"] != ours.files["mine/bot"]


def test_a_program_found_by_path_is_compared(folder: Path) -> None:
    def of(path: Path, run: str) -> MachineFacts:
        return facts_of(
            asked_about(run, [BotSpec("mine", ("bot", "--x"), env=(("PATH", str(path)),))], Relocation("/"))
        )

    ours = of(folder, "1")
    assert differences(ours, of(folder, "2")) == []
    (folder / "bot").write_text("#!/bin/sh\nexit 1\n")
    assert differences(ours, of(folder, "3")) == ["bot mine: bot is not the same as here; install the same there"]
    assert differences(ours, of(folder / "data", "4")) == ["bot mine: there is no program 'bot'; install it there"]


def test_a_file_that_the_command_names_elsewhere_is_compared(folder: Path, tmp_path: Path) -> None:
    book = tmp_path / "elsewhere/book"
    book.parent.mkdir()
    book.write_text("e4")

    def of(run: str) -> MachineFacts:
        spec = BotSpec("mine", (sys.executable, f"{folder}/bot", f"--book={book}"))
        return facts_of(asked_about(run, [spec], Relocation("/")))

    ours = of("1")
    book.write_text("d4")
    assert differences(ours, of("2")) == [f"bot mine: {book} is not the same as here; install the same there"]
    book.unlink()
    assert differences(ours, of("3")) == [
        f"bot mine: there is no {book}, which its command names; copy it there to the same place"
    ]


def test_a_folder_that_is_not_there_is_named(folder: Path, tmp_path: Path) -> None:
    def of(run: str) -> MachineFacts:
        return facts_of(asked_about(run, [BotSpec("mine", ("python3", "mine/bot"))], Relocation(str(tmp_path))))

    ours = of("1")
    folder.rename(tmp_path / "other")
    assert differences(ours, of("2")) == [
        f"bot mine: there is no {folder}; copy it there to the same place, or send it along with --ship"
    ]


def test_an_interpreter_may_differ(folder: Path) -> None:
    ours = facts_of(asked_about("1", [BotSpec("mine", (sys.executable, f"{folder}/bot"))], Relocation("/")))
    assert ours.bots["mine"].interpreter
    other = msgspec.structs.replace(ours.bots["mine"], interpreter="other")
    assert differences(ours, msgspec.structs.replace(ours, bots={"mine": other})) == []


def test_a_bundled_bot_is_named_to_other_machines_and_found_there() -> None:
    spec = attrs.evolve(parse_bot("greedy"), name="g")
    assert portable(spec).command == ("greedy",)
    assert localized(portable(spec), Relocation("/")).command == spec.command


@pytest.mark.parametrize("path", [b"../escaped", b"/tmp/escaped", b"data/../../escaped"])
def test_a_parcel_never_leaves_its_folder(tmp_path: Path, path: bytes) -> None:
    data = zlib.compress(msgspec.msgpack.encode([[path, 0o644, b"x"]]))
    with pytest.raises(FolderError, match="is not a path inside a folder"):
        unpacked_into(tmp_path / "there", data)
    assert not list(tmp_path.rglob("escaped"))


def test_a_parcel_with_a_link_never_leaves_its_folder(tmp_path: Path) -> None:
    data = zlib.compress(msgspec.msgpack.encode([[b"link", 0, None, b"../outside"]]))
    with pytest.raises(FolderError, match="is not a path inside a folder"):
        unpacked_into(tmp_path / "there", data)


def test_links_inside_and_empty_folders_come_along(folder: Path, tmp_path: Path) -> None:
    (folder / "books").symlink_to("data")
    (folder / "data/first").symlink_to(folder / "data/book")  # absolute, but inside
    (folder / "logs/old").mkdir(parents=True)
    there = tmp_path / "there"
    unpacked_into(there, packed(folder))
    assert (there / "books").readlink() == Path("data")
    assert (there / "data/first").readlink() == Path("book")
    assert (there / "books/first").read_text() == "e4"
    assert (there / "logs/old").is_dir()


def test_links_and_empty_folders_are_compared(folder: Path) -> None:
    before = facts(folder, "1")
    (folder / "books").symlink_to("data")
    linked = facts(folder, "2")
    assert f"{folder}/books is not the same as here" in differences(before, linked)[0]
    (folder / "logs").mkdir()
    assert f"{folder}/logs is not the same as here" in differences(linked, facts(folder, "3"))[0]
    (folder / "logs").rmdir()
    (folder / "cache/__pycache__").mkdir(parents=True)  # caches do not count, nor does what holds nothing else
    assert differences(linked, facts(folder, "4")) == []


def test_a_link_to_what_lies_elsewhere_is_compared(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    book = tmp_path / "elsewhere/book"
    book.touch()
    before = facts(folder, "1")
    (folder / "books").symlink_to(book.parent)
    linked = facts(folder, "2")
    assert f"{folder}/books is not the same as here" in differences(before, linked)[0]
    (folder / "book").symlink_to(book)
    file = facts(folder, "3")
    assert f"{folder}/book is not the same as here" in differences(linked, file)[0]
    book.write_text("d4")
    assert len(differences(file, facts(folder, "4"))) == 1


def test_what_is_neither_a_file_nor_a_folder_is_not_compared(folder: Path) -> None:
    before = facts(folder, "1")
    os.mkfifo(folder / "fifo")
    (folder / "link").symlink_to(folder / "fifo")
    (folder / "endless").symlink_to("/dev/zero")
    (folder / "nowhere").symlink_to("/nowhere")
    (folder / "loop").symlink_to("loop")
    assert differences(before, facts(folder, "2")) == []


def test_a_parcel_that_could_not_be_unpacked_is_received_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    with pytest.raises(zlib.error):
        receive("run", [packed(folder), b"cut off"])
    assert not list((tmp_path / "temp").iterdir())
    root = Path(receive("run", [packed(folder), packed(folder)]))
    assert (root / "1/data/book").read_text() == "e4"
    discard("run")


def test_what_was_received_is_discarded(folder: Path) -> None:
    root = Path(receive("run", [packed(folder)]))
    assert (root / "0/data/book").read_text() == "e4"
    assert receive("run", [b"not read again"]) == str(root)
    discard("run")
    assert not root.exists()
    discard("run")


def test_terms_say_where_sent_bots_are(folder: Path) -> None:
    terms = Terms.of([parse_bot("greedy"), BotSpec("mine", (str(folder / "bot"),))], None, ship=True)
    assert terms.relocation("/there").folders == {"mine": (str(folder), "/there/0")}


def test_the_files_of_a_tournament_are_neither_compared_nor_sent(folder: Path, tmp_path: Path) -> None:
    """The tournament may be played in the folder of a bot: its journal grows, and its secret stays here."""
    bots, journal = [BotSpec("mine", (str(folder / "bot"),))], folder / "cup.jsonl"
    before = Terms.of(bots, journal, ship=True)
    for name in ("cup.jsonl", "cup.secret", "cup.secret.1", "cup.faults/1/bundle.json", "cup.stderr/1-mine.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    facts_of.cache_clear()
    after = Terms.of(bots, journal, ship=True)
    assert differences(before.ours, after.ours) == []
    unpacked_into(tmp_path / "there", after.shipped[0][2])
    assert {path.name for path in (tmp_path / "there").rglob("*")} == {"bot", "data", "book"}

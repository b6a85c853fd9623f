"""What of a bot's folder is sent to other machines: never what lies elsewhere."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.cluster.folder import FolderError, entries_of
from arena.cluster.packed_folder import packed, unpacked_into

SECRET = "the organiser's private key"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A file of the organiser."""
    found = tmp_path / "home/id_ed25519"
    found.parent.mkdir()
    found.write_text(SECRET)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "mybot"
    (found / "data").mkdir(parents=True)
    (found / "bot").write_text("#!/bin/sh\n")
    (found / "data/book").write_text("e4")
    return found


def _to_a_file(folder: Path, key: Path) -> None:
    (folder / "leak").symlink_to(key)


def _relative(folder: Path, key: Path) -> None:
    (folder / "leak").symlink_to(os.path.relpath(key, folder))


def _to_a_folder(folder: Path, key: Path) -> None:
    (folder / "leak").symlink_to(key.parent)


def _through_a_link_to_a_folder(folder: Path, key: Path) -> None:
    (folder / ".git").symlink_to(key.parent)  # which itself is skipped, as a cache
    (folder / "leak").symlink_to(f".git/{key.name}")


def _chain(folder: Path, key: Path) -> None:
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/second").symlink_to(key)
    (folder / "leak").symlink_to("__pycache__/second")


def _into_the_folder_and_out_again(folder: Path, key: Path) -> None:
    (folder / "leak").symlink_to(folder / "data/../.." / key.relative_to(folder.parent))


def _to_what_may_come(folder: Path, key: Path) -> None:
    (folder / "leak").symlink_to(key)
    key.unlink()


ATTACKS = [
    _to_a_file, _relative, _to_a_folder, _through_a_link_to_a_folder, _chain, _into_the_folder_and_out_again,
    _to_what_may_come,
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_link_that_leaves_the_folder_is_refused(
    folder: Path, key: Path, attack: Callable[[Path, Path], None]
) -> None:
    attack(folder, key)
    kind, target = ("folder", key.parent) if attack is _to_a_folder else ("file", key)
    with pytest.raises(FolderError) as error:
        packed(folder)
    said = f"{folder}/leak -> {target}: this link leaves the bot's folder; copy the {kind} into it"
    assert str(error.value) == said


def test_the_sentence_has_no_control_characters(folder: Path, key: Path) -> None:
    (folder / "a\x1b[2J").symlink_to(key)
    with pytest.raises(FolderError, match=r"mybot/a\\x1b\[2J -> "):
        packed(folder)


def test_a_bot_that_is_a_single_file_is_no_link(key: Path, tmp_path: Path) -> None:
    """Its folder, such as the user's home, is not that of the bot."""
    (tmp_path / "bot").symlink_to(key)
    with pytest.raises(FolderError, match=f"{tmp_path}/bot -> {key}: this link leaves the bot's folder"):
        packed(tmp_path / "bot")


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as found:
        found.bind(str(path))


@pytest.mark.parametrize(("make", "kind"), [(_fifo, "a FIFO"), (_socket, "a socket")])
def test_what_is_neither_a_file_nor_a_folder_is_refused(
    folder: Path, make: Callable[[Path], None], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)  # the name of a socket is limited to 107 bytes
    make(Path("strange"))
    with pytest.raises(FolderError) as error:
        packed(folder)
    assert str(error.value) == f"{folder}/strange: this is {kind}, and only files can be sent; remove it"


def test_a_link_that_leads_to_itself_is_not_sent(folder: Path, tmp_path: Path) -> None:
    (folder / "loop").symlink_to("loop")
    unpacked_into(tmp_path / "there", packed(folder))
    assert {path.name for path in (tmp_path / "there").rglob("*")} == {"bot", "data", "book"}


def test_a_folder_that_is_too_deep_is_refused(folder: Path) -> None:
    (folder / "/".join(["a"] * 101)).mkdir(parents=True)
    with pytest.raises(FolderError, match="mybot has more than 100 folders in each other"):
        packed(folder)


# A bot may change its folder while it is read.


def test_a_file_that_becomes_a_link_while_the_folder_is_read_is_not_followed(folder: Path, key: Path) -> None:
    for found in entries_of(folder):
        found.path.unlink()
        found.path.symlink_to(key)
        with pytest.raises(FolderError, match=r"this cannot be read \(Too many levels of symbolic links\)"):
            found.opened()


def test_a_file_that_becomes_a_fifo_while_the_folder_is_read_does_not_block(folder: Path) -> None:
    for found in entries_of(folder):
        found.path.unlink()
        os.mkfifo(found.path)
        with pytest.raises(FolderError, match="this changed while it was read"):
            found.opened()


def test_a_folder_that_becomes_a_link_while_the_folder_is_read_is_not_entered(folder: Path, key: Path) -> None:
    (key.parent / "book").write_text(SECRET)
    found = entries_of(folder)
    assert next(found).path == folder / "bot"
    (folder / "data").rename(folder.parent / "elsewhere")
    (folder / "data").symlink_to(key.parent)
    assert list(found) == []


def test_a_folder_that_becomes_a_link_after_it_was_entered_stays_the_same_folder(folder: Path, key: Path) -> None:
    (key.parent / "book").write_text(SECRET)
    for found in entries_of(folder):
        if found.path == folder / "data/book":
            (folder / "data").rename(folder.parent / "elsewhere")
            (folder / "data").symlink_to(key.parent)
            with found.opened() as file:
                assert file.read() == b"e4"

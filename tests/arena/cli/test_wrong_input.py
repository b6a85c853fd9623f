"""Wrong input to any command: one sentence, and the exit status of a wrong call."""

import bz2
import codecs
import gzip
import lzma
from pathlib import Path

import pytest

from arena.journal.file import OPENING
from tests.helpers.commands import arena
from tests.helpers.raw_journals import readers
from tests.helpers.tournaments import steady

TEXT, BINARY, JSON = b"hello\nworld\n", bytes(range(256)) * 4, b'{"a": 1}\n'


@pytest.mark.parametrize(
    ("content", "what"), [(TEXT, "a text"), (BINARY, "a binary file"), (JSON, "another kind of JSON")]
)
@pytest.mark.parametrize(
    "words",
    [
        ["table"],
        ["table", "-", "--sprt"],
        ["table", "-", "--by", "host"],
        ["verify"],
        ["report"],
        ["replay"],
        ["replay", "-", "1.1-2.1"],
        ["regress", "-", "random"],
        ["play", "greedy"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_not_a_journal_is_said_to_be_what_it_is(
    words: list[str], content: bytes, what: str, tmp_path: Path
) -> None:
    path = tmp_path / "notes"
    path.write_bytes(content)
    command, *more = words
    arguments = [*more, "random", "--journal", str(path)] if command == "play" else [str(path), *more[1:]]
    done = arena(command, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    expected = "expected a file such as cup.jsonl, which `arena run` writes"
    assert done.stderr.startswith(f"Error: {path}: this is not a journal, but {what}; {expected}")
    assert done.stderr.count("\n") == 1
    assert path.read_bytes() == content


EMPTY = "the journal is empty: nothing was played yet"
MARK = "this file begins with a byte-order mark, which no journal has; save it as UTF-8 without one"


def packed(kind: str, remedy: str) -> str:
    return f"this file is compressed with {kind}; unpack it first, with {remedy}"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", EMPTY),
        (gzip.compress(BINARY), packed("gzip", "gunzip")),
        (lzma.compress(BINARY), packed("xz", "unxz")),
        (bz2.compress(BINARY), packed("bzip2", "bunzip2")),
        (b"\x28\xb5\x2f\xfd" + BINARY, packed("zstd", "unzstd")),
        (codecs.BOM_UTF8 + b'{"type":"tournament"}\n', MARK),
        ('{"type":"tournament"}\n'.encode("utf-16"), MARK),
    ],
    ids=["empty", "gzip", "xz", "bzip2", "zstd", "mark", "utf-16"],
)
def test_all_commands_say_the_same_of_a_file_whose_lines_need_no_look(
    content: bytes, what: str, tmp_path: Path
) -> None:
    path = tmp_path / "cup.jsonl"
    path.write_bytes(content)
    for words in readers(path, tmp_path).values():
        done = arena(*words)
        assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"Error: {path}: {what}\n")
    (tmp_path / "text").write_bytes(OPENING)
    among_others = arena("verify", tmp_path / "text", path)
    assert f"{path}:1: {what}\n" in among_others.stdout
    assert among_others.exit_code == 1


def test_what_a_call_cannot_have_meant_is_refused_with_the_status_2(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    cup = ["play", steady("a"), steady("b"), "--journal", str(tmp_path / "cup.jsonl")]
    assert arena(*cup, "--rounds", "1").exit_code == 0
    for words, sentence in [
        (["new-bot", "cobol", str(tmp_path / "bot")], "there is no starter in 'cobol'; there are: python, "),
        (["new-bot", "c", str(tmp_path / "full")], "is not empty; nothing was changed"),
        ([*cup, "--rounds", "3"], "is the journal of another tournament:"),
        (["replay", str(tmp_path / "cup.jsonl"), "9"], "no round is called '9'"),
        (["watch", "nowhere"], "'nowhere' is not an address; it looks like "),
    ]:
        done = arena(*words)
        assert done.exit_code == 2, done.output
        assert sentence in done.stderr

"""Wrong input to any command: one sentence, and the exit status of a wrong call."""

from pathlib import Path

import pytest

from tests.helpers.commands import arena
from tests.helpers.tournaments import steady

TEXT, BINARY, JSON = b"hello\nworld\n", bytes(range(256)) * 4, b'{"a": 1}\n'


@pytest.mark.parametrize(
    ("content", "what"), [(TEXT, "a text"), (BINARY, "a binary file"), (JSON, "another kind of JSON")]
)
@pytest.mark.parametrize(
    "words",
    [["table"], ["report"], ["replay"], ["replay", "-", "1.1-2.1"], ["regress", "-", "random"], ["play", "greedy"]],
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

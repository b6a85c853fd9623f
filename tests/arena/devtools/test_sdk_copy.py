"""The copy of the SDK judges every line as the arena's own decoder does. tests/protocol/test_bot.py plays with it."""

import copy
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given

from arena.devtools.sdk_copy import PACKAGE, sdk_files
from protocol import messages
from protocol.messages import BotMessage, Message, ServerHello
from tests.helpers.sdk import write_sdk
from tests.helpers.wire import CLASSES, EXAMPLES
from tests.helpers.wire import messages as any_message


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("sdk")
    write_sdk(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module(f"{PACKAGE}.messages")


def verdict(module: ModuleType, line: bytes, from_bot: bool) -> str:
    """The line that the decoded message would be, or the code of the error."""
    errors = importlib.import_module(f"{module.__package__}.errors")
    try:
        message = (module.decode_from_bot if from_bot else module.decode_from_server)(line)
    except errors.RemoteProtocolError as error:
        return str(error.code)
    return str(module.encode(message).decode())


@given(any_message)
def test_what_can_be_said_is_decoded_and_encoded_alike(copied: ModuleType, message: Message) -> None:
    line = messages.encode(message)
    assert verdict(copied, line.rstrip(b"\n"), isinstance(message, BotMessage)) == line.decode()


STRANGE: tuple[Any, ...] = (None, True, 0, -1, 1.0, 1.5, 2**53, 2**70, "", "x", "a\nb", "you", [], ["x"], {}, {"x": 1})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something can be put in the place of something else: every value in the value."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(inside)[:12]:
        yield from places(inner, (*path, key))


def spoiled(message: Any) -> Iterator[Any]:
    for path in places(message):
        for strange in STRANGE:
            yield changed(message, path, lambda place, key, strange=strange: place.__setitem__(key, strange))
        if path:
            yield changed(message, path, lambda place, key: place.__delitem__(key))


def changed(message: Any, path: tuple[Any, ...], change: Any) -> Any:
    whole = [copy.deepcopy(message)]
    place: Any = whole
    for key in (0, *path)[:-1]:
        place = place[key]
    change(place, (0, *path)[-1])
    return whole[0]


@pytest.mark.parametrize("kind", CLASSES)
def test_what_is_wrong_is_refused_alike(copied: ModuleType, kind: type[Message]) -> None:
    from_bot = issubclass(kind, BotMessage)
    whole = json.loads(messages.encode(EXAMPLES[kind]))
    lines = [json.dumps(each).encode() for each in spoiled(whole)]
    assert len(lines) > 40
    for line in lines:
        assert verdict(copied, line, from_bot) == verdict(messages, line, from_bot), line


HELLO = messages.encode(EXAMPLES[ServerHello]).rstrip()
DEEP = HELLO.replace(b"}", b',"new":' + b"[" * 100_000)


@pytest.mark.parametrize(
    "line",
    [b"", b" ", b"hello", b"{", b"\xff", b'"\xed\xa0\x80"', DEEP, b"NaN", b'{"type":NaN}', HELLO + b" {}", b"01"],
)
def test_what_is_no_json_is_refused_alike(copied: ModuleType, line: bytes) -> None:
    assert verdict(copied, line, from_bot=False) == verdict(messages, line, from_bot=False)


def test_the_copy_names_neither_our_packages_nor_msgspec() -> None:
    """So it neither needs them nor is in the way of an author who has packages of those names."""
    for file, text in sdk_files().items():
        for name in ("protocol", "engine", "arena", "example_bots", "msgspec"):
            assert f"import {name}\n" not in text.replace(f"from {PACKAGE} import {name}", ""), file
            assert f"from {name}" not in text, file


def test_an_old_python_is_told_which_one_is_needed(tmp_path: Path) -> None:
    write_sdk(tmp_path)
    code = f"import sys; sys.version_info, sys.version = (3, 10, 13), '3.10.13 (main)'; import {PACKAGE}"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "schotten_sdk needs Python 3.11 or newer; this is 3.10.13\n")


@pytest.mark.extended
def test_the_copy_is_typed(tmp_path: Path) -> None:
    """An author who checks types gets them from the copy."""
    write_sdk(tmp_path)
    (tmp_path / "typed.py").write_text(
        f"from {PACKAGE} import Request, run\n\n\ndef choose(request: Request) -> str:\n"
        "    reveal_type(request.state.stones[0].yours)\n    return request.legal[0]\n\n\nrun(choose)\n"
    )
    words = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", str(tmp_path), "typed.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert 'Revealed type is "tuple[str, ...]"' in done.stdout.replace("builtins.", ""), done.stdout + done.stderr
    assert "Success" in done.stdout, done.stdout

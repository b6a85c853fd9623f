"""The SDK as `arena new-bot python` writes it."""

from pathlib import Path

from arena.devtools.sdk_copy import sdk_files


def write_sdk(folder: Path) -> None:
    for file, text in sdk_files().items():
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")

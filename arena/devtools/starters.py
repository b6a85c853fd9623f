"""The smallest bot in many languages, to start one's own from: `arena new-bot`."""

import shutil
from importlib import resources
from pathlib import Path
from typing import Final

import attrs

from arena.support.suggestion import did_you_mean


class StarterError(Exception):
    """There is no such starter, or no place for it."""


@attrs.frozen
class Starter:
    file: str
    run: str
    needs: str  # the program that has to be there
    build: str | None = None

    def text(self) -> str:
        return (resources.files("example_bots") / self.file).read_text(encoding="utf-8")


STARTERS: Final = {
    "python": Starter("random_bot.py", "python3 random_bot.py", "python3"),
    "javascript": Starter("random_bot.js", "node random_bot.js", "node"),
    "c": Starter("random_bot.c", "./random_bot_c", "cc", "cc -O2 -Wall -Wextra -o random_bot_c random_bot.c"),
    "c++": Starter(
        "random_bot.cpp",
        "./random_bot_cpp",
        "c++",
        "c++ -std=c++17 -O2 -Wall -Wextra -o random_bot_cpp random_bot.cpp",
    ),
    "java": Starter("RandomBot.java", "java -cp . RandomBot", "javac", "javac RandomBot.java"),
    "rust": Starter("random_bot.rs", "./random_bot_rust", "rustc", "rustc -O -o random_bot_rust random_bot.rs"),
    "go": Starter("random_bot.go", "./random_bot_go", "go", "go build -o random_bot_go random_bot.go"),
    "bash": Starter("random_bot.sh", "bash random_bot.sh", "bash"),
}


def create(language: str, folder: Path) -> str:
    """Copies the starter into the folder, and tells what to do next."""
    starter = STARTERS.get(language)
    if starter is None:
        known = ", ".join(STARTERS) + did_you_mean(language, STARTERS)
        raise StarterError(f"there is no starter in {language!r}; there are: {known}")
    path = folder / starter.file
    if path.exists():
        raise StarterError(f"{path} is there already; nothing was changed")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(starter.text(), encoding="utf-8")
    except OSError as error:
        raise StarterError(f"cannot write {path}: {error.strerror}") from error
    return "\n".join(_next_steps(starter, folder, path))


def _next_steps(starter: Starter, folder: Path, path: Path) -> list[str]:
    lines = [f"Created {path}. Next:", f"  cd {folder}"]
    if starter.build:
        lines.append(f"  {starter.build}")
    lines.append(f'  arena check "{starter.run}"')
    if not shutil.which(starter.needs):
        lines.append(f"It needs {starter.needs}, which is not on this machine.")
    return lines

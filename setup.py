"""Builds the project with setuptools; pyproject.toml has all that does not depend on ARENA_COMPILED.

With ARENA_COMPILED=1 in the environment, mypyc compiles the modules of COMPILED. Their sources are installed too, for
tracebacks and for interpreters that the build does not fit.

pip imports this file and asks what a build needs; setuptools then runs it as a script.
"""

import ast
import os
import sys
import tomllib
from functools import cache
from importlib.util import source_hash
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from setuptools import setup
from setuptools.build_meta import (  # noqa: F401
    build_editable,
    build_sdist,
    build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)
from setuptools.command.build_ext import build_ext

# The way of a decision, as far as it is pure. All modules of one package become one library.
COMPILED: Final = (
    "arena/match/match_messages.py",
    "arena/match/referee.py",
    "arena/match/request_fields.py",
    "arena/plan/round_clock.py",
    "arena/match/round_play.py",
    "arena/match/translate.py",
    "engine/actions.py",
    "engine/arguments.py",
    "engine/cards.py",
    "engine/deal.py",
    "engine/formations.py",
    "engine/game.py",
    "engine/legality.py",
    "engine/position.py",
    "engine/proof.py",
    "engine/record.py",
    "engine/ruleset.py",
    "engine/sampling.py",
    "engine/scoring.py",
    "engine/table.py",
    "protocol/framing.py",
    "protocol/session.py",
)
VARIABLE: Final = "ARENA_COMPILED"


def is_wanted() -> bool:
    chosen = os.environ.get(VARIABLE, "")
    if chosen not in ("", "0", "1"):
        sys.exit(f"{VARIABLE} is {chosen!r}; it has to be 1 for a compiled build, or 0 or unset for pure Python")
    return chosen == "1"


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:  # noqa: ARG001
    """What a build needs besides setuptools. mypyc follows imports, so it needs our dependencies as well."""
    if not is_wanted():
        return []
    dependencies: list[str] = tomllib.loads(Path("pyproject.toml").read_text())["project"]["dependencies"]
    return ["mypy>=2.4", *dependencies]


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel


def extensions() -> list[Any]:
    try:
        from mypyc.build import mypycify
    except ImportError:
        sys.exit(f"{VARIABLE}=1 needs mypyc, which is a part of mypy: pip install 'mypy>=2.4'")
    record()
    packages = groupby(COMPILED, key=lambda path: path.partition("/")[0])
    groups: list[tuple[list[str], str | None]] = [(list(paths), f"{package}.compiled") for package, paths in packages]
    return mypycify(["--cache-dir=build/mypyc_cache", *COMPILED], separate=groups)


def sources() -> list[str]:
    """The compiled modules and all of ours that they import: mypyc copies constants from one module into another."""
    found = list(COMPILED)
    for path in found:  # which grows
        for node in ast.walk(ast.parse(Path(path).read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
                imported = (f"{name.replace('.', '/')}.py" for name in names)
                found += [each for each in imported if each not in found and Path(each).exists()]
    return found


@cache
def record() -> str:
    """A line for each source. The first call precedes the compilation, so that a source edited meanwhile is noticed."""
    return "".join(f"{source_hash(Path(path).read_bytes()).hex()} {path}\n" for path in sources())


class RecordedBuild(build_ext):
    """Writes the record into the package, for arena/support/compilation.py."""

    def run(self) -> None:
        super().run()
        Path(self.get_ext_fullpath("arena.support.any")).with_name("compiled_from.txt").write_text(record())


if __name__ == "__main__":
    if is_wanted():
        setup(ext_modules=extensions(), cmdclass={"build_ext": RecordedBuild})
    else:
        setup()

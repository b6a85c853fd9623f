"""The attempts as one file, which any Python 3.9 runs: inside a sandbox, nothing else of the arena can be seen."""

from __future__ import annotations

import zipfile
from importlib import resources
from pathlib import Path

_PACKAGES = ("arena", "arena.devtools", "arena.devtools.escapes")
_MAIN = "from arena.devtools.escapes.run import main\n\nmain()\n"


def write_packed(path: Path) -> None:
    """Write the program to `path`. A program that has `path` in sys.path can also import the modules."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("__main__.py", _MAIN)
        for package in _PACKAGES:
            file.writestr(f"{package.replace('.', '/')}/__init__.py", "")
        for module in resources.files(_PACKAGES[-1]).iterdir():
            if module.name.endswith(".py") and module.name not in ("__init__.py", Path(__file__).name):
                file.writestr(f"{_PACKAGES[-1].replace('.', '/')}/{module.name}", module.read_text(encoding="utf-8"))

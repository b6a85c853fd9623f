"""The SDK as a package of its own, for an author's folder: the modules of `protocol` that a bot needs, under another
name, with plain Python in place of msgspec. So authors install nothing, and there is only one SDK to maintain."""

import re
from importlib import resources
from typing import Final

from arena.support.version import SERVER

PACKAGE: Final = "schotten_sdk"
# What protocol.bot_runner imports, directly or not.
_MODULES: Final = (
    "backoff", "bot", "bot_runner", "decoding", "errors", "fairness", "framing", "messages", "names", "session",
)  # fmt: skip
_MENTION: Final = re.compile(rf"\bprotocol\.({'|'.join(_MODULES)})\b")
_HEADER: Final = f"# Part of {SERVER}. SPDX-License-Identifier: MIT. Copyright (c) The schotten-arena authors.\n"

_INIT: Final = f'''\
"""The SDK for Schotten Totten bots. It needs Python 3.11 or newer and nothing else.

    from {PACKAGE} import Request, run

    def choose(request: Request) -> str:
        return request.legal[0]

    run(choose, name="first")

`arena new-bot` wrote this folder; a newer arena writes a newer one. `help({PACKAGE}.run)` explains the options.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit("schotten_sdk needs Python 3.11 or newer; this is " + sys.version.split()[0])

from {PACKAGE}.bot_runner import run
from {PACKAGE}.messages import GameState, MatchEnd, MatchStart, Request, RoundEnd, RoundStart, StoneState

__all__ = ["GameState", "MatchEnd", "MatchStart", "Request", "RoundEnd", "RoundStart", "StoneState", "run"]
'''


def sdk_files() -> dict[str, str]:
    """The text of each file of the package, by its path."""
    protocol = resources.files("protocol")
    texts = {f"{name}.py": _renamed((protocol / f"{name}.py").read_text(encoding="utf-8")) for name in _MODULES}
    texts["msgspec.py"] = (resources.files("arena.devtools") / "stdlib_msgspec.py").read_text(encoding="utf-8")
    texts["__init__.py"] = _INIT
    return {f"{PACKAGE}/{file}": _HEADER + text for file, text in sorted(texts.items())} | {f"{PACKAGE}/py.typed": ""}


def _renamed(text: str) -> str:
    text = _MENTION.sub(rf"{PACKAGE}.\1", text)
    text = re.sub(r"^import msgspec$", f"from {PACKAGE} import msgspec", text, flags=re.MULTILINE)
    return re.sub(r"^from msgspec import", f"from {PACKAGE}.msgspec import", text, flags=re.MULTILINE)

"""Self-contained HTML pages: a page embeds its styles and scripts, and its content security policy allows only their
hashes, so that no other script runs and the page makes no network requests."""

import base64
import hashlib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Final

import msgspec

from arena.pages.markup import Markup, joined, tag
from arena.support.version import SERVER

GENERATOR: Final = f"{SERVER} "  # the meta element "generator" of every page; the kind of page follows
_IN_SCRIPTS: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def asset(name: str) -> str:
    """The text of a file in the folder assets, such as viewer.js."""
    return files("arena.pages").joinpath("assets", name).read_text(encoding="utf-8")


def json_text(value: Any) -> str:
    """JSON that is safe inside a script element: no character in it can end the element."""
    return msgspec.json.encode(value).decode().translate(_IN_SCRIPTS)


def page(
    title: str,
    kind: str,
    body: Markup,
    styles: Iterable[str],
    scripts: Iterable[str],
    data: Any = None,
    loads_files: bool = False,
) -> str:
    """A complete HTML document. `styles` and `scripts` are names of assets. `data` is embedded as JSON in the element
    with the id "data". With `loads_files` the scripts may load other scripts from the folder of the page."""
    style = "\n".join(map(asset, styles))
    script = "\n".join(map(asset, scripts))
    head = joined(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script, loads_files)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="generator", content=GENERATOR + kind),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Markup(style)),
    )
    block = None if data is None else tag("script", Markup(json_text(data)), type="application/json", id="data")
    ending = joined(block, tag("script", Markup(script)))
    document = tag("html", tag("head", head), tag("body", body, ending), lang="en")
    return f"<!doctype html>\n{document.text}\n"


def _policy(style: str, script: str, loads_files: bool) -> str:
    beside = " 'self'" if loads_files else ""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}{beside}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

"""Build HTML and SVG from Python values. All texts are escaped, so that a bot's name is never taken as markup. Pure."""

from html import escape
from typing import Final

import attrs

_VOID: Final = frozenset(("meta", "link", "br", "input"))


@attrs.frozen
class Markup:
    """Text that is already markup and must not be escaped."""

    text: str


Content = Markup | str | int | None


def tag(name: str, /, *content: Content, **attributes: str | int | float | bool | None) -> Markup:
    """An element. `class_` becomes the attribute class, `data_x` becomes data-x; None and False omit an attribute."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(*content).text}</{name}>")


def joined(*content: Content) -> Markup:
    return Markup("".join(_inner(each) for each in content))


def _inner(content: Content) -> str:
    match content:
        case Markup():
            return content.text
        case None:
            return ""
        case _:
            return escape(str(content))


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{escape(text)}"'

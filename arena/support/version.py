"""The name and the version that the arena shows to others. The version number stands here and nowhere else:
pyproject.toml reads it, because reading it back from the installed package takes longer than many commands."""

from typing import Final

VERSION: Final = "0.2.0"
SERVER: Final = f"schotten-arena {VERSION}"


def installed_from() -> str | None:
    """The address from which pip installed this arena, if it is one that another machine can use, too. The name of the
    package is none: it is on no index, where a stranger could take it."""
    import importlib.metadata
    import json

    try:
        text = importlib.metadata.distribution("schotten-arena").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return None
    found = json.loads(text or "{}")
    url, vcs = found.get("url", ""), found.get("vcs_info")
    if not url.startswith("https://"):
        return None
    return f"{vcs['vcs']}+{url}@{vcs['commit_id']}" if vcs else url

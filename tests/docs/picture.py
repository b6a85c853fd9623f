"""Draws docs/report.png, the picture in README.md: a report, and in front of it a round. `make picture` runs it."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser

from tests.helpers.browser import CHROMIUM, MISSING, Watched, chromium
from tests.helpers.paths import ROOT

PICTURE: Final = ROOT / "docs" / "report.png"
MOST_BYTES: Final = 200_000  # a picture that slows down neither a clone nor the first look at the project
_TIPSY: Final = ROOT / "tests" / "bots" / "tipsy_bot.py"
_BOTS: Final = (
    "counting",
    "greedy",
    "random",
    *(
        f"{name}={sys.executable} {_TIPSY} {name} {share}"
        for name, share in (("merry", 0.08), ("tipsy", 0.2), ("dizzy", 0.4), ("dozing", 0.7))
    ),
)
# What a browser window would have, and how much of that the picture shows: scaled by the browser, because a picture
# that is scaled afterwards is blurred and twice as large.
_REPORT: Final = ({"width": 1180, "height": 965}, 0.7)
_ROUND: Final = ({"width": 1150, "height": 790}, 0.55)
_WHOLE: Final = ({"width": 1120, "height": 723}, 1.0)
_PAGE: Final = """
<style>
  body { margin: 0; background: #dfe5ea; }
  img { position: absolute; border: 1px solid #b4bcc4; }
  #report { left: 24px; top: 24px; }
  #round { right: 24px; top: 258px; box-shadow: 0 0 0 6px #dfe5ea; }
</style>
<img id="report" src="report.png"><img id="round" src="round.png">
"""


def draw(journal: Path, round_id: str, picture: Path) -> None:
    """Renders the journal's report, and in front of it the round at a claim in its last third."""
    with tempfile.TemporaryDirectory(prefix="arena-picture-") as name:
        folder = Path(name)
        position = _claim(json.loads(_arena("replay", str(journal), round_id, "--json")))
        _arena("report", str(journal), "-o", str(folder / "report"))
        _arena("replay", str(journal), round_id, "--html", str(folder / "round.html"))
        (folder / "picture.html").write_text(_PAGE)
        with chromium() as browser:
            _shoot(browser, (folder / "report" / "index.html").as_uri(), _REPORT, folder / "report.png")
            _shoot(browser, (folder / "round.html").as_uri() + f"#{position}", _ROUND, folder / "round.png")
            _shoot(browser, (folder / "picture.html").as_uri(), _WHOLE, picture)


def _claim(replay: dict[str, Any]) -> int:
    steps = replay["steps"]
    late = (step["number"] for step in steps[len(steps) * 2 // 3 :] if (step.get("move") or "").startswith("claim"))
    return next(late, len(steps) - 1)


def _shoot(browser: Browser, address: str, window: tuple[dict[str, int], float], path: Path) -> None:
    size, scale = window
    watched = Watched(browser, viewport=size, device_scale_factor=scale, color_scheme="light")
    watched.page.goto(address)
    watched.page.screenshot(path=path)
    watched.close()
    if watched.complaints:
        raise RuntimeError(f"{address}: {watched.complaints}")


def _arena(*words: str) -> str:
    return subprocess.run([sys.executable, "-m", "arena", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    if CHROMIUM is None:
        sys.exit(MISSING)
    with tempfile.TemporaryDirectory(prefix="arena-picture-") as folder:
        journal = Path(folder) / "cup.jsonl"
        length = ("--rules", "tactics", "--rounds", "4", "--cycles", "6")
        _arena("run", *_BOTS, *length, "--event", "Evening cup", "--journal", str(journal), "--quiet")
        closest = _arena("replay", str(journal), "--bot", "counting", "--bot", "greedy", "--closest", "1", "--json")
        draw(journal, json.loads(closest)[0]["id"], PICTURE)
    size = PICTURE.stat().st_size
    print(f"{PICTURE.relative_to(ROOT)}: {size:,} bytes")
    if size > MOST_BYTES:
        sys.exit(f"that is more than {MOST_BYTES:,}: make the windows in {__file__} smaller")


if __name__ == "__main__":
    main()

"""The last part of `make bench`: reports and the viewer, next to a bare version of the same work."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from tests.bench.arena import show
from tests.helpers.browser import CHROMIUM, MISSING, Watched, chromium
from tests.helpers.journals import write_many

NAMES = tuple(f"bot-{letter}" for letter in "abcdefgh")

_FIRST_PAINT = """() => new Promise(resolve => new PerformanceObserver(
    list => resolve(list.getEntriesByName("first-contentful-paint")[0].startTime)
).observe({type: "paint", buffered: true}))"""
# One step for each frame that the browser shows, back and forth through the whole round.
_SCRUB = """seconds => new Promise(resolve => {
  const slider = document.getElementById("slider");
  const last = Number(slider?.max ?? 1);
  const start = performance.now();
  let steps = 0;
  const frame = () => {
    if (performance.now() - start > seconds * 1000) return resolve(steps / (performance.now() - start) * 1000);
    steps++;
    if (slider) {
      const place = steps % (2 * last);
      slider.value = place <= last ? place : 2 * last - place;
      slider.dispatchEvent(new Event("input"));
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})"""
# The same without waiting for frames, but with the layout of every position.
_UNPACED = """() => {
  const slider = document.getElementById("slider");
  const start = performance.now();
  let steps = 0;
  for (; performance.now() - start < 2000; steps++) {
    slider.value = steps % (Number(slider.max) + 1);
    slider.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect();
  }
  return steps / (performance.now() - start) * 1000;
}"""


def arena(*words: str | Path) -> tuple[float, str]:
    """Seconds, and the peak of memory in MiB."""
    measure = ["/usr/bin/time", "-f", "%M"] if shutil.which("time") else []
    start = time.perf_counter()
    done = subprocess.run(
        [*measure, sys.executable, "-m", "arena", *map(str, words)], capture_output=True, text=True, check=True
    )
    took = time.perf_counter() - start
    return took, f"{int(done.stderr.split()[-1]) / 1024:.0f}" if measure else "?"


def kilobytes(*paths: Path) -> str:
    return f"{sum(path.stat().st_size for path in paths) / 1000:,.0f}"


def reports(folder: Path) -> Iterator[list[str]]:
    for rounds in (1_000, 100_000):
        journal = write_many(folder / f"{rounds}.jsonl", rounds, NAMES)
        bare, _ = arena("table", journal)
        out = folder / f"{rounds}"
        took, peak = arena("report", journal, "-o", out)
        files = list((out / "rounds").iterdir())
        page = out / "index.html"
        yield [
            f"{rounds:,}", f"{took:.1f}", f"{took / bare:.1f}", peak,
            kilobytes(page), kilobytes(out / "replay.html"), kilobytes(*files), str(len(files)),
        ]  # fmt: skip


def first_paint(browser: Browser, path: Path) -> float:
    """Milliseconds, the median of some."""
    found = []
    for _ in range(7):
        watched = Watched(browser)
        watched.page.goto(path.as_uri())
        found.append(float(watched.page.evaluate(_FIRST_PAINT)))
        watched.close()
    return median(found)


def paints(browser: Browser, folder: Path) -> Iterator[list[str]]:
    empty = folder / "empty.html"
    empty.write_text("<!doctype html><title>empty</title><p>nothing</p>")
    bare = first_paint(browser, empty)
    yield ["a page with one word", f"{bare:.0f}", "1"]
    pages = {
        "the viewer": "round.html",
        "the viewer of a report": "1000/replay.html",
        "a report": "1000/index.html",
        "a report of 100,000 rounds": "100000/index.html",
    }
    for words, name in pages.items():
        took = first_paint(browser, folder / name)
        yield [words, f"{took:.0f}", f"{took / bare:.1f}"]


def scrubbing(browser: Browser, folder: Path) -> Iterator[list[str]]:
    watched = Watched(browser)
    watched.page.goto((folder / "empty.html").as_uri())
    bare = float(watched.page.evaluate(_SCRUB, 3))
    yield ["frames of a page that does nothing", f"{bare:.0f}", "1"]
    watched.page.goto((folder / "round.html").as_uri())
    paced, unpaced = float(watched.page.evaluate(_SCRUB, 3)), float(watched.page.evaluate(_UNPACED))
    yield ["steps, one for each frame", f"{paced:.0f}", f"{paced / bare:.2f}"]
    yield ["steps, as many as it can", f"{unpaced:.0f}", f"{unpaced / bare:.2f}"]
    watched.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        head = ["rounds", "s", "ratio to `arena table`", "peak MiB", "report kB", "viewer kB", "rounds kB", "files"]
        show("`arena report`", head, reports(folder))
        arena("replay", folder / "1000.jsonl", "1.1", "--html", folder / "round.html")
        print(f"\nOne round as a page: {kilobytes(folder / 'round.html')} kB")
        if CHROMIUM is None:
            print(f"\n{MISSING}")
            return
        with chromium() as browser:
            show("First paint in Chromium", ["", "ms", "ratio"], paints(browser, folder))
            show("Scrubbing in Chromium", ["", "per second", "ratio"], scrubbing(browser, folder))


if __name__ == "__main__":
    main()

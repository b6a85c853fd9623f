"""Write a report: index.html, the viewer replay.html, and the rounds in separate files, a few in each, so that a
browser loads only those that the user opens. A page that is opened from a disk cannot fetch data, but it can load
scripts, so these files are scripts that pass JSON to the page."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from arena.journal.lines import Entry, RoundLine, rounds_at
from arena.pages.page import GENERATOR, json_text
from arena.pages.report_page import Sample, report_page
from arena.pages.viewer import round_data, viewer_page
from arena.replay.build import replay_of
from arena.stats.report_data import Report, sample
from arena.support.text import printable
from arena.support.whole_files import write_whole
from engine.errors import EngineError

_CHUNK: Final = 20  # rounds in a file: up to 300 kB with tactic cards


_UNFINISHED: Final = ".replay.html.part"  # the only file of a report that was stopped right at the beginning


class ReportError(Exception):
    """The report cannot be written to this folder."""


def write_report(
    report: Report, folder: Path, most: int | None, progress: Callable[[int], None] = lambda _written: None
) -> int:
    """Write a report with the replays of at most `most` rounds (None: of all) and return how many it includes. Rounds
    that cannot be replayed are added to the problems of the report. `progress` is called with the number of rounds that
    are written so far. Raises ReportError if the folder contains something else, and OSError."""
    _refuse_foreign(folder)
    total, faults = report.standings.rounds, report.gathered.faults
    chosen = sample(total, [upset.number for upset in report.upsets], faults, most)
    folder.mkdir(parents=True, exist_ok=True)
    # This file comes first, because it identifies the folder as a report if writing is interrupted.
    write_whole(folder / "replay.html", viewer_page(None))
    rounds = folder / "rounds"
    rounds.mkdir(exist_ok=True)
    listed, chunks = _write_rounds(report, chosen, rounds, progress)
    write_whole(folder / "replay.html", viewer_page(None, chunks))
    _script(rounds / "list.js", {"bots": report.names, "rounds": listed})
    _remove_left_over(rounds, len(chunks))
    shown = None if len(chosen) == total else Sample(len(chosen), len(set(faults).intersection(chosen)))
    write_whole(folder / "index.html", report_page(report, {number for number, *_ in listed}, shown))
    return len(listed)


def _refuse_foreign(folder: Path) -> None:
    if not folder.exists() or not any(path.name != _UNFINISHED for path in folder.iterdir()):
        return
    viewer = folder / "replay.html"
    if not viewer.is_file() or GENERATOR.split()[0] not in viewer.read_text(encoding="utf-8", errors="replace"):
        raise ReportError(f"{folder}: this folder contains something other than a report; choose another, or empty it")


def _remove_left_over(rounds: Path, chunks: int) -> None:
    """Remove files of an earlier report that had more rounds."""
    for path in rounds.glob("[0-9]*.js"):
        if path.stem.isdigit() and int(path.stem) >= chunks:
            path.unlink()


def _script(path: Path, value: Any) -> None:
    write_whole(path, f"arenaLoaded({json_text(value)});\n")


def _write_rounds(
    report: Report, chosen: Sequence[int], folder: Path, progress: Callable[[int], None]
) -> tuple[list[list[Any]], list[list[int]]]:
    """Write the files of rounds. Returns the rows of the list of rounds, and the first and last number in each file. A
    round that cannot be replayed is in neither, but among the problems of the report."""
    listed: list[list[Any]] = []
    chunks: list[list[int]] = []
    found = _replays(report, chosen)
    place = {name: index for index, name in enumerate(report.names)}
    while chunk := list(islice(found, _CHUNK)):
        _script(folder / f"{len(chunks)}.js", [data for _, _, data in chunk])
        chunks.append([chunk[0][0], chunk[-1][0]])
        listed += [
            _listed(number, line, [place[name] for name in report.names_in(number, line)]) for number, line, _ in chunk
        ]
        progress(len(listed))
    return listed, chunks


def _listed(number: int, line: RoundLine, bots: Sequence[int]) -> list[Any]:
    result = line.result
    ms = sum(each or 0 for _, _, each in line.moves)
    return [number, line.id, *bots, result.winner, result.ending, *result.points, len(line.moves), ms]


def _replays(report: Report, chosen: Sequence[int]) -> Iterator[tuple[int, RoundLine, dict[str, Any]]]:
    """The chosen rounds, read from the journals again, with their numbers."""
    for number, entry in _entries(report, chosen):
        try:
            if entry.line is None:
                raise ValueError(entry.problem)
            yield number, entry.line, round_data(replay_of(entry.line), number)
        except (EngineError, ValueError) as error:
            problem = f"this round cannot be replayed: {printable(str(error))}"
            report.problems.append(f"{entry.path}:{entry.number}: {problem}")


def _entries(report: Report, chosen: Sequence[int]) -> Iterator[tuple[int, Entry]]:
    """The number of each chosen round, and its line in the journals, read again."""
    before, wanted = 0, set(chosen)
    for path, places in zip(report.gathered.paths, report.gathered.places, strict=True):
        here = {line: before + index for index, line in enumerate(places, 1) if before + index in wanted}
        for entry in rounds_at(path, here):
            yield here[entry.number], entry
        before += len(places)

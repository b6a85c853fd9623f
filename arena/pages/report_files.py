"""Writes a report: index.html, the viewer replay.html, and beside them the rounds, a few in each file, so that a
browser loads only those that are looked at. From a disk a page cannot fetch data; it can load scripts, so these files
are scripts that hand over JSON."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from arena.journal.lines import Entry, RoundLine, rounds_at
from arena.pages.page import GENERATOR, json_text
from arena.pages.report_data import Report, sample
from arena.pages.report_page import Sample, report_page
from arena.pages.viewer import round_data, viewer_page
from arena.replay.build import replay_of
from arena.support.text import printable
from arena.support.whole_files import write_whole
from engine.errors import EngineError

_CHUNK: Final = 20  # rounds in a file: up to 300 kB with tactic cards


_UNFINISHED: Final = ".replay.html.part"  # all that a report has that was stopped at once


class ReportError(Exception):
    """A report that cannot be written where it should be."""


def write_report(report: Report, folder: Path, most: int | None) -> int:
    """How many rounds became part of it: `most`, or all if None. Rounds that cannot be played again are added to the
    problems of the report. Raises ReportError for a folder that holds something else, and OSError."""
    _refuse_foreign(folder)
    total, faults = report.standings.rounds, report.gathered.faults
    chosen = sample(total, [upset.number for upset in report.upsets], faults, most)
    folder.mkdir(parents=True, exist_ok=True)
    # First of all: by this file a report that was interrupted is known to be one.
    write_whole(folder / "replay.html", viewer_page(None))
    rounds = folder / "rounds"
    rounds.mkdir(exist_ok=True)
    listed, chunks = _write_rounds(report, chosen, rounds)
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
        raise ReportError(f"{folder}: this folder holds something that is no report; name another one, or empty it")


def _remove_left_over(rounds: Path, chunks: int) -> None:
    """Files of an earlier report that had more rounds."""
    for path in rounds.glob("[0-9]*.js"):
        if path.stem.isdigit() and int(path.stem) >= chunks:
            path.unlink()


def _script(path: Path, value: Any) -> None:
    write_whole(path, f"arenaLoaded({json_text(value)});\n")


def _write_rounds(report: Report, chosen: Sequence[int], folder: Path) -> tuple[list[list[Any]], list[list[int]]]:
    """What the list of rounds shows of each, and the first and last number in each file. A round that cannot be played
    again is told among the problems, and is in neither."""
    listed: list[list[Any]] = []
    chunks: list[list[int]] = []
    found = _replays(report, chosen)
    place = {name: index for index, name in enumerate(report.names)}
    while chunk := list(islice(found, _CHUNK)):
        _script(folder / f"{len(chunks)}.js", [data for _, _, data in chunk])
        chunks.append([chunk[0][0], chunk[-1][0]])
        listed += [_listed(number, line, place) for number, line, _ in chunk]
    return listed, chunks


def _listed(number: int, line: RoundLine, place: dict[str, int]) -> list[Any]:
    result = line.result
    bots = [place[name] for name in line.bots]
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
            problem = f"this round cannot be played again: {printable(str(error))}"
            report.problems.append(f"{entry.path}:{entry.number}: {problem}")


def _entries(report: Report, chosen: Sequence[int]) -> Iterator[tuple[int, Entry]]:
    """Numbers of rounds, and what the journals have there."""
    before, wanted = 0, set(chosen)
    for path, places in zip(report.gathered.paths, report.gathered.places, strict=True):
        here = {line: before + index for index, line in enumerate(places, 1) if before + index in wanted}
        for entry in rounds_at(path, here):
            yield here[entry.number], entry
        before += len(places)

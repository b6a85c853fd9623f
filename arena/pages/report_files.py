"""Write a report: index.html, the viewer replay.html, and the rounds in separate files, a few in each, so that a
browser loads only those that the user opens. A page that is opened from a disk cannot fetch data, but it can load
scripts, so these files are scripts that pass JSON to the page."""

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.journal.endings import WITHDRAWN
from arena.journal.line_workers import RoundTask, answers, cores
from arena.journal.lines import JournalEntry, RoundLine, is_forfeit, rounds_at
from arena.pages.page import GENERATOR, json_text
from arena.pages.report_page import Sample, report_page
from arena.pages.viewer import NOT_EVALUATED, round_data, round_evaluation, viewer_page
from arena.replay.build import replay_of
from arena.stats.report_data import ReportContents, sample
from arena.support.text import printable
from arena.support.whole_files import write_whole
from engine.errors import EngineError

_CHUNK: Final = 20  # rounds in a file: up to 300 kB with tactic cards


_LOADED, _END = b"arenaLoaded(", b");\n"  # around the JSON of a script
_UNFINISHED: Final = ".replay.html.part"  # the only file of a report that was stopped right at the beginning


class ReportError(Exception):
    """The report cannot be written to this folder."""


def write_report(
    report: ReportContents,
    folder: Path,
    most: int | None,
    evaluated: int | None = 0,
    progress: Callable[[int], None] = lambda _written: None,
) -> int:
    """Write a report with the replays of at most `most` rounds (None: of all) and return how many it includes; at most
    `evaluated` of them are evaluated. Rounds that cannot be replayed are added to the problems of the report.
    `progress` is called with the number of rounds that are written so far. Raises ReportError if the folder contains
    something else, and OSError."""
    _refuse_foreign(folder)
    total, faults = report.standings.rounds, report.gathered.faults
    chosen = sample(total, [upset.number for upset in report.upsets], faults, most)
    folder.mkdir(parents=True, exist_ok=True)
    # This file comes first, because it identifies the folder as a report if writing is interrupted.
    write_whole(folder / "replay.html", viewer_page(None))
    rounds = folder / "rounds"
    rounds.mkdir(exist_ok=True)
    with closing(_evaluations(report, _to_evaluate(report, chosen, evaluated))) as evaluations:
        listed, chunks = _write_rounds(report, chosen, evaluations, rounds, progress)
    write_whole(folder / "replay.html", viewer_page(None, chunks))
    _script(rounds / "list.js", {"bots": report.names, "rounds": listed})
    _remove_left_over(rounds, len(chunks))
    shown = None if len(chosen) == total else Sample(len(chosen), len(set(faults).intersection(chosen)))
    write_whole(folder / "index.html", report_page(report, {number for number, *_ in listed}, shown))
    return len(listed)


def report_beside(journal: Path) -> Path:
    """The folder of the report of a journal, unless the user chose another."""
    return journal.with_suffix(".report")


def pages_of_rounds(folder: Path) -> dict[str, str]:
    """For each round of the report in this folder its page, as `arena replay` can name it; empty if there is no report.
    A round whose id is not unique is left out."""
    try:
        text = (folder / "rounds" / "list.js").read_bytes()
        listed = msgspec.json.decode(text.removeprefix(_LOADED).removesuffix(_END), type=_RoundList).rounds
    except (OSError, msgspec.DecodeError):
        return {}  # there is no report, or it is being written
    ids = Counter(row[1] for row in listed)
    return {row[1]: f"{folder / 'replay.html'}#round={row[0]}" for row in listed if ids[row[1]] == 1}


class _RoundList(msgspec.Struct):
    rounds: list[tuple[int, str, int, int, int | None, str, int, int, int, int]]


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
    write_whole(path, f"{_LOADED.decode()}{json_text(value)}{_END.decode()}")


def _to_evaluate(report: ReportContents, chosen: Sequence[int], most: int | None) -> list[int]:
    """The numbers of those of the chosen rounds that are evaluated: surprising results, then an even selection."""
    surprising = {upset.number for upset in report.upsets}
    places = [place for place, number in enumerate(chosen, 1) if number in surprising]
    return [chosen[place - 1] for place in sample(len(chosen), places, (), most)]


def _evaluations(report: ReportContents, numbers: Sequence[int]) -> Generator[tuple[int, msgspec.Raw], None, None]:
    """The number and the evaluation of each of these rounds, computed on all cores ahead of time. A round that cannot
    be replayed is left out."""
    under_way: deque[int] = deque()

    def entries() -> Iterator[JournalEntry]:
        for number, entry in _entries(report, numbers):
            under_way.append(number)
            yield entry

    answered = answers(entries(), RoundTask(round_evaluation, msgspec.Raw, batch=1), min(cores(), len(numbers)))
    with closing(answered) as evaluations:
        for _, evaluation in evaluations:
            number = under_way.popleft()
            if evaluation is not None and evaluation != NOT_EVALUATED:
                yield number, evaluation


def _write_rounds(
    report: ReportContents,
    chosen: Sequence[int],
    evaluations: Iterator[tuple[int, msgspec.Raw]],
    folder: Path,
    progress: Callable[[int], None],
) -> tuple[list[list[Any]], list[list[int]]]:
    """Write the files of rounds. Returns the rows of the list of rounds, and the first and last number in each file. A
    round that cannot be replayed is in neither, but among the problems of the report."""
    listed: list[list[Any]] = []
    chunks: list[list[int]] = []
    found = _replays(report, chosen, evaluations)
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
    ending = WITHDRAWN if is_forfeit(line) else result.ending
    return [number, line.id, *bots, result.winner, ending, *result.points, len(line.moves), ms]


def _replays(
    report: ReportContents, chosen: Sequence[int], evaluations: Iterator[tuple[int, msgspec.Raw]]
) -> Iterator[tuple[int, RoundLine, dict[str, Any]]]:
    """The chosen rounds, read from the journals again, with their numbers. `evaluations` are in the same order."""
    evaluated, evaluation = next(evaluations, (None, None))
    for number, entry in _entries(report, chosen):
        try:
            if entry.line is None:
                raise ValueError(entry.problem)
            data = round_data(replay_of(entry.line)) | {"number": number}
            if number == evaluated:
                data["evaluation"] = evaluation
                evaluated, evaluation = next(evaluations, (None, None))
            yield number, entry.line, data
        except (EngineError, ValueError) as error:
            problem = f"this round cannot be replayed: {printable(str(error))}"
            report.problems.append(f"{entry.path}:{entry.number}: {problem}")


def _entries(report: ReportContents, chosen: Sequence[int]) -> Iterator[tuple[int, JournalEntry]]:
    """The number of each chosen round, and its line in the journals, read again."""
    before, wanted = 0, set(chosen)
    for path, places in zip(report.gathered.paths, report.gathered.places, strict=True):
        here = {line: before + index for index, line in enumerate(places, 1) if before + index in wanted}
        for entry in rounds_at(path, here):
            yield here[entry.number], entry
        before += len(places)

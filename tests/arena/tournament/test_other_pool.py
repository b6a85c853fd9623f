"""A tournament whose matches are played elsewhere, by a pool that says what a test wants."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import msgspec
import pytest
import trio

from arena.cli.progress import Quiet
from arena.cli.tournament_progress import lines_of_rounds
from arena.journal.endings import Fault
from arena.journal.lines import FaultLine, JournalLine, ResultLine, RoundLine, VoidLine, read
from arena.plan.config import Config
from arena.plan.schedule import PlannedRound
from arena.tournament import runner
from arena.tournament.run import TournamentRun, run_tournament
from arena.tournament.worker_pool import Death, Hear
from arena.worker.fault_bundle import opponents_folder
from arena.worker.job import FaultBundled, MatchJob, RoundFinished, Rulings
from tests.helpers.rounds import round_line
from tests.helpers.tournaments import configured, rounds_in

Play = Callable[[MatchJob, Hear], Awaitable[Death | None]]


@attrs.define
class _Pool:
    hear: Hear
    play_match: Play
    most_matches: int = 2

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        yield

    async def play(self, job: Callable[[], MatchJob]) -> Death | None:
        return await self.play_match(job(), self.hear)

    async def tell(self, rulings: Rulings) -> None:
        assert rulings


def driven_by(play: Play, config: Config) -> TournamentRun:
    return run_tournament(config, Quiet(), make_pool=lambda _config, hear, _rulings, _fail: _Pool(hear, play))


def line_of(planned: PlannedRound, match: str) -> RoundLine:
    result = ResultLine(0, "five-stones", (5, 0), (0,) * 9)
    return round_line(
        planned.id, result, match=match, bots=("greedy", "random"), pair=planned.pair, round=planned.number
    )


def bundle_of(job: MatchJob, planned: PlannedRound, folders: dict[Path, dict[str, str]]) -> FaultBundled:
    return FaultBundled(job.planned.id, planned.id, "greedy", Fault.TIMEOUT, folders)


def test_a_lost_scheduler_counts_as_no_loss_of_a_bot(journal: Path) -> None:
    """All matches are lost with it at once: more rounds than may be lost because of a bot."""
    lost: list[str] = []

    async def play(job: MatchJob, hear: Hear) -> Death | None:
        first = job.planned.rounds[0]
        if lost.count(first.id) < 3:
            lost.append(first.id)
            return Death("the scheduler of the cluster was lost", first, was_exposed=True, is_ours=False)
        for planned in job.planned.rounds:
            await hear(RoundFinished(line_of(planned, job.planned.id)))
        return None

    ran = driven_by(play, attrs.evolve(configured("greedy", "random", journal=journal, cycles="4"), seed=""))
    assert (ran.failure, ran.finished, len(lost)) == (None, 8, 12)
    voids = [entry.line for entry in read(journal, JournalLine) if isinstance(entry.line, VoidLine)]
    assert [void.id for void in voids] == lost
    assert all(void.deal_exposed for void in voids)


def test_many_rounds_whose_deals_were_lost_are_one_notice(journal: Path) -> None:
    rounds: list[int] = []

    async def play(job: MatchJob, hear: Hear) -> Death | None:
        first, *others = job.planned.rounds
        if not rounds:
            rounds.append(len(others))
            return Death("the machine was lost", first, was_exposed=True, also_exposed=tuple(others))
        for planned in job.planned.rounds:
            await hear(RoundFinished(line_of(planned, job.planned.id)))
        return None

    said: list[str] = []
    config = attrs.evolve(configured("greedy", "random", journal=journal, rounds="8"), seed="")
    listener = lines_of_rounds(said.append)
    run_tournament(config, listener, make_pool=lambda _config, hear, _rulings, _fail: _Pool(hear, play))
    notice, void = (line for line in said if "the machine was lost" in line)
    assert void == ("Void round 1.1-2.1 (greedy vs random), will be played again: the machine was lost")
    assert notice == (
        "7 rounds of match 1.1-2 will be played with new deals, because bots may have seen the old ones: "
        "the machine was lost"
    )


def test_of_two_attempts_that_report_a_round_at_the_same_time_one_counts(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "IN_FLIGHT", 0)  # each report waits until the journal takes it

    async def play(job: MatchJob, hear: Hear) -> Death | None:
        async with trio.open_nursery() as attempts:
            for planned in job.planned.rounds * 2:
                attempts.start_soon(hear, RoundFinished(line_of(planned, job.planned.id)))
        return None

    ran = driven_by(play, configured("greedy", "random", journal=journal, rounds="4"))
    assert (ran.failure, ran.finished, ran.total) == (None, 4, 4)
    assert sorted(line.id for line in rounds_in(journal)) == ["1.1-2.1", "1.1-2.2", "1.1-2.3", "1.1-2.4"]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("..", "cup.jsonl"),
        (".", "x"),
        ("1", "../../cup.jsonl"),
        ("1", ".."),
        ("1", "a\0b"),
        ("1/2", "x"),
        ("../x", "x"),
    ],
)
def test_a_bundle_from_another_machine_is_written_nowhere_else(journal: Path, folder: str, name: str) -> None:
    async def play(job: MatchJob, hear: Hear) -> Death | None:
        assert job.faults is not None
        for planned in job.planned.rounds:
            await hear(bundle_of(job, planned, {job.faults / folder: {name: "forged"}}))
            await hear(RoundFinished(line_of(planned, job.planned.id)))
        return None

    ran = driven_by(play, configured("greedy", "random", journal=journal))
    assert (ran.failure, ran.finished, len(rounds_in(journal))) == (None, 2, 2)
    assert "or not a bundle at all" in ran.warnings[0]
    assert not [path for path in journal.parent.rglob("*") if path.is_file() and "forged" in path.read_text()]


def test_only_the_attempt_that_counts_leaves_a_bundle(journal: Path) -> None:
    async def play(job: MatchJob, hear: Hear) -> Death | None:
        assert job.faults is not None
        for planned in job.planned.rounds:
            for attempt in ("first", "second"):
                await hear(bundle_of(job, planned, {job.faults / planned.id: {"bundle.json": attempt}}))
                await hear(RoundFinished(line_of(planned, job.planned.id)))
        return None

    driven_by(play, configured("greedy", "random", journal=journal))
    assert {path.read_text() for path in journal.parent.rglob("bundle.json")} == {"first"}


def test_of_the_faults_on_other_machines_only_the_first_are_kept_and_named(journal: Path) -> None:
    async def play(job: MatchJob, hear: Hear) -> Death | None:
        assert job.faults is not None
        for planned in job.planned.rounds:
            folder = job.faults / planned.id
            own, opponents = ({each: {"bundle.json": "{}"}} for each in (folder, opponents_folder(folder)))
            await hear(bundle_of(job, planned, own | opponents))
            line = line_of(planned, job.planned.id)
            fault = FaultLine(0, "late", bundle=str(folder))
            await hear(RoundFinished(msgspec.structs.replace(line, host="host-1", fault=fault)))
        return None

    driven_by(play, configured("greedy", "random", journal=journal, rounds="30", **{"max-faults": "0"}))
    faults = journal.with_name("cup.faults")
    assert sum(path.is_dir() for path in faults.iterdir()) == 40
    assert (faults / "timeout-greedy.count").read_text() == "30\n"
    named = [line.fault.bundle for line in rounds_in(journal) if line.fault]
    assert named == [str(faults / f"1.1-2.{n}") if n <= 20 else None for n in range(1, 31)]

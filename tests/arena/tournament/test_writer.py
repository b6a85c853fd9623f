"""When rounds are written: at once, or together with those that finish soon after."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest
import trio

from arena.journal.lines import Journal, encoded
from arena.tournament.tournament_events import BotWithdrawn, RoundFinished, TournamentEvent
from arena.tournament.writer import JournalWriter
from tests.helpers.journals import rounds

ROUNDS = [RoundFinished(line) for line in rounds(4)]


class CountedJournal(Journal):
    """A journal that keeps what each append was given."""

    def __init__(self, path: Path):
        super().__init__(path)
        self.batches: list[bytes] = []

    def append(self, lines: bytes) -> None:
        super().append(lines)
        self.batches.append(lines)


@attrs.define
class Writing:
    """A writer that runs, and what it has reported."""

    journal: CountedJournal
    sender: trio.MemorySendChannel[TournamentEvent]
    nursery: trio.Nursery
    heard_events: list[TournamentEvent] = attrs.field(factory=list)
    news: trio.Event = attrs.field(factory=trio.Event)

    def heard(self, event: TournamentEvent, /) -> None:
        assert not isinstance(event, RoundFinished) or encoded(event.line) in self.journal.path.read_bytes()
        self.heard_events.append(event)
        self.news.set()

    async def hear(self, count: int) -> None:
        while len(self.heard_events) < count:
            self.news = trio.Event()
            await self.news.wait()


@asynccontextmanager
async def writing(path: Path) -> AsyncIterator[Writing]:
    sender, receiver = trio.open_memory_channel[TournamentEvent](16)
    with CountedJournal(path) as journal:
        async with trio.open_nursery() as nursery, sender:
            found = Writing(journal, sender, nursery)
            nursery.start_soon(JournalWriter(journal, found).run, receiver, nursery.cancel_scope.cancel)
            yield found


def lines(*events: RoundFinished) -> bytes:
    return b"".join(encoded(event.line) for event in events)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cup.jsonl"


async def test_a_round_that_finishes_alone_is_written_at_once(path: Path, mock_clock: trio.testing.MockClock) -> None:
    async with writing(path) as writer:
        for number, event in enumerate(ROUNDS, 1):
            await writer.sender.send(event)
            await writer.hear(number)  # the clock stands still, so that a pause would never end
            mock_clock.jump(1)
    assert writer.journal.batches == [lines(event) for event in ROUNDS]


async def test_rounds_that_finish_soon_after_each_other_are_written_together(
    path: Path, mock_clock: trio.testing.MockClock
) -> None:
    async with writing(path) as writer:
        for event in ROUNDS:
            await writer.sender.send(event)
            await trio.testing.wait_all_tasks_blocked()
            await writer.hear(1)  # the first one alone
        mock_clock.jump(1)
        await writer.hear(len(ROUNDS))
    assert writer.journal.batches == [lines(ROUNDS[0]), lines(*ROUNDS[1:])]
    assert writer.heard_events == ROUNDS


async def test_what_is_not_written_is_reported_without_a_pause_but_in_order(
    path: Path, mock_clock: trio.testing.MockClock
) -> None:
    withdrawn = BotWithdrawn("anna", 3)
    async with writing(path) as writer:
        await writer.sender.send(ROUNDS[0])
        await writer.hear(1)
        await writer.sender.send(withdrawn)
        await writer.hear(2)
        await writer.sender.send(ROUNDS[1])
        await trio.testing.wait_all_tasks_blocked()
        await writer.sender.send(withdrawn)
        await trio.testing.wait_all_tasks_blocked()
        assert len(writer.heard_events) == 2
        mock_clock.jump(1)
    assert writer.heard_events == [ROUNDS[0], withdrawn, ROUNDS[1], withdrawn]


async def test_a_round_is_written_even_if_the_writer_is_cancelled_during_the_pause(
    path: Path, mock_clock: trio.testing.MockClock
) -> None:
    async with writing(path) as writer:
        await writer.sender.send(ROUNDS[0])
        await writer.hear(1)
        await writer.sender.send(ROUNDS[1])
        await trio.testing.wait_all_tasks_blocked()
        writer.nursery.cancel_scope.cancel()
        mock_clock.jump(1)
    assert path.read_bytes() == lines(*ROUNDS[:2])
    assert writer.heard_events == ROUNDS[:2]

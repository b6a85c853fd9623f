"""The task that writes a tournament's journal.

Finished rounds and other events go through one channel, so that the listener receives them in order, and a round only
after it is on the disk.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator

import trio

from arena.journal.file import JournalChanged, Rescue, rescue
from arena.journal.lines import Journal, JournalError, encoded
from arena.tournament.events import Listener, RoundFinished, RoundVoid, TournamentEvent


class JournalWriter:
    def __init__(self, journal: Journal | None, listener: Listener):
        self._journal = journal
        self._listener = listener
        self.saved = 0  # rounds
        self.failure: str | None = None  # why the journal could not be written, and what happened to the rounds
        self.rescue: Rescue | None = None  # if another program changed the journal

    async def run(self, receiver: trio.MemoryReceiveChannel[TournamentEvent], stop: Callable[[], None]) -> None:
        """Write events until the channel is closed. Waiting events are written together, with one wait for the disk. If
        the journal cannot be written, call `stop`, and try to save the events that still arrive elsewhere."""
        events: list[TournamentEvent] = []
        try:
            async for first in receiver:
                events = [first, *_waiting(receiver)]
                await self._save(events)
                for event in events:
                    self.saved += isinstance(event, RoundFinished)
                    self._listener.heard(event)
                events = []
            if self._journal:
                self._journal.check()  # a last time: reported rounds must be in the file when the arena exits
        except JournalError as error:
            stop()
            events += [event async for event in receiver]  # rounds that finished in the meantime
            self.failure = await self._keep_unsaved(error, events)

    async def _save(self, events: list[TournamentEvent]) -> None:
        if self._journal and (data := _encoded(events)):
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self._journal.append, data)

    async def _keep_unsaved(self, error: JournalError, events: list[TournamentEvent]) -> str:
        """Rescue rounds that could not be written, if possible. Returns what happened, for the user."""
        unsaved = sum(isinstance(event, RoundFinished) for event in events)
        if not isinstance(error, JournalChanged):  # the disk may be full, so a copy beside the journal would fail, too
            return f"{error}; finished rounds that could not be saved and will be played again: {unsaved}"
        assert self._journal is not None
        with trio.CancelScope(shield=True):
            rescued = await trio.to_thread.run_sync(rescue, self._journal, _encoded(events), unsaved)
        self.rescue = rescued
        return f"{error}; {rescued.outcome}"


def _waiting(receiver: trio.MemoryReceiveChannel[TournamentEvent]) -> Iterator[TournamentEvent]:
    with contextlib.suppress(trio.WouldBlock, trio.EndOfChannel):
        while True:
            yield receiver.receive_nowait()


def _encoded(events: Iterable[TournamentEvent]) -> bytes:
    return b"".join(encoded(event.line) for event in events if isinstance(event, RoundFinished | RoundVoid))

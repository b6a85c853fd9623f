"""The task that writes a tournament's journal.

Finished rounds and other events go through one channel, so that the listener receives them in order, and a round only
after it is on the disk. Waiting for the disk costs more than all else that is done with a finished round, so rounds
that finish soon after each other share a wait: between two of them there is a pause. A round that finishes later than
that is written at once.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import Final

import trio

from arena.journal.file import JournalChangedError, Rescue, rescue
from arena.journal.lines import Journal, JournalError, encoded
from arena.support.side_thread import SideThread
from arena.tournament.tournament_events import BotIdentified, Listener, RoundFinished, RoundVoid, TournamentEvent

_SAVED: Final = (BotIdentified, RoundFinished, RoundVoid)  # events that are lines of the journal
_PAUSE: Final = 0.05  # seconds from one wait for the disk to the next; nobody who watches notices them


class JournalWriter:
    def __init__(self, journal: Journal | None, listener: Listener):
        self._journal = journal
        self._listener = listener
        self._pause_ends = -inf  # trio time
        self.saved = 0  # rounds
        self.failure: str | None = None  # why the journal could not be written, and what happened to the rounds
        self.rescue: Rescue | None = None  # if another program changed the journal

    async def run(self, receiver: trio.MemoryReceiveChannel[TournamentEvent], stop: Callable[[], None]) -> None:
        """Write events until the channel is closed. If the journal cannot be written, call `stop`, and try to save the
        events that still arrive elsewhere."""
        events: list[TournamentEvent] = []
        with SideThread() as disk:
            try:
                async for first in receiver:
                    events = [first, *_waiting(receiver)]
                    await self._save(events, receiver, disk)
                    for event in events:
                        self.saved += isinstance(event, RoundFinished)
                        self._listener.heard(event)
                    events = []
                if self._journal:
                    self._journal.check()  # a last time: reported rounds must be in the file when the arena exits
            except JournalError as error:
                stop()
                events += [event async for event in receiver]  # rounds that finished in the meantime
                self.failure = await self._keep_unsaved(error, events, disk)

    async def _save(
        self, events: list[TournamentEvent], receiver: trio.MemoryReceiveChannel[TournamentEvent], disk: SideThread
    ) -> None:
        """Write the events to the journal if it holds any of them, together with those that arrive during the pause,
        which are added to the list."""
        if self._journal is None or not any(isinstance(event, _SAVED) for event in events):
            return
        with trio.CancelScope(shield=True):
            if trio.current_time() < self._pause_ends:
                await trio.sleep_until(self._pause_ends)
                events += _waiting(receiver)
            self._pause_ends = trio.current_time() + _PAUSE
            await disk.run(self._journal.append, _encoded(events))

    async def _keep_unsaved(self, error: JournalError, events: list[TournamentEvent], disk: SideThread) -> str:
        """Rescue rounds that could not be written, if possible. Returns what happened, for the user."""
        unsaved = sum(isinstance(event, RoundFinished) for event in events)
        if not isinstance(
            error, JournalChangedError
        ):  # the disk may be full, so a copy beside the journal would fail, too
            return f"{error}; finished rounds that could not be saved and will be played again: {unsaved}"
        assert self._journal is not None
        self.rescue = await disk.run(rescue, self._journal, _encoded(events), unsaved)
        return f"{error}; {self.rescue.outcome}"


def _waiting(receiver: trio.MemoryReceiveChannel[TournamentEvent]) -> Iterator[TournamentEvent]:
    with contextlib.suppress(trio.WouldBlock, trio.EndOfChannel):
        while True:
            yield receiver.receive_nowait()


def _encoded(events: Iterable[TournamentEvent]) -> bytes:
    return b"".join(encoded(event.line) for event in events if isinstance(event, _SAVED))

"""The rounds that a process had played before it failed. Its bundle names them, and the journal has what was played."""

import os
from collections.abc import Mapping
from pathlib import Path

import attrs

from arena.journal.bot_history import Meetings, RecordedMatch
from arena.journal.file import JournalError, journal_of
from arena.support.text import counted, printable
from arena.worker.fault_bundle import BundledStart, BundleError
from engine.cards import Seat


@attrs.frozen
class EarlierMatch:
    """A match, or the part of it that the process played."""

    seat: Seat
    recorded: RecordedMatch
    seeds: Mapping[str, int | None]  # of the bot, by address of a round


def earlier_matches(path: Path, bot: str, start: BundledStart) -> list[EarlierMatch]:
    """What the process of this bot had played before the round of this bundle, in that order. Raises BundleError if it
    is not all known."""
    if not start.round_count:
        return []
    seeds = dict(start.rounds_before)
    before = f"{path}: the process of {bot} had played {counted(start.round_count, 'round')} before"
    if start.round_count > len(seeds):
        raise BundleError(
            printable(f"{before}, of which only the first {len(seeds)} are known; leave out --from-start")
        )
    folder = Path(os.path.abspath(path if path.is_dir() else path.parent))
    journal = journal_of(folder.parent)
    if not journal.exists():
        raise BundleError(printable(f"{before}, but the journal with them, {journal}, is missing"))
    try:
        meetings = Meetings(journal)
        missing = [address for address in seeds if address not in set(meetings.rounds_of(bot))]
        found = [EarlierMatch(seat, match, seeds) for seat, match in meetings.matches(bot, seeds.keys())]
    except (JournalError, OSError) as error:
        raise BundleError(printable(f"{before}, but the journal with them cannot be read: {error}")) from None
    # A round may be listed and still be left out, because it is damaged.
    if not missing:
        there = {recorded.address for each in found for recorded in each.recorded.rounds}
        missing = [address for address in seeds if address not in there]
    if missing:
        raise BundleError(printable(f"{before}, but {journal} does not have round {missing[0]}"))
    order = list(seeds)
    return sorted(found, key=lambda each: order.index(each.recorded.rounds[0].address))

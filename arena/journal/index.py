"""List the rounds of a journal, select some of them, and find one by its address. `rounds_in` and `find_round` read the
file; the rest is pure."""

import enum
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import attrs
from msgspec import Struct

from arena.journal.endings import ENDINGS, EndingName, Fault, RoundEnding
from arena.journal.file import not_a_journal
from arena.journal.lines import (
    AssistedLine,
    FaultLine,
    JournalError,
    Milliseconds,
    RoundLine,
    RoundName,
    RoundPoints,
    SeatNumber,
    read_round,
)
from arena.journal.reader import JournalReader
from arena.journal.tournament_state import TournamentState
from arena.support.suggestion import did_you_mean
from arena.support.text import counted, printable
from engine.cards import SEATS

_MOST_PROBLEMS: Final = 10  # listed one by one


class _Result(Struct, frozen=True, gc=False):
    winner: SeatNumber | None
    ending: EndingName
    points: tuple[RoundPoints, RoundPoints]
    owners: list[int | None]


class _RoundSummary(RoundName, frozen=True, tag_field="type", tag="round"):
    """The part of a RoundLine that the list shows."""

    bots: tuple[str, str]
    rules: str
    moves: list[tuple[SeatNumber, str, Milliseconds | None]]
    result: _Result
    started: str
    assisted: AssistedLine | None = None
    fault: FaultLine | None = None


@attrs.frozen
class ListedRound:
    line: int  # of the journal, from 1
    id: str
    bots: tuple[str, str]
    rules: str
    winner: int | None
    ending: RoundEnding
    points: tuple[int, int]
    stones: tuple[int, int]
    moves: int
    started: str
    rated: bool = True  # false if a person had help
    withdrawn: bool = False  # a bot lost it without playing, because it was withdrawn
    ambiguous: bool = False  # another round of the journal has the same id

    @property
    def address(self) -> str:
        """How the command line names the round."""
        return round_address(self.id, self.line, self.ambiguous)


class Order(enum.Enum):
    AS_PLAYED = "as played"
    LONGEST = "longest"
    CLOSEST = "closest"


@attrs.frozen
class RoundFilter:
    """Which rounds of a journal, and in which order."""

    bots: Sequence[str] = ()  # each of them played in the round
    endings: Sequence[str] = ()
    rules: Sequence[str] = ()
    faults: bool = False
    lost_by: str | None = None
    won_by: str | None = None
    order: Order = Order.AS_PLAYED
    most: int | None = None


def rounds_in(path: Path) -> tuple[list[ListedRound], list[str]]:
    """The rounds of a journal, and one message for each line that cannot be used. Raises JournalError if no line of the
    file can be used."""
    rounds: list[ListedRound] = []
    problems: list[str] = []
    more = sound = 0
    reader = JournalReader(_RoundSummary)
    for _, entry in reader.read(path):
        sound += entry.line is not None
        if isinstance(entry.line, _RoundSummary):
            rounds.append(_listed(entry.number, entry.line))
        elif entry.line is None and len(problems) < _MOST_PROBLEMS:
            problems.append(entry.message)
        elif entry.line is None:
            more += 1
    messages = problems + ([f"{path}: and {more} more lines like these"] if more else []) + reader.remarks()
    if not sound:
        raise JournalError(not_a_journal(path))
    return _with_ambiguity(rounds), messages


def _listed(number: int, found: _RoundSummary) -> ListedRound:
    a, b = (found.result.owners.count(seat) for seat in SEATS)
    return ListedRound(
        line=number,
        id=found.id,
        bots=found.bots,
        rules=found.rules,
        winner=found.result.winner,
        ending=ENDINGS[found.result.ending],
        points=found.result.points,
        stones=(a, b),
        moves=len(found.moves),
        rated=found.assisted is None,
        withdrawn=found.fault is not None and found.fault.withdrawn is True,
        started=found.started,
    )


def _with_ambiguity(rounds: list[ListedRound]) -> list[ListedRound]:
    ambiguous = ambiguous_ids(each.id for each in rounds)
    return [attrs.evolve(each, ambiguous=True) if each.id in ambiguous else each for each in rounds]


def ambiguous_ids(ids: Iterable[str]) -> set[str]:
    """The ids that several rounds of a journal have, because it holds more than one tournament."""
    return {id for id, count in Counter(ids).items() if count > 1}


def round_address(id: str, line: int, ambiguous: bool) -> str:
    """How the command line names a round: by its id, and also by its line number if the id is ambiguous."""
    return f"{id}@{line}" if ambiguous else id


def chosen(rounds: Sequence[ListedRound], wanted: RoundFilter) -> list[ListedRound]:
    """The wanted rounds, in the wanted order. Raises ValueError if no round has a bot or rules that are wanted."""
    for name in (*wanted.bots, *filter(None, (wanted.lost_by, wanted.won_by))):
        _expect(name, "bot is called", {bot for each in rounds for bot in each.bots})
    for name in wanted.rules:
        _expect(name, "round was played by", {each.rules for each in rounds})
    found = [each for each in rounds if _fits(each, wanted)]
    match wanted.order:
        case Order.LONGEST:
            found.sort(key=lambda each: -each.moves)
        case Order.CLOSEST:  # by the difference in stones; if equal, more taken stones first
            found = [each for each in found if not isinstance(each.ending, Fault)]
            found.sort(key=lambda each: (abs(each.stones[0] - each.stones[1]), -sum(each.stones), -each.moves))
        case Order.AS_PLAYED:
            pass
    return found[: wanted.most]


def _expect(name: str, what: str, known: set[str]) -> None:
    if name not in known:
        names = ", ".join(sorted(map(printable, known))) or "none"
        raise ValueError(f"no {what} {name!r}; there are: {names}{did_you_mean(name, known)}")


def _fits(each: ListedRound, wanted: RoundFilter) -> bool:
    return (
        set(wanted.bots) <= set(each.bots)
        and (not wanted.endings or each.ending.value in wanted.endings)
        and (not wanted.rules or each.rules in wanted.rules)
        and (not wanted.faults or isinstance(each.ending, Fault))
        and (wanted.won_by is None or wanted.won_by == _winner(each))
        and (wanted.lost_by is None or wanted.lost_by == _loser(each))
    )


def _winner(each: ListedRound) -> str | None:
    return None if each.winner is None else each.bots[each.winner]


def _loser(each: ListedRound) -> str | None:
    return None if each.winner is None else each.bots[1 - each.winner]


def find_round(path: Path, address: str) -> tuple[int, RoundLine, TournamentState]:
    """Find a round by its address, `id`, or `id@line` if several rounds have the id. Returns its line number, the
    round, and the state of its tournament at its end. Raises JournalError."""
    found, rounds, sound, damaged = [], 0, 0, []
    for state, entry in JournalReader(RoundName, keep_raw=True).read(path):
        sound += entry.line is not None
        if isinstance(entry.line, RoundName):
            rounds += 1
            if address in (entry.line.id, round_address(entry.line.id, entry.number, True)):
                assert state is not None  # the reader leaves out rounds without a tournament
                found.append((state, entry))
        elif entry.line is None:
            damaged.append(entry.message)
    if len(found) == 1:
        ((state, entry),) = found
        return entry.number, read_round(entry), state
    if found:
        every = ", ".join(round_address(address, entry.number, True) for _, entry in found)
        raise JournalError(f"{path}: {len(found)} rounds are called {address!r}; say which: {every}")
    if damaged and not sound:
        raise JournalError(not_a_journal(path))
    if not rounds:
        raise JournalError(damaged[0] if damaged else f"{path}:1: the journal has no round yet")
    hint = f"; {counted(len(damaged), 'line')} cannot be used, the first is {damaged[0]}" if damaged else ""
    raise JournalError(
        f"{path}: no round is called {address!r}; arena replay {path} lists the {rounds} there are{hint}"
    )

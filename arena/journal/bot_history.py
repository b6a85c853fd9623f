"""The matches of one bot in a journal, so that another bot can be led through the same positions. The file is read
twice: first to index who met whom, then one match at a time."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from arena.journal.endings import ENDINGS, Fault, verify
from arena.journal.index import ambiguous_ids, round_address
from arena.journal.lines import (
    JournalEntry,
    JournalError,
    PlayerIds,
    RoundLine,
    RoundName,
    game_record,
    read_round,
)
from arena.journal.reader import JournalReader
from arena.journal.tournament_state import TournamentState
from arena.plan.deals import DealKey
from arena.plan.schedule import RoundId
from arena.support.text import printable
from engine.cards import SEATS, Seat
from engine.errors import EngineError
from protocol.messages import RevealedDeal
from protocol.names import name_problem

_OTHER_SEEDS: Final = (
    "the seeds that the bots had for their own randomness are not known, because the secret of the tournament is not "
    "revealed in it; other seeds are used, the same ones each time"
)


class _Meeting(RoundName, frozen=True, tag_field="type", tag="round"):
    """The part of a RoundLine that says who met whom."""

    bots: tuple[str, str]
    players: PlayerIds | None = None


@attrs.define
class _IndexedMatch:
    id: str
    bots: tuple[str, str]
    state: TournamentState  # of its tournament
    entries: list[JournalEntry] = attrs.field(factory=list)  # one per round
    attempts: dict[str, tuple[int, int]] = attrs.field(factory=dict)  # by round: its voids and the resumes, if any

    def add(self, entry: JournalEntry) -> None:
        """Add a round, right after the state has taken it in: its seeds depend on what came before it."""
        self.entries.append(entry)
        if any(before := self.state.attempt(entry.line.id)):
            self.attempts[entry.line.id] = before

    def attempt(self, line: RoundLine) -> int:
        """Which attempt at its round this one was."""
        return 1 + sum(self.attempts.get(line.id, (0, 0)))

    def bot_seeds(self, line: RoundLine) -> tuple[int, int] | None:
        """The seeds that the bots had in this round; None if they are not known. They follow from the key of the
        tournament, which may be revealed only at its end."""
        id, key = RoundId(line.id), self.state.key
        voids, resumes = self.attempts.get(line.id, (0, 0))
        if key is None or key.salt(id, voids, resumes) != line.salt:
            return None
        return key.bot_seeds(id, voids, resumes, line.bots)


@attrs.frozen
class RecordedRound:
    address: str  # how the command line names the round
    line: RoundLine
    points: tuple[int, int]  # of the match before this round
    deal: RevealedDeal
    known_seeds: tuple[int, int] | None  # that the bots had for their own randomness; None if they are not known

    @property
    def bot_seeds(self) -> tuple[int, int]:
        """Seeds for the bots. If theirs are not known they are others, but the same ones each time."""
        return self.known_seeds or DealKey(self.line.seed).bot_seeds(RoundId(self.line.id), 0, 0, self.line.bots)

    def fault_at_decision_of(self, seat: Seat) -> Fault | None:
        """The fault of this seat, if it lost the round when it was asked for a decision."""
        ending, fault = ENDINGS[self.line.result.ending], self.line.fault
        if fault is None or fault.seat != seat or not isinstance(ending, Fault):
            return None
        was_asked = ending is not Fault.FAILED_TO_START and not fault.between_rounds
        return ending if was_asked else None


@attrs.frozen
class RecordedMatch:
    id: str
    bots: tuple[str, str]
    rules: str
    planned: int  # rounds
    rounds: tuple[RecordedRound, ...]


class Meetings:
    """An index of who met whom in a journal. Raises JournalError if the path is not a regular file, and OSError."""

    def __init__(self, path: Path):
        self.path = path
        self.problems: list[str] = []
        self._matches: dict[tuple[int, str, tuple[str, str]], _IndexedMatch] = {}
        reader = JournalReader(_Meeting)
        for state, entry in reader.read(path):
            match entry.line:
                case _Meeting(match=id, bots=bots):
                    assert state is not None  # the reader leaves out rounds without a tournament
                    key = state.number, id, bots
                    if (indexed := self._matches.get(key)) is None:
                        indexed = self._matches[key] = _IndexedMatch(id, bots, state)
                    indexed.add(entry)
                case None:
                    self.problems.append(entry.message)
        self.problems += reader.remarks()
        self._ambiguous = ambiguous_ids(entry.line.id for match in self._matches.values() for entry in match.entries)

    @property
    def names(self) -> list[str]:
        return sorted({name for match in self._matches.values() for name in match.bots})

    def rounds_of(self, name: str) -> Iterator[str]:
        """The addresses of this bot's rounds, in the order in which `matches` gives them."""
        for match in self._matches.values():
            if name in match.bots:
                yield from map(self._address, match.entries)

    def versions_of(self, name: str, wanted: Collection[str]) -> list[str]:
        """The versions of this bot that played the wanted rounds, as far as the journal knows them."""
        found = dict[str, None]()
        for match in self._matches.values():
            for entry in match.entries if name in match.bots else ():
                if self._address(entry) in wanted and entry.line.players is not None:
                    found[match.state.players.version(entry.line.players[match.bots.index(name)])] = None
        return [version for version in found if version]

    def _address(self, entry: JournalEntry) -> str:
        return round_address(entry.line.id, entry.number, entry.line.id in self._ambiguous)

    def matches(self, name: str, wanted: Collection[str]) -> Iterator[tuple[Seat, RecordedMatch]]:
        """The matches of this bot that contain wanted rounds, with only these rounds, and the bot's seat in each.
        `wanted` are addresses. Rounds that cannot be used are added to `problems`."""
        for match in self._matches.values():
            if name in match.bots and any(self._address(entry) in wanted for entry in match.entries):
                opponent = match.bots[1 - match.bots.index(name)]
                if problem := name_problem(opponent):
                    text = f"{opponent!r} is not a name that a bot can be told now: {problem}"
                    self.problems.append(f"{self.path}: match {match.id} is left out: {printable(text)}")
                    continue
                lines = dict(self._sound_rounds(match))
                rounds = tuple(_recorded(address, lines, match) for address in lines if address in wanted)
                if any(each.known_seeds is None for each in rounds):
                    self.problems.append(f"{self.path}: {_OTHER_SEEDS}")
                if rounds:
                    planned = match.state.config.rounds or len(lines)
                    recorded = RecordedMatch(match.id, match.bots, rounds[0].line.rules, planned, rounds)
                    yield SEATS[match.bots.index(name)], recorded

    def _sound_rounds(self, match: _IndexedMatch) -> Iterator[tuple[str, RoundLine]]:
        for entry in match.entries:
            try:
                line = read_round(entry)
                verify(game_record(line))
                yield self._address(entry), line
            except JournalError as error:
                self.problems.append(printable(str(error)))
            except (EngineError, ValueError) as error:
                problem = f"round {entry.line.id}: {error}; it is left out"
                self.problems.append(f"{self.path}:{entry.number}: {printable(problem)}")


def _recorded(address: str, lines: Mapping[str, RoundLine], match: _IndexedMatch) -> RecordedRound:
    line = lines[address]
    earlier = [each.result.points for each in lines.values() if each.round < line.round]
    return RecordedRound(
        address=address,
        line=line,
        points=(sum(a for a, _ in earlier), sum(b for _, b in earlier)),
        deal=_revealed(line, match),
        known_seeds=match.bot_seeds(line),
    )


def _revealed(line: RoundLine, match: _IndexedMatch) -> RevealedDeal:
    """The deal as bots learn it. A journal of another program may have no salts; any salt will do there, because the
    hash is computed from the same one."""
    return RevealedDeal(line.round, line.deck, line.tactics, line.salt or line.seed, match.attempt(line))

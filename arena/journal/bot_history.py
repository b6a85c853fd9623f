"""The matches of one bot in a journal, so that another bot can be led through the same positions. The file is read
twice: first to index who met whom, then one match at a time."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import attrs

from arena.journal.endings import verify
from arena.journal.index import ambiguous_ids, round_address
from arena.journal.lines import Entry, JournalError, RoundLine, RoundName, game_record, read_round
from arena.journal.reader import JournalReader
from arena.support.text import printable
from engine.cards import SEATS, Seat
from engine.errors import EngineError
from protocol.messages import RevealedDeal


class _Meeting(RoundName, frozen=True, tag_field="type", tag="round"):
    """The part of a RoundLine that says who met whom."""

    bots: tuple[str, str]


@attrs.define
class _IndexedMatch:
    planned: int | None  # rounds; None if the journal does not say
    id: str
    bots: tuple[str, str]
    entries: list[Entry] = attrs.field(factory=list)  # one per round


@attrs.frozen
class RecordedRound:
    address: str  # how the command line names the round
    line: RoundLine
    points: tuple[int, int]  # of the match before this round
    deal: RevealedDeal
    revealed: tuple[RevealedDeal, ...]  # the deals that the bots learn at its end


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
        for tournament, entry in reader.read(path):
            match entry.line:
                case _Meeting(match=id, bots=bots):
                    assert tournament is not None  # the reader leaves out rounds without a tournament
                    indexed = _IndexedMatch(tournament.config.rounds, id, bots)
                    self._matches.setdefault((tournament.number, id, bots), indexed).entries.append(entry)
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

    def _address(self, entry: Entry) -> str:
        return round_address(entry.line.id, entry.number, entry.line.id in self._ambiguous)

    def matches(self, name: str, wanted: Collection[str]) -> Iterator[tuple[Seat, RecordedMatch]]:
        """The matches of this bot that contain wanted rounds, with only these rounds, and the bot's seat in each.
        `wanted` are addresses. Rounds that cannot be used are added to `problems`."""
        for match in self._matches.values():
            if name in match.bots and any(self._address(entry) in wanted for entry in match.entries):
                lines = dict(self._sound_rounds(match))
                rounds = tuple(_recorded(address, lines) for address in lines if address in wanted)
                if rounds:
                    planned = match.planned or len(lines)
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


def _recorded(address: str, lines: Mapping[str, RoundLine]) -> RecordedRound:
    line = lines[address]
    earlier = [each.result.points for each in lines.values() if each.round < line.round]
    twins = [each for each in lines.values() if each.seed == line.seed]  # a mirrored round has the same seed
    is_last = all(twin.round <= line.round for twin in twins)
    return RecordedRound(
        address=address,
        line=line,
        points=(sum(a for a, _ in earlier), sum(b for _, b in earlier)),
        deal=_revealed(line),
        revealed=tuple(map(_revealed, twins)) if is_last else (),
    )


def _revealed(line: RoundLine) -> RevealedDeal:
    """The deal as bots learn it. Journals from before 0.2 have no salts; any salt will do there, because the hash is
    computed from the same one."""
    return RevealedDeal(line.round, line.deck, line.tactics, line.salt or line.seed)

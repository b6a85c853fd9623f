"""The matches of one bot in a journal, so that another bot can be led through the same positions. The file is read
twice: first to index who met whom, then one match at a time."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from arena.journal.endings import ENDINGS, Fault, is_between_rounds, verify
from arena.journal.index import ambiguous_ids, round_address
from arena.journal.lines import (
    BotLine,
    Entry,
    JournalError,
    PlayerIds,
    ResumeLine,
    RevealLine,
    RoundLine,
    RoundName,
    TournamentLine,
    VoidLine,
    game_record,
    read_round,
)
from arena.journal.reader import JournalReader
from arena.plan.deals import DealKey, is_recorded
from arena.plan.recorded_config import RecordedConfig
from arena.plan.schedule import RoundId
from arena.support.text import printable
from engine.cards import SEATS, Seat
from engine.errors import EngineError
from protocol.messages import RevealedDeal

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
    planned: int | None  # rounds; None if the journal does not say
    id: str
    bots: tuple[str, str]
    lots: "_Lots"  # of its tournament
    entries: list[Entry] = attrs.field(factory=list)  # one per round


class _Lots:
    """The seeds of the bots in one tournament. They follow from its key, which may be revealed only at its end."""

    def __init__(self, config: RecordedConfig):
        self._key = DealKey(config.seed, is_public=True) if is_recorded(config) and config.seed is not None else None
        self._promise = config.seed_hash
        self._voids: Counter[str] = Counter()  # by round
        self._resumes = 0
        self._counts: dict[RoundId, tuple[int, int]] = {}  # by round, if not zero: its voids and the resumes before it

    def add(self, entry: Entry) -> None:
        match entry.line:
            case VoidLine(id=id):
                self._voids[id] += 1
            case ResumeLine():
                self._resumes += 1
            case RevealLine(secret=secret):
                key = DealKey(secret)
                self._key = key if key.hash == self._promise else self._key
            case _Meeting(id=id) if self._resumes or id in self._voids:
                self._counts[RoundId(id)] = self._voids[id], self._resumes

    def attempt(self, line: RoundLine) -> int:
        """Which attempt at its round this one was."""
        return 1 + sum(self._counts.get(RoundId(line.id), (0, 0)))

    def bot_seeds(self, line: RoundLine) -> tuple[int, int] | None:
        """The seeds that the bots had in this round; None if they are not known."""
        id = RoundId(line.id)
        voids, resumes = self._counts.get(id, (0, 0))
        if self._key is None or self._key.salt(id, voids, resumes) != line.salt:
            return None
        return self._key.bot_seeds(id, voids, resumes, line.bots)


@attrs.frozen
class RecordedRound:
    address: str  # how the command line names the round
    line: RoundLine
    points: tuple[int, int]  # of the match before this round
    deal: RevealedDeal
    revealed: tuple[RevealedDeal, ...]  # the deals that the bots learn at its end
    known_seeds: tuple[int, int] | None  # that the bots had for their own randomness; None if they are not known

    @property
    def bot_seeds(self) -> tuple[int, int]:
        """Seeds for the bots. If theirs are not known they are others, but the same ones each time."""
        return self.known_seeds or DealKey(self.line.seed).bot_seeds(RoundId(self.line.id), 0, 0, self.line.bots)

    def fault_at_decision_of(self, seat: Seat) -> Fault | None:
        """The fault of this seat, if it lost the round when it was asked for a decision."""
        ending = ENDINGS[self.line.result.ending]
        if self.line.fault is None or self.line.fault.seat != seat or not isinstance(ending, Fault):
            return None
        was_asked = ending is not Fault.FAILED_TO_START and not is_between_rounds(self.line.fault.detail)
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
        self._versions: dict[str, str] = {}  # by id of a player
        reader = JournalReader(_Meeting)
        for tournament, entry in reader.read(path):
            match entry.line:
                case TournamentLine(config=config):
                    lots = _Lots(config)
                case _Meeting(match=id, bots=bots):
                    assert tournament is not None  # the reader leaves out rounds without a tournament
                    indexed = _IndexedMatch(tournament.config.rounds, id, bots, lots)
                    self._matches.setdefault((tournament.number, id, bots), indexed).entries.append(entry)
                    lots.add(entry)
                case VoidLine() | ResumeLine() | RevealLine():
                    lots.add(entry)
                case BotLine() as bot:
                    self._versions[bot.id] = bot.short
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
                    found[self._versions.get(entry.line.players[match.bots.index(name)] or "", "")] = None
        return [version for version in found if version]

    def _address(self, entry: Entry) -> str:
        return round_address(entry.line.id, entry.number, entry.line.id in self._ambiguous)

    def matches(self, name: str, wanted: Collection[str]) -> Iterator[tuple[Seat, RecordedMatch]]:
        """The matches of this bot that contain wanted rounds, with only these rounds, and the bot's seat in each.
        `wanted` are addresses. Rounds that cannot be used are added to `problems`."""
        for match in self._matches.values():
            if name in match.bots and any(self._address(entry) in wanted for entry in match.entries):
                lines = dict(self._sound_rounds(match))
                rounds = tuple(_recorded(address, lines, match.lots) for address in lines if address in wanted)
                if any(each.known_seeds is None for each in rounds):
                    self.problems.append(f"{self.path}: {_OTHER_SEEDS}")
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


def _recorded(address: str, lines: Mapping[str, RoundLine], lots: _Lots) -> RecordedRound:
    line = lines[address]
    earlier = [each.result.points for each in lines.values() if each.round < line.round]
    twins = [each for each in lines.values() if each.seed == line.seed]  # a mirrored round has the same seed
    is_last = all(twin.round <= line.round for twin in twins)
    return RecordedRound(
        address=address,
        line=line,
        points=(sum(a for a, _ in earlier), sum(b for _, b in earlier)),
        deal=_revealed(line, lots),
        revealed=tuple(_revealed(twin, lots) for twin in twins) if is_last else (),
        known_seeds=lots.bot_seeds(line),
    )


def _revealed(line: RoundLine, lots: _Lots) -> RevealedDeal:
    """The deal as bots learn it. Journals from before 0.2 have no salts; any salt will do there, because the hash is
    computed from the same one."""
    return RevealedDeal(line.round, line.deck, line.tactics, line.salt or line.seed, lots.attempt(line))

"""What the journal of one tournament says now. Pure.

Theory of operation. A journal is read from its beginning, and each line changes what is known: an opening line says
what is to be played, a round is finished, a void round is played again with another deal. `TournamentState` is fed all
lines of one tournament in their order, and nothing else keeps such accounts. The reader (reader.py) makes a state at
each opening line, feeds it, and yields each line together with it, so whoever reads a journal holds one. A verification
feeds one itself, because a line counts there only after it was checked. A tournament that is played goes on feeding the
state that a resume has read, with each line that it is about to write.

Many readers want little of this and read a million rounds, so what is not asked for costs nothing. The plan is made
when it is first asked for; without one that can be read, only what needs it fails. What the format of the tournament
keeps of the results is kept only after `judge`, and only of rounds that the caller has compared with the plan.

Memory does not grow with the number of finished rounds: the ids of those whose match is over are one range for each
pair of bots (finished_rounds.py). It grows with void rounds and with the versions of bots, which are few.

What an opening line says is taken in by `_open` alone. Players, voids and finished rounds do not depend on it, so an
opening line that continues the tournament before it would be taken in there, too.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from arena.journal.finished_rounds import FinishedRounds
from arena.journal.formats import TournamentFormat, Verdict, format_of
from arena.journal.lines import BotLine, ReadmissionLine, ResumeLine, RevealLine, TournamentLine, VoidLine
from arena.journal.planned import Plan, plan_of
from arena.journal.players import Players
from arena.plan.deals import SCHEME, DealKey
from arena.plan.schedule import PlannedMatch

OtherLine = BotLine | VoidLine | ResumeLine | ReadmissionLine | RevealLine


class TournamentState:
    def __init__(self, opening: TournamentLine, number: int = 1):
        self.number = number  # of the tournaments that were read, from 1
        self.players = Players()
        self.voids: Counter[str] = Counter()  # by round
        self.excused: Counter[str] = Counter()  # by bot: voids because it was late or killed
        self.lost: Counter[str] = Counter()  # by bot: all other voids, which a bot without a sandbox can cause
        self.rounds: Counter[str] = Counter()  # by bot: finished ones, if their results are taken in
        self.resumes = 0
        self._open(opening)

    def _open(self, opening: TournamentLine) -> None:
        self.opening = opening
        self.config = config = opening.config
        self.finished = FinishedRounds(config.rounds)
        is_public = config.deals == SCHEME and config.seed is not None
        self.key = DealKey(config.seed or "", is_public=True) if is_public else None  # of the deals, once it is known
        self.is_revealed = False  # whether a line reveals a secret; a wrong one is no key
        self._plan: Plan | None = None
        self._format: TournamentFormat | None = None

    @property
    def plan(self) -> Plan:
        """Which rounds there are. Raises ConfigError if the opening line does not say so."""
        if self._plan is None:
            self._plan = plan_of(self.config)
        return self._plan

    def judge(self) -> None:
        """Keep from now on what the format needs to say what is next and whether the tournament is over. Raises
        ConfigError if the opening line does not say which rounds there are."""
        self._format = format_of(self.config, self.plan)

    @property
    def format(self) -> TournamentFormat:
        assert self._format is not None, "judge() comes before all other lines"
        return self._format

    def add(self, line: OtherLine) -> None:
        """Take in a line that is neither a round nor an opening line."""
        match line:
            case BotLine():
                self.players.add(line)
                if self._format is not None:
                    self._format.refuses(line)
            case VoidLine():
                self.voids[line.id] += 1
                if line.excused is not None:
                    self.excused[line.bots[line.excused]] += 1
                elif line.deal_exposed is not True:
                    self.lost.update(line.bots)
                if self._format is not None:
                    self._format.add_void(line)
            case ResumeLine():
                self.resumes += 1
            case RevealLine():
                self.is_revealed = True
                key = DealKey(line.secret)
                self.key = key if key.hash == self.config.seed_hash else self.key
            case ReadmissionLine():
                pass  # withdrawals follow from faults, which only those who play count

    def add_round(self, line: Any) -> str | None:
        """Take in a finished round: a struct with at least the fields of RoundName. Returns why it must not count, or
        None if it may."""
        return self.finished.add(line.match, line.id)

    def add_result(self, line: Any) -> None:
        """Take in the result of a finished round, which is one of the plan."""
        self.rounds[line.bots[0]] += 1
        self.rounds[line.bots[1]] += 1
        self.format.add_round(line)

    def attempt(self, round_id: str) -> tuple[int, int]:
        """What the deal of the next attempt at this round depends on, besides the key: how often the round was void,
        and how often the tournament was resumed."""
        return self.voids[round_id], self.resumes


def next_matches(state: TournamentState) -> Iterable[PlannedMatch]:
    """The matches that may begin, in this order. Those that are under way are among them."""
    return state.format.next_matches(state.plan, state.finished)


def verdict(state: TournamentState) -> Verdict:
    """Whether the tournament is over, and why."""
    return state.format.verdict(state.plan, state.finished)

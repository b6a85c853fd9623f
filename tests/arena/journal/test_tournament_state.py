"""What the journal of a tournament says now, and what its format makes of that."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pytest

from arena.cli.progress import Quiet
from arena.journal import tournament_state
from arena.journal.finished_rounds import FinishedRounds
from arena.journal.formats import Completeness, FixedSchedule
from arena.journal.identity import BotLine, Fingerprint, bot_line
from arena.journal.lines import ResultLine, ResumeLine, RevealLine, RoundLine, TournamentLine, VoidLine, encoded
from arena.journal.planned import Plan
from arena.journal.tournament_state import TournamentState, next_matches, verdict
from arena.plan.config import Config
from arena.plan.deals import DealKey
from arena.plan.recorded_config import RecordedConfig
from arena.plan.schedule import PlannedMatch
from arena.plan.source import ConfigError
from arena.plan.sprt_config import test_from_command_line as sprt_of
from arena.tournament.run import run_tournament
from tests.helpers.rounds import STARTED, round_line
from tests.helpers.tournaments import configured, rounds_in, steady

SECRET = 64 * "5"


def state_of(config: Config, key: DealKey | None = None) -> TournamentState:
    key = key or DealKey(SECRET)
    return TournamentState(TournamentLine(config=attrs.evolve(config, key=key).recorded(), started=STARTED))


def cup(**options: str) -> TournamentState:
    return state_of(configured(*map(steady, "abc"), journal=None, **options))


def void(id: str, **fields: Any) -> VoidLine:
    match, _, number = id.rpartition(".")
    return VoidLine(id=id, match=match, round=int(number), bots=("a", "b"), reason="late", started=STARTED, **fields)


def finished(state: TournamentState, matches: Iterable[PlannedMatch], winner: int | None = 0) -> Iterator[RoundLine]:
    """All rounds of these matches, fed to the state one by one."""
    for match in matches:
        for planned in match.rounds:
            line = round_line(planned.id, ResultLine(winner, "five-stones", (5, 0), ()))
            assert state.add_round(line) is None
            state.add_result(line)
            yield line


def test_voids_and_resumes_before_a_round_determine_its_deal() -> None:
    state = cup()
    assert state.attempt("1.1-2.1") == (0, 0)
    state.add(void("1.1-2.1", excused=1))
    state.add(ResumeLine(started=STARTED))
    state.add(void("1.1-2.1"))
    state.add(void("1.1-2.2", deal_exposed=True))
    assert (state.attempt("1.1-2.1"), state.attempt("1.1-2.2"), state.attempt("1.1-3.1")) == ((2, 1), (1, 1), (0, 1))
    assert (state.excused, state.lost) == ({"b": 1}, {"a": 1, "b": 1})


def test_a_void_line_of_before_has_another_name_for_an_exposed_deal() -> None:
    now = void("1.1-2.2", deal_exposed=True)
    before = encoded(now).replace(b'"deal_exposed"', b'"along"')
    assert msgspec.json.decode(before, type=VoidLine) == now
    assert encoded(msgspec.json.decode(before, type=VoidLine)) == encoded(now)


def test_a_key_is_known_once_the_right_secret_is_revealed_or_if_it_is_public() -> None:
    state = cup()
    state.add(RevealLine(secret=64 * "6"))
    assert (state.key, state.is_revealed) == (None, True)
    state.add(RevealLine(secret=SECRET))
    assert state.key == DealKey(SECRET)
    public = DealKey("7", is_public=True)
    state = state_of(configured(steady("a"), steady("b")), public)
    assert (state.key, state.is_revealed) == (public, False)


@pytest.mark.parametrize("form", ["roundrobin", "gauntlet"])
def test_all_matches_of_a_schedule_are_next_until_all_their_rounds_are_finished(form: str) -> None:
    state = cup(format=form, cycles="2")
    state.judge()
    plan = list(state.plan.schedule)
    assert list(next_matches(state)) == plan
    over, under_way, *others = plan
    lines = [*finished(state, [over]), next(finished(state, [under_way]))]
    assert list(next_matches(state)) == [under_way, *others]
    assert (state.finished.count, state.finished.under_way(under_way.id)) == (3, {lines[-1].id})
    assert state.add_round(lines[0]) is not None
    assert not verdict(state).is_over
    state.add_round(round_line(under_way.rounds[1].id, lines[0].result))
    assert list(finished(state, others))
    assert (verdict(state).is_over, list(next_matches(state))) == (True, [])


def test_a_decided_test_has_no_next_match_whatever_is_left_of_its_plan() -> None:
    options = {"elo0": "0", "elo1": "400", "max-rounds": "400", "journal": "test.jsonl"}
    state = state_of(sprt_of(("new=greedy", "base=random"), options))
    state.judge()
    plan = list(state.plan.schedule)
    later = list(finished(state, plan[100:]))
    assert (verdict(state).counted, verdict(state).is_over, len(later)) == (0, False, 200)
    assert list(next_matches(state)) == plan[:100]
    assert list(finished(state, plan[:99]))
    assert verdict(state).is_over
    assert verdict(state).counted < 99
    assert list(next_matches(state)) == []


def test_a_test_refuses_a_program_that_differs_from_the_first_that_its_journal_names() -> None:
    def version(code: str) -> BotLine:
        return bot_line("new", None, Fingerprint(("./new",), {"./new": code * 64}), STARTED)

    state = state_of(sprt_of(("new=greedy", "base=random"), {"journal": "test.jsonl"}))
    state.judge()
    state.add(version("a"))
    assert state.format.refuses(version("a")) is None
    assert "new changed during the test" in str(state.format.refuses(version("b")))
    schedule = cup()
    schedule.judge()
    schedule.add(version("a"))
    assert schedule.format.refuses(version("b")) is None


def test_without_a_sound_opening_line_only_what_needs_its_plan_fails() -> None:
    state = TournamentState(TournamentLine(config=RecordedConfig(rounds=2), started=STARTED))
    assert state.add_round(round_line("1.1-2.1", ResultLine(0, "five-stones", (5, 0), ()))) is None
    assert state.finished.count == 1
    with pytest.raises(ConfigError, match="`bots` is missing"):
        state.judge()


class FirstToWin(FixedSchedule):
    """A format of this test: whoever wins three rounds first has won, and no other match is played."""

    words = "race"
    plays_all = False

    def __init__(self) -> None:
        self._wins = {0: 0, 1: 0}

    def add_round(self, line: Any, /) -> None:
        if line.result.winner is not None:
            self._wins[line.result.winner] += 1

    def verdict(self, plan: Plan, finished: FinishedRounds, /) -> Completeness:
        is_won = max(self._wins.values()) >= 3
        return Completeness(is_won or super().verdict(plan, finished).is_over, max(self._wins.values()))


@pytest.mark.extended
def test_those_who_play_need_no_change_for_another_format(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament_state, "format_of", lambda _config, _plan: FirstToWin())
    config = configured(steady("a"), steady("b"), journal=journal, cycles="20", concurrency="1")
    config = attrs.evolve(config, seed="")
    ran = run_tournament(config, Quiet())
    wins = [line.result.winner for line in rounds_in(journal)]
    assert max(wins.count(0), wins.count(1)) == 3
    assert (len(wins) < 40, ran.failure, ran.stopped) == (True, None, False)
    assert journal.read_bytes().splitlines()[-1].startswith(b'{"type":"reveal"')

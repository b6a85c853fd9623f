"""Sequential tests as processes: the same verdict at any concurrency, after kills, and from the journal alone."""

import random
import subprocess
from itertools import pairwise
from pathlib import Path

import attrs
import pytest
from msgspec.structs import replace

from arena.cli.progress import Quiet
from arena.journal.lines import JournalLine, RevealLine, read
from arena.journal.sequential_test import End, SprtState
from arena.journal.verify import verify_journals
from arena.plan.config import Config
from arena.plan.sprt_config import test_from_command_line as from_words
from arena.tournament.run import TournamentRun, run_tournament
from arena.tournament.tournament_events import RoundFinished, TournamentEvent, VerdictAdvanced
from tests.helpers.processes import bad_command
from tests.helpers.sprt_runs import SHORT, result_in, sprt_words
from tests.helpers.tournaments import rounds_in, run_and_kill, steady


def config_of(journal: Path, *bots: str, **options: str) -> Config:
    named = SHORT | {key.replace("_", "-"): value for key, value in options.items()} | {"journal": str(journal)}
    return from_words(bots or (steady("new"), steady("base")), named)


def state_of(ran: TournamentRun) -> SprtState:
    assert isinstance(ran.verdict, SprtState)
    return ran.verdict


def counted(state: SprtState) -> SprtState:
    """All of it that must not depend on when rounds finish."""
    return replace(state, not_counted=0)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> SprtState:
    """The test as it is played one round after the other."""
    journal = tmp_path_factory.mktemp("reference") / "test.jsonl"
    ran = run_tournament(config_of(journal, concurrency="1"), Quiet())
    state = state_of(ran)
    assert state.end in (End.H0, End.H1)
    assert (state.not_counted, ran.finished) == (0, 2 * state.counted)
    assert 8 <= state.counted <= 60  # long enough to be killed, and short enough for a test
    return state


@pytest.mark.extended
def test_eight_matches_at_once_give_the_same_result_and_what_is_beyond_is_kept(
    reference: SprtState, tmp_path: Path
) -> None:
    journal = tmp_path / "test.jsonl"
    ran = run_tournament(config_of(journal, concurrency="8"), Quiet())
    state = state_of(ran)
    assert counted(state) == reference
    assert len(rounds_in(journal)) == ran.finished == 2 * reference.counted + state.not_counted
    assert result_in(journal) == state
    assert verify_journals([journal]).problems == []


@pytest.mark.extended
def test_killed_at_random_moments_it_ends_with_the_same_result(reference: SprtState, tmp_path: Path) -> None:
    journal, over, rng = tmp_path / "test.jsonl", tmp_path / "kills.over", random.Random(2)
    words = sprt_words(journal, f"rest=4:{over.with_suffix('')}", concurrency="2", st="600")
    for _ in range(4):
        assert run_and_kill(words, journal, rng) is None
    over.touch()
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == (0 if reference.end is End.H1 else 1), done.stderr
    assert counted(result_in(journal)) == reference
    assert verify_journals([journal]).problems == []


@pytest.mark.extended
@pytest.mark.parametrize("order", [1, -1])
def test_every_prefix_of_a_journal_resumes_to_the_same_result(reference: SprtState, tmp_path: Path, order: int) -> None:
    """As if it had been killed there; the second time with the rounds in the opposite order, as if many were played at
    once."""
    whole = tmp_path / "whole.jsonl"
    run_tournament(config_of(whole, concurrency="1"), Quiet())
    everything = whole.read_bytes().splitlines(keepends=True)
    lines = [line for line in everything if line.startswith(b'{"type":"round"')]
    others = [line for line in everything if line not in lines]
    for cut in (len(lines) // 2, len(lines) - 1):
        journal = tmp_path / f"{cut}.jsonl"
        journal.write_bytes(b"".join([*others, *lines[::order][:cut]]))
        ran = run_tournament(config_of(journal, concurrency="2"), Quiet())
        state = state_of(ran)
        assert counted(state) == counted(result_in(journal)) == reference


def test_a_test_with_a_secret_reveals_it_as_soon_as_it_is_decided(tmp_path: Path) -> None:
    journal = tmp_path / "test.jsonl"
    config = attrs.evolve(config_of(journal), seed="")
    ran = run_tournament(config, Quiet())
    state = state_of(ran)
    assert state.end is not None
    lines = [entry.line for entry in read(journal, JournalLine)]
    assert isinstance(lines[-1], RevealLine)
    assert not (tmp_path / "test.secret").exists()
    report = verify_journals([journal])
    assert (report.problems, report.remarks, report.incomplete) == ([], [], 0)
    saved = journal.read_bytes()
    again = run_tournament(config, Quiet())
    assert (again.verdict, again.failure) == (state, None)
    assert journal.read_bytes() == saved
    journal.write_bytes(saved[: saved.rindex(b'{"type":"reveal"')])  # killed between the verdict and its last line
    (tmp_path / "test.secret").write_text(lines[-1].secret)
    assert run_tournament(config, Quiet()).verdict == state
    assert journal.read_bytes() == saved


def test_a_test_that_lost_what_decides_it_is_found_out(tmp_path: Path) -> None:
    journal = tmp_path / "test.jsonl"
    run_tournament(attrs.evolve(config_of(journal, concurrency="1"), seed=""), Quiet())
    lines = journal.read_bytes().splitlines(keepends=True)
    rounds = [line for line in lines if line.startswith(b'{"type":"round"')]
    for place, first in ((3, "2.1-2.2"), (len(rounds) - 1, rounds_in(journal)[-1].id)):
        journal.write_bytes(b"".join(line for line in lines if line != rounds[place]))
        (problem,) = verify_journals([journal]).problems
        words = f"missing, although the secret is revealed: what decides this sequential test, from round {first} on"
        assert problem.text == words
        journal.write_bytes(b"".join(lines))
    journal.write_bytes(b"".join(line for line in lines[:-1] if line != rounds[-1]))
    report = verify_journals([journal])
    assert (report.problems, report.incomplete) == ([], 1)
    count = len(rounds) - 1
    assert f"not complete: {count} rounds, which do not decide this sequential test; the secret" in report.remarks[0]


def test_each_state_is_told_after_the_rounds_that_it_counts_are_saved(tmp_path: Path) -> None:
    journal = tmp_path / "test.jsonl"
    told: list[TournamentEvent] = []

    class Listening:
        def heard(self, event: TournamentEvent, /) -> None:
            told.append(event)
            if isinstance(event, VerdictAdvanced):
                rounds = sum(isinstance(each, RoundFinished) for each in told)
                assert 2 * event.verdict.counted <= rounds <= len(rounds_in(journal))

    ran = run_tournament(config_of(journal), Listening())
    states = [event.verdict for event in told if isinstance(event, VerdictAdvanced)]
    assert all(before.counted < after.counted for before, after in pairwise(states))
    state = state_of(ran)
    last = states[-1]
    assert isinstance(last, SprtState)
    assert counted(last) == counted(state)


@pytest.mark.parametrize(
    ("bots", "end"),
    [
        (lambda bad: (f"new={bad}", steady("base")), End.NEW_FAILS),
        pytest.param(lambda bad: (steady("new"), f"base={bad}"), End.BASE_FAILS, marks=pytest.mark.extended),
        pytest.param(lambda bad: (f"new={bad}", f"base={bad}"), End.BOTH_FAIL, marks=pytest.mark.extended),
    ],
)
def test_a_bot_that_always_fails_ends_the_test_after_the_same_pairs_at_any_concurrency(
    bots: "object", end: End, tmp_path: Path
) -> None:
    assert callable(bots)
    states = []
    for concurrency in ("1", "4"):
        journal = tmp_path / f"{concurrency}.jsonl"
        ran = run_tournament(config_of(journal, *bots(bad_command("crash-at-start")), concurrency=concurrency), Quiet())
        state = state_of(ran)
        assert not any(line.fault and line.fault.withdrawn for line in rounds_in(journal))
        states.append(counted(state))
    assert states[0] == states[1]
    assert (states[0].end, states[0].counted) == (end, 3)

"""What is said of a match in which one bot won every round."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from arena.stats.match_score import match_text, running_text
from arena.stats.sweep import Sweep, swept
from tests.helpers.summaries import line, opening, standings_of

UNDECIDED = "This does not show which bot is better; `arena sprt` plays until that is known."


def match(wins: int, losses: int = 0, draws: int = 0, **more: Any) -> tuple[str, str]:
    """The score while it is played, and the lines at the end."""
    winners = [0] * wins + [1] * losses + [None] * draws
    rounds = [line(f"m.{n}", won, (5, 5), pair=f"m.{n - 1 + n % 2}", **more) for n, won in enumerate(winners, 1)]
    standings = standings_of(opening(rounds=len(rounds)), *rounds)
    return running_text(standings, "a", "b"), match_text(standings, "a", "b")


def test_a_clean_sweep_is_decided_by_the_wins() -> None:
    so_far, at_the_end = match(16)
    assert so_far.endswith(" 16, Elo more than +92")
    assert "Elo difference: more than +92 at 95 %: a won every round, so it is better" in at_the_end
    assert UNDECIDED not in at_the_end
    assert "+/-" not in so_far + at_the_end


def test_the_loser_is_told_the_same_with_the_other_sign() -> None:
    so_far, at_the_end = match(0, losses=16)
    assert so_far.endswith(", Elo less than -92")
    assert "Elo difference: less than -92 at 95 %: b won every round, so it is better" in at_the_end


@pytest.mark.parametrize("wins", [1, 2, 10, 11])
def test_few_wins_decide_nothing(wins: int) -> None:
    so_far, at_the_end = match(wins)
    assert so_far.endswith(", Elo not known yet")
    assert "Elo difference: not known: a won every round, but they are too few to tell\n" + UNDECIDED in at_the_end


def test_six_pairs_decide() -> None:
    assert "Elo difference: more than +28 at 95 %: a won every round, so it is better" in match(12)[1]


@pytest.mark.parametrize(("losses", "draws"), [(1, 0), (0, 1)])
def test_a_single_loss_or_draw_brings_the_interval_back(losses: int, draws: int) -> None:
    so_far, at_the_end = match(20, losses, draws)
    assert "+/-" in so_far
    assert "+/-" in at_the_end
    assert "won every round" not in at_the_end


def test_a_sweep_by_faults_does_not_make_a_bot_better() -> None:
    at_the_end = match(20, ending="crashed", fault={"seat": 1})[1]
    assert "Elo difference: more than +140 at 95 %: a won every round\n" in at_the_end
    assert "20 of 20 rounds ended by a fault, so the results say little about how well the bots play." in at_the_end


@pytest.mark.parametrize(("winner", "units"), list(product((0, 1), (6, 10, 1000, 10**7))))
def test_a_bot_as_strong_as_the_bound_would_win_everything_with_the_likelihood_that_is_said(
    winner: int, units: int
) -> None:
    elo = Sweep(winner, units).elo
    assert elo is not None
    assert (elo > 0) is (winner == 0)
    score = 1 / (1 + 10 ** (-abs(elo) / 400))
    assert math.exp(units * math.log(score)) == pytest.approx(0.025, rel=1e-3)


def test_more_wins_prove_more() -> None:
    bounds = [Sweep(0, units).elo for units in range(1, 40)]
    assert bounds[:5] == [None] * 5
    known = [bound for bound in bounds[5:] if bound is not None]
    assert len(known) == 34
    assert known == sorted(known)
    assert known[0] > 0


def test_the_bound_holds_for_pairs_whose_rounds_always_end_alike_even_if_one_looks_after_each() -> None:
    """Two equal bots whose pairs are all 2 : 0 or 0 : 2: how often is one of them ever said to be better?"""
    rng = np.random.default_rng(5)
    first = rng.random((4000, 30)) < 0.5
    in_a_row = np.array([np.argmin(row == row[0]) or 30 for row in first])
    wrong = [any(Sweep(0, units).proves() for units in range(1, most + 1)) for most in in_a_row]
    assert 0.02 < np.mean(wrong) < 0.05


@pytest.mark.parametrize(
    ("pairs", "singles", "sweep"),
    [
        ((0, 0, 0, 0, 0), (0, 0, 0), None),
        ((0, 0, 0, 0, 3), (0, 0, 0), Sweep(0, 3)),
        ((3, 0, 0, 0, 0), (0, 0, 0), Sweep(1, 3)),
        ((0, 0, 0, 0, 0), (0, 0, 7), Sweep(0, 7)),
        ((0, 0, 0, 0, 5), (0, 0, 1), Sweep(0, 5)),  # the single round may be one that the winner began
        ((0, 0, 0, 1, 3), (0, 0, 0), None),
        ((0, 0, 1, 0, 3), (0, 0, 0), None),
        ((1, 0, 0, 0, 3), (0, 0, 0), None),
        ((0, 0, 0, 0, 3), (1, 0, 0), None),
        ((0, 0, 0, 0, 3), (0, 1, 0), None),
    ],
)
def test_a_sweep_is_only_wins_and_its_pairs_count_once(
    pairs: tuple[int, ...], singles: tuple[int, ...], sweep: Sweep | None
) -> None:
    assert swept(pairs, singles) == sweep

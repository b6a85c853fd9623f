"""A sequential test as text, and as facts for programs. Pure."""

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

from arena.journal.likelihood import NORMALIZED_ELO, expected_score, t_value
from arena.journal.sequential_test import End, SprtState
from arena.plan.sprt import EloModel
from arena.stats.sweep import swept
from arena.support.text import counted

if TYPE_CHECKING:
    from arena.stats.ratings import Difference

_MOST_FAULTS: Final = 0.05  # of the rounds that count, before the result is doubtful
_ONE_VERSION: Final = "A test is of one version of each bot, and nothing of the other one counts"
_WHY_LOST: Final = (
    "the arena failed, or a process of it or of a bot was killed; this many could decide the test. If this machine is "
    "not the reason, a bot without a sandbox is: test with --sandbox"
)
_GUESSES: Final = 9  # at the strength of the bots, for the estimate of the pairs to come


def all_facts(state: SprtState) -> dict[str, Any]:
    """All that is known, with what takes longer to compute."""
    elo, sweep, normalized = difference(state), swept(state.pairs), normalized_elo(state)
    return state.facts() | {
        "elo": sweep.elo if sweep else elo and elo.elo,
        "elo_margin": None if sweep else elo and elo.margin,
        "elo_is_bound": elo and elo.bound,
        "normalized_elo": normalized and normalized[0],
        "normalized_elo_margin": normalized and normalized[1],
        "warnings": warnings(state),
    }


def difference(state: SprtState) -> "Difference | None":
    """The plain difference in Elo between the bots; None before the first pair."""
    from arena.stats.ratings import difference as rated  # loads numpy

    return rated(state.pairs, (0, 0, 0))


def normalized_elo(state: SprtState) -> tuple[float, float] | None:
    """The difference in normalized Elo and its 95 % margin; None if the pairs so far do not vary."""
    from arena.stats.ratings import Z95  # loads numpy

    found = _t(state)
    if found is None:
        return None
    per_t = NORMALIZED_ELO / math.sqrt(2)
    return found * per_t, Z95 * per_t / math.sqrt(state.counted)


def _t(state: SprtState) -> float | None:
    """The mean score of a pair above one half, in standard deviations; None if there is no deviation."""
    mean, deviation = _moments(state)
    return (mean - 0.5) / deviation if deviation else None


def _moments(state: SprtState) -> tuple[float, float]:
    """The mean score of a pair, scaled to 0 … 1, and its standard deviation; 0 and 0 before the first pair."""
    total = state.counted
    if not total:
        return 0.0, 0.0
    mean = sum(count * score for score, count in enumerate(state.pairs)) / (4 * total)
    variance = sum(count * (score / 4 - mean) ** 2 for score, count in enumerate(state.pairs)) / total
    return mean, math.sqrt(variance)


def pairs_to_come(state: SprtState) -> int | None:
    """About how many pairs are left until the test is decided; None if nothing can be said yet.

    The ratio moves like a Brownian motion. Its drift depends on how strong the bots are, which is known only roughly:
    the estimate is the average over what the pairs so far make likely."""
    mean, deviation = _moments(state)
    if state.end is not None or not deviation:
        return None
    sprt = state.sprt
    if sprt.model is EloModel.NORMALIZED:
        t0, t1 = map(t_value, (sprt.elo0, sprt.elo1))
    else:
        t0, t1 = ((expected_score(elo) - 0.5) / deviation for elo in (sprt.elo0, sprt.elo1))
    now, error = (mean - 0.5) / deviation, 1 / math.sqrt(state.counted)
    guesses = NormalDist(now, error).quantiles(_GUESSES + 1)
    times = [_exit_time(state, (t1 - t0) * (t - (t0 + t1) / 2), (t1 - t0) ** 2) for t in guesses]
    return min(math.ceil(sum(times) / _GUESSES), state.most_pairs - state.counted)


def _exit_time(state: SprtState, drift: float, variance: float) -> float:
    """The expected number of steps until the ratio leaves the interval between its bounds."""
    below, above = state.llr - state.sprt.lower, state.sprt.upper - state.llr
    bend = 2 * drift / variance
    if abs(bend) * (below + above) < 1e-3:
        return below * above / variance
    if abs(bend) * (below + above) > 500:  # the end is certain
        return (above if drift > 0 else -below) / drift
    up = -math.expm1(-bend * below) / -math.expm1(-bend * (below + above))
    return (up * above - (1 - up) * below) / drift


def ratio_text(state: SprtState) -> str:
    """The state in the words of chess programmers: LLR: 1.23 (-2.94, 2.94) [0, 10]."""
    sprt = state.sprt
    return f"LLR: {state.llr:.2f} ({sprt.lower:.2f}, {sprt.upper:.2f}) [{sprt.elo0:g}, {sprt.elo1:g}]"


def counts_text(state: SprtState) -> str:
    return f"Ptnml(0-2): {', '.join(map(str, state.pairs))}"


def elo_text(state: SprtState) -> str:
    """The plain difference in Elo. It is biased, because a test stops when the results happen to be extreme; what a
    clean sweep proves is not."""
    if sweep := swept(state.pairs):
        known, won = sweep.elo_text(), f"{state.bots[sweep.winner]} won every round"
        return f"Elo: {known} (95 %; {won})" if known else f"Elo: not known ({won}, but they are too few to tell)"
    found, normalized = difference(state), normalized_elo(state)
    if found is None:
        return "Elo: not known yet"
    text = f"Elo: {found.elo:+.1f} +/- {found.margin:.1f}"
    if normalized is not None:
        text += f", nElo: {normalized[0]:+.1f} +/- {normalized[1]:.1f}"
    return text + " (95 %; biased by stopping)"


def faults_text(state: SprtState) -> str:
    """Faults, and beside them void rounds: lost ones, for which no bot can be charged, and excused lateness."""
    voids = state.lost + sum(state.excused)
    why = f" ({state.lost} lost, excused: {_by_bot(state, state.excused)})" if voids else ""
    return f"Faults: {_by_bot(state, state.faults)}; voids: {voids}{why}"


def _by_bot(state: SprtState, counts: tuple[int, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in zip(state.bots, counts, strict=True))


def warnings(state: SprtState) -> list[str]:
    """What makes the result doubtful."""
    rounds = 2 * state.counted
    return [
        f"{name} failed in {count} of {rounds} rounds ({count / rounds:.1%}), so the test may say little about its play"
        for name, count in zip(state.bots, state.faults, strict=True)
        if rounds and count > _MOST_FAULTS * rounds
    ]


def verdict_text(state: SprtState) -> str:
    new, base = state.bots
    elo = f"{state.sprt.elo0:g}", f"{state.sprt.elo1:g}"
    match state.end:
        case End.H1:
            return f"{new} is better than {base}: H1 (Elo {elo[1]}) was accepted"
        case End.H0:
            return f"{new} is not better than {base}: H0 (Elo {elo[0]}) was accepted"
        case End.NEW_FAILS:
            return f"{new} is not better than {base}: it failed too often in a row"
        case End.BASE_FAILS:
            return f"Undecided: {base} failed too often in a row to be a measure of {new}"
        case End.BOTH_FAIL:
            return f"Undecided: both {new} and {base} failed too often in a row"
        case End.NO_ROUNDS_LEFT:
            are_played = "the only pair is" if state.most_pairs == 1 else f"all {state.most_pairs} pairs are"
            return f"Undecided whether {new} is better than {base}: {are_played} played"
        case End.CHANGED:
            why = f"{_ONE_VERSION}, so that the test cannot go on: begin another journal (--journal FILE)"
            return f"Undecided: {state.changed}. {why}"
        case End.VOIDS:
            return f"Undecided: {state.lost} rounds were void because {_WHY_LOST}"
        case End.SAME_PROGRAM:
            return "Undecided: both bots are the same program: nothing to test"
        case None:
            change = f". {state.changed}. {_ONE_VERSION}" if state.changed else ""
            return f"Undecided whether {new} is better than {base}: the test is not over{change}"


def report(state: SprtState) -> str:
    """The whole state, in lines."""
    if state.end is End.SAME_PROGRAM:
        return f"{verdict_text(state)}."
    new = state.bots[0]
    lines = [
        f"{verdict_text(state)}.",
        f"{ratio_text(state)}, {state.sprt.model.value}",
        f"{counts_text(state)}  ({counted(state.counted, 'pair')} by the score of {new})",
    ]
    lines += [elo_text(state)] if state.counted else []
    lines += [faults_text(state)] if state.counted or state.lost else []
    if state.not_counted:
        beyond = counted(state.not_counted, "finished round")
        lines.append(f"Not counted: {beyond} beyond the pairs that count; the journal keeps what was played.")
    return "\n".join([*lines, *(f"Warning: {text}." for text in warnings(state))])

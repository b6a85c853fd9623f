"""The fold of rounds into a sequential test: over the longest complete prefix, whatever the order of the rounds."""

import random
from collections.abc import Iterable, Sequence

import pytest
from msgspec.structs import replace

from arena.journal.identity import BotLine, Fingerprint, bot_line
from arena.journal.likelihood import llr
from arena.journal.sequential_test import BASE, NEW, Answer, End, SequentialTest, SprtRound, SprtState
from arena.plan.sprt import EloModel, Sprt
from arena.stats.sprt_report import all_facts, difference, pairs_to_come, report, warnings
from tests.helpers.simulated_tests import strength, walds_length

WON, LOST, DRAWN = NEW, BASE, None
BOTS = ("new", "base")
Rounds = list[tuple[str, SprtRound]]


def rounds(winners: Iterable[int | None], at_fault: tuple[int, ...] = ()) -> Rounds:
    """Rounds in the order of the schedule, two for each match."""
    return [
        (match, SprtRound(f"{match}.{number % 2 + 1}", winner, at_fault))
        for number, winner in enumerate(winners)
        for match in [str(number // 2 + 1)]
    ]


def state_of(played: Rounds, sprt: Sprt | None = None, pairs: int = 1000, max_faults: int = 5) -> SprtState:
    test = SequentialTest(sprt or Sprt(0, 50), BOTS, map(str, range(1, pairs + 1)), max_faults)
    for match, each in played:
        test.add(match, each)
        test.advance()
    return test.state


def by_lot(count: int, seed: int, share: float = 0.5) -> Rounds:
    rng = random.Random(seed)
    return rounds(NEW if rng.random() < share else BASE for _ in range(count))


def version(code: str) -> BotLine:
    return bot_line("new", None, Fingerprint(("./new",), {"./new": code * 64}), "2026-01-31T12:00:00Z")


def test_a_test_that_goes_on_with_the_restored_program_is_not_over() -> None:
    """Then the change is only said; it is not the reason why nothing is decided."""
    test = SequentialTest(Sprt(0, 50), BOTS, map(str, range(1, 100)), 5)
    one, two = version("a"), version("b")
    assert not test.refuses(one)
    assert test.refuses(two)
    for match, each in rounds([WON] * 8):
        test.add(match, replace(each, players=(one.id, None)))
    state = test.advance()
    assert (state.counted, state.end) == (4, None)
    assert "Undecided whether new is better than base: the test is not over. new changed during the test" in report(
        state
    )


def test_a_pair_that_another_version_played_ends_the_test_undecided_and_does_not_count() -> None:
    test = SequentialTest(Sprt(0, 50), BOTS, map(str, range(1, 100)), 5)
    one, two = version("a"), version("b")
    assert not test.refuses(one)
    assert not test.refuses(one)
    assert test.refuses(two)
    for number, (match, each) in enumerate(rounds([WON] * 8)):
        test.add(match, replace(each, players=(two.id if number >= 5 else one.id, None)))
    state = test.advance()
    assert (state.pairs, state.not_counted, state.end) == ((0, 0, 0, 0, 2), 4, End.CHANGED)
    assert state.answer is Answer.UNDECIDED
    assert "Undecided: new changed during the test: ./new is another file now (bbbbbbbb, before aaaaaaaa)." in report(
        state
    )
    assert all_facts(state)["changed"] == state.changed


def test_one_pair_and_one_round_are_named_in_the_singular() -> None:
    assert "better than base: the only pair is played." in report(state_of(rounds([WON, LOST]), pairs=1))
    assert "Not counted: 1 finished round beyond" in report(state_of(rounds([WON])))


def test_pairs_are_counted_by_their_score() -> None:
    state = state_of(rounds([LOST, LOST, LOST, DRAWN, WON, LOST, DRAWN, DRAWN, WON, DRAWN, WON, WON]))
    assert state.pairs == (1, 1, 2, 1, 1)
    assert state.llr == llr(state.pairs, state.sprt)
    assert (state.end, state.answer) == (None, Answer.UNDECIDED)


def test_a_round_beyond_a_missing_one_does_not_count_until_that_is_played() -> None:
    played = rounds([WON] * 8)
    late = played.pop(1)
    state = state_of(played)
    assert (state.counted, state.not_counted, state.llr) == (0, 7, 0.0)
    state = state_of([*played, late])
    assert (state.counted, state.not_counted) == (4, 0)


@pytest.mark.parametrize("seed", range(20))
def test_neither_the_order_of_rounds_nor_how_they_arrive_together_changes_the_result(seed: int) -> None:
    played = by_lot(800, seed, 0.5 if seed % 2 else 0.58)
    in_order = state_of(played)
    assert in_order.end in (End.H0, End.H1)
    shuffled = list(played)
    random.Random(seed).shuffle(shuffled)
    at_once = SequentialTest(Sprt(0, 50), BOTS, map(str, range(1, 1001)), 5)
    for match, each in shuffled:
        at_once.add(match, each)
    assert at_once.advance() == state_of(shuffled) == replace(in_order, not_counted=800 - 2 * in_order.counted)


@pytest.mark.parametrize("seed", range(10))
def test_neither_the_order_of_voids_nor_concurrency_changes_the_result(seed: int) -> None:
    """The fourth pair is the one with the sixth lost round, whether it is finished or not. A round is not void after it
    was finished."""
    rng = random.Random(seed)
    heard: dict[str, list[SprtRound | None]] = {}
    for match in "122444599":
        heard.setdefault(match, []).append(None)
    for match, each in rounds([WON, LOST] * 20)[: rng.choice([6, 7, 8, 40])]:
        heard.setdefault(match, []).append(each)
    order = [match for match, lines in heard.items() for _ in lines]
    rng.shuffle(order)
    at_once, one_by_one = (SequentialTest(Sprt(0, 50), BOTS, map(str, range(1, 21)), 5) for _ in range(2))
    for match in order:
        line = heard[match].pop(0)
        for test in (at_once, one_by_one):
            if line is None:
                test.lose(match, None)
            else:
                test.add(match, line)
        one_by_one.advance()
    state = at_once.advance()
    assert (state.counted, state.lost, state.end, state.answer) == (3, 6, End.VOIDS, Answer.UNDECIDED)
    assert one_by_one.advance() == state
    assert report(state).startswith("Undecided: 6 rounds were void because the arena failed")


def test_lateness_that_was_excused_is_shown_but_ends_no_test() -> None:
    test = SequentialTest(Sprt(0, 50), BOTS, map(str, range(1, 21)), 5)
    for _ in range(9):
        test.lose("1", BASE)
    test.lose("1", None)
    for match, each in rounds([WON, LOST]):
        test.add(match, each)
    state = test.advance()
    assert (state.counted, state.lost, state.excused, state.end) == (1, 1, (0, 9), None)
    assert "Faults: new 0, base 0; voids: 10 (1 lost, excused: new 0, base 9)" in report(state)


@pytest.mark.parametrize(("share", "end"), [(0.7, End.H1), (0.4, End.H0)])
def test_the_first_pair_that_passes_a_bound_decides_and_later_ones_change_nothing(share: float, end: End) -> None:
    played = by_lot(1000, 3, share)
    state = state_of(played)
    assert state.end is end
    counted = 2 * state.counted
    assert state_of(played[: counted - 2]).end is None
    assert state_of(played[:counted]) == replace(state, not_counted=0)
    against = rounds([BASE if end is End.H1 else NEW] * 1000)
    assert state_of(played[:counted] + against[counted:]).answer is end.answer


def test_without_rounds_left_it_is_undecided() -> None:
    state = state_of(rounds([WON, LOST] * 3), pairs=3)
    assert (state.end, state.answer) == (End.NO_ROUNDS_LEFT, Answer.UNDECIDED)
    assert "all 3 pairs are played" in report(state)


@pytest.mark.parametrize(
    ("winner", "at_fault", "end", "answer"),
    [
        (LOST, (NEW,), End.NEW_FAILS, Answer.NOT_BETTER),
        (WON, (BASE,), End.BASE_FAILS, Answer.UNDECIDED),
        (DRAWN, (NEW, BASE), End.BOTH_FAIL, Answer.UNDECIDED),
    ],
)
def test_faults_in_a_row_end_the_test(winner: int | None, at_fault: tuple[int, ...], end: End, answer: Answer) -> None:
    played = rounds([winner] * 400, at_fault)
    state = state_of(played)
    assert (state.end, state.counted, state.answer) == (end, 3, answer)
    assert state_of(played, max_faults=0).end in (End.H0, End.H1, None)
    assert state_of(list(reversed(played[:20]))) == replace(state, not_counted=14)


def test_faults_are_losses_and_more_than_one_in_twenty_warn() -> None:
    def failing(share: int) -> Sequence[str]:
        played = [
            (match, SprtRound(each.id, BASE, (NEW,)) if number % share == 0 else each)
            for number, (match, each) in enumerate(rounds([WON, LOST] * 60))
        ]
        state = state_of(played, Sprt(0, 5))
        assert state.faults == (120 // share, 0)
        return warnings(state)

    assert failing(20) == []
    (warning,) = failing(10)
    assert warning.startswith("new failed in 12 of 120 rounds (10.0%)")


@pytest.mark.parametrize("model", EloModel)
def test_where_the_strength_is_known_the_estimate_is_the_length_that_wald_expects(model: EloModel) -> None:
    def estimate(elo: float) -> int | None:
        """At the beginning of a test whose bots have shown their strength in a billion pairs."""
        zero, half, one, one_and_half, two = (round(each * 1e9) for each in strength(elo, model))
        return pairs_to_come(SprtState(sprt, BOTS, 10**12, (zero, half, one, one_and_half, two)))

    sprt = Sprt(-20, 20, model=model)
    assert estimate(-20) == pytest.approx(walds_length(sprt, under_h1=False), rel=0.01)
    assert estimate(20) == pytest.approx(walds_length(sprt, under_h1=True), rel=0.01)
    assert (estimate(0) or 0) > 1.5 * (estimate(20) or 0)


def test_nothing_is_estimated_before_results_vary_or_when_the_test_is_over() -> None:
    assert pairs_to_come(state_of([])) is None
    assert pairs_to_come(state_of(rounds([WON] * 6))) is None
    assert pairs_to_come(state_of(rounds([WON, LOST] * 3 + [WON] * 2, ()), pairs=4)) is None


def test_the_estimate_is_never_more_than_what_is_left() -> None:
    assert pairs_to_come(state_of(rounds([WON, LOST, WON, WON]), Sprt(0, 1), pairs=9)) == 7


def test_elo_is_that_of_the_pairs_that_count() -> None:
    state = state_of(rounds([WON, WON, WON, LOST] * 10), Sprt(0, 1))
    found = difference(state)
    assert found is not None
    assert found.elo == pytest.approx(190.8, abs=0.1)
    assert "Elo: +190.8 +/- " in report(state)
    assert "biased by stopping" in report(state)
    assert all_facts(state)["elo"] == found.elo


def test_a_clean_sweep_has_the_bound_that_the_wins_prove_and_no_interval() -> None:
    state = state_of(rounds([WON] * 16), Sprt(0, 1))
    assert "Elo: more than +92 (95 %; new won every round)" in report(state)
    assert "+/-" not in report(state)
    facts = all_facts(state)
    assert facts["elo"] == pytest.approx(92.9, abs=0.1)
    assert (facts["elo_margin"], facts["elo_is_bound"]) == (None, True)
    lost = state_of(rounds([LOST] * 16), Sprt(0, 1))
    assert "Elo: less than -92 (95 %; base won every round)" in report(lost)
    assert all_facts(lost)["elo"] == -facts["elo"]


def test_a_clean_sweep_of_few_pairs_claims_nothing() -> None:
    state = state_of(rounds([WON] * 10), Sprt(0, 1))
    assert "Elo: not known (new won every round, but they are too few to tell)" in report(state)
    assert all_facts(state)["elo"] is None


def test_a_test_without_a_pair_can_be_told() -> None:
    assert "LLR: 0.00 (-2.94, 2.94) [0, 50], normalized" in report(state_of([]))
    assert all_facts(state_of([]))["elo"] is None

"""Who meets whom with which deal."""

from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.schedule import Format, PlannedMatch, deal_for, pairing_count, recoloured, salt_for, schedule
from engine.cards import SEATS, other
from engine.deal import Deal
from engine.formations import side_strength
from engine.ruleset import PRESETS

BASE = PRESETS["base"]


def planned(bots: int = 4, cycles: int = 1, rounds: int = 6, mirrored: bool = True) -> tuple[PlannedMatch, ...]:
    return schedule(bots, Format.ROUND_ROBIN, cycles, rounds, mirrored, BASE)


@given(st.integers(2, 12), st.integers(1, 4))
def test_in_a_round_robin_everybody_meets_everybody_once_a_cycle(bots: int, cycles: int) -> None:
    meetings = Counter(match.bots for match in planned(bots, cycles))
    assert meetings == dict.fromkeys(combinations(range(bots), 2), cycles)


@given(st.integers(3, 12))
def test_whoever_stops_early_stops_fairly(bots: int) -> None:
    """At any moment no bot has met two opponents more than another, one more if the number of bots is odd."""
    met: Counter[int] = Counter(dict.fromkeys(range(bots), 0))
    for match in planned(bots):
        met.update(match.bots)
        assert max(met.values()) - min(met.values()) <= 1 + bots % 2


def test_in_a_gauntlet_the_first_bot_meets_all_others() -> None:
    matches = schedule(4, Format.GAUNTLET, 2, 2, True, BASE)
    assert [match.bots for match in matches] == [(0, 1), (0, 2), (0, 3)] * 2


def test_ids_are_unique_and_stable() -> None:
    rounds = [each.id for match in planned(cycles=3) for each in match.rounds]
    assert len(set(rounds)) == len(rounds) == 3 * 6 * 6
    assert planned()[0].id == "1.1-4"
    assert planned()[0].rounds[0].id == "1.1-4.1"


@pytest.mark.parametrize("rounds", [2, 4, 6, 8, 10, 20])
def test_mirrored_rounds_come_in_pairs_half_a_match_apart(rounds: int) -> None:
    for match in planned(rounds=rounds, cycles=2):
        by_id = {each.id: each for each in match.rounds}
        seconds = [each for each in match.rounds if each.recoloured]
        assert sorted(each.pair for each in seconds) == sorted(each.id for each in match.rounds if not each.recoloured)
        for second in seconds:
            first = by_id[second.pair]
            assert first.first is not None
            assert second.first == other(first.first)  # exchanges the hands
            assert abs(second.number - first.number - rounds // 2) <= 1
            assert second.number > first.number


@pytest.mark.parametrize("mirrored", [True, False])
@pytest.mark.parametrize("rounds", [2, 4, 6, 10])
def test_the_players_alternate_in_beginning(rounds: int, mirrored: bool) -> None:
    for match in planned(rounds=rounds, mirrored=mirrored):
        begins = [each.first for each in match.rounds]
        assert all(a != b for a, b in pairwise(begins))


def test_over_the_cycles_each_begins_as_often_as_the_other() -> None:
    begins = Counter((match.bots, match.rounds[0].first) for match in planned(cycles=4, rounds=1, mirrored=False))
    assert set(begins.values()) == {2}


def test_with_winner_begins_only_the_first_round_is_fixed() -> None:
    match = schedule(2, Format.ROUND_ROBIN, 1, 4, False, PRESETS["classic"])[0]
    assert [each.first for each in match.rounds] == [SEATS[1], None, None, None]


def test_the_second_round_of_a_pair_has_the_same_deal_in_other_colours() -> None:
    for match in planned(cycles=3):
        by_id = {each.id: each for each in match.rounds}
        for second in match.rounds:
            if second.recoloured:
                seed, deal = deal_for(by_id[second.pair], "cup", BASE)
                same_seed, other_deal = deal_for(second, "cup", BASE)
                assert same_seed == seed
                assert other_deal != deal
                assert [card % 9 for card in other_deal.clan] == [card % 9 for card in deal.clan]
                other_deal.check(tactics=False)


@given(st.text(), st.lists(st.integers(0, 53), min_size=3, max_size=3, unique=True))
def test_other_colours_leave_every_formation_as_strong(seed: str, places: list[int]) -> None:
    deal = Deal.from_seed("any", tactics=False)
    other_deal = recoloured(deal, seed)
    before, after = ([cards[place] for place in places] for cards in (deal.clan, other_deal.clan))
    assert side_strength(before, blind=False) == side_strength(after, blind=False)


def test_deals_depend_on_the_seed_and_the_round_alone() -> None:
    deals = {deal_for(each, seed, BASE)[1] for seed in ("a", "b") for match in planned() for each in match.rounds}
    assert len(deals) == 2 * 36
    assert len({salt_for(each.id, "a") for match in planned() for each in match.rounds}) == 36


@pytest.mark.parametrize("form", Format)
@pytest.mark.parametrize("bots", [2, 3, 4, 7])
def test_pairings_are_counted_without_planning_them(bots: int, form: Format) -> None:
    assert pairing_count(bots, form) == len(schedule(bots, form, 1, 2, True, BASE))

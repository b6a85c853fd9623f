"""The positions of a round, what leads from one to the next, and what one seat may see of it."""

import re
from collections.abc import Iterator
from itertools import combinations, pairwise

import attrs
import msgspec
import pytest
from hypothesis import given

from arena.replay.build import replay_of
from arena.replay.claim_reasons import Ground, best_completion, reason_for, strength_text
from arena.replay.movements import Places, places_of
from arena.replay.positions import Replay, json_text
from arena.replay.seat_view import one_seats_view
from engine.actions import Kind
from engine.cards import BLIND_MANS_BLUFF, CARD_BY_TEXT, CLAN_CARDS, JOKER, SEATS, card_texts, is_clan, other
from engine.errors import RecordError
from engine.formations import side_strength
from engine.game import Game
from engine.phase import Phase
from engine.position import Position
from engine.position_text import position_to_text
from engine.record import GameRecord, Step, replay, steps
from engine.ruleset import PRESETS, RuleSet
from tests.helpers.rounds import random_round
from tests.helpers.walks import rule_sets, seeds, walk


def state(position: Position) -> tuple[Places, dict[str, object]]:
    """A position as somebody keeps it who only moves cards and writes down values."""
    values: dict[str, object] = {"phase": position.phase.value, "to_move": position.decides}
    for number, stone in enumerate(position.stones, 1):
        values |= {f"owner{number}": stone.owner, f"needs{number}": stone.needs}
    return places_of(position), values


def assert_steps_both_ways(replay: Replay) -> None:
    places, values = state(replay.steps[0].position)
    for step in replay.steps:
        for each in step.movements:
            del places[each.source][each.source_index]
            places[each.target].insert(each.target_index, each.after)
        for change in step.changes:
            assert values[change.field] == change.before
            values[change.field] = change.after
        assert (places, values) == state(step.position), step
    for before, step in reversed(list(pairwise(replay.steps))):
        for each in reversed(step.movements):
            del places[each.target][each.target_index]
            places[each.source].insert(each.source_index, each.before)
        values |= {change.field: change.before for change in step.changes}
        assert (places, values) == state(before.position), step


@pytest.mark.extended
@given(rule_sets, seeds)
def test_movements_lead_to_every_position_and_back(rules: RuleSet, seed: int) -> None:
    replay = replay_of(random_round(rules, seed))
    assert_steps_both_ways(replay)
    for seat in SEATS:
        assert_steps_both_ways(one_seats_view(replay, seat))


@given(rule_sets, seeds)
def test_cards_move_as_at_a_table(rules: RuleSet, seed: int) -> None:
    """Decks give to the mover's hand and get from it; nothing comes back from the discard."""
    for step in replay_of(random_round(rules, seed)).steps[1:]:
        drawn = [each.after for each in step.movements if each.source in ("deck", "tactics")]
        assert drawn == [each.card for each in step.drawn]
        for each in step.movements:
            if {each.source, each.target} & {"deck", "tactics"}:
                assert f"hand{step.seat}" in (each.source, each.target)
            assert each.source != "discard"
            assert not each.source.startswith("mode")


@given(rule_sets, seeds)
def test_one_seats_view_shows_no_secret_of_the_other(rules: RuleSet, seed: int) -> None:
    replay = replay_of(random_round(rules, seed, stop_after=seed % 90))
    for seat in SEATS:
        rival = other(seat)
        for step, masked in zip(replay.steps, one_seats_view(replay, seat).steps, strict=True):
            assert masked.position == step.position.seen_by(seat)
            shown = attrs.evolve(masked, claim=None, reason=None)  # a proof speaks of unseen cards, whoever has them
            secrets = set(card_texts(tuple(card for card in step.position.hands[rival] if is_clan(card))))
            secrets |= {
                each.before for each in step.movements if each.source == f"hand{rival}" and "deck" in each.target
            }
            told = json_text(attrs.evolve(replay, steps=(shown,))) + str(shown.movements)
            words = set(re.findall(r"[\w-]+", told + position_to_text(shown.position)))
            assert not words & secrets
            assert step.seat != rival or masked.note is None


def test_a_card_returned_to_an_empty_deck_and_drawn_again_is_told() -> None:
    """The rare round in which comparing hands alone would show nothing: found among random ones."""
    for seed in range(2000):
        for step in replay_of(random_round(PRESETS["tactics"], seed)).steps:
            if step.decision == "return" and step.drawn:
                assert len(step.movements) == 1 + len(step.drawn)
                return
    pytest.fail("no such round")


def test_both_jokers_keep_their_places() -> None:
    moved = 0
    for seed in range(60):
        replay = replay_of(random_round(PRESETS["tactics"], seed))
        assert_steps_both_ways(replay)
        moved += sum(
            [each.after for each in step.movements].count("joker") > 0 and JOKER in step.position.discard
            for step in replay.steps
        )
    assert moved


@given(rule_sets, seeds)
def test_a_reason_gives_the_best_that_the_other_side_can_still_make(rules: RuleSet, seed: int) -> None:
    for game, action in walk(rules, seed):
        if action.kind is not Kind.CLAIM:
            continue
        seat, stone = game.to_move, action.stone
        reason = reason_for(game, seat, stone)
        theirs, needs = game.sides[other(seat)][stone], game.needs[stone]
        blind = BLIND_MANS_BLUFF in game.modes[stone]
        assert reason.own == strength_text(side_strength(game.sides[seat][stone], blind), needs)
        unseen = [card for card in CLAN_CARDS if game.unseen >> card & 1]
        if len(theirs) == needs:
            assert reason.ground in (Ground.STRONGER, Ground.EARLIER)
            assert reason.other == strength_text(side_strength(theirs, blind), needs)
        elif len(unseen) < needs - len(theirs):
            assert reason.ground is Ground.TOO_FEW_CARDS
        elif needs - len(theirs) <= 2:
            every = (side_strength((*theirs, *more), blind) for more in combinations(unseen, needs - len(theirs)))
            assert (reason.ground, reason.other) == (Ground.PROVEN, strength_text(max(every), needs))
            completed = (*theirs, *(CARD_BY_TEXT[card] for card in reason.completion))
            assert strength_text(side_strength(completed, blind), needs) == reason.other


def test_the_best_completion_of_an_empty_side_is_the_highest_colour_run() -> None:
    assert strength_text(best_completion((), 3, False, (1 << 54) - 1), 3) == "colour-run 24"
    assert strength_text(best_completion((), 4, True, (1 << 54) - 1), 4) == "sum 36"


def test_a_fault_is_the_last_step_and_moves_nothing() -> None:
    line = random_round(PRESETS["base"], 4, stop_after=7)
    *_, before, last = replay_of(line).steps
    assert (last.number, last.move, last.movements) == (8, None, ())
    assert last.fault is not None
    assert (last.fault.seat, last.fault.ending, last.fault.detail) == (
        before.position.to_move,
        "timeout",
        "it stopped answering",
    )
    assert (last.position.phase, last.position.decides) == (Phase.OVER, None)


def test_a_round_that_never_began_has_the_deal_and_the_fault() -> None:
    line = random_round(PRESETS["base"], 4, stop_after=0)
    assert [step.fault is not None for step in replay_of(line).steps] == [False, True]


def test_turns_and_referees_moves_are_told() -> None:
    steps = replay_of(random_round(PRESETS["tactics"], 11)).steps
    assert [step.turn for step in steps] == sorted(step.turn for step in steps)
    for before, step in pairwise(steps):
        assert step.seat == before.position.to_move
        assert (step.turn != before.turn) is (step.seat != before.seat)
    forced = [step.by_referee for step in replay_of(random_round(PRESETS["expert"], 11)).steps]
    assert True in forced
    assert False in forced[1:]


def test_a_record_that_breaks_the_rules_says_where() -> None:
    line = random_round(PRESETS["base"], 4)
    moves = (*line.moves[:3], (line.moves[3][0], "claim 9", 5), *line.moves[4:])
    with pytest.raises(RecordError, match=r"move 4: .*claim 9"):
        replay_of(msgspec.structs.replace(line, moves=moves))


def test_a_round_is_played_once_to_verify_and_to_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    line = random_round(PRESETS["tactics"], 11)
    played: list[str] = []

    def stepped(record: GameRecord, game: Game | None = None) -> Iterator[Step]:
        for step in steps(record, game):
            played.append(step.action.text)
            yield step

    def replayed(record: GameRecord) -> Game:
        played.append("all moves")
        return replay(record)

    monkeypatch.setattr("arena.replay.build.steps", stepped)
    monkeypatch.setattr("arena.journal.endings.replay", replayed)
    replay_of(line)
    assert played == [text for _, text, _ in line.moves]


def test_a_result_that_the_moves_do_not_give_is_found_in_the_same_pass() -> None:
    line = random_round(PRESETS["base"], 4)
    wrong = msgspec.structs.replace(line.result, points=(4, 4))
    with pytest.raises(RecordError, match="the record says points \\[4, 4\\], but the moves give"):
        replay_of(msgspec.structs.replace(line, result=wrong))

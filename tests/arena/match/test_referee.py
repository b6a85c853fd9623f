"""One round without any I/O: questions, answers, forfeits."""

import random

import pytest
from hypothesis import given

from arena.journal.endings import Fault
from arena.match.referee import Referee
from arena.match.request_fields import RequestFields
from arena.match.translate import side_of
from engine.actions import parse
from engine.cards import CLAN_BACK, SEATS, TACTIC_BACK, card_texts, other
from engine.deal import Deal
from engine.record import GameRecord, verify
from engine.ruleset import PRESETS, RuleSet
from protocol.messages import Clock, EncodedRequest, Points, encode
from tests.helpers.walks import rule_sets, seeds, walk

UNTIMED = Clock(None, None)
NO_POINTS = Points(0, 0)


def referee(rules: str = "tactics", seed: str = "1") -> Referee:
    return Referee(PRESETS[rules], Deal.from_seed(seed, PRESETS[rules].tactics), SEATS[0])


@pytest.mark.parametrize("rules", PRESETS)
def test_a_round_is_played_to_its_end_and_its_log_can_be_verified(rules: str) -> None:
    for seed in range(20):
        rng = random.Random(seed)
        played = referee(rules, str(seed))
        while ask := played.ask():
            assert len(ask.legal) > 1
            played.answer(rng.choice(ask.legal).text, 5)
        assert played.fault is None
        moves = tuple((seat, text) for seat, text, _ in played.moves)
        deal = Deal.from_seed(str(seed), PRESETS[rules].tactics)
        verify(GameRecord(PRESETS[rules], deal, SEATS[0], moves, played.outcome))


def test_a_decision_with_one_legal_action_is_applied_unasked_and_logged_without_a_time() -> None:
    lone = []
    for seed in range(30):
        played = referee("base", str(seed))
        while ask := played.ask():
            played.answer(ask.legal[-1].text, 5)
        lone += [move for move in played.moves if move[2] is None]
    assert (SEATS[0], "pass", None) in lone


def test_each_seat_hears_once_what_happened_since_its_last_question() -> None:
    played = referee("base")
    first = played.ask()
    assert first is not None
    assert first.request(1, NO_POINTS, UNTIMED).decoded().events == ()
    played.answer(first.legal[0].text, 5)
    second = played.ask()
    assert second is not None
    assert second.seat == 1
    heard = second.request(1, NO_POINTS, UNTIMED).decoded().events
    assert [(event.by, event.move) for event in heard] == [("opponent", first.legal[0].text)]
    played.answer(second.legal[0].text, 5)
    third = played.ask()
    assert third is not None
    heard = third.request(2, NO_POINTS, UNTIMED).decoded().events
    assert [event.by for event in heard] == ["you", "opponent"]


def test_the_end_of_a_round_tells_each_seat_what_its_requests_did_not() -> None:
    for seed in range(5):
        played, told = referee("tactics", str(seed)), [0, 0]
        rng = random.Random(seed)
        while ask := played.ask():
            told[ask.seat] += len(ask.request(1, NO_POINTS, UNTIMED).decoded().events)
            played.answer(rng.choice(ask.legal).text, 5)
        for seat in SEATS:
            last = played.last_news(seat, NO_POINTS).decoded()
            public = [parse(text).public_text for _, text, _ in played.moves[told[seat] :]]
            heard = [parse(event.move).public_text if event.by == "you" else event.move for event in last.events]
            assert heard == public
            assert last.state.hand == card_texts(tuple(played.game.hands[seat]))
            assert [stone.owner for stone in last.state.stones] == [side_of(each, seat) for each in played.game.owners]


def test_a_returned_card_is_masked_for_the_opponent_only() -> None:
    for seed in range(200):
        played = referee("tactics", str(seed))
        rng = random.Random(seed)
        while ask := played.ask():
            request = ask.request(1, NO_POINTS, UNTIMED).decoded()
            for event in request.events:
                if event.move.startswith("return "):
                    masked = event.move in ("return clan", "return tactic")
                    assert masked is (event.by == "opponent")
                    if masked:
                        return
            wanted = [action for action in ask.legal if action.text in ("draw tactic", "play recruiter")]
            played.answer((wanted or [rng.choice(ask.legal)])[0].text, 5)
    pytest.fail("no recruiter was played")


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("claim 1", "not now: stones are claimed after playing"),
        ("resign", "'resign' is not an action: actions look like"),
    ],
)
def test_an_illegal_move_forfeits_the_round_and_says_why(text: str, detail: str) -> None:
    played = referee()
    ask = played.ask()
    assert ask is not None
    played.answer(text, 5)
    assert played.ask() is None
    assert played.fault is not None
    assert (played.fault.seat, played.fault.ending) == (0, Fault.ILLEGAL_MOVE)
    assert played.fault.detail.startswith(detail)
    assert played.outcome is not None
    assert (played.outcome.winner, played.outcome.points) == (1, (0, 5))
    assert played.moves == []


def test_notes_are_kept_by_the_number_of_their_move() -> None:
    played = referee()
    for note in (None, "a plan"):
        ask = played.ask()
        assert ask is not None
        played.answer(ask.legal[0].text, 5, note)
    assert played.notes == {1: "a plan"}


@given(rule_sets, seeds)
def test_a_state_on_the_wire_shows_exactly_what_the_seat_may_see(rules: RuleSet, seed: int) -> None:
    made: RequestFields | None = None
    for game, _ in walk(rules, seed):
        made = made or RequestFields(game)
        for seat in SEATS:
            request = EncodedRequest(1, made.request(1, seat, (), NO_POINTS, (), UNTIMED)).decoded()
            rival, seen, state = other(seat), game.position().seen_by(seat), request.state
            assert state.hand == card_texts(seen.hands[seat])
            for deck, back, size in (
                (seen.clan_deck, CLAN_BACK, state.decks.clan),
                (seen.tactic_deck, TACTIC_BACK, state.decks.tactic),
            ):
                hidden = size - seen.returned[seat].count(back)  # what it returned, the seat has to remember
                assert deck[:hidden] == (back,) * hidden
                assert len(deck) == size
            theirs = state.opponent_hand
            assert seen.hands[rival] == (CLAN_BACK,) * theirs.clan + (TACTIC_BACK,) * theirs.tactic
            assert state.discard == card_texts(seen.discard)
            assert state.tactics_played.yours == card_texts(seen.tactics_played[seat])
            assert state.tactics_played.theirs == card_texts(seen.tactics_played[rival])
            left = (state.recruiter.draws_left, state.recruiter.returns_left) if state.recruiter else (0, 0)
            assert left == (seen.draws_left, seen.returns_left)
            for shown, stone in zip(state.stones, seen.stones, strict=True):
                assert (shown.yours, shown.theirs) == (card_texts(stone.sides[seat]), card_texts(stone.sides[rival]))
                assert (shown.owner, shown.complete_first) == (
                    side_of(stone.owner, seat), side_of(stone.complete_first, seat),
                )  # fmt: skip
                assert (shown.needs, shown.modes) == (stone.needs, card_texts(stone.modes))


@given(rule_sets, seeds)
def test_requests_are_encoded_as_the_protocol_encodes_them(rules: RuleSet, seed: int) -> None:
    played, rng = Referee(rules, Deal.from_seed(str(seed), rules.tactics), SEATS[seed % 2]), random.Random(seed)
    while ask := played.ask():
        number, points = rng.randrange(1, 2**53), Points(rng.randrange(100), rng.randrange(100))
        clock = rng.choice([UNTIMED, Clock(1000, None), Clock(None, rng.randrange(10**6)), Clock(500, 0)])
        request = ask.request(number, points, clock, with_legal=rng.random() < 0.9)
        decoded = request.decoded()
        assert request.line == encode(decoded)
        assert (decoded.id, decoded.phase, decoded.clock) == (number, played.game.phase.value, clock)
        assert decoded.state.points == points
        assert decoded.legal in ((), tuple(action.text for action in played.game.legal_actions()))
        played.answer(rng.choice(ask.legal).text, 5)


def test_a_request_can_leave_out_the_legal_moves() -> None:
    played = referee()
    ask = played.ask()
    assert ask is not None
    assert ask.request(1, NO_POINTS, UNTIMED, with_legal=False).decoded().legal == ()


def test_a_note_is_cut_where_it_can_be_seen_and_a_bot_has_so_many_in_a_round() -> None:
    played, rng = referee("base"), random.Random(1)
    while ask := played.ask():
        played.answer(rng.choice(ask.legal).text, 5, "é" * 3000 if ask.seat == 0 else "short")
    assert played.fault is None
    notes = [note for index, note in played.notes.items() if played.moves[index][0] == 0]
    assert len(notes) > 22
    assert notes[:20] == ["é" * 500 + "… (2500 more)"] * 20
    assert notes[20:] == ["… (3000 more)"] * (len(notes) - 20)
    assert {note for index, note in played.notes.items() if played.moves[index][0] == 1} == {"short"}


@pytest.mark.parametrize("length", [0, 1, 499, 500])
def test_a_note_that_fits_is_kept_as_it_is(length: int) -> None:
    played = referee()
    ask = played.ask()
    assert ask is not None
    played.answer(ask.legal[0].text, 5, "x" * length)
    assert list(played.notes.values()) == ["x" * length]


def test_a_round_is_led_back_to_the_last_decision_of_a_seat() -> None:
    played = referee()
    while (ask := played.ask()) is not None and len(played.moves) < 12:
        played.answer(ask.legal[0].text, 5, note=f"{len(played.moves)}")
    seat = played.game.to_move
    before = played.before_last_decision(seat)
    undone = played.moves[len(before) :]
    by, _, took = undone[0]
    assert (by, took) == (seat, 5)
    assert not any(by == seat and ms is not None for by, _, ms in undone[1:])

    again = referee()
    again.lead(before, played.notes)
    assert again.moves == before
    assert again.notes == {index: note for index, note in played.notes.items() if index < len(before)}
    ask = again.ask()
    assert ask is not None
    assert ask.seat == seat
    request = ask.request(1, NO_POINTS, UNTIMED).decoded()
    assert len(request.events) == len(before)  # all since the round began, because the bot was started again


def test_nothing_is_led_back_where_a_seat_has_not_decided_yet() -> None:
    played = referee()
    assert played.ask() is not None
    assert played.before_last_decision(SEATS[1]) == []

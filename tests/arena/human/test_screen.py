"""What is on the person's screen and what keys do, without a terminal."""

import random
import re

import attrs
import msgspec
import pytest
from rich.cells import cell_len

from arena.human.choice import Choice
from arena.human.drawing import drawn
from arena.human.screen import Move, PlayScreen, Stage, Wish
from arena.human.view import view_of
from arena.match import translate
from arena.match.referee import Referee
from engine.actions import Kind
from engine.cards import SEATS
from engine.deal import Deal
from engine.ruleset import PRESETS, RuleSet
from protocol.messages import (
    Clock,
    Error,
    LastNews,
    MatchClock,
    MatchEnd,
    MatchStart,
    Points,
    Request,
    Result,
    RoundEnd,
    RoundStart,
    Side,
    decode_from_server,
    encode,
)
from tests.arena.human.test_view import UNTIMED, decisions, start_of
from tests.helpers.sampling import sampled


def playing(rules: RuleSet, request: Request, **more: object) -> PlayScreen:
    screen = PlayScreen("anna", **more)  # type: ignore[arg-type]
    screen = screen.told(MatchStart("m", "rival", 2, rules.name, MatchClock(None, None, 0)))
    hand = request.state.hand if len(request.state.hand) == rules.hand_limit else ("r1",) * 0
    start = RoundStart(round=1, seat=0, first="you", hand=hand, points=Points(0, 0), deal_hash="")
    return screen.told(start).asked(request)


def pressed(screen: PlayScreen, *keys: str) -> PlayScreen:
    for key in keys:
        after = screen.press(key)
        assert isinstance(after, PlayScreen), (key, after)
        screen = after
    return screen


def first_request(name: str = "base", phase: str = "play") -> Request:
    rules = PRESETS[name]
    return next(r for seed in range(200) for _, r in decisions(rules, seed) if r.phase == phase)


@pytest.mark.parametrize("name", sampled(PRESETS, "base", "tactics-expert"))
def test_every_legal_move_can_be_chosen_by_arrows(name: str) -> None:
    rules, kinds = PRESETS[name], set()
    for seed in range(12):
        for place, (_, request) in enumerate(decisions(rules, seed)):
            if place % 7 == seed % 7:
                assert reachable(Choice(view_of(rules, request))) >= set(request.legal)
            kinds |= {" ".join(move.split()[:2]) for move in request.legal if len(move.split()) != 3} | {request.phase}
    if rules.tactics:
        ruses = {"play recruiter", "play strategist", "play banshee", "play traitor"}
        assert kinds >= ruses | {"claim", "play", "draw", "return"}


def reachable(choice: Choice) -> set[str]:
    """All moves that `right` and `down` lead to, slot by slot."""
    found, slot = set(), choice.slots[choice.focus]
    for _ in slot.options:
        choice = choice.pressed("right")
        below = choice.pressed("down")
        found |= {choice.move} if below.focus == choice.focus else reachable(below)
    return found


def test_the_move_shown_first_is_legal() -> None:
    for name, rules in PRESETS.items():
        for _, request in decisions(rules, 3):
            assert playing(rules, request).press("enter") == Move(Choice(view_of(rules, request)).move), name


def test_a_digit_chooses_the_stone_from_any_row() -> None:
    request = first_request()
    screen, card = playing(PRESETS["base"], request), request.legal[0].split()[1]
    assert pressed(screen, "7").press("enter") == Move(f"play {card} 7")
    assert pressed(screen, "down", "7", "2").press("enter") == Move(f"play {card} 2")
    assert pressed(screen, "7", "right").press("enter") == Move(f"play {request.state.hand[1]} 7")  # still on the card
    assert pressed(screen, "7", "0").press("enter") == Move(f"play {card} 7")


def test_a_digit_chooses_the_stone_to_claim_even_one_that_cannot_be_claimed() -> None:
    request = first_request(phase="claim")
    stone = request.legal[0].split()[1]
    other = next(number for number in "123456789" if f"claim {number}" not in request.legal)
    screen = pressed(playing(PRESETS["base"], request), other)
    assert f">> claim {other}   (illegal; ? says why)" in drawn(screen, 80, 24)
    assert pressed(screen, stone).press("c") == Move(f"claim {stone}")


def test_a_digit_chooses_one_card_after_the_other_on_the_stone_of_a_ruse() -> None:
    rules = PRESETS["tactics"]
    for seed in range(200):
        for _, request in decisions(rules, seed):
            moves = [move.split() for move in request.legal if move.startswith("play traitor")]
            stones = [stone for _, _, card, stone, to in moves if to == "5"]
            if crowded := [stone for stone in stones if stones.count(stone) > 1]:
                choice = Choice(view_of(rules, request)).with_first("traitor")
                on_it = choice.pressed("down").at_stone(crowded[0])
                again = on_it.at_stone(crowded[0])
                assert on_it.slots[1].chosen != again.slots[1].chosen
                assert {each.slots[1].chosen.split()[1] for each in (on_it, again)} == {crowded[0]}
                assert choice.at_stone("5").slots[2].chosen == "5"  # from the row of the card: where it goes
                return
    raise AssertionError("no such position")


def test_the_cursor_stays_where_it_was_from_one_decision_to_the_next() -> None:
    rules, seed = PRESETS["base"], 2
    requests = [r for referee, r in decisions(rules, seed) if referee.game.to_move == 0 and r.phase == "play"]
    screen = pressed(playing(rules, requests[0]), "right", "right", "down", "6")
    move = screen.press("enter")
    assert move == Move(f"play {requests[0].state.hand[2]} 6")
    again = screen.played(move.text).asked(requests[1])
    assert again.press("enter") == Move(f"play {requests[1].state.hand[2]} 6")
    assert pressed(again, "right").press("enter") == Move(f"play {requests[1].state.hand[2]} 7")  # the row, too
    start = RoundStart(round=2, seat=0, first="you", hand=requests[0].state.hand, points=Points(0, 0), deal_hash="")
    assert again.told(start).asked(requests[0]).press("enter") == Move(requests[0].legal[0])


def test_a_cursor_on_what_has_become_illegal_goes_to_what_is_nearest() -> None:
    rules = PRESETS["base"]
    for seed in range(10):
        screen = None
        for referee, request in decisions(rules, seed):
            if referee.game.to_move != 0:
                continue
            screen = playing(rules, request) if screen is None else screen.asked(request)
            move = screen.press("enter")
            assert isinstance(move, Move)
            assert move.text in request.legal
            if request.phase == "claim":
                assert move.text == request.legal[0]
            screen = pressed(screen, *"9" * (request.phase == "play")).played(move.text)


def test_an_illegal_choice_is_explained_and_not_played() -> None:
    screen = playing(PRESETS["base"], first_request())
    screen = pressed(screen, "left")  # from the first card to `pass`
    assert any("(illegal; ? says why)" in line for line in drawn(screen, 80, 24))
    for key in ("?", "enter"):
        assert "you can still place a clan card" in pressed(screen, key).message


def test_question_mark_says_that_a_legal_move_is_legal() -> None:
    assert "this is legal" in pressed(playing(PRESETS["base"], first_request()), "?").message


def test_c_claims_the_chosen_stone_and_its_reason_is_shown_before_and_after() -> None:
    request = first_request(phase="claim")
    screen = playing(PRESETS["base"], request)
    assert screen.message.startswith(f"{request.legal[0]}: ")
    assert screen.press("c") == Move(request.legal[0])
    done = pressed(screen, *["left"] * int(request.legal[0].split()[1]))
    assert any(line == ">> done" for line in drawn(done, 80, 24))
    again = pressed(done, "c")  # nothing is chosen to claim: back to the first stone that can be
    assert again.press("c") == Move(request.legal[0])
    assert screen.played(request.legal[0]).news[0].startswith(f"You: {request.legal[0]} (")


def test_c_outside_the_claim_phase_says_when_stones_are_claimed() -> None:
    for name, when in (("base", "after playing"), ("expert", "at the start of a turn")):
        assert when in pressed(playing(PRESETS[name], first_request(name)), "c").message


def test_a_move_can_be_typed() -> None:
    request = first_request()
    screen = pressed(playing(PRESETS["base"], request), ":", *"play  zz 3")
    assert ">> play  zz 3_" in drawn(screen, 80, 24)
    refused = pressed(screen, "enter")
    assert "'zz' is not a card" in refused.message
    assert refused.typed is None
    move = request.legal[-1]
    assert pressed(screen, *["backspace"] * 10, *move).press("enter") == Move(move)
    assert pressed(screen, "escape").typed is None
    assert pressed(screen, *["backspace"] * 11).typed is None


def test_a_decision_is_taken_back_only_if_there_is_one_and_never_at_a_server() -> None:
    rules, request = PRESETS["base"], first_request()
    screen = playing(rules, request)
    assert "no decision of yours" in pressed(screen, "u").message
    played = screen.played(request.legal[0])
    assert "Wait until it is your turn" in pressed(played, "u").message
    assert played.asked(request).press("u") is Wish.TAKE_BACK
    served = playing(rules, request, at_server=True).played(request.legal[0]).asked(request)
    assert "At a server nothing can be taken back" in pressed(served, "u").message


def test_after_taking_back_the_decisions_before_can_still_be_taken_back() -> None:
    rules, request = PRESETS["base"], first_request()
    screen = playing(rules, request).played(request.legal[0]).asked(request).played(request.legal[0]).asked(request)
    start = RoundStart(round=1, seat=0, first="you", hand=request.state.hand, points=Points(0, 0), deal_hash="")
    screen = screen.took_back().told(start).asked(request)
    assert screen.decided == 1
    assert screen.took_back().told(start).asked(request).decided == 0
    assert screen.told(start).decided == 0  # another round


def test_the_end_of_a_round_waits_for_enter_and_says_who_won() -> None:
    screen = playing(PRESETS["base"], first_request())
    over = screen.told(ending("win", "five-stones", mine=(1, 2, 4, 5, 9)))
    assert (over.stage, over.points) == (Stage.OVER, (5, 2))
    assert "You win the round: you hold five stones, 1 2 4 5 9. Points 5 - 2." in drawn(over, 80, 24)
    assert pressed(over, "left", "u", "c").stage is Stage.OVER
    assert pressed(over, "enter").stage is Stage.WAITING
    ended = over.told(MatchEnd("m", "draw", Points(5, 5)))
    assert "A draw in the match, points 5 - 5." in drawn(ended, 80, 24)


def ending(
    result: Result, how: str, mine: tuple[int, ...] = (), theirs: tuple[int, ...] = (), last: LastNews | None = None
) -> RoundEnd:
    owners: dict[int, Side] = {**dict.fromkeys(mine, "you"), **dict.fromkeys(theirs, "opponent")}
    news = (last.state, last.events) if last else (None, ())
    return RoundEnd(1, result, how, Points(5, 2), tuple(owners.get(stone) for stone in range(1, 10)), (), *news)


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (ending("loss", "three-adjacent", theirs=(1, 4, 5, 6)), ": rival holds three adjacent stones, 4 5 6."),
        (ending("win", "blocked", mine=(1, 3), theirs=(7,)), "and you hold more stones, 1 3."),
        (ending("draw", "blocked", mine=(1,), theirs=(7,)), "A draw in the round: neither could do anything more,"),
        (ending("loss", "timeout"), "You lose the round: you failed (timeout)."),
        (ending("win", "crashed"), "You win the round: rival failed (crashed)."),
    ],
)  # fmt: skip
def test_the_result_of_a_round_comes_with_its_reason(end: RoundEnd, words: str) -> None:
    assert words in playing(PRESETS["base"], first_request()).told(end).news[-1]


def whole_round(name: str, seed: int) -> tuple[Referee, PlayScreen, int]:
    """A round played at random, the screen of seat 0 before it hears of the end, and how many moves it knows of."""
    rules, rng, known = PRESETS[name], random.Random(seed), 0
    referee = Referee(rules, Deal.from_seed(str(seed), rules.tactics), SEATS[seed % 2])
    screen = PlayScreen("anna").told(MatchStart("m", "rival", 1, rules.name, MatchClock(None, None, 0)))
    screen = screen.told(start_of(referee))
    while ask := referee.ask():
        move = rng.choice([action for action in ask.legal if action.kind is Kind.CLAIM] or ask.legal).text
        if ask.seat == 0:
            screen = screen.asked(ask.request(1, Points(0, 0), UNTIMED).decoded()).played(move)
            known = len(referee.moves) + 1
        referee.answer(move, 0)
    return referee, screen, known


def end_of(referee: Referee) -> RoundEnd:
    assert referee.outcome is not None
    made = translate.round_end(1, referee.outcome, SEATS[0], [], referee.last_news(SEATS[0], Points(0, 0)))
    heard = decode_from_server(encode(made))
    assert isinstance(heard, RoundEnd)
    return heard


@pytest.mark.parametrize("name", PRESETS)
def test_the_end_of_a_round_shows_the_last_position_and_the_moves_that_led_there(name: str) -> None:
    by_rival = 0
    for seed in range(8):
        referee, screen, known = whole_round(name, seed)
        over = screen.told(end_of(referee))
        assert over.position is not None
        assert over.position.stones == referee.game.position().stones
        text = " ".join(" ".join(drawn(over, 80, 40)).split())
        last = [move for seat, move, _ in referee.moves[known:] if seat == 1]
        assert all(move in text for move in last), (seed, last, text)
        assert text.count("complete and stronger") + text.count("proven: ") + text.count("equal, complete") >= sum(
            move.startswith("claim") for move in last
        )
        assert text.count(screen.news[0].split(" (")[0]) == 1  # what the person did last
        by_rival += bool(last)
    assert by_rival


def test_the_moves_of_a_turn_are_shown_together() -> None:
    request = first_request("tactics", "draw")
    at_draw = attrs.evolve(playing(PRESETS["tactics"], request), news=("You: play r5 3",))
    drawing = at_draw.played("draw clan")
    assert drawing.news == ("You: play r5 3, draw clan",)


def test_the_last_line_names_only_keys_that_do_something_now() -> None:
    base, claiming = PRESETS["base"], first_request(phase="claim")
    first = playing(base, first_request())
    assert drawn(first, 80, 24)[-1] == "arrows, 1-9 choose  Enter plays  ? why  : type  h help  Ctrl-C stop"
    played = first.played(first_request().legal[0])
    assert "u take back" in drawn(played.asked(first_request()), 80, 24)[-1]
    assert "u take back" not in drawn(attrs.evolve(played.asked(first_request()), at_server=True), 80, 24)[-1]
    assert "c claim" in drawn(playing(base, claiming), 80, 24)[-1]
    over = played.told(ending("loss", "timeout"))
    for screen in (played, over, over.told(MatchEnd("m", "loss", Points(0, 5)))):
        assert drawn(screen, 80, 24)[-1] == "h help  Ctrl-C stop"
    assert drawn(pressed(first, "h"), 80, 24)[-1] == "h back  Ctrl-C stop"


def test_the_help_says_what_holds_where_the_person_plays() -> None:
    at_home = playing(PRESETS["base"], first_request())
    at_server = attrs.evolve(at_home, at_server=True)
    assert "take back your last decision" in "\n".join(drawn(pressed(at_home, "h"), 80, 24))
    text = "\n".join(drawn(pressed(at_server, "h"), 80, 24))
    assert "take back" not in text
    assert "played again" not in text
    assert "leave; you lose the round unless you connect again in time" in text


def test_after_taking_back_only_what_changed_has_a_star_and_the_round_is_said_to_be_unrated() -> None:
    rules, seed = PRESETS["base"], 2
    requests = [request for referee, request in decisions(rules, seed) if referee.game.to_move == 0]
    one, two = requests[3:5]
    screen = playing(rules, requests[0])
    for after in requests[1:5]:
        screen = screen.played(next(e.move for e in after.events if e.by == "you")).asked(after)
    assert "not rated" not in drawn(screen, 80, 24)[0]
    start = RoundStart(round=1, seat=0, first="you", hand=requests[0].state.hand, points=Points(0, 0), deal_hash="")
    events = tuple(event for request in requests[:4] for event in request.events)  # a new referee tells all of them
    back = screen.took_back().told(start).asked(msgspec.structs.replace(one, events=events))
    lines = drawn(back, 80, 24)
    starred = set(re.findall(r"(\w+)\*", "\n".join(lines)))
    assert starred == set(one.state.hand) - set(two.state.hand)
    assert "Taken back; this round is not rated now." in lines
    assert "not rated" in lines[0]
    assert f"rival: {', '.join(e.move for e in one.events if e.by == 'opponent')}" in lines
    again = back.played(one.legal[0]).asked(two)
    assert "not rated" in drawn(again, 80, 24)[0]
    next_round = again.told(ending("win", "crashed")).told(start)
    assert "not rated" not in drawn(next_round, 80, 24)[0]


@pytest.mark.parametrize(("width", "height"), [(60, 12), (79, 30), (80, 9), (20, 5)])
def test_a_small_window_says_what_size_is_needed_and_shows_what_fits(width: int, height: int) -> None:
    *_, (_, last) = decisions(PRESETS["base"], 1)
    screen = playing(PRESETS["base"], last)
    said = re.search(r"Too small: this needs (\d+) x (\d+)", drawn(screen, 80, 9)[0])
    assert said
    lines = drawn(screen, width, height)
    assert lines[0].startswith("Too small: this need"[: width - 1])
    assert any(line.startswith(">> ") for line in lines)
    assert height < 12 or any("3" in line and "4" in line for line in lines)
    enough = drawn(screen, int(said[1]), int(said[2]))
    assert "Too small" not in enough[0]
    assert any(re.search(r"[\[(>]9[\])<]", line) for line in enough)


def test_the_result_is_shown_in_every_window_that_has_room_for_it() -> None:
    for name in PRESETS:
        referee, screen, _ = whole_round(name, 3)
        over = screen.told(end_of(referee))
        text = " ".join(" ".join(drawn(over, 50, 6)).split())
        assert over.news[-1] in text


def test_an_error_of_the_server_is_shown_without_control_characters() -> None:
    screen = playing(PRESETS["base"], first_request()).told(Error("timeout", "too \x1b[2Jlate", fatal=True))
    assert any("too \\x1b[2Jlate" in line for line in drawn(screen, 80, 24))


def test_the_screen_fits_into_every_window() -> None:
    rng = random.Random(1)
    for name, rules in PRESETS.items():
        for _, request in decisions(rules, 5):
            screen = playing(rules, request)
            for key in rng.choices(["left", "right", "down", "?", "h", "c"], k=3):
                after = screen.press(key)
                screen = after if isinstance(after, PlayScreen) else screen
            width, height = rng.randint(1, 120), rng.randint(1, 40)
            lines = drawn(screen, width, height)
            assert len(lines) == height, name
            assert all(cell_len(line) <= width for line in lines)


def test_what_is_decided_stays_visible_in_a_low_window() -> None:
    lines = drawn(playing(PRESETS["tactics"], first_request("tactics")), 80, 8)
    assert any(line.startswith(">> ") for line in lines)


def test_the_time_left_is_shown_only_if_there_is_a_clock() -> None:
    screen = playing(PRESETS["base"], first_request())
    assert "s left" not in drawn(screen, 80, 24)[-1]
    timed = attrs.evolve(screen, clock=Clock(10_000, 7_000))
    assert drawn(timed, 80, 24, 3.0)[-1].startswith("4 s left")
    assert drawn(timed, 80, 24, 30.0)[-1].startswith("0 s left")

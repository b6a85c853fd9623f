"""What is on the person's screen and what keys do, without a terminal."""

import random

import attrs
import pytest
from rich.cells import cell_len

from arena.human.choice import Choice
from arena.human.line_mode import answered, question
from arena.human.screen import Move, Stage, TableScreen, Wish
from arena.human.view import view_of
from engine.cards import card_texts
from engine.ruleset import PRESETS, RuleSet
from protocol.messages import Clock, Error, MatchClock, MatchEnd, MatchStart, Points, Request, RoundEnd, RoundStart
from tests.arena.human.test_view import decisions


def at_table(rules: RuleSet, request: Request, **more: object) -> TableScreen:
    screen = TableScreen("anna", **more)  # type: ignore[arg-type]
    screen = screen.told(MatchStart("m", "rival", 2, rules.name, MatchClock(None, None, 0)))
    hand = request.state.hand if len(request.state.hand) == rules.hand_limit else ("r1",) * 0
    start = RoundStart(round=1, seat=0, first="you", hand=hand, points=Points(0, 0), deal_hash="")
    return screen.told(start).asked(request)


def pressed(screen: TableScreen, *keys: str) -> TableScreen:
    for key in keys:
        after = screen.press(key)
        assert isinstance(after, TableScreen), (key, after)
        screen = after
    return screen


def first_request(name: str = "base", phase: str = "play") -> Request:
    rules = PRESETS[name]
    return next(r for seed in range(200) for _, r in decisions(rules, seed) if r.phase == phase)


@pytest.mark.parametrize("name", PRESETS)
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
            assert at_table(rules, request).press("enter") == Move(Choice(view_of(rules, request)).move), name


def test_an_illegal_choice_is_explained_and_not_played() -> None:
    screen = at_table(PRESETS["base"], first_request())
    screen = pressed(screen, "left")  # from the first card to `pass`
    assert any("(illegal; ? says why)" in line for line in screen.lines(80, 24))
    for key in ("?", "enter"):
        assert "you can still place a clan card" in pressed(screen, key).message


def test_question_mark_says_that_a_legal_move_is_legal() -> None:
    assert "this is legal" in pressed(at_table(PRESETS["base"], first_request()), "?").message


def test_c_claims_the_chosen_stone_and_its_reason_is_shown_before_and_after() -> None:
    request = first_request(phase="claim")
    screen = at_table(PRESETS["base"], request)
    assert screen.message.startswith(f"{request.legal[0]}: ")
    assert screen.press("c") == Move(request.legal[0])
    done = pressed(screen, *["left"] * int(request.legal[0].split()[1]))
    assert any(line == ">> done" for line in done.lines(80, 24))
    again = pressed(done, "c")  # nothing is chosen to claim: back to the first stone that can be
    assert again.press("c") == Move(request.legal[0])
    assert screen.played(request.legal[0]).news[0].startswith(f"You: {request.legal[0]}; ")


def test_c_outside_the_claim_phase_says_when_stones_are_claimed() -> None:
    for name, when in (("base", "after playing"), ("expert", "at the start of a turn")):
        assert when in pressed(at_table(PRESETS[name], first_request(name)), "c").message


def test_a_move_can_be_typed() -> None:
    request = first_request()
    screen = pressed(at_table(PRESETS["base"], request), ":", *"play  zz 3")
    assert ">> play  zz 3_" in screen.lines(80, 24)
    refused = pressed(screen, "enter")
    assert "'zz' is not a card" in refused.message
    assert refused.typed is None
    move = request.legal[-1]
    assert pressed(screen, *["backspace"] * 10, *move).press("enter") == Move(move)
    assert pressed(screen, "escape").typed is None
    assert pressed(screen, *["backspace"] * 11).typed is None


def test_a_decision_is_taken_back_only_if_there_is_one_and_never_at_a_server() -> None:
    rules, request = PRESETS["base"], first_request()
    screen = at_table(rules, request)
    assert "no decision of yours" in pressed(screen, "u").message
    played = screen.played(request.legal[0])
    assert "Wait until it is your turn" in pressed(played, "u").message
    assert played.asked(request).press("u") is Wish.TAKE_BACK
    served = at_table(rules, request, at_server=True).played(request.legal[0]).asked(request)
    assert "At a server nothing can be taken back" in pressed(served, "u").message


def test_after_taking_back_the_decisions_before_can_still_be_taken_back() -> None:
    rules, request = PRESETS["base"], first_request()
    screen = at_table(rules, request).played(request.legal[0]).asked(request).played(request.legal[0]).asked(request)
    start = RoundStart(round=1, seat=0, first="you", hand=request.state.hand, points=Points(0, 0), deal_hash="")
    screen = screen.took_back().told(start).asked(request)
    assert screen.decided == 1
    assert screen.took_back().told(start).asked(request).decided == 0
    assert screen.told(start).decided == 0  # another round


def test_the_end_of_a_round_waits_for_enter_and_says_who_won() -> None:
    screen = at_table(PRESETS["base"], first_request())
    end = RoundEnd(round=1, result="win", ending="five-stones", points=Points(5, 2), stones=(None,) * 9, deals=())
    over = screen.told(end)
    assert (over.stage, over.points) == (Stage.OVER, (5, 2))
    assert "You win the round (five-stones), points 5 - 2." in over.lines(80, 24)
    assert pressed(over, "left", "u", "c").stage is Stage.OVER
    assert pressed(over, "enter").stage is Stage.WAITING
    ended = over.told(MatchEnd("m", "draw", Points(5, 5)))
    assert "A draw in the match, points 5 - 5." in ended.lines(80, 24)


def test_an_error_of_the_server_is_shown_without_control_characters() -> None:
    screen = at_table(PRESETS["base"], first_request()).told(Error("timeout", "too \x1b[2Jlate", fatal=True))
    assert any("too \\x1b[2Jlate" in line for line in screen.lines(80, 24))


def test_the_screen_fits_into_every_window() -> None:
    rng = random.Random(1)
    for name, rules in PRESETS.items():
        for _, request in decisions(rules, 5):
            screen = at_table(rules, request)
            for key in rng.choices(["left", "right", "down", "?", "h", "c"], k=3):
                after = screen.press(key)
                screen = after if isinstance(after, TableScreen) else screen
            width, height = rng.randint(1, 120), rng.randint(1, 40)
            lines = screen.lines(width, height)
            assert len(lines) == height, name
            assert all(cell_len(line) <= width for line in lines)


def test_what_is_decided_stays_visible_in_a_low_window() -> None:
    lines = at_table(PRESETS["tactics"], first_request("tactics")).lines(80, 8)
    assert any(line.startswith(">> ") for line in lines)


def test_the_time_left_is_shown_only_if_there_is_a_clock() -> None:
    screen = at_table(PRESETS["base"], first_request())
    assert "s left" not in screen.lines(80, 24)[-1]
    timed = attrs.evolve(screen, clock=Clock(10_000, 7_000))
    assert timed.lines(80, 24, 3.0)[-1].startswith("4 s left")
    assert timed.lines(80, 24, 30.0)[-1].startswith("0 s left")


def test_lines_of_text_ask_for_the_same_decision() -> None:
    request = first_request("tactics")
    screen = at_table(PRESETS["tactics"], request)
    *_, position, legal = question(screen)
    assert position.startswith(f"hand {' '.join(sorted_hand(request))}")
    assert legal == f"legal: {', '.join(request.legal)}"
    assert answered(screen, f"  {request.legal[2]} ") == request.legal[2]
    assert "not now" in str(answered(screen, "claim 3"))
    assert "not now" in str(answered(screen, "? draw clan"))
    assert answered(screen, f"? {request.legal[0]}") == [f"{request.legal[0]}: this is legal"]
    refused = answered(screen, "u")
    assert isinstance(refused, list)
    assert "no decision of yours" in refused[0]
    assert refused[-1] == legal  # whoever answers by lines is asked again
    assert answered(screen.played(request.legal[0]).asked(request), "u") is Wish.TAKE_BACK
    assert legal in answered(screen, "")  # type: ignore[operator]


def sorted_hand(request: Request) -> tuple[str, ...]:
    return card_texts(view_of(PRESETS["tactics"], request).position.hands[0])

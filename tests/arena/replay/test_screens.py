"""The screens of `arena replay`, without a terminal."""

from pathlib import Path

from rich.cells import cell_len

from arena.evaluation.counting import bundled_evaluator
from arena.journal.index import rounds_in
from arena.replay.analysis import analyse
from arena.replay.build import replay_of
from arena.replay.screens import BoardScreen, ListScreen
from engine.ruleset import PRESETS
from tests.golden.replay import golden_round


def board_after(*keys: str, preset: str = "tactics") -> BoardScreen:
    return pressed(BoardScreen.of(replay_of(golden_round(preset))), *keys)


def pressed(screen: BoardScreen, *keys: str) -> BoardScreen:
    for key in keys:
        after = screen.press(key)
        assert after is not None
        screen = after
    return screen


def test_keys_step_by_decision_by_turn_and_to_claims() -> None:
    last = len(golden_round("tactics").moves)
    assert board_after("right", "right", "left").index == 1
    assert board_after("left").index == 0
    assert board_after("G", "right").index == last
    assert board_after("G", "g").index == 0
    assert board_after("1", "7", "enter").index == 17
    assert board_after("9", "9", "9", "9", "enter").index == last
    assert board_after("1", "escape", "enter").index == 1
    turn = board_after("down", "down")
    assert (turn.step.turn, turn.replay.steps[turn.index + 1].turn) == (2, 3)
    assert board_after("down", "down", "down", "up").index == turn.index
    claims = [step.number for step in board_after().replay.steps if step.claim]
    assert [board_after("c").index, board_after("c", "c").index] == claims[:2]
    assert board_after("G", "C").index in claims
    assert board_after(*["c"] * 50).index == claims[-1]


def test_v_changes_between_both_hands_and_each_seats_view() -> None:
    assert [board_after(*["v"] * count).replay.view for count in range(4)] == [None, 0, 1, None]


def test_every_step_fits_the_smallest_terminal_with_its_move_and_reason() -> None:
    for preset in PRESETS:
        screen = board_after(preset=preset)
        for step in screen.replay.steps[1:]:
            lines = pressed(screen, *str(step.number), "enter").lines(80, 24)
            assert len(lines) == 24
            assert max(map(cell_len, lines)) <= 80
            assert any(line.startswith(f"{step.number}. ") for line in lines)
            if step.reason:
                assert step.reason in " ".join(" ".join(lines).split())
            assert "q quit" in lines[-1]


def evaluated(preset: str = "tactics") -> BoardScreen:
    screen = board_after(preset=preset)
    return screen.evaluated(analyse(screen.views[0], bundled_evaluator()))


def test_the_curve_lies_below_the_board_with_its_marks_and_the_position() -> None:
    screen = evaluated("base")
    lines = pressed(screen, "2", "0", "enter").lines(80, 30)
    curve, marks = lines[-3:-1]
    assert set(curve[:72]) <= set("▁▂▃▄▅▆▇█")
    assert curve.endswith(" %")
    assert marks.count("!") == len(screen.analyses[0].worst()) > 0
    assert marks.index("^") == 24  # the first of 72 columns that shows position 20 of 60
    assert pressed(screen, "2", "0", "enter", "v", "v").lines(80, 30)[-3] != curve


def test_the_board_is_not_cut_for_the_curve() -> None:
    for preset in PRESETS:
        screen, bare = evaluated(preset), board_after(preset=preset)
        for at in range(0, len(screen.replay.steps), 5):
            keys = [*str(at), "enter"]
            shown, without = pressed(screen, *keys).lines(80, 24), pressed(bare, *keys).lines(80, 24)
            assert max(map(cell_len, shown)) <= 80
            assert [line for line in without if line] == [line for line in shown if line in without and line]


def test_m_goes_to_the_decisions_that_lost_most_and_says_what_was_better() -> None:
    screen = evaluated()
    marked = [each.number for each in screen.analyses[0].worst()]
    assert [pressed(screen, *["m"] * count).index for count in range(1, len(marked) + 2)] == [*marked, marked[-1]]
    assert pressed(screen, "G", "M").index == marked[-1]
    own = [each.number for each in screen.analyses[0].worst() if each.seat == 1]
    assert pressed(screen, "v", "v", "m").index == own[0]
    text = " ".join(pressed(screen, "m").lines(80, 40))
    assert "The bundled counting bot would have chosen " in text
    assert board_after("m").index == 0  # not evaluated yet


def test_e_shows_the_large_curve_and_the_worst_decisions_of_the_view() -> None:
    screen = evaluated()
    lines = pressed(screen, "e").lines(80, 40)
    assert max(map(cell_len, lines)) <= 80
    assert "in the opinion of the bundled counting bot" in " ".join(" ".join(lines).split())
    marked = screen.analyses[0].worst()
    assert [line.split(",")[0] for line in lines if ". position " in line] == [
        f"{place}. position {each.number}" for place, each in enumerate(marked, 1)
    ]
    assert pressed(screen, "e", "e").curve is False
    assert pressed(screen, "e", "q").curve is False
    of_one = pressed(screen, "v", "e").lines(80, 40)
    assert all(", ann:" in line for line in of_one if ". position " in line)
    assert "from its own view" in " ".join(" ".join(of_one).split())


def test_the_help_fits_too() -> None:
    lines = board_after("?").lines(80, 24)
    assert "next claim" in lines[4]
    assert not any("…" in line for line in lines)
    assert board_after("?", "escape").help is False


def test_a_small_window_is_filled_and_never_overflown() -> None:
    for width, height in ((40, 10), (20, 3), (1, 1), (200, 60)):
        lines = board_after("c").lines(width, height)
        assert len(lines) == height
        assert max(map(cell_len, lines)) <= width


def test_the_list_scrolls_and_opens_by_cursor_or_number(journal: Path) -> None:
    rounds = tuple(rounds_in(journal)[0])
    screen = ListScreen(rounds).fitted(6)
    assert [line[:3] for line in screen.lines(80, 6)] == ["   ", " > ", "   ", "   ", "", "6 r"]
    for key in ("down", "down", "down"):
        moved = screen.press(key)
        assert isinstance(moved, ListScreen)
        screen = moved
    assert screen.lines(80, 6)[1].startswith(" >     4 1.1-2.4")
    assert screen.press("enter") == rounds[3]
    typed = screen.press("2")
    assert isinstance(typed, ListScreen)
    assert typed.press("enter") == rounds[1]
    wrong = ListScreen(rounds, typed="77").press("enter")
    assert isinstance(wrong, ListScreen)
    assert wrong.lines(80, 24)[-1] == "there is no round 77; rounds are numbered 1 to 6"
    assert screen.press("q") is None

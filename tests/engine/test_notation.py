"""One text for one action, and errors that show what the notation looks like."""

import copy
import pickle

import pytest

from engine.actions import every_action, parse
from engine.cards import cards_from_texts
from engine.errors import NotationError
from engine.ruleset import RuleSet


def test_every_action_round_trips_through_its_text() -> None:
    actions = list(every_action())
    assert len({action.text for action in actions}) == len(actions)
    assert all(parse(action.text) is action for action in actions)


@pytest.mark.parametrize(
    "text",
    [
        "play r5 3", "play joker 9", "play mud-fight 1", "play recruiter", "play strategist r5 3 6",
        "play strategist r5 3 discard", "play banshee b7 4", "play traitor b7 4 2", "claim 4", "done",
        "draw clan", "draw tactic", "return r5", "return joker", "pass",
    ],
)  # fmt: skip
def test_the_notation_of_the_rules_is_read_and_printed_unchanged(text: str) -> None:
    assert str(parse(text)) == text
    assert repr(parse(text)) == f"<{text}>"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Play R5 3", "write it in lower case with single spaces, 'play r5 3'"),
        (" pass", "write it in lower case with single spaces, 'pass'"),
        ("play r5  3", "write it in lower case with single spaces, 'play r5 3'"),
        ("claim 4\n", "write it in lower case with single spaces, 'claim 4'"),
        ("", "actions look like play r5 3"),
        ("fold", "actions look like play r5 3"),
        (
            "play r10 3",
            "'r10' is not a card; cards are a colour of r o y g b p and a value of 1 to 9, like r5, and joker",
        ),
        ("play mudfight 3", "'mudfight' is not a card"),
        ("return x", "'x' is not a card"),
        ("play r5 0", "stones are numbered 1 to 9, not '0'"),
        ("play r5 10", "stones are numbered 1 to 9, not '10'"),
        ("play r5 ３", "stones are numbered 1 to 9, not '\\uff13'"),
        ("play", "it is written play r5 3, play joker 3"),
        ("play r5", "it is written play r5 3"),
        ("play joker", "it is written play joker 3"),
        ("play traitor b7 4", "it is written play traitor b7 4 2"),
        ("play recruiter 3", "it is written play recruiter"),
        ("play r5 discard", "it is written play r5 3"),
        ("claim", "it is written claim 4"),
        ("claim three", "it is written claim 4"),
        ("done now", "it is written done"),
        ("draw", "it is written draw clan, draw tactic"),
        ("return", "it is written return r5"),
        ("return clan", "'clan' is not a card"),
    ],
)
def test_a_text_that_is_no_action_is_told_what_actions_look_like(text: str, part: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse(text)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_copied_or_pickled_action_is_the_same_object() -> None:
    for action in (parse("play r5 3"), parse("play strategist r5 3 discard"), parse("pass")):
        assert copy.deepcopy(action) is action
        assert pickle.loads(pickle.dumps(action)) is action


def test_a_huge_text_gets_a_short_error() -> None:
    for text in ("x" * 100_000, "play " + "9" * 100_000, "play " + "é" * 100_000):
        with pytest.raises(NotationError) as caught:
            parse(text)
        assert len(str(caught.value)) < 800


def test_unknown_cards_and_rule_sets_are_named() -> None:
    with pytest.raises(NotationError, match="'r0' is not a card"):
        cards_from_texts(["r1", "r0"])
    with pytest.raises(NotationError, match="'basic' is not a rule set; there are: base, expert, tactics"):
        RuleSet.named("basic")

"""Every example position of SPEC.md is set up and does what it says there."""

import hashlib
import re

import pytest

from engine.actions import parse
from engine.cards import cards_from_texts
from engine.deal import Deal
from engine.legality import reason_illegal
from tests.helpers.paths import ROOT
from tests.helpers.positions import do, legal, outcome, position

SPEC = (ROOT / "SPEC.md").read_text()
EXAMPLES = re.findall(r"```position\n(.*?)```", SPEC, re.DOTALL)
EXPECTATIONS = ("do", "legal", "illegal", "exactly", "ends", "hears", "hand-is")


def rule_of(example: str) -> str:
    return str(re.findall(r"### (\d+)\. ", SPEC[: SPEC.index(example)])[-1])


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"rule{rule_of(example)}-{n}" for n, example in enumerate(EXAMPLES)])
def test_the_examples_of_the_rules_hold(example: str) -> None:
    lines = [line.partition(" ") for line in example.splitlines()]
    game = position("\n".join(" ".join((word, rest)) for word, _, rest in lines if word not in EXPECTATIONS))
    checked, last_done = 0, ""
    for word, _, rest in lines:
        match word:
            case "do":
                do(game, rest)
                last_done = rest
            case "legal":
                assert rest in legal(game)
            case "exactly":
                assert legal(game) == rest.split(", ")
            case "illegal":
                text, _, reason = rest.partition(": ")
                assert reason_illegal(game, parse(text)) == reason
            case "hand-is":
                assert game.hands[0] == sorted(cards_from_texts(rest.split()))
            case "hears":
                assert parse(last_done).public_text == rest
            case "ends":
                ending, *points = rest.split()
                assert (outcome(game).ending.value, list(map(str, outcome(game).points))) == (ending, points)
            case _:
                continue
        checked += word != "do"
    assert checked, "an example must show something"


def test_every_rule_has_its_section_and_an_example() -> None:
    assert re.findall(r"### (\d+)\. ", SPEC) == [str(n) for n in range(1, 17)]
    assert {int(rule_of(example)) for example in EXAMPLES} == set(range(1, 17))


def test_every_action_of_the_notation_table_is_one() -> None:
    table = SPEC[SPEC.index("| text | meaning |") : SPEC.index("A decision exists only")]
    texts = [text for row in table.splitlines()[2:] if row for text in re.findall(r"`([^`]+)`", row)]
    assert len(texts) == 14
    assert [parse(text).text for text in texts] == texts


def test_the_described_shuffle_is_the_real_one() -> None:
    """SPEC.md's recipe, followed to the letter."""

    number = int.from_bytes(hashlib.sha512(b"any seed/clan").digest(), "big")
    left = [f"{colour}{value}" for colour in "roygbp" for value in range(1, 10)]
    order = []
    while left:
        number, place = divmod(number, len(left))
        order.append(left.pop(place))
    assert Deal.from_seed("any seed", tactics=False).clan == cards_from_texts(order)
    text = " ".join(SPEC.split())
    for tactics, prefix in ((False, "begins `"), (True, "the tactic deck `")):
        printed = cards_from_texts(text.partition(prefix)[2].partition("`")[0].split())
        deal = Deal.from_seed("promise", tactics=True)
        assert (deal.tactics if tactics else deal.clan)[: len(printed)] == printed
        assert len(printed) >= 8

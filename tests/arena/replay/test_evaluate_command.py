"""`arena replay` with --evaluate and --mistakes, as people call it."""

import json
import re
from pathlib import Path

import pytest

from engine.ruleset import PRESETS
from tests.golden.replay import golden_round
from tests.helpers.commands import arena
from tests.helpers.rounds import random_round, written

ROUND = "1.1-2.3"
BY = "the bundled counting bot"


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short journal, because each round takes a while."""
    late = random_round(PRESETS["base"], 8, id="1.1-3.1", bots=("ann", "cy"), stop_after=9)
    return written(tmp_path_factory.mktemp("cup") / "cup.jsonl", golden_round("base"), golden_round("tactics"), late)


def plain(text: str) -> str:
    return " ".join(text.split())


def test_the_curve_of_a_round_is_printed_with_the_decisions_that_lost_most(cup: Path) -> None:
    done = arena("replay", cup, ROUND, "--evaluate")
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 80
    text = plain(done.stdout)
    assert f"What ann could expect with both hands known, in the opinion of {BY}." in text
    assert "100 %" in done.stdout
    assert "0 %" in done.stdout
    assert re.search(r"1\. position \d+, (ann|ben): \w.* \(\d+ %\) instead of .* \(\d+ %\): \d+ % lost", text)


def test_with_a_seat_nothing_of_the_other_is_told(cup: Path) -> None:
    text = plain(arena("replay", cup, ROUND, "--evaluate", "--seat", "ben").stdout)
    assert f"What ben could expect from its own view, in the opinion of {BY}." in text
    assert ", ben: " in text
    assert ", ann: " not in text


def test_one_position_comes_with_what_it_lets_expect_and_the_judgement_of_its_move(cup: Path) -> None:
    facts = json.loads(arena("replay", cup, ROUND, "--json", "--evaluate").stdout)["steps"]
    at = max(range(1, len(facts)), key=lambda n: loss(facts[n]))
    text = plain(arena("replay", cup, ROUND, "--at", str(at), "--evaluate").stdout)
    judged = facts[at]["evaluation"]["decision"]
    assert f"The bundled counting bot would have chosen {judged['best']}, " in text
    assert f": {100 * loss(facts[at]):.0f} % lost." in text
    expected = facts[at]["evaluation"]["expected"]["both"]
    assert f"The bundled counting bot expects {100 * expected:.0f} % for ann with both hands known." in text


def loss(step: dict[str, dict[str, dict[str, float] | None]]) -> float:
    decision = step["evaluation"]["decision"]
    return decision["best_expected"] - decision["expected"] if decision else 0


def test_every_position_has_an_evaluation_as_json_and_only_if_it_is_wanted(cup: Path) -> None:
    facts = json.loads(arena("replay", cup, ROUND, "--json", "--evaluate").stdout)["steps"]
    assert all(set(step["evaluation"]["expected"]) == {"both", "seat0", "seat1"} for step in facts)
    assert all(step["evaluation"]["by"] == BY for step in facts)
    assert facts[0]["evaluation"]["decision"] is None
    own = json.loads(arena("replay", cup, ROUND, "--json", "--evaluate", "--seat", "1").stdout)["steps"]
    assert all(set(step["evaluation"]["expected"]) == {"seat1"} for step in own)
    assert not [step for step in own if step["seat"] == 0 and step["evaluation"]["decision"]]
    assert "evaluation" not in json.loads(arena("replay", cup, ROUND, "--json").stdout)["steps"][1]


def test_the_worst_decisions_of_a_bot_are_listed_with_the_commands_that_show_them(cup: Path) -> None:
    done = arena("replay", cup, "--bot", "ann", "--mistakes", "3")
    assert done.exit_code == 0, done.output
    assert f"What ann lost most by, in the opinion of {BY}; it made " in plain(done.stdout)
    assert "decisions in 3 rounds." in plain(done.stdout)
    commands = re.findall(r"^    arena (replay .*)$", done.stdout, re.MULTILINE)
    assert len(commands) == 3
    losses = [int(each) for each in re.findall(r": (\d+) % lost", plain(done.stdout))]
    assert losses == sorted(losses, reverse=True)
    for command, lost in zip(commands, losses, strict=True):
        shown = plain(arena(*command.split()).stdout)
        assert re.search(rf"\d+\. ann: .*: {lost} % lost\.", shown)
    assert "`arena report" in done.stdout


def test_the_list_names_the_pages_once_there_is_a_report(cup: Path) -> None:
    assert arena("report", cup, "--evaluate", "1").exit_code == 0
    done = arena("replay", cup, "--bot", "ben", "--mistakes", "2", "--rules", "tactics")
    pages = re.findall(r"^    (\S+)#round=2&at=\d+&view=2$", done.stdout, re.MULTILINE)
    assert pages == [str(cup.with_suffix(".report") / "replay.html")] * 2
    assert "`arena report" not in done.stdout


def test_mistakes_as_json(cup: Path) -> None:
    done = json.loads(arena("replay", cup, "--bot", "cy", "--mistakes", "2", "--json").stdout)
    assert [(each["round"], each["seat"], each["by"]) for each in done] == [("1.1-3.1", 1, BY)] * 2
    assert done[0]["loss"] >= done[1]["loss"] > 0


def test_what_matches_nothing_is_said_in_one_sentence(cup: Path) -> None:
    done = arena("replay", cup, "--bot", "cy", "--mistakes", "2", "--rules", "tactics")
    assert (done.exit_code, done.stdout) == (0, "No round matches (3 in the journal).\n")


def test_a_bot_that_was_never_asked_lost_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "cup.jsonl", random_round(PRESETS["base"], 8, stop_after=0))
    done = arena("replay", path, "--bot", "ann", "--mistakes", "2")
    assert f"ann made 0 decisions in 1 round; none of them lost anything, in the opinion of {BY}." in plain(done.stdout)


@pytest.mark.parametrize("text", ["none", "-1", "1.5"])
def test_a_number_of_evaluated_rounds_that_is_none_is_refused(cup: Path, text: str) -> None:
    done = arena("report", cup, "--evaluate", text)
    assert done.exit_code == 2
    assert f"{text!r}, but expected a number such as 2000, or all" in done.stderr

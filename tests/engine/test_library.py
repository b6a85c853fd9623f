"""What other programs see of the engine: its names, and what it says to arguments of a wrong type. Both builds."""

import copy
import importlib
import inspect
import pickle
import random
from collections.abc import Callable, Iterator
from pkgutil import iter_modules
from typing import Any

import pytest
from hypothesis import given

import engine
import protocol
from arena.support import compilation
from engine import PRESETS, Deal, Game, GameRecord, RuleSet, Seat, parse
from engine.actions import every_action
from tests.helpers.walks import positions

WRONG: Any = "wrong"  # whatever its type, not what type checkers expect
RULES = PRESETS["base"]
DEAL = Deal.from_seed("7", RULES.tactics)
GAME = Game.new(RULES, DEAL, Seat(0))

DOES = {"new", "from_position", "from_text", "position", "to_text", "legal_actions", "is_legal", "apply", "copy"}
READS = {
    "rules", "to_move", "phase", "outcome", "hands", "clan_deck", "tactic_deck", "sides", "modes", "needs", "owners",
    "complete_first", "discard", "tactics_played", "draws_left", "returns_left", "returned", "turn_had_effect",
    "idle_turns", "claimable", "unclaimed", "room", "complete", "strengths", "unseen", "changes",
}  # fmt: skip


def test_of_a_game_only_what_keeps_the_rules_is_public() -> None:
    public = {name for name in dir(GAME) if not name.startswith("_")}
    assert public == DOES | READS
    assert {name for name in public if callable(getattr(GAME, name))} == DOES


@given(positions())
def test_an_action_is_legal_if_it_is_among_the_legal_ones(game: Game) -> None:
    legal = set(game.legal_actions())
    assert all(game.is_legal(action) is (action in legal) for action in every_action())


@given(positions())
def test_a_game_can_be_copied_and_pickled(game: Game) -> None:
    assert copy.copy(game) == copy.deepcopy(game) == pickle.loads(pickle.dumps(game)) == game


@pytest.mark.parametrize("arguments", [(), (RULES,), (RULES, DEAL, Seat(0))])
def test_a_game_without_a_deal_is_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(TypeError) as refused:
        Game(*arguments)
    assert str(refused.value) == (
        "a game begins with a deal or in a position: "
        "use Game.new(rules, deal, first), Game.from_position(position) or Game.from_text(text)"
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Game.new(WRONG, DEAL, Seat(0)), "expected a RuleSet, such as PRESETS['base'], not the str 'wrong'"),
        (
            lambda: Game.new(RULES, WRONG, Seat(0)),
            "expected a Deal, such as Deal.from_seed('7', rules.tactics), not the str 'wrong'",
        ),
        (lambda: Game.new(RULES, DEAL, WRONG), "expected a seat, 0 or 1, not the str 'wrong'"),
        (lambda: Game.new(RULES, Deal(WRONG, ()), Seat(0)), "expected a tuple of cards as a deck, not the str 'wrong'"),
        (lambda: Deal(tuple(WRONG), ()).check(tactics=False), "expected cards in the clan deck, which are numbers …"),
        (lambda: Game.from_position(WRONG), "expected a Position, such as game.position(), not the str 'wrong'"),
        (lambda: Game.from_text(object()), "expected a str, not an object of the type object"),  # type: ignore[arg-type]
        (lambda: GAME.apply(WRONG), "expected an Action, such as parse('play r5 3'), not the str 'wrong'"),
        (lambda: GAME.is_legal(None), "expected an Action, such as parse('play r5 3'), not None"),  # type: ignore[arg-type]
        (lambda: GAME.position().seen_by(WRONG), "expected a seat, 0 or 1, not the str 'wrong'"),
        (lambda: engine.sample(GAME.position(), WRONG), "expected a source of randomness, such as random.Random(), …"),
        (lambda: parse(7), "expected a str, not the int 7"),  # type: ignore[arg-type]
        (lambda: parse(["play r5 3"]), "expected a str, not an object of the type list"),  # type: ignore[arg-type]
        (lambda: RuleSet.named(7), "expected the name of a rule set, such as 'base', not the int 7"),  # type: ignore[arg-type]
        (lambda: Deal.from_seed(7, tactics=False), "expected a seed, which is a str such as '7', not the int 7"),  # type: ignore[arg-type]
        (
            lambda: Deal.from_seed("7", WRONG),
            "expected a bool: whether there are tactic cards, as rules.tactics says, …",
        ),
        (lambda: DEAL.check(WRONG), "expected a bool: whether there are tactic cards, as rules.tactics says, …"),
        (lambda: engine.position_from_text(7), "expected a str, not the int 7"),  # type: ignore[arg-type]
        (lambda: engine.position_to_text(GAME), "expected a Position, such as game.position(), not an object …"),  # type: ignore[arg-type]
        (lambda: engine.replay(WRONG), "expected a GameRecord, not the str 'wrong'"),
        (lambda: engine.verify(WRONG), "expected a GameRecord, not the str 'wrong'"),
        (lambda: next(engine.steps(WRONG)), "expected a GameRecord, not the str 'wrong'"),
    ],
)
def test_an_argument_of_a_wrong_type_is_refused_in_one_sentence(call: Callable[[], object], words: str) -> None:
    with pytest.raises(TypeError) as refused:
        call()
    said = str(refused.value)
    assert said.startswith(words.removesuffix("…")) if words.endswith("…") else said == words


@pytest.mark.parametrize("call", [lambda: Game.new(RULES, DEAL, Seat(2)), lambda: GAME.position().seen_by(Seat(2))])
def test_a_seat_that_does_not_exist_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"^expected a seat, 0 or 1, not 2$"):
        call()


def test_long_arguments_are_not_repeated() -> None:
    with pytest.raises(TypeError) as refused:
        GAME.apply(WRONG * 1000)
    assert str(refused.value) == "expected an Action, such as parse('play r5 3'), not a str of 5000 characters"


def test_refused_arguments_change_nothing() -> None:
    game = GAME.copy()
    with pytest.raises(TypeError):
        game.apply(WRONG)
    assert game == GAME


def test_a_game_as_text_is_its_board() -> None:
    game = Game.from_text("""
        rules tactics
        hand r5 joker
        their-hand b1 mud-fight
        stone 3 r6 r7 | g9
        stone 4 y1 y2 y3 | owner:you
        discard banshee
        deck g1 g2
        """)
    assert str(game).splitlines() == [
        "seat 1 b1 mud",
        "                       g9",
        "      [1]     [2]     [3]             [5]     [6]     [7]     [8]     [9]",
        "                              (4)",
        "                       r6      y1",
        "                       r7      y2",
        "                               y3",
        "seat 0 r5 joker   > play",
        "stones: seat 0 1, seat 1 0   clan deck 2, tactic deck 7",
        "discard: banshee",
        "tactics played: seat 0 -, seat 1 -",
    ]


def test_a_record_of_the_library_is_a_round() -> None:
    game, rng, moves = GAME.copy(), random.Random(7), []
    while game.outcome is None:
        action = rng.choice(game.legal_actions())
        moves.append((game.to_move, action.text))
        game.apply(action)
    engine.verify(GameRecord(RULES, DEAL, Seat(0), tuple(moves), game.outcome))


def _exported() -> Iterator[tuple[str, object]]:
    """What `engine` exports and the modules of `protocol` define: functions, and classes with their public methods."""
    for name in engine.__all__:
        yield f"engine.{name}", getattr(engine, name)
    for each in iter_modules(protocol.__path__):
        module = importlib.import_module(f"protocol.{each.name}")
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__:
                yield f"{module.__name__}.{name}", value


def _documented() -> Iterator[tuple[str, object]]:
    for name, value in _exported():
        if isinstance(value, type) or inspect.isroutine(value):
            yield name, value
        for key, each in vars(value).items() if isinstance(value, type) else ():
            if not key.startswith("_") and (isinstance(each, property) or inspect.isroutine(each)):
                yield f"{name}.{key}", each


@pytest.mark.skipif(compilation.kind() != "pure Python", reason="mypyc leaves docstrings out of what it compiles")
def test_everything_that_is_exported_has_a_docstring() -> None:
    assert [name for name, value in _documented() if not inspect.getdoc(value)] == []

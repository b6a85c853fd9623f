"""The person among the players of `arena play` and `arena connect`."""

from typing import TYPE_CHECKING

import attrs
import click

from arena.cli.shared import InputError, say_on_stderr
from arena.plan.bot_spec import HUMAN
from arena.plan.config import Config

if TYPE_CHECKING:
    from arena.human.human_player import LocalPerson
    from arena.human.user_interface import UserInterface
    from arena.human.view import DecisionView


def with_person(config: Config, seat: int | None, *, hints: bool) -> "tuple[Config, LocalPerson | None]":
    """The person among the players of `arena play`, and the config with the person at this seat; None leaves the
    players in the order in which they were named. Refuses options for a person if there is none."""
    if (person := config.person) is None:
        if seat is not None or hints:
            raise click.UsageError("--seat and --hints are for a person: name human instead of one of the bots")
        return config, None
    from arena.human.human_player import LocalPerson

    if seat is not None and config.bots[seat] != person:
        config = attrs.evolve(config, bots=config.bots[::-1])
    config = attrs.evolve(config, concurrency=1)  # a person plays one match after the other
    return config, LocalPerson(interface_for(person.name, hints=hints), hints=hints)


def evaluators_choice(view: "DecisionView") -> str:
    """What the bundled evaluator would play, from what the person sees; it says whose opinion it is."""
    from arena.evaluation.counting import bundled_evaluator
    from arena.replay.opinion import percent
    from engine.actions import parse

    evaluator = bundled_evaluator()
    opinion = evaluator.opinion(view.position, [parse(move) for move in view.legal])
    expected = percent(opinion.expected(opinion.best))
    return f"Hint: {evaluator.name} would choose {opinion.best} and expects {expected} of the round."


def interface_for(name: str, *, hints: bool = False, at_server: bool = False) -> "UserInterface":
    """The user interface on this command's terminal. Refuses to play without one."""
    from arena.cli.human_terminal import TerminalInterface
    from arena.cli.painting import painter
    from arena.cli.terminal import is_interactive
    from arena.human.screen import PlayScreen
    from arena.human.user_interface import no_hint

    if not is_interactive():
        raise InputError(
            f"{HUMAN} needs a terminal that can move its cursor, as stdin and stdout; a program can play as a bot, "
            "which SPEC.md explains (`arena spec`)"
        )
    hint = evaluators_choice if hints else no_hint
    screen = PlayScreen(name, at_server=at_server, hints=hints)
    echo = say_on_stderr if at_server else click.echo  # what the command says besides
    return TerminalInterface(screen, painter(None), echo, hint)

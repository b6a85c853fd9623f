"""Shell completion of words that click cannot know: bundled bots, rule sets, languages and choices of options."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def matching(words: Mapping[str, str | None], incomplete: str) -> "list[CompletionItem]":
    """The words that start with `incomplete`, each with its help."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(word, help=text) for word, text in words.items() if word.startswith(incomplete)]


def one_of(words: Iterable[str]) -> Complete:
    """Completes an option that takes one of these words."""
    known = dict.fromkeys(words)
    return lambda _context, _parameter, incomplete: matching(known, incomplete)


def bot(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Completes bundled bots. Where none matches, the shell completes files: a program, or a tournament file."""
    from click.shell_completion import CompletionItem

    from arena.plan.bot_spec import BUNDLED_BOTS

    # Files come first because bash drops all completions before them.
    bots = {name: own.summary for name, own in BUNDLED_BOTS.items()}
    return [CompletionItem(incomplete, type="file"), *matching(bots, incomplete)]


def player(context: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Completes bundled bots, and the person at this terminal."""
    from arena.plan.bot_spec import HUMAN

    return [*bot(context, parameter, incomplete), *matching({HUMAN: "you, at this terminal"}, incomplete)]


def rule_set(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    from engine.ruleset import RULE_SETS

    return matching(dict.fromkeys(RULE_SETS), incomplete)


def language(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    from arena.devtools.starters import LANGUAGES

    return matching(dict.fromkeys(LANGUAGES), incomplete)

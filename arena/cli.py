"""The command line: parse, call, print. Each command imports what it needs, so that --help is quick."""

import click

_RULES_HELP = "The rule set: base, expert, tactics, tactics-expert, classic."


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="schotten-arena", prog_name="arena")
def main() -> None:
    """The place where Schotten Totten bots meet.

    SPEC.md says all that the author of a bot needs to know.
    """


@main.command()
@click.option("--rules", default="base", show_default=True, help=_RULES_HELP)
@click.option("--seed", default="1", show_default=True, help="Any text; the same seed gives the same round.")
def demo(rules: str, seed: str) -> None:
    """A round of random against random, printed.

    \b
    Examples:
      arena demo
      arena demo --rules tactics --seed 7
    """
    from arena.demo import random_round
    from engine.errors import NotationError
    from engine.ruleset import RuleSet

    try:
        rule_set = RuleSet.named(rules)
    except NotationError as error:
        raise click.BadParameter(str(error), param_hint="--rules") from None
    click.echo(random_round(rule_set, seed))

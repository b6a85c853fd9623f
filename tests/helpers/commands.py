"""`arena` called in this process."""

from pathlib import Path

from click.testing import CliRunner, Result

from arena.cli.main import main


def arena(*arguments: str | Path, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments], input=stdin)

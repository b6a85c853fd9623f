"""The command that says what the sandbox of bots holds on this machine."""

import sys

import click

from arena.cli.shared import say_on_stderr


@click.command()
@click.option("--sandbox-user", metavar="NAME", help="The user as whom root starts sandboxed bots.  [nobody]")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def sandbox(sandbox_user: str | None, as_json: bool) -> None:
    """Say what the sandbox of --sandbox holds on this machine, point by point.

    A bot is started in it that tries what a hostile bot might try: to read other files, to write, to reach the network
    and other processes, to gain rights, to use up memory and processes, to outlive its end. It takes some seconds, and
    the attempts touch only what was laid out for them.

    The exit status is 0 if every attempt was refused. It is 1 if not, or if there is no sandbox on this machine; then
    the last line says what to do.

    \b
    Examples:
      arena sandbox
      arena sandbox --json > sandbox.json
    """
    import trio

    from arena.devtools import sandbox_report as report
    from arena.devtools.sandbox_trial import SandboxFinding, try_sandbox
    from arena.sandbox.sandbox_check import SandboxError

    def tell(finding: SandboxFinding) -> None:
        if not as_json:
            click.echo(report.finding_text(finding))

    try:
        found = trio.run(try_sandbox, sandbox_user, tell)
    except SandboxError as error:
        click.echo(report.missing_as_json(str(error))) if as_json else say_on_stderr(str(error))
        sys.exit(1)
    click.echo(report.as_json(found) if as_json else "\n" + report.summary(found))
    sys.exit(0 if report.holds(found) else 1)

"""AGENTS.md, what a coding agent that improves a new bot has to know. Pure."""

from collections.abc import Mapping
from textwrap import fill
from typing import Final

AGENTS: Final = "AGENTS.md"
# By command, in the words of its help.
EXIT_STATUSES: Final[Mapping[str, str]] = {
    "check": "0 if every bot passes, 1 if one does not, and 2 if BOT is not there",
    "sprt": "0 if NEW is better, 1 if it is not, 3 if that is undecided or both are the same program, 2 after a "
    "mistake in the call, and 130 after Ctrl-C",
    "rerun": "0 if the fault came again",
}
_TEXT: Final = """\
# {name}, a bot for Schotten Totten

`{file}` is the bot: it reads JSON lines on stdin and answers each request on stdout with one of its `legal` moves.
`arena spec` prints the protocol and every rule with examples. Read there what you do not find here; do not guess.

## The rules in brief

* Nine stones lie between two players. A turn: play a card to your side of a stone, claim what you can, draw a card.
* Clan cards have six colours `r o y g b p` and the values 1 to 9, each once. Three on a side are a formation.
* Formations, strongest first: a run of one colour, three alike, one colour, a run, any other. Then the higher sum
  wins, and then whoever was complete first.
* A stone is claimed as soon as nothing that the opponent could still place would beat your formation. The referee
  proves that: a claim is legal only if it holds, and it is listed then.
* Three adjacent stones win the round, and so do any five: 5 points. The loser has one for each stone.
* Some rule sets have tactic cards, or claims at the start of a turn. Test a change in the rule sets you play.

## The loop

Keep the bot that a change has to beat, once before each change:

```sh
{before}
```

Change the bot. Then find out whether it is fit to play, and better:

```sh
{after}
```

`sprt.toml` says how much better is enough. The test resumes if it is stopped; remove `sprt.jsonl` before the next one.
Do not judge by a few rounds: forty leave 100 Elo to either side. To see what to change, list what cost most:

```sh
{look}
```

`arena replay games.jsonl ROUND --at N` shows such a position. Remove `games.jsonl` after a change of the bot.

## When it fails

* A fault (an illegal move, a late answer, a crash) loses the round. stdout is for the protocol alone: debug on stderr.
* `games.faults/` has a folder for each fault, with `position.txt`, the last exchanges and stderr. `arena rerun FOLDER`
  asks for the same decision again. `games.stderr/` has all that the bot wrote on stderr.

## Exit statuses

{statuses}
* Every command: 2 and one sentence if it cannot use what it was given.
"""


def agents_file(name: str, file: str, build: str | None, run_tests: str | None, check: str, play: str) -> str:
    """The text for a bot of this name, whose author changes `file`. The others are commands for its folder."""
    made = [command for command in (build, run_tests) if command]
    look = [f"{play} --rounds 20 --journal games.jsonl", f"arena replay games.jsonl --bot {name} --mistakes 5"]
    return _TEXT.format(
        name=name,
        file=file,
        before="\n".join([*([build] if build else []), "mkdir -p ../base && cp -r . ../base/"]),
        after="\n".join([*made, f"{check} --budget 20s", "arena sprt sprt.toml"]),
        look="\n".join(look),
        statuses="\n".join(_item(f"`arena {command}`: {words}.") for command, words in EXIT_STATUSES.items()),
    )


def _item(text: str) -> str:
    return fill(text, 116, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)

"""Every option of a tournament, in tables: its name, its help, and the reader of its value (option_readers.py)."""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

from arena.plan import option_readers as read
from arena.plan.bot_spec import MOST_PROCESSES, Restart
from arena.plan.on_change import OnChange
from arena.plan.option_readers import Reader
from arena.plan.sandbox import SCRATCH
from arena.plan.schedule import Format
from arena.plan.sprt import MOST_ROUNDS, EloModel
from engine.ruleset import RULE_SETS


class Option(Struct, frozen=True):
    name: str
    read: Reader
    help: str
    metavar: str = "TEXT"
    flag: bool = False  # on the command line it has no value and means true
    value_if_alone: str | None = None  # the value that it has on the command line if none is given
    several: bool = False  # on the command line it may be given more than once
    secret: bool = False  # its value is not shown in messages
    choices: tuple[str, ...] = ()  # the words that a shell offers


def _values(choices: Iterable[Any]) -> tuple[str, ...]:
    return tuple(choice.value for choice in choices)


JOURNAL: Final = "tournament.jsonl"  # where no file and no option names one
# Options of the tournament as a whole.
TOURNAMENT: Final = (
    Option(
        "rules",
        read.rule_set,
        "base, expert, tactics, tactics-expert, classic or another of SPEC.md.  [base]",
        "NAME",
        choices=tuple(RULE_SETS),
    ),
    Option(
        "format",
        read.one_of(Format),
        "roundrobin, or gauntlet: the first bot against the others.  [roundrobin]",
        "NAME",
        choices=_values(Format),
    ),
    Option("cycles", read.whole_number(1), "How many matches each pair plays.  [1]", "N"),
    Option("rounds", read.whole_number(1), "How many rounds a match has.  [10]", "N"),
    Option(
        "seed",
        read.seed,
        "Determines all deals and the seeds of bots, for repeatable experiments. It is public; without it, they come "
        "from a secret.",
    ),
    Option(
        "max-faults", read.whole_number(0), "Faults in a row after which a bot is withdrawn; 0 means never.  [5]", "N"
    ),
    Option(
        "max-voids",
        read.max_voids,
        "How often a bot may be excused because the host stalled or something killed it: a number, or 1% of the rounds "
        "that it finished, but at least 3.  [1%]",
        "N",
    ),
    Option("concurrency", read.whole_number(1), "How many matches are played at once.  [number of cores]", "N"),
    Option(
        "workers",
        read.whole_number(1),
        "How many processes play the matches.  [number of cores, at most one for each match at once]",
        "N",
    ),
    Option(
        "affinity",
        read.yes_or_no,
        "Pin each of these processes with its bots to a core.  [while the bots answer at once and the core is idle]",
        "[true|false]",
        value_if_alone="true",
        choices=("true", "false"),
    ),
    Option(
        "changed",
        read.one_of(OnChange),
        "If a bot has changed since the journal's last rounds: refuse, or continue, tell the rounds apart, and let a "
        "withdrawn bot play again.  [refuse]",
        "WHAT",
        choices=_values(OnChange),
    ),
    Option("event", read.text, "The name of the tournament."),
    Option("site", read.text, "Where it is played."),
    Option("journal", read.text, f"The file that everything is written to.  [beside a file; {JOURNAL}]", "FILE"),
)
# Options of a sequential test; in a file they are under [sprt].
SPRT: Final = (
    Option("elo0", read.elo, "The difference in Elo that is not good enough: H0.  [0]", "ELO"),
    Option("elo1", read.elo, "The difference in Elo that is worth finding: H1.  [10]", "ELO"),
    Option("alpha", read.probability, "How likely H1 may be accepted although H0 holds.  [0.05]", "P"),
    Option("beta", read.probability, "How likely H0 may be accepted although H1 holds.  [0.05]", "P"),
    Option(
        "model",
        read.one_of(EloModel),
        "normalized or logistic: what elo0 and elo1 are measured in.  [normalized]",
        "NAME",
        choices=_values(EloModel),
    ),
    Option(
        "max-rounds",
        read.even_number(2, 1_000_000),
        f"Rounds after which the test is left undecided; even.  [{MOST_ROUNDS}]",
        "N",
    ),
)
# Options of a bot's sandbox.
SANDBOX: Final = (
    Option(
        "sandbox",
        read.sandbox_level,
        "Start bots in a sandbox (see `arena sandbox`). With try, start them without one where it cannot be had.  "
        "[false]",
        "[true|false|try]",
        value_if_alone="true",
        choices=("true", "false", "try"),
    ),
    Option("scratch", read.scratch_size, f"The size of a sandboxed bot's /tmp.  [{SCRATCH >> 20}M]", "SIZE"),
    Option(
        "expose",
        read.paths,
        "Paths that a sandboxed bot may read, besides /usr, its folder and what its command names.",
        "'PATH …'",
        several=True,
    ),
    Option(
        "sandbox-user",
        read.user_name,
        "The user as whom an arena that is run by root starts sandboxed bots.  [nobody]",
        "NAME",
    ),
)
# Options of each bot; on the command line and under [each] they are for all bots.
BOT: Final = (
    Option("tc", read.time_control, "Time for a round and increment for each answer, in seconds.", "10+0.1"),
    Option("st", read.time_limit, "Seconds for each answer, or none.  [10]", "SECONDS"),
    Option("start", read.time_limit, "Seconds to start and say hello.  [10]", "SECONDS"),
    Option("timemargin", read.whole_number(0), "Milliseconds that an answer may be late.  [50]", "MS"),
    Option(
        "restart",
        read.one_of(Restart),
        "When a bot is started again: never, match or round.  [never]",
        "WHEN",
        choices=_values(Restart),
    ),
    Option("dir", read.path, "The folder a bot runs in.", "DIR"),
    Option(
        "env",
        read.environment,
        "Variables for a bot's environment. Only their names are recorded, not their values.",
        "'NAME=VALUE …'",
        secret=True,
        several=True,
    ),
    Option(
        "inherit-env",
        read.yes_or_no,
        "Pass on the whole environment, not only PATH, HOME, LANG and TMPDIR.  [false]",
        flag=True,
    ),
    Option(
        "memory",
        read.memory_size,
        "Real memory that a bot may use with all its children, such as 512M or 2G.  [in a sandbox by what the machine "
        "has, from 512M to 4G; else unlimited]",
        "SIZE",
    ),
    Option(
        "cpu",
        read.whole_number(1),
        "Seconds of processor time for a bot and all its children, from its start.",
        "SECONDS",
    ),
    Option("processes", read.whole_number(1), f"Processes that a bot may have at once.  [{MOST_PROCESSES}]", "N"),
    Option(
        "fingerprint",
        read.patterns,
        "Files that belong to a bot besides those that its command names, such as **/*.py: a change of one is a new "
        "version of the bot.  [of a script, those below its folder with the same ending]",
        "'PATTERN …'",
        several=True,
    ),
    *SANDBOX,
)
# Options of a bot that a command starts outside a tournament.
_STARTED: Final = ("env", "inherit-env", "memory", "cpu", "processes")
STARTED: Final = (*(option for option in BOT if option.name in _STARTED), *SANDBOX)
# Options of one bot only.
OWN: Final = (
    Option("cmd", read.command_words, "The command, or the name of a bundled bot."),
    Option("args", read.command_words, "More words for the command."),
    Option("name", read.bot_name, "The name it plays under."),
    Option("token", read.token_hash, "The hash of a token: the bot connects from outside (arena serve)."),
)
# Options of the server; in a file they are under [server].
SERVER: Final = (
    Option("listen", read.address, "Where to listen, such as 0.0.0.0:4000; port 0 means any free port.", "HOST:PORT"),
    Option(
        "open", read.yes_or_no, "Let anyone play under a free name; cup.names records who owns it.  [false]", flag=True
    ),
    Option("forever", read.yes_or_no, "When a cycle ends, begin another among the connected bots.  [false]", flag=True),
    Option(
        "begin",
        read.beginning,
        "When to begin: all (are connected), key (Enter), or a time: 20:30.  [all]",
        "WHEN",
        choices=("all", "key"),
    ),
    Option(
        "grace",
        read.seconds,
        "Seconds that a bot may be away before it forfeits matches; less with --forever if others can play on.  [60]",
        "SECONDS",
    ),
    Option("drain", read.seconds, "Seconds for running matches to end after the first signal.  [60]", "SECONDS"),
    Option("cert", read.path, "The server's certificate chain: TLS. With --key.", "FILE"),
    Option("key", read.path, "The key of the certificate.", "FILE"),
    Option("watch-delay", read.seconds_or_zero, "Seconds after which watchers see what happens.  [0]", "SECONDS"),
    Option("show-hands", read.yes_or_no, "Show hands to watchers while a round is played.  [false]", flag=True),
    Option("watchers", read.whole_number(0), "Watchers connected at once.  [100]", "N"),
    Option("connections", read.whole_number(1), "Bots and watchers connected at once.  [2000]", "N"),
    Option("per-address", read.whole_number(1), "Connections from one address at once.  [250]", "N"),
    Option("names", read.whole_number(1), "With --open, names that bots from one address may have.  [32]", "N"),
    Option("per-second", read.whole_number(1), "Connections greeted in a second, all addresses in turn.  [2000]", "N"),
    Option("hello", read.seconds, "Seconds to say hello.  [10]", "SECONDS"),
    Option("line", read.line_length, "Bytes that a line of a bot may have.  [65536]", "BYTES"),
    Option("unread", read.buffer_size, "Bytes on their way to a bot that does not read them.  [256K]", "SIZE"),
    Option(
        "late-answers", read.whole_number(0), "Answers without a request that one connection may send.  [1000]", "N"
    ),
    Option(
        "wrong-tokens",
        read.whole_number(1),
        "Wrong tokens of an address in a minute that are answered at once.  [10]",
        "N",
    ),
)


def by_name(*tables: Iterable[Option]) -> dict[str, Option]:
    return {option.name: option for table in tables for option in table}

"""Every option of a tournament, in tables of rows (option_rows.py): the one place where a setting is described."""

import enum
from collections.abc import Iterable
from typing import Any, Final

from arena.plan import option_readers as read
from arena.plan import option_writers as write
from arena.plan.max_voids import SHARE, in_words
from arena.plan.option_rows import Option as Option
from arena.plan.option_rows import by_name as by_name
from arena.plan.option_rows import parts_of
from arena.plan.sandbox import Sandbox
from arena.plan.schedule import Format
from arena.plan.sprt import MOST_ROUNDS, EloModel, Sprt
from arena.plan.time_control import TimeLimits
from engine.ruleset import RULE_SETS, RuleSet
from protocol.framing import MAX_LINE


class OnChange(enum.Enum):
    """What happens when a tournament resumes and the program of a bot is not the one that played before."""

    REFUSE = "refuse"
    CONTINUE = "continue"  # and record the new version


class Restart(enum.Enum):
    """When a bot is restarted although it did nothing wrong."""

    NEVER = "never"
    MATCH = "match"
    ROUND = "round"


def _values(choices: Iterable[Any]) -> tuple[str, ...]:
    return tuple(choice.value for choice in choices)


JOURNAL: Final = "tournament.jsonl"  # where no file and no option names one
MOST_PROCESSES: Final = 64  # by default: enough for a pool of workers, and no burden for the machine
# A row reads better in two lines than in ten.
# fmt: off

# How often a bot may fail.
LIMITS: Final = (
    Option("max-faults", read.whole_number(0), "Faults in a row after which a bot is withdrawn; 0 means never.", "N", 5,
        recorded=True, label="Faults in a row until withdrawn"),
    Option("max-voids", read.max_voids,
        "How often a bot may be excused because the host stalled or something killed it: a number, or 1% of the "
        "rounds that it finished, but at least 3.", "N", SHARE, recorded=True, label="Voids granted to each bot",
        in_words=in_words),
)
# Options of the tournament as a whole.
TOURNAMENT: Final = (
    Option("rules", read.rule_set, "base, expert, tactics, tactics-expert, classic or another of SPEC.md.", "NAME",
        RuleSet(), choices=tuple(RULE_SETS), recorded=True, record=lambda rules: rules.name, label="Rules"),
    Option("format", read.one_of(Format), "roundrobin, or gauntlet: the first bot against the others.", "NAME",
        Format.ROUND_ROBIN, choices=_values(Format), field="form", recorded=True, label="Format"),
    Option("cycles", read.whole_number(1), "How many matches each pair plays.", "N", 1, recorded=True,
        label="Matches of each pair"),
    Option("rounds", read.whole_number(1), "How many rounds a match has.", "N", 10, recorded=True,
        label="Rounds of each match"),
    # Only a public seed is recorded, as the key of the deals.
    Option("seed", read.seed,
        "Determines all deals and the seeds of bots, for repeatable experiments. It is public; without it, they come "
        "from a secret.", default=""),
    *LIMITS,
    Option("concurrency", read.whole_number(1), "How many matches are played at once.", "N", unset="number of cores"),
    Option("workers", read.whole_number(1), "How many processes play the matches.", "N",
        unset="number of cores, at most one for each match at once"),
    Option("affinity", read.yes_or_no, "Pin each of these processes with its bots to a core.", "[true|false]",
        value_if_alone="true", choices=("true", "false"), unset="while the bots answer at once and the core is idle"),
    Option("changed", read.one_of(OnChange),
        "If a bot has changed since the journal's last rounds: refuse, or continue, record the new version, and let "
        "a withdrawn bot play again.", "WHAT", OnChange.REFUSE, choices=_values(OnChange)),
    Option("event", read.text, "The name of the tournament.", default="", recorded=True, label="Event"),
    Option("site", read.text, "Where it is played.", default="", recorded=True, label="Site"),
    Option("journal", read.text, "The file that everything is written to.", "FILE", unset=f"beside a file; {JOURNAL}"),
)
# What follows from the options of a tournament, and is recorded and compared like them.
DERIVED: Final = (
    Option("pairs", read.yes_or_no, "Whether pairs of rounds are the unit of statistics.", recorded=True),
    Option("first cycle", read.whole_number(1), "The number of the first cycle.", recorded=True),
)
# Options of a sequential test; in a file they are under [sprt].
BOUNDS: Final = parts_of(
    Sprt(),
    Option("elo0", read.elo, "The difference in Elo that is not good enough: H0.", "ELO", write=write.number),
    Option("elo1", read.elo, "The difference in Elo that is worth finding: H1.", "ELO", write=write.number),
    Option("alpha", read.probability, "How likely H1 may be accepted although H0 holds.", "P", write=write.number),
    Option("beta", read.probability, "How likely H0 may be accepted although H1 holds.", "P", write=write.number),
    Option("model", read.one_of(EloModel), "normalized or logistic: what elo0 and elo1 are measured in.", "NAME",
        choices=_values(EloModel)),
)
SPRT: Final = (
    *BOUNDS,
    # Recorded as the cycles of the tournament.
    Option("max-rounds", read.even_number(2, 1_000_000), "Rounds after which the test is left undecided; even.", "N",
        MOST_ROUNDS),
)
# Options of a bot's clock.
CLOCK: Final = parts_of(
    TimeLimits(),
    Option("tc", read.time_control, "Time for a round and increment for each answer, in seconds.", "10+0.1",
        field="bank", write=write.time_control),
    Option("st", read.time_limit, "Seconds for each answer, or none.", "SECONDS", field="move_ms", write=write.seconds),
    Option("start", read.time_limit, "Seconds to start and say hello.", "SECONDS", field="start_ms",
        write=write.seconds),
    Option("timemargin", read.whole_number(0), "Milliseconds that an answer may be late.", "MS", field="margin_ms"),
)
# Options of a bot's program.
PROGRAM: Final = (
    Option("restart", read.one_of(Restart), "When a bot is started again: never, match or round.", "WHEN",
        Restart.NEVER, choices=_values(Restart), recorded=True, label="Restart"),
    # A tournament may be resumed elsewhere.
    Option("dir", read.path, "The folder a bot runs in.", "DIR", field="cwd", recorded=True,
        record=lambda folder: str(folder) if folder else None, may_change=True),
    Option("env", read.environment,
        "Variables for a bot's environment. Only their names are recorded, not their values.", "'NAME=VALUE …'", (),
        secret=True, several=True, write=write.names, recorded=True,
        record=lambda variables: tuple(sorted(dict(variables))), of_starter=True),
    Option("inherit-env", read.yes_or_no, "Pass on the whole environment, not only PATH, HOME, LANG and TMPDIR.",
        flag=True, default=False, recorded=True, of_starter=True),
    Option("memory", read.memory_size, "Real memory that a bot may use with all its children, such as 512M or 2G.",
        "SIZE", unset="in a sandbox by what the machine has, from 512M to 4G; else unlimited", write=write.size,
        recorded=True, label="Memory", in_words="{:,} bytes".format),
    Option("cpu", read.whole_number(1), "Seconds of processor time for a bot and all its children, from its start.",
        "SECONDS", field="cpu_seconds", recorded=True),
    Option("processes", read.whole_number(1), "Processes that a bot may have at once.", "N", MOST_PROCESSES,
        recorded=True),
    Option("fingerprint", read.patterns,
        "Files that belong to a bot besides those that its command names, such as **/*.py: a change of one is a new "
        "version of the bot.", "'PATTERN …'", several=True,
        unset="of a script, those below its folder with the same ending"),
)
# Options of a bot's sandbox.
SANDBOX: Final = parts_of(
    Sandbox(),
    Option("sandbox", read.sandbox_level,
        "Start bots in a sandbox (see `arena sandbox`). With try, start them without one where it is unavailable.",
        "[true|false|try]", value_if_alone="true", choices=("true", "false", "try"), field="level",
        write=write.sandbox_level, label="Sandbox"),
    Option("scratch", read.scratch_size, "The size of a sandboxed bot's /tmp.", "SIZE", write=write.size),
    Option("expose", read.paths,
        "Paths that a sandboxed bot may read, besides /usr, its folder and what its command names.", "'PATH …'",
        several=True, of_starter=True),
    Option("sandbox-user", read.user_name, "The user as whom an arena that is run by root starts sandboxed bots.",
        "NAME", field="user", unset="nobody", of_starter=True),
)
# Options of each bot; on the command line and under [each] they are for all bots.
BOT: Final = (*CLOCK, *PROGRAM, *SANDBOX)
# Options of a bot that a command starts outside a tournament.
_STARTED: Final = ("env", "inherit-env", "memory", "cpu", "processes")
STARTED: Final = (*(option for option in BOT if option.name in _STARTED), *SANDBOX)
# Options of one bot only.
OWN: Final = (
    Option("cmd", read.command_words, "The command, or the name of a bundled bot.", write=write.words, recorded=True),
    Option("args", read.command_words, "More words for the command."),
    Option("name", read.bot_name, "The name it plays under."),
    Option("token", read.token_hash, "The hash of a token: the bot connects from outside (arena serve)."),
)
# What a server does.
SERVING: Final = (
    Option("listen", read.address, "Where to listen, such as 0.0.0.0:4000; port 0 means any free port.", "HOST:PORT"),
    Option("open", read.yes_or_no, "Let anyone play under a free name; cup.names records who owns it.", flag=True,
        field="open_door", default=False),
    Option("forever", read.yes_or_no, "When a cycle ends, begin another among the connected bots.", flag=True,
        default=False),
    Option("begin", read.beginning, "When to begin: all (are connected), key (Enter), or a time: 20:30.", "WHEN", "all",
        choices=("all", "key")),
    Option("grace", read.seconds,
        "Seconds that a bot may be away before it forfeits matches; less with --forever if others can play on.",
        "SECONDS", 60.0, write=write.number),
    Option("drain", read.seconds, "Seconds for running matches to end after the first signal.", "SECONDS", 60.0,
        write=write.number),
    Option("cert", read.path, "The server's certificate chain: TLS. With --key.", "FILE"),
    Option("key", read.path, "The key of the certificate.", "FILE"),
    Option("watch-delay", read.seconds_or_zero, "Seconds after which watchers see what happens.", "SECONDS", 0.0,
        write=write.number),
    Option("show-hands", read.yes_or_no, "Show hands to watchers while a round is played.", flag=True, default=False),
    Option("watchers", read.whole_number(0), "Watchers connected at once.", "N", 100),
)
# What a server lets in, and how much of it.
DOOR: Final = (
    Option("connections", read.whole_number(1), "Bots and watchers connected at once.", "N", 2000),
    Option("per-address", read.whole_number(1), "Connections from one address at once.", "N", 250),
    Option("names", read.whole_number(1), "With --open, names that bots from one address may have.", "N", 32),
    Option("per-second", read.whole_number(1), "Connections greeted in a second, all addresses in turn.", "N", 2000),
    Option("hello", read.seconds, "Seconds to say hello.", "SECONDS", 10.0, field="hello_seconds", write=write.number),
    Option("line", read.line_length, "Bytes that a line of a bot may have.", "BYTES", MAX_LINE),
    Option("unread", read.buffer_size, "Bytes on their way to a bot that does not read them.", "SIZE", 256 * 1024,
        write=write.size),
    Option("late-answers", read.whole_number(0), "Answers without a request that one connection may send.", "N", 1000),
    Option("wrong-tokens", read.whole_number(1), "Wrong tokens of an address in a minute that are answered at once.",
        "N", 10),
)
# Options of the server; in a file they are under [server].
SERVER: Final = (*SERVING, *DOOR)

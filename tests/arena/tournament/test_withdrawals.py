"""A withdrawn bot: a resume says that it is, and a repaired one that the organiser accepts plays again."""

import sys
from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest

from arena.cli.wording import news_text
from arena.journal.deal_secret import secret_path
from arena.journal.identity import bot_line
from arena.journal.lines import JournalLine, ReadmissionLine, RevealLine, RoundLine, encoded, is_forfeit, read
from arena.journal.verify import verify_journals
from arena.plan.bot_spec import BotSpec, RemoteSpec
from arena.plan.config import Config, OnChange
from arena.plan.time_control import TimeLimits
from arena.processes.fingerprint import fingerprint_of
from arena.tournament.identities import repaired
from arena.tournament.ledger import begin_unrecorded
from arena.tournament.withdrawals import withdrawal, withdrawals_at_start
from tests.helpers import genuine
from tests.helpers.commands import arena
from tests.helpers.paths import STEADY_BOT
from tests.helpers.tournaments import configured, rounds_in, steady

NOW = (
    "withdrawn after 2 faults in a row and forfeits its remaining rounds now: they are of matches under way, or "
    "nothing else is left to play."
)
LATER = (
    "withdrawn after 2 faults in a row. It forfeits its matches under way now, and the others when all else is played. "
    "To have it play those, stop the arena before, repair the program and resume"
)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "cup.jsonl"


def run(journal: Path, *more: str, rivals: Sequence[str] = ("other",)) -> str:
    bots = [*map(steady, rivals), f"mine={sys.executable} {journal.parent / 'mybot.py'} mine"]
    return arena("run", *bots, "--rounds", "6", "--max-faults", "2", "--journal", journal, *more).stderr


def cut(journal: Path, rounds: int) -> None:
    """Leave this many rounds of the journal, as if the arena had been stopped there."""
    kept, left = [], rounds
    for entry, line in zip(read(journal, JournalLine), journal.read_bytes().splitlines(keepends=True), strict=True):
        left -= isinstance(entry.line, RoundLine)
        if isinstance(entry.line, RevealLine):
            secret_path(journal).write_text(entry.line.secret)
        elif left >= 0:
            kept.append(line)
    journal.write_bytes(b"".join(kept))


def test_a_repaired_bot_plays_again_and_what_it_forfeited_is_told_apart(journal: Path) -> None:
    program = journal.parent / "mybot.py"
    program.write_text("exit(3)")
    assert f"\nmine is {NOW}\n" in run(journal)
    assert "withdrawn" not in run(journal)  # nothing is left to play
    cut(journal, 3)
    assert f"resuming.\nmine is still {NOW}\n" in run(journal)

    cut(journal, 4)
    saved = journal.read_bytes()
    program.write_text(STEADY_BOT.read_text())
    refused = run(journal)
    assert "mine has changed since" in refused
    assert " mine, withdrawn so far, plays again then. " in refused
    assert journal.read_bytes() == saved

    accepted = run(journal, "--changed", "continue")
    assert "mine has changed and plays again; the rounds that it forfeited stay lost.\n" in accepted
    _check_result(journal)
    cut(journal, 5)
    assert "withdrawn" not in run(journal)  # the journal knows that it plays again
    _check_result(journal)
    assert [type(entry.line) for entry in read(journal, JournalLine)].count(ReadmissionLine) == 1


def _check_result(journal: Path) -> None:
    assert [is_forfeit(line) for line in rounds_in(journal)] == [False, False, True, True, False, False]
    assert [line.fault is None for line in rounds_in(journal)] == [False] * 4 + [True] * 2
    assert verify_journals([journal]).problems == []
    shown = arena("table", journal, "--columns", "Name,Rounds,Faults,Forfeits", "--format", "csv").output
    assert "mine,6,2,2\n" in shown
    assert "Forfeits" in arena("table", journal).output
    assert arena("replay", journal).output.count("failed-to-start (withdrawn)") == 2
    assert arena("report", journal, "-o", journal.parent / "pages", "--evaluate", "0").exit_code == 0
    page = (journal.parent / "pages" / "index.html").read_text()
    assert "2 forfeited, because it was withdrawn" in page
    assert ">Forfeits</th>" in page


def test_what_is_forfeited_last_is_played_by_a_repaired_bot(journal: Path) -> None:
    def run_three(*more: str) -> str:
        return run(journal, "--concurrency", "1", *more, rivals=("other", "third"))

    program = journal.parent / "mybot.py"
    program.write_text("exit(3)")
    assert f"\nmine is {LATER} with --changed continue.\n" in run_three()
    lines = rounds_in(journal)
    under_way = next(line.match for line in lines if "mine" in line.bots)
    assert [is_forfeit(line) for line in lines if line.match == under_way] == [False, False, *[True] * 4]
    assert [is_forfeit(line) for line in lines[12:]] == [True] * 6  # another match, after all that could be played
    cut(journal, 11)
    program.write_text(STEADY_BOT.read_text())
    assert "mine has changed and plays again" in run_three("--changed", "continue")
    assert [line.fault for line in rounds_in(journal)[11:]] == [None] * 7
    assert verify_journals([journal]).problems == []


def config_of(changed: OnChange, *bots: BotSpec | RemoteSpec) -> Config:
    return attrs.evolve(configured(steady("a"), steady("b"), max_faults="2"), bots=bots, changed=changed)


def test_only_another_program_that_the_organiser_accepts_plays_again() -> None:
    one, other = configured(steady("a"), steady("b")).bots
    far = RemoteSpec("far", None, TimeLimits())
    assert isinstance(one, BotSpec)
    assert isinstance(other, BotSpec)
    other = attrs.evolve(other, name="a")
    failed = bot_line("a", None, fingerprint_of(one), "")
    identities = begin_unrecorded(config_of(OnChange.REFUSE, one, far))[1].identities
    assert repaired(identities, config_of(OnChange.CONTINUE, one, far), {"a": None}) == []  # nothing shows a repair
    identities.state.add(failed)
    withdrawn = {"a": failed.id, "far": None}
    for changed, now, names in (
        (OnChange.CONTINUE, other, ["a"]),
        (OnChange.CONTINUE, one, []),  # it is the one that failed
        (OnChange.REFUSE, other, []),
    ):
        assert repaired(identities, config_of(changed, now, far), withdrawn) == names
    identities.state.add(bot_line("a", None, fingerprint_of(other), ""))  # it was repaired, and then put back
    assert repaired(identities, config_of(OnChange.CONTINUE, one, far), withdrawn) == []
    withdrawn["a"] = None  # not known which one failed: the last one that is known
    assert repaired(identities, config_of(OnChange.CONTINUE, one, far), withdrawn) == ["a"]
    assert repaired(identities, config_of(OnChange.CONTINUE, other, far), withdrawn) == []


def test_each_withdrawn_bot_is_named_with_how_it_comes_back() -> None:
    (one, _), far = configured(steady("a"), steady("b")).bots, RemoteSpec("far", None, TimeLimits())
    assert isinstance(one, BotSpec)
    config = config_of(OnChange.REFUSE, one, far)
    _, ledger = begin_unrecorded(config)
    ledger.withdrawn |= {"a": None, "far": None}

    def told(later: bool) -> list[str]:
        return [news_text(event) for event in withdrawals_at_start(config, ledger, lambda _: later)]

    never = (
        "withdrawn after 2 faults in a row; its remaining rounds are forfeited. It plays again in another tournament: "
        "nothing shows here whether it was repaired."
    )
    assert told(later=True) == [f"a is still {never}", f"far is still {never}"]  # the journal does not know either
    ledger.state.add(bot_line("a", None, fingerprint_of(one), ""))
    assert told(later=True) == [f"a is still {LATER} with --changed continue.", f"far is still {never}"]
    assert told(later=False) == [f"a is still {NOW}", f"far is still {never}"]
    server = attrs.evolve(config, changed=OnChange.CONTINUE)  # it has no such option
    assert news_text(withdrawal(server, ledger, "a", later=True)) == f"a is {LATER}."


def test_a_readmission_of_a_stranger_and_one_after_the_end_are_problems(journal: Path) -> None:
    opening, *rest, reveal = genuine.lines(attrs.evolve(configured(steady("a"), steady("b")), seed=""))
    lines = [encoded(ReadmissionLine(bot=name, started="")) for name in ("a", "stranger")]
    journal.write_bytes(b"".join([opening, *lines, *rest, reveal, lines[0]]))
    assert [str(problem).removeprefix(str(journal)) for problem in verify_journals([journal]).problems] == [
        ":3: stranger plays again, but it is not one of the bots of this tournament",
        ":7: this line comes after the secret of the deals was revealed",
    ]

"""The one reader of journals: what it yields, what it leaves out, and that all who read through it agree."""

import shutil
import signal
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest

from arena.journal.bot_history import Meetings
from arena.journal.file import rescue
from arena.journal.finished_rounds import FinishedRounds
from arena.journal.index import rounds_in
from arena.journal.lines import Journal, JournalError, RoundName, read
from arena.journal.reader import JournalReader
from arena.journal.verify import verify_journals
from arena.plan.recorded_config import RecordedBot, RecordedConfig, differences, readable_part
from arena.plan.schedule import Format
from arena.plan.time_control import TimeLimits
from arena.stats.standings import fold
from arena.tournament.ledger import read_past
from tests.helpers.commands import arena
from tests.helpers.paths import ROOT
from tests.helpers.tournaments import anonymous, configured, played, steady

Line = dict[str, Any]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    """An opening line and four rounds."""
    journal = tmp_path_factory.mktemp("cup") / "cup.jsonl"
    played(configured(steady("a"), steady("b"), journal=journal, rounds="4"))
    return [msgspec.json.decode(line) for line in anonymous(journal).read_bytes().splitlines()]


@pytest.fixture
def lines(sound: list[Line]) -> list[Line]:
    found: list[Line] = msgspec.json.decode(msgspec.json.encode(sound))
    return found


def write(path: Path, lines: list[Line]) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return path


def test_each_line_comes_with_its_tournament(lines: list[Line], tmp_path: Path) -> None:
    opening, *rounds = lines
    later = opening | {"started": "later", "config": opening["config"] | {"event": "Second cup"}}
    path = write(tmp_path / "cup.jsonl", [opening, *rounds[:2], later, *rounds])
    reader = JournalReader(RoundName)
    found = [
        (tournament.number, tournament.config.event, entry.number)
        for tournament, entry in reader.read(path)
        if tournament and isinstance(entry.line, RoundName)
    ]
    assert found == [(1, "", 2), (1, "", 3), *((2, "Second cup", number) for number in (5, 6, 7, 8))]
    assert reader.tournaments == 2


@pytest.mark.parametrize("count", [3, 4])  # while its match goes on, and when it is over
def test_all_readers_leave_out_a_round_that_comes_twice(count: int, lines: list[Line], tmp_path: Path) -> None:
    opening, *rounds = lines
    path = write(tmp_path / "cup.jsonl", [opening, *rounds[:count], rounds[0]])
    what = f"{path}:{count + 2}: round 1.1-2.1 is in the journal twice"
    standings, problems = fold([path])
    listed, told = rounds_in(path)
    meetings, report = Meetings(path), verify_journals([path])
    assert standings.rounds == len(listed) == len(list(meetings.rounds_of("a"))) == report.rounds == count
    for said in (problems, told, meetings.problems, [str(problem) for problem in report.problems]):
        assert len(said) == 1
        assert said[0].startswith(what)
    with Journal(path) as journal, pytest.raises(JournalError, match=r"is in the journal twice.*; mend or remove"):
        read_past(journal)


def test_who_was_read_is_remembered_without_growing() -> None:
    finished = FinishedRounds(10)

    def grown(matches: range) -> int:
        for match in matches:
            assert [finished.add(f"{match}.1-2", f"{match}.1-2.{number}") for number in range(10)] == [None] * 10
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        early, late = grown(range(1, 200)), grown(range(200, 5000))
    finally:
        tracemalloc.stop()
    assert late - early < 5_000  # 48,000 rounds
    assert finished.add("17.1-2", "17.1-2.3") is not None


# Configurations


def test_what_is_recorded_is_what_is_read(sound: list[Line]) -> None:
    config = configured(steady("a"), steady("b"), rounds="4").recorded()
    written = msgspec.json.decode(msgspec.json.encode(config))
    dealt = {"deals": "hmac-sha256", "seed": "7"}
    assert list(sound[0]["config"]) == [*written, *dealt]
    assert sound[0]["config"] == written | dealt
    assert msgspec.convert(sound[0]["config"], RecordedConfig) == msgspec.structs.replace(config, **dealt)


def test_readers_ignore_fields_that_a_later_version_adds(lines: list[Line], tmp_path: Path) -> None:
    lines[0]["config"]["weather"] = {"rain": True}
    lines[0]["config"]["bots"][0]["mood"] = "good"
    path = write(tmp_path / "cup.jsonl", lines)
    assert verify_journals([path]).problems == []
    assert fold([path])[0].rounds == 4


def test_a_rescue_keeps_the_opening_line_as_it_was_written(lines: list[Line], tmp_path: Path) -> None:
    """With fields of a later version, and in the order in which they stood."""
    lines[0]["config"] = {"weather": "rain", **dict(reversed(lines[0]["config"].items()))}
    path = write(tmp_path / "cup.jsonl", lines)
    first = path.read_bytes().splitlines(keepends=True)[0]
    with Journal(path) as journal:
        read_past(journal)
        path.write_bytes(b"")
        rescued = rescue(journal, b"", 0)
    assert rescued.path is not None
    assert rescued.path.read_bytes() == first


READERS = ("table", "table --sprt", "verify", "replay", "report", "regress greedy", "resume")
OF_0_1 = "this tournament was played by version 0.1, which made deals in another way; this version cannot read it"
MIRRORED = "this tournament was played with mirrored rounds (mirror = true), which this version cannot read"


def check_refused(path: Path, words: str, reason: str) -> None:
    before = path.read_bytes()
    command, *more = words.split()
    if command == "resume":
        result = arena("run", "greedy", "random", "--rounds", "4", "--journal", path)
    else:
        result = arena(command, path, *more)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"Error: {path}:1: {reason}\n"
    assert path.read_bytes() == before


@pytest.mark.parametrize("words", READERS)
def test_a_journal_of_version_0_1_is_refused_with_one_sentence(words: str, tmp_path: Path) -> None:
    path = tmp_path / "cup.jsonl"
    shutil.copy(ROOT / "tests/golden/journal_of_0.1.jsonl", path)
    check_refused(path, words, OF_0_1)


@pytest.mark.parametrize("words", READERS)
@pytest.mark.parametrize("damage", [{}, {"cycles": 0}])
def test_a_journal_of_mirrored_rounds_is_refused_with_one_sentence(
    words: str, damage: Line, lines: list[Line], tmp_path: Path
) -> None:
    lines[0]["config"] |= {"mirror": True} | damage
    check_refused(write(tmp_path / "cup.jsonl", lines), words, MIRRORED)


def test_an_opening_line_that_says_that_rounds_are_not_mirrored_is_read_and_resumed(tmp_path: Path) -> None:
    path = tmp_path / "cup.jsonl"
    config = configured(steady("a"), steady("b"), journal=path, rounds="4")
    played(config)
    opening, *rounds = (msgspec.json.decode(line) for line in path.read_bytes().splitlines())
    opening["config"]["mirror"] = False
    write(path, [opening, *rounds[:3]])
    assert len(played(config)) == 4
    assert verify_journals([path]).problems == []


def test_of_a_damaged_configuration_the_rest_is_read(lines: list[Line], tmp_path: Path) -> None:
    lines[0]["config"] |= {"seed": 5, "event": "Evening cup"}
    path = write(tmp_path / "cup.jsonl", lines)
    (_, entry), *_ = JournalReader(RoundName).read(path)
    assert entry.problem == "the configuration is damaged: seed: Expected `str | null`, got `int`"
    assert (entry.line.config.event, entry.line.config.seed, entry.line.config.rounds) == ("Evening cup", None, 4)
    standings, problems = fold([path])
    assert (standings.rounds, standings.missing_rounds, problems) == (4, 0, [])
    assert [str(each) for each in verify_journals([path]).problems] == [f"{path}:1: {entry.problem}"]
    assert f"{path}:1: {entry.problem}; mend or remove the line to resume" in str(resume_error(path))


def resume_error(path: Path) -> JournalError:
    with Journal(path) as journal, pytest.raises(JournalError) as caught:
        read_past(journal)
    return caught.value


@pytest.mark.parametrize("name", ["rules", "format", "cycles", "rounds", "pairs", "bots"])
def test_a_field_that_is_missing_is_named(name: str, lines: list[Line], tmp_path: Path) -> None:
    del lines[0]["config"][name]
    path = write(tmp_path / "cup.jsonl", lines)
    assert f"{path}:1: the configuration is damaged: `{name}` is missing" in arena("verify", path).output
    assert f"{path}:1: `{name}` is missing; mend or remove" in str(resume_error(path))


def test_a_sound_part_is_all_of_a_sound_configuration(sound: list[Line]) -> None:
    config, problem = readable_part(sound[0]["config"])
    assert (config, problem) == (msgspec.convert(sound[0]["config"], RecordedConfig), "")


# Differences


def changed(**fields: Any) -> RecordedConfig:
    return msgspec.structs.replace(CONFIG, **fields)


def with_bot(**fields: Any) -> RecordedConfig:
    assert CONFIG.bots is not None
    return changed(bots=(msgspec.structs.replace(CONFIG.bots[0], **fields), CONFIG.bots[1]))


CONFIG = RecordedConfig(
    event="cup",
    rules="base",
    format=Format.ROUND_ROBIN,
    cycles=2,
    rounds=4,
    bots=(
        RecordedBot(name="a", cmd=("./a", "--depth", "3"), dir=None, env=(), clock=TimeLimits(), memory=None),
        RecordedBot(name="b", remote=True, clock=TimeLimits()),
    ),
)


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (changed(cycles=3), "the journal has cycles = 2, now it is 3"),
        (changed(event="league"), 'the journal has event = "cup", now it is "league"'),
        (changed(format=Format.GAUNTLET), 'the journal has format = "roundrobin", now it is "gauntlet"'),
        (changed(max_voids=3), "the journal has max-voids = none, now it is 3"),
        (changed(bots=CONFIG.bots and CONFIG.bots[:1]), "the journal has the bots a, b, now there are a"),
        (with_bot(cmd=("./b",)), 'bot a: the journal has cmd = "./a --depth 3", now it is "./b"'),
        (with_bot(env=("KEY",)), 'bot a: the journal has env = "", now it is "KEY"'),
        (with_bot(clock=TimeLimits(move_ms=500)), "bot a: the journal has st = 10, now it is 0.5"),
        (with_bot(clock=TimeLimits(10_000, 10_000, 100)), "bot a: the journal has tc = none, now it is 10+0.1"),
        (with_bot(clock=TimeLimits(start_ms=None)), "bot a: the journal has start = 10, now it is none"),
        (with_bot(memory=1024), "bot a: the journal has memory = none, now it is \"1K\""),
        (with_bot(inherit_env=True), "bot a: the journal has inherit-env = false, now it is true"),
        (with_bot(remote=True), "bot a: in the journal it is started here, now it connects from outside"),
    ],
)  # fmt: skip
def test_a_difference_is_told_in_the_words_of_a_tournament_file(now: RecordedConfig, words: str) -> None:
    assert differences(CONFIG, now) == [words]


@pytest.mark.parametrize("same", [lambda: CONFIG, lambda: with_bot(dir="elsewhere"), lambda: changed(seed="7")])
def test_folders_and_deals_are_not_compared(same: Callable[[], RecordedConfig]) -> None:
    assert differences(CONFIG, same()) == []


class Interrupted:
    """A type about which nothing can be asked without Ctrl-C."""

    def __getattr__(self, name: str) -> NoReturn:
        signal.raise_signal(signal.SIGINT)
        raise AttributeError(name)


def test_ctrl_c_is_not_lost_while_a_decoder_is_made(journal: Path) -> None:
    journal.write_bytes(b"")
    with pytest.raises(TypeError):
        msgspec.json.Decoder(Interrupted())  # drops the interrupt
    with pytest.raises(KeyboardInterrupt):
        next(read(journal, Interrupted()))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

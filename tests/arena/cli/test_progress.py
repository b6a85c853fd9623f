"""What people and programs see while a tournament runs."""

import re
import sys
from functools import partial
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from arena.cli.brief_lines import BriefLines
from arena.cli.match_progress import lines_of_match, match_progress
from arena.cli.progress import MakeListener, PlainLines, stamped
from arena.cli.server_wording import server_text
from arena.cli.sprt_progress import sprt_progress
from arena.cli.tournament_progress import BarAndLeaders, lines_of_rounds, tournament_progress
from arena.journal.file import line_hash
from arena.journal.lines import BotLine, FaultLine, ResultLine, VoidLine
from arena.plan.config import from_command_line
from arena.server.server_events import (
    BotCame,
    BotLeft,
    CycleBegins,
    FloodDropped,
    Incident,
    PeerBrokeProtocol,
    PeerRefused,
    ServerEvent,
)
from arena.tournament.tournament_events import (
    BotIdentified,
    RoundFinished,
    RoundVoid,
    TournamentEnded,
    TournamentEvent,
    TournamentOpened,
)
from tests.helpers.commands import arena
from tests.helpers.pty_session import arena_in_terminal
from tests.helpers.rounds import round_line
from tests.helpers.tournaments import steady

PUBLISH = (
    "Publish this now: the hash of the journal's opening line, which fixes bots, rounds, rules, limits and deals, is "
)
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


def test_the_figures_of_the_live_display_have_labels_and_fit_on_80_columns(tmp_path: Path) -> None:
    bots = [steady("counting-cards"), steady("greedy-2"), "failing=false"]
    with arena_in_terminal(["run", *bots, "--rounds", "2", "--journal", "cup.jsonl"], tmp_path) as session:
        assert session.wait_for_status() == 0
        assert re.search(r"^6/6 rounds ━+ [\d.]+ rounds/s 0:00:00 left$", session.text, re.MULTILINE)
        leaders = r"^points per round: .*(counting-cards|greedy-2) \d\.\d\d, .* \d\.\d\d, failing 0\.00$"
        assert re.search(leaders, session.text, re.MULTILINE)
        screen = session.raw.decode()
    assert re.search(r"Round 1\.1-3\.1 \(counting-cards vs failing\): failing did not start: ", screen)


def test_every_line_of_a_server_begins_with_date_and_time_on_a_terminal_too(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text('rounds = 2\n[[bot]]\ncmd = "random"\n[[bot]]\ncmd = "greedy"\n')
    words = ["serve", "cup.toml", "--listen", "127.0.0.1:0"]
    with arena_in_terminal(words, tmp_path) as session:
        assert session.wait_for_status() == 0
        assert re.match(rf"{TIME} Listening at 127\.0\.0\.1:\d+$", session.lines[0])
        assert re.match(rf"{TIME} Publish this now", session.lines[1])
        begins = next(place for place, line in enumerate(session.lines) if "begins" in line)
        assert re.match(rf"{TIME} The tournament begins: random, greedy$", session.lines[begins])
        assert session.lines[begins + 1].startswith("2/2 rounds ")


def test_each_of_several_lines_has_date_and_time() -> None:
    said: list[str] = []
    stamped(said.append)("one\n  two")
    assert re.fullmatch(rf"{TIME} one", said[0])
    assert re.fullmatch(rf"{TIME}   two", said[1])


def test_a_tournament_says_what_to_publish_when_it_begins_and_how_far_it_is_when_it_resumes() -> None:
    said: list[str] = []
    lines_of_rounds(said.append).heard(TournamentOpened(rounds=10, finished=0))
    lines_of_rounds(said.append).heard(TournamentOpened(rounds=10, finished=4))
    lines_of_rounds(said.append).heard(TournamentOpened(rounds=10, finished=10))
    opening_hash = line_hash(b"an opening line\n")
    lines_of_rounds(said.append).heard(TournamentOpened(rounds=10, finished=0, opening_hash=opening_hash))
    lines_of_rounds(said.append).heard(TournamentOpened(rounds=10, finished=1, opening_hash=opening_hash))
    assert said == [
        "4 of 10 rounds are in the journal already: resuming.",
        "10 of 10 rounds are in the journal already: nothing is left to play.",
        PUBLISH + opening_hash,
        "1 of 10 rounds is in the journal already: resuming.",
    ]


def test_a_brief_log_has_no_lines_of_rounds_but_counts_them_once_a_minute() -> None:
    said: list[str] = []
    now = 0.0
    brief = PlainLines({BriefLines(lambda: now).lines: said.append})
    played = round_line("1.1-2.1", ResultLine(0, "five-stones", (5, 0), (None,) * 9))
    absent = round_line("1.1-3.1", ResultLine(0, "failed-to-start", (5, 0), (None,) * 9), fault=FaultLine(1, "away"))
    late = round_line("1.2-3.1", ResultLine(0, "timeout", (5, 0), (None,) * 9), fault=FaultLine(1, "no answer"))
    for cycle, bots in enumerate((["a", "b"], ["a", "b"], ["a", "b", "c"]), 1):
        brief.heard(TournamentOpened(rounds=2, finished=0, opening_hash=f"sha256:{cycle}"))
        brief.heard(CycleBegins(bots, cycle, forever=True))
        brief.heard(RoundFinished(played))
        brief.heard(RoundFinished(absent))
        brief.heard(TournamentEnded(2, 2))
    brief.heard(RoundFinished(late))
    failed = FaultLine(1, "no licence", bundle="cup.faults/1.1-3.1-c")
    brief.heard(RoundFinished(round_line("1.1-3.1", absent.result, fault=failed)))
    brief.heard(BotLeft("b", 0, "192.0.2.7"))
    now = 61.0
    brief.heard(RoundFinished(played))
    brief.heard(RoundFinished(played))
    assert said == [
        f"{PUBLISH}sha256:1",
        "Cycle 1 begins: a, b",
        "Cycle 3 begins: a, b, c",
        f"Round 1.2-3.1 ({late.bots[0]} vs {late.bots[1]}): {late.bots[1]} loses on time: no answer",
        f"Round 1.1-3.1 ({late.bots[0]} vs {late.bots[1]}): {late.bots[1]} did not start: no licence; "
        "see cup.faults/1.1-3.1-c",
        "b has left (192.0.2.7)",
        "9 rounds so far, 3 of them lost by bots that were not there",
    ]


@pytest.mark.parametrize(
    "shown",
    [
        tournament_progress,
        partial(tournament_progress, brief=True),
        partial(tournament_progress, with_time=True),
        partial(match_progress, from_command_line(["greedy", "random"], (), {})),
        partial(lines_of_match, print),
        sprt_progress,
    ],
)
def test_in_a_pipe_nobody_is_told_of_a_first_version_nor_of_single_rounds_that_a_notice_counts(
    shown: MakeListener, capsys: pytest.CaptureFixture[str]
) -> None:
    void = VoidLine(id="1.1-2.1", match="1.1-2", round=1, bots=("a", "b"), reason="lost", started="")
    with shown() as listener:
        listener.heard(TournamentOpened(rounds=20, finished=0))
        listener.heard(BotIdentified(BotLine(v=1, id="a", name="a", started=""), changes=()))
        listener.heard(RoundVoid(msgspec.structs.replace(void, deal_exposed=True)))
        listener.heard(RoundVoid(void))
        listener.heard(TournamentEnded(20, 20))
    told = capsys.readouterr()
    (line,) = (told.out + told.err).splitlines()
    assert line.endswith("Void round 1.1-2.1 (a vs b), will be played again: lost")


def test_the_leaders_on_a_terminal_are_those_of_the_tournament_that_is_played_now() -> None:
    figures = BarAndLeaders()
    line = round_line("1.1-2.1", ResultLine(0, "five-stones", (5, 2), (None,) * 9))
    figures.heard(TournamentOpened(rounds=2, finished=0))
    figures.heard(RoundFinished(line))
    figures.heard(RoundFinished(line))
    _, leaders = figures.drawn()
    assert leaders == f"points per round: {line.bots[0]} 5.00, {line.bots[1]} 2.00"
    figures.heard(TournamentOpened(rounds=2, finished=0))
    assert list(figures.drawn())[1:] == [""]


def test_a_log_has_one_level(tmp_path: Path) -> None:
    result = arena("serve", tmp_path / "cup.toml", "--brief", "--quiet")
    assert (result.exit_code, "--events, --quiet and --brief exclude each other" in result.output) == (2, True)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (BotCame("anna", 1, "192.0.2.7"), "anna is here (192.0.2.7)"),
        (BotCame("anna", 3, "192.0.2.7"), "anna is here (192.0.2.7, 3 connections)"),
        (BotLeft("anna", 2, "192.0.2.7"), "A connection of anna has ended (192.0.2.7, 2 left)"),
        (BotLeft("anna", 0, "192.0.2.7"), "anna has left (192.0.2.7)"),
        (PeerRefused("192.0.2.7", "full", "no room", 3), "192.0.2.7 was refused: no room (and 3 more)"),
        (PeerBrokeProtocol("192.0.2.7", "not-json"), "192.0.2.7 broke the protocol (not-json)"),
        (
            FloodDropped(["192.0.2.7", "192.0.2.9"]),
            "a flood of connections comes from 192.0.2.7, 192.0.2.9",
        ),
        (CycleBegins(["a", "b"], 3, forever=True), "Cycle 3 begins: a, b"),
        (CycleBegins([*"abcdefghij"], 1, forever=False), "The tournament begins: a, b, c, d, e, f, g, h and 2 more"),
    ],
)
def test_what_happens_at_a_server_in_words(event: ServerEvent, words: str) -> None:
    assert server_text(event) == words


def test_every_event_has_a_name_for_programs() -> None:
    kinds = {each.kind for each in get_args(TournamentEvent) + get_args(ServerEvent)}
    assert kinds == {
        *("tournament", "started", "bot", "finished", "void", "withdrawn", "readmitted", "notice", "test", "ended"),
        *("listening", "warning", "lobby", "came", "left", "begins", "stopping", "refused"),
    }
    assert {each.kind for each in get_args(Incident)} == {"refused"}


def test_rounds_that_count_for_nobody_are_said_to_after_the_table(tmp_path: Path) -> None:
    said = "Rounds in which neither bot started, and which count for neither: 2."
    for command in ("run", "play"):
        words = [command, "x=false", f"y={sys.executable} -c 1", "--rounds", "2", "--journal", f"{command}.jsonl"]
        with arena_in_terminal(words, tmp_path) as session:
            assert session.wait_for_status() == 0
            assert said in session.text
            assert "never met" not in session.text

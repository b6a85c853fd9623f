"""`arena play human`: a scripted person at a real pseudo-terminal, against real bots."""

import os
import re
import signal
import sys
import termios
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from arena.journal.lines import RoundLine, game_record
from arena.journal.verify import verify_journals
from arena.plan.deals import DealKey
from arena.plan.schedule import RoundId
from arena.plan.tokens import token_hash
from arena.replay.claim_reasons import reason_for
from engine.cards import RECRUITER, TACTIC_DECK, card_texts
from engine.deal import Deal
from engine.drawing import SHORT
from engine.game import Game
from engine.legality import stones_in
from engine.phase import Phase
from engine.record import dealt, replay, steps
from engine.ruleset import PRESETS
from tests.helpers.commands import arena
from tests.helpers.paths import THINKING_BOT
from tests.helpers.person import Person
from tests.helpers.pty_session import PtySession, arena_in_terminal
from tests.helpers.running import rounds_in as rounds_of_server
from tests.helpers.running import serving
from tests.helpers.sampling import sampled
from tests.helpers.tournaments import rounds_in

CTRL_C = "\x03"
ENTERED, LEFT = b"\x1b[?1049h", b"\x1b[?1049l"
_CARD = re.compile(r"(?<![\w-])[roygbp][1-9](?![\w-])")
_TACTIC = re.compile("|".join(map(re.escape, [*{*card_texts(TACTIC_DECK)}, *SHORT.values()])))
_ESCAPE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")


def words(*more: str, rules: str = "base", rounds: int = 1, opponent: str = "random") -> list[str]:
    options = ["--rules", rules, "--rounds", str(rounds), "--seed", "5", "--journal", "m.jsonl"]
    return ["play", "human", opponent, *options, *more]


def is_restored(session: PtySession) -> bool:
    """Whether the terminal is as it was: lines and echo, the cursor, and the screen of the shell."""
    local = session.attributes()[3]
    on_the_shells_screen = session.raw.rfind(LEFT) > session.raw.rindex(ENTERED)
    return bool(local & termios.ICANON and local & termios.ECHO) and on_the_shells_screen


def printed(session: PtySession) -> str:
    """What the command printed after it gave the terminal back."""
    return session.raw[session.raw.rindex(LEFT) + len(LEFT) :].decode()


@pytest.mark.parametrize(
    "name",
    sampled(PRESETS, "tactics"),
)
def test_a_person_plays_whole_rounds_of_every_rule_set(name: str, tmp_path: Path) -> None:
    with arena_in_terminal(words(rules=name), tmp_path) as session:
        person = Person(session)
        moves = person.play_round()
        session.press("\r")
        assert session.wait_for_status() == 0
        assert is_restored(session)
        assert "Finished round 1 (human vs random)" in printed(session)
        raw = session.raw
    (line,) = rounds_in(tmp_path / "m.jsonl")
    assert [text for seat, text, ms in line.moves if seat == 0 and ms is not None] == moves
    assert line.assisted is None
    assert not verify_journals([tmp_path / "m.jsonl"]).problems
    check_that_nothing_hidden_was_shown(line, raw, person.seen)


@pytest.mark.parametrize("name", sampled(PRESETS, "classic", "tactics"))
def test_the_end_of_a_round_is_shown_until_enter_is_pressed(name: str, tmp_path: Path) -> None:
    with arena_in_terminal(words(rules=name, rounds=2, opponent="counting"), tmp_path) as session:
        person = Person(session)
        person.play_round(change=0)
        session.wait_until(lambda: bool(rounds_in(tmp_path / "m.jsonl")), "the line of the round in the journal")
        (line,) = rounds_in(tmp_path / "m.jsonl")
        check_last_screen(line, session.lines)
        session.press("ucx:")  # nothing of this leads on
        for columns, rows in ((60, 12), (80, 24)):
            session.resize(columns, rows)
            session.wait_until(lambda rows=rows: ("Too small" in session.text) is (rows == 12), f"{rows} rows")  # type: ignore[misc]
            session.wait_for("the round:")
            session.wait_for("Enter: the next round")
        check_last_screen(line, session.lines)
        person.press_and_wait("\r")
        session.wait_for("Round 2 of 2")


def check_last_screen(line: RoundLine, lines: list[str]) -> None:
    """It shows the cards on the stones, one hand, the moves after the person's last decision, and who won and why."""
    text = " ".join(" ".join(lines).replace("*", "").split())
    game = replay(game_record(line))
    table = [*game.hands[0], *(card for sides in game.sides for side in sides for card in side)]
    assert set(_CARD.findall(text)) >= {each for each in card_texts(tuple(table)) if _CARD.fullmatch(each)}
    shown = set(_CARD.findall(" ".join(lines[:17])))
    assert not shown & set(card_texts(tuple(card for card in game.hands[1] if card not in game.hands[0])))
    decided = max(place for place, (seat, _, ms) in enumerate(line.moves) if seat == 0 and ms is not None)
    last = [(seat, move) for seat, move, _ in line.moves[decided:] if seat == 1 or not move.startswith("draw")]
    assert all(move in text for _, move in last)
    who = "You win the round: you hold" if line.result.winner == 0 else "You lose the round: counting holds"
    assert who in text
    assert f"Points {line.result.points[0]} - {line.result.points[1]}." in text
    assert lines[-1] == "h help  Ctrl-C stop"


def check_that_nothing_hidden_was_shown(line: RoundLine, raw: bytes, seen: list[int]) -> None:
    """At each decision, and when the round is over, all cards in the output so far are cards that seat 0 has seen, or
    that the reason of a claim names: that is counted from what lies face up."""
    record = game_record(line)
    game = dealt(record)
    may_be_shown: set[str] = set()
    decision = 0
    for step, (seat, _, ms) in zip(steps(record, game), line.moves, strict=True):
        may_be_shown |= known(game)
        if seat == 0 and ms is not None:
            shown = cards_in(raw[: seen[decision]])
            assert shown <= may_be_shown, (decision, shown - may_be_shown, step)
            assert shown >= set(card_texts(tuple(game.hands[0])))
            decision += 1
    assert decision == len(seen) > 5
    may_be_shown |= known(game)
    shown = cards_in(raw)
    assert shown <= may_be_shown, ("the end", shown - may_be_shown)


def cards_in(raw: bytes) -> set[str]:
    """The cards that the output names, by their full names."""
    text = _ESCAPE.sub(b" ", raw).decode()
    full = {short: name for name, short in SHORT.items()}
    return {full.get(card, card) for card in (*_CARD.findall(text), *_TACTIC.findall(text))}


def known(game: Game) -> set[str]:
    table = [*game.hands[0], *game.discard, *(card for sides in game.sides for side in sides for card in side)]
    table += [card for cards in (*game.tactics_played, *game.modes) for card in cards]
    found = set(card_texts(tuple(table)))
    if game.phase is Phase.CLAIM:
        for stone in stones_in(game.claimable):
            found |= set(reason_for(game, game.to_move, stone).completion)
    return found


@pytest.mark.parametrize(("rules", "deck"), [("base", "clan"), ("tactics", "tactics")])
def test_the_check_above_notices_a_hidden_card(rules: str, deck: str, tmp_path: Path) -> None:
    with arena_in_terminal(words(rules=rules), tmp_path) as session:
        person = Person(session)
        person.play_round(change=0)
        raw = session.raw
    (line,) = rounds_in(tmp_path / "m.jsonl")
    card = card_texts(getattr(game_record(line).deal, deck))[-1]
    hidden = b" " + card.encode() + b" "
    place = raw.rindex(b"\r\n", 0, person.seen[3])
    seen = [length + len(hidden) * (length > place) for length in person.seen]
    check_that_nothing_hidden_was_shown(line, raw, person.seen)
    with pytest.raises(AssertionError):
        check_that_nothing_hidden_was_shown(line, raw[:place] + hidden + raw[place:], seen)


def test_seats_and_rounds_follow_each_other_and_the_score_is_printed_afterwards(tmp_path: Path) -> None:
    with arena_in_terminal(words("--seat", "1", rounds=2), tmp_path) as session:
        person = Person(session)
        session.wait_for("You begin.")
        person.play_round(change=0)
        session.wait_for("Enter: the next round")
        person.press_and_wait("\r")
        session.wait_for("Round 2 of 2")
        person.play_round(change=0)
        session.wait_for("the match, points")
        assert b"Score of" not in session.raw
        session.press("\r")
        assert session.wait_for_status() == 0
        assert "Score of random vs human" in printed(session)
    one, two = rounds_in(tmp_path / "m.jsonl")
    assert [one.bots, two.bots] == [("random", "human")] * 2
    assert (one.first, two.first) == (1, 0)


def test_the_board_follows_the_size_of_the_window(tmp_path: Path) -> None:
    with arena_in_terminal(words(rules="tactics"), tmp_path) as session:
        person = Person(session)
        person.wait()
        for columns, rows in ((60, 12), (120, 40), (20, 5), (80, 24)):
            session.resize(columns, rows)
            session.wait_until(lambda: session.lines[-1].startswith("arrows"), f"a screen of {columns} x {rows}")
            session.wait_until(lambda: any(line.startswith(">> ") for line in session.lines), "the decision")
        person.decide()
        session.press(CTRL_C)
        assert session.wait_for_status() == 130


def test_a_decision_is_taken_back_and_the_round_is_not_rated(tmp_path: Path) -> None:
    with arena_in_terminal(words(opponent="greedy"), tmp_path) as session:
        person = Person(session)
        person.wait()
        session.press("u")
        session.wait_for("There is no decision of yours to take back")
        first = person.decide(change=0)
        second = person.decide(change=0)
        person.press_and_wait("u")
        assert person.move == second
        session.wait_for("Taken back; this round is not rated now.")
        assert session.text.count("*") < 3
        person.press_and_wait("u")
        assert person.move == first
        session.press(":play")
        session.wait_for(">> play_")
        session.press(first.removeprefix("play")[:-1] + "7")
        person.press_and_wait("\r")
        person.play_round(change=0)
        session.press("\r")
        assert session.wait_for_status() == 0
        assert "not rated: human took back 2 decisions" in printed(session)
        assert "Rounds in which a person had help, and which are not rated: 1." in printed(session)
    (line,) = rounds_in(tmp_path / "m.jsonl")
    assert line.assisted is not None
    assert (line.assisted.seat, line.assisted.taken_back, line.assisted.hints) == (0, 2, False)
    mine = [text for seat, text, ms in line.moves if seat == 0 and ms is not None]
    assert mine[0] == first[:-1] + "7"
    assert not verify_journals([tmp_path / "m.jsonl"]).problems
    assert "not rated: 1." in arena("table", tmp_path / "m.jsonl").stdout


NOTING_BOT = """
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"noting"}', flush=True)
    elif message["type"] == "request":
        time.sleep(0.05)
        answer = {"type": "action", "id": message["id"], "move": message["legal"][0]}
        print(json.dumps(answer | {"note": str(message["clock"]["bank_ms"])}), flush=True)
    elif message["type"] == "bye":
        break
"""


def test_the_opponent_gets_back_the_time_of_moves_that_were_taken_back(tmp_path: Path) -> None:
    (tmp_path / "noting.py").write_text(NOTING_BOT)
    opponent = f"noting={sys.executable} noting.py"
    with arena_in_terminal(words("--tc", "600", "--seat", "0", opponent=opponent), tmp_path) as session:
        person = Person(session)
        person.wait()
        for _ in range(3):
            person.decide(change=0)
        person.press_and_wait("u")
        person.press_and_wait("u")
        for _ in range(3):
            person.decide(change=0)
        session.hang_up()
        session.wait_for_status()
    (line,) = rounds_in(tmp_path / "m.jsonl")
    bank, places = 600_000, [place for place, (seat, _, ms) in enumerate(line.moves) if seat == 1 and ms is not None]
    assert len(places) >= 4
    for place in places:
        assert line.notes[str(place)] == str(bank)
        bank -= line.moves[place][2] or 0
    assert bank < 600_000 - 50 * len(places)


def test_a_person_plays_one_match_at_a_time(tmp_path: Path) -> None:
    more = ("--cycles", "2", "--concurrency", "2")
    with arena_in_terminal(words(*more), tmp_path) as session:
        person = Person(session)
        for _ in range(2):
            person.play_round(change=0)
            assert len(person.seen) > 5
            session.press("\r")
            session.wait_until(lambda: not person.is_over() or session.has_ended(), "the next match")
        assert session.wait_for_status() == 0
    one, two = rounds_in(tmp_path / "m.jsonl")
    assert [one.match, two.match] == ["1.1-2", "2.1-2"]
    assert (one.fault, two.fault) == (None, None)


def test_hints_name_the_evaluator_and_its_choice_and_the_round_is_not_rated(tmp_path: Path) -> None:
    with arena_in_terminal(words("--hints", rules="tactics"), tmp_path) as session:
        person = Person(session)
        person.wait()
        hint = r"Hint: the bundled counting bot would choose (play \S+ \d) and expects \d+ %"
        found = re.search(hint, session.text)
        assert found, session.text
        session.press(f":{found[1]}")
        session.wait_for(f">> {found[1]}_")
        person.press_and_wait("\r")
        person.play_round(change=0)
        session.press("\r")
        assert session.wait_for_status() == 0
        assert "not rated: human had hints" in printed(session)
    (line,) = rounds_in(tmp_path / "m.jsonl")
    assert line.assisted is not None
    assert (line.assisted.taken_back, line.assisted.hints) == (0, True)
    assert next(text for seat, text, ms in line.moves if seat == 0 and ms is not None) == found[1]


def until(label: str, session: PtySession, person: Person) -> None:
    person.wait()
    while person.label != label:
        assert not person.is_over()
        person.decide(change=0)
    assert session.status is None


def at_play(session: PtySession, person: Person) -> None:
    until("card", session, person)


def at_claim(session: PtySession, person: Person) -> None:
    until("claim", session, person)


def at_draw(session: PtySession, person: Person) -> None:
    until("draw", session, person)


def at_return(session: PtySession, person: Person) -> None:
    """With the seed below, the first tactic card is the recruiter."""
    until("draw", session, person)
    session.press("\x1b[C")
    session.wait_for(">> draw tactic")
    person.press_and_wait("\r")
    session.press(":play recruiter")
    session.wait_for("play recruiter_")
    person.press_and_wait("\r")
    until("return", session, person)


def typing(session: PtySession, person: Person) -> None:
    person.wait()
    session.press(":play r")
    session.wait_for(">> play r_")


def reading_help(session: PtySession, person: Person) -> None:
    person.wait()
    session.press("h")
    session.wait_for("You are below the stones.")


def at_the_end(session: PtySession, person: Person) -> None:
    person.play_round(change=0)
    session.wait_for("Enter: the next round")


def thinking(session: PtySession, person: Person) -> None:
    session.wait_for("thinking decides …")
    assert person.move is None


def recruiter_first() -> str:
    """A seed with which the recruiter is the first tactic card of the first round."""
    for number in range(1000):
        seed = DealKey(str(number), is_public=True).seed(RoundId("1.1-2.1"), 0, 0)
        if Deal.from_seed(seed, tactics=True).tactics[0] == RECRUITER:
            return str(number)
    raise AssertionError


THINKING = f"thinking={sys.executable} {THINKING_BOT} 600"


@pytest.mark.parametrize(
    "phase",
    [at_play, at_claim, at_draw, at_return, typing, reading_help, thinking, at_the_end],
    ids=lambda each: each.__name__,
)
def test_ctrl_c_restores_the_terminal_in_each_phase(
    phase: Callable[[PtySession, Person], None], tmp_path: Path
) -> None:
    rules = "tactics" if phase in (at_draw, at_return) else "base"
    more = ("--seat", "1", "--seed", recruiter_first()) if phase is at_return else ()
    opponent = THINKING if phase is thinking else "random"
    with arena_in_terminal(words(*more, rules=rules, rounds=2, opponent=opponent), tmp_path) as session:
        phase(session, Person(session))
        session.press(CTRL_C)
        assert session.wait_for_status() == 130
        assert is_restored(session)
        assert "Stopped." in printed(session)
    assert len(rounds_in(tmp_path / "m.jsonl")) == (phase is at_the_end)


def test_ctrl_c_in_the_last_screen_leaves_everything_saved(tmp_path: Path) -> None:
    with arena_in_terminal(words(), tmp_path) as session:
        Person(session).play_round(change=0)
        session.wait_for("Enter: leave")
        session.press(CTRL_C)
        assert session.wait_for_status() == 130
        assert is_restored(session)
        assert "1 of 1 rounds is saved" in printed(session)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_restores_the_terminal(number: int, tmp_path: Path) -> None:
    with arena_in_terminal(words(), tmp_path) as session:
        Person(session).wait()
        os.kill(session.pid, number)
        assert session.wait_for_status() == 130
        assert is_restored(session)


def test_ctrl_z_gives_the_terminal_back_until_the_shell_resumes_the_command(tmp_path: Path) -> None:
    with arena_in_terminal(words(), tmp_path) as session:
        person = Person(session)
        person.wait()
        session.press("\x1a")
        session.wait_until(lambda: is_restored(session), "the shell's screen")
        session.wait_until(lambda: state_of(session.pid) == "T", "a stopped process")
        os.kill(session.pid, signal.SIGCONT)
        session.wait_until(lambda: not is_restored(session), "the board again")
        person.decide(change=0)
        session.press(CTRL_C)
        assert session.wait_for_status() == 130


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_terminal_that_is_closed_after_a_round_forfeits_nothing(tmp_path: Path) -> None:
    with arena_in_terminal(words(rounds=3), tmp_path) as session:
        at_the_end(session, Person(session))
        session.hang_up()
        session.wait_for_status()
    (line,) = rounds_in(tmp_path / "m.jsonl")  # the other rounds are left for another time
    assert line.fault is None
    assert not verify_journals([tmp_path / "m.jsonl"]).problems


@pytest.mark.parametrize("phase", [at_play, thinking], ids=lambda each: each.__name__)
def test_a_closed_terminal_forfeits_the_round_as_disconnected(
    phase: Callable[[PtySession, Person], None], tmp_path: Path
) -> None:
    opponent = f"thinking={sys.executable} {THINKING_BOT} 3" if phase is thinking else "random"
    with arena_in_terminal(words(rounds=3, opponent=opponent), tmp_path) as session:
        phase(session, Person(session))
        session.hang_up()
        session.wait_for_status()
    (line,) = rounds_in(tmp_path / "m.jsonl")  # the other rounds are left for another time
    assert (line.result.ending, line.result.winner) == ("disconnected", 1)
    assert not verify_journals([tmp_path / "m.jsonl"]).problems


def test_a_person_has_a_clock_only_if_it_was_asked_for(tmp_path: Path) -> None:
    with arena_in_terminal(words("--st", "3"), tmp_path) as session:
        session.wait_for("s left")
        session.wait_for("You lose the round: you failed (timeout)")
        session.wait_for("the limit was 3000 ms for an answer")
        session.press("\r")
        assert session.wait_for_status() == 0
    (line,) = rounds_in(tmp_path / "m.jsonl")
    assert line.result.ending == "timeout"
    opening = (tmp_path / "m.jsonl").read_text().splitlines()[0]
    assert '{"name":"human","remote":true,"clock":{"move_ms":3000,' in opening
    with arena_in_terminal(["play", "human", "random", "--journal", "n.jsonl"], tmp_path) as session:
        Person(session).wait()
        assert "s left" not in session.text
    opening = (tmp_path / "n.jsonl").read_text().splitlines()[0]
    assert '{"name":"human","remote":true,"clock":{"move_ms":null,"bank_ms":null,' in opening
    assert '{"name":"random","cmd":["random"],"dir":null,"env":[],"clock":{"move_ms":10000,' in opening


def test_no_colour_is_used_where_none_is_wanted(tmp_path: Path) -> None:
    with arena_in_terminal(words(), tmp_path, {"NO_COLOR": "1"}) as session:
        Person(session).wait()
        assert not re.search(rb"\x1b\[[0-9;]*[1-9][0-9;]*m", session.raw)


# At a server

SERVER = f"""
[server]
grace = 1
[each]
st = 600
[[bot]]
cmd = "random"
[[bot]]
name = "anna"
token = "{token_hash("s3cret")}"
"""


def at_server(address: str, folder: Path) -> AbstractContextManager[PtySession]:
    return arena_in_terminal(["connect", address, "--", "human"], folder, {"ARENA_TOKEN": "s3cret"})


def has_changed(session: PtySession, before: str) -> bool:
    return session.text != before or session.has_ended()


def test_a_person_plays_at_a_server_where_nothing_can_be_taken_back(tmp_path: Path) -> None:
    with serving(tmp_path, SERVER) as (server, address):
        with at_server(address, tmp_path) as session:
            person = Person(session)
            person.wait()
            person.decide(change=0)
            session.press("u")
            session.wait_for("At a server nothing can be taken back")
            while not session.has_ended():
                session.press("\r")  # what is chosen; nothing happens while the opponent decides
                session.wait_until(partial(has_changed, session, session.text), "something new")
            assert session.wait_for_status() == 0
            assert is_restored(session)
            assert "Match 1.1-2 against random" in printed(session)
        assert server.end()[0] == 0
    assert [line.bots for line in rounds_of_server(tmp_path)] == [("random", "anna")] * 2
    assert all(line.fault is None for line in rounds_of_server(tmp_path))


def test_a_person_who_leaves_a_server_loses_as_disconnected(tmp_path: Path) -> None:
    with serving(tmp_path, SERVER) as (server, address):
        with at_server(address, tmp_path) as session:
            Person(session).wait()
            session.hang_up()
            session.wait_for_status()
        server.end()
    assert "disconnected" in [line.result.ending for line in rounds_of_server(tmp_path)]


# Wrong calls


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["play", "human", "human"], "only one person can play"),
        (["play", "anna=human", "ben=human"], "anna and ben: only one person can play"),
        (["play", "human --fast", "random"], "without any arguments"),
        (["play", "greedy", "random", "--seat", "1"], "--seat and --hints are for a person"),
        (["play", "greedy", "random", "--hints"], "--seat and --hints are for a person"),
        (["play", "human", "random", "--seat", "2"], "2 is not in the range 0<=x<=1"),
        (["run", "human", "random"], "human plays in `arena play` and `arena connect`, not here"),
        (["check", "human"], "human plays in `arena play` and `arena connect`"),
        (["play", "human", "random"], "as stdin and stdout; a program can play as a bot"),
        (["connect", "127.0.0.1:1", "--", "human"], "human needs a terminal"),
        (["connect", "127.0.0.1:1", "--", "human", "--fast"], "human is you"),
        (["connect", "127.0.0.1:1", "--connections", "2", "--", "human"], "human is you"),
        (["connect", "127.0.0.1:1", "--sandbox", "--", "human"], "human is you"),
    ],
)
def test_a_wrong_call_is_refused_in_one_sentence(arguments: list[str], problem: str) -> None:
    result = arena(*arguments)
    assert result.exit_code == 2
    assert problem in result.output.replace("\n", " ")

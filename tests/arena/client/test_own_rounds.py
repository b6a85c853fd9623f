"""The journal that `arena connect` keeps of its bot's rounds: from messages alone, without a server."""

import random
from collections.abc import Iterator
from pathlib import Path

import attrs
import msgspec
import pytest

from arena.client.client_events import ClientEvent, RoundNotKept
from arena.client.own_journal import OwnJournal
from arena.client.own_rounds import KeptRound, NotKept, OwnRounds
from arena.journal.endings import Fault
from arena.journal.lines import JournalError, RoundLine
from arena.journal.round_check import check_round
from arena.journal.verify import verify_journals
from arena.match import translate
from arena.match.referee import Referee
from engine.cards import SEATS, Seat, card_texts
from engine.deal import Deal
from engine.ruleset import PRESETS
from protocol.fairness import hash_of
from protocol.messages import (
    BotAction,
    Clock,
    Error,
    MatchClock,
    MatchStart,
    Points,
    RevealedDeal,
    RoundEnd,
    RoundStart,
    ServerMessage,
    Welcome,
    decode_from_server,
    encode,
)
from tests.helpers.commands import arena

NOON = "2026-01-31T12:00:00Z"


@attrs.define
class Told:
    """A round that is played at random at a server, as the bot at one seat hears it."""

    rules: str
    seat: Seat
    number: int = 1
    match: str = "1.2-3"
    referee: Referee = attrs.field(init=False)
    deal: RevealedDeal = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        rules, dealt = PRESETS[self.rules], Deal.from_seed(f"{self.match} {self.number}", PRESETS[self.rules].tactics)
        self.referee = Referee(rules, dealt, SEATS[self.number % 2])
        self.deal = RevealedDeal(self.number, card_texts(dealt.clan), card_texts(dealt.tactics), "salt")

    def start(self) -> Iterator[ServerMessage]:
        first = translate.side_of(self.referee.game.to_move, self.seat)
        assert first is not None
        yield Welcome("anna")
        yield MatchStart(self.match, "ben", 2, self.rules, MatchClock(None, None, 0))
        hand = card_texts(tuple(self.referee.game.hands[self.seat]))
        seat = translate.seat_number(self.seat)
        yield RoundStart(self.number, seat, first, hand, Points(0, 0), hash_of(self.deal))

    def play(self, own: OwnRounds, fault: Fault | None = None, until: int = 1000) -> list[KeptRound | NotKept]:
        """Everything up to the end, or to a fault of the seat whose decision this is."""
        rng, found = random.Random(self.number), list[KeptRound | NotKept]()
        for message in self.start():
            found += own.told(message, 0.0, NOON)
        for count in range(until):
            if (ask := self.referee.ask()) is None:
                break
            move, note = rng.choice(ask.legal).text, f"note {count}"
            if ask.seat == self.seat:
                request = ask.request(count + 1, Points(0, 0), Clock(None, None)).decoded()
                found += own.told(request, count + 0.010, NOON)
                own.said(BotAction(request.id, move, note), count + 0.017)
            self.referee.answer(move, 7, note if ask.seat == self.seat else None)
        if fault is not None and (ask := self.referee.ask()):
            self.referee.forfeit(ask.seat, fault, "the details")
        return found + list(own.told(self.end(), until + 1.0, NOON))

    def end(self, deals: tuple[RevealedDeal, ...] | None = None) -> RoundEnd:
        assert self.referee.outcome is not None
        news = self.referee.last_news(self.seat, Points(0, 0))
        shown = (self.deal,) if deals is None else deals
        made = decode_from_server(
            encode(translate.round_end(self.number, self.referee.outcome, self.seat, shown, news))
        )
        assert isinstance(made, RoundEnd)
        return made


def line_in(found: list[KeptRound | NotKept]) -> RoundLine:
    (kept,) = found
    assert isinstance(kept, KeptRound), kept
    return kept.line


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("seat", SEATS)
def test_a_round_that_a_bot_heard_is_the_round_that_was_played(rules: str, seat: Seat) -> None:
    """But for the times of the opponent, and the cards that it returned."""
    own, guessed = OwnRounds(), 0
    for number in range(1, 31):
        told = Told(rules, seat, number)
        line, moves = line_in(told.play(own)), told.referee.moves
        assert check_round(line).problems == ()
        assert (line.id, line.match, line.round, line.rules) == (f"1.2-3.{number}", "1.2-3", number, rules)
        assert line.bots == (("anna", "ben") if seat == 0 else ("ben", "anna"))
        assert (line.deck, line.tactics, line.promise) == (told.deal.deck, told.deal.tactics, hash_of(told.deal))
        notes = {int(place): note for place, note in line.notes.items()}
        for place, (mine, (by, text, ms)) in enumerate(zip(line.moves, moves, strict=True)):
            if mine[:2] != (by, text):
                assert by != seat
                assert text.startswith("return ")
                assert notes[place] == "which card was returned is not known here"
                guessed += 1
            elif by == seat:
                assert mine[2] == ms
                assert notes.get(place) == told.referee.notes.get(place)
        assert line.result.owners == told.referee.outcome.owners  # type: ignore[union-attr]
    assert bool(guessed) is PRESETS[rules].tactics  # or this test would not have seen any


@pytest.mark.parametrize("fault", [Fault.TIMEOUT, Fault.ILLEGAL_MOVE, Fault.DISCONNECTED])
@pytest.mark.parametrize("seat", SEATS)
def test_a_round_that_ended_by_a_fault_names_who_failed(fault: Fault, seat: Seat) -> None:
    told, own = Told("base", seat), OwnRounds()
    list(own.told(Error("x", "out of time", fatal=True), 0.0, NOON))  # of nothing that is kept
    line = line_in(told.play(own, fault, until=5))
    assert told.referee.fault is not None
    assert line.fault is not None
    assert (line.fault.seat, line.result.ending) == (told.referee.fault.seat, fault.value)
    assert check_round(line).problems == ()


def test_a_lost_connection_costs_nothing() -> None:
    """The server repeats the start of the round and the last request; an answer may have been lost."""
    plain, own = Told("base", SEATS[0]), OwnRounds()
    expected = line_in(plain.play(OwnRounds()))
    told, found, rng, answers = Told("base", SEATS[0]), list[KeptRound | NotKept](), random.Random(1), 0
    for message in told.start():
        found += own.told(message, 0.0, NOON)
    for count in range(1000):
        if (ask := told.referee.ask()) is None:
            break
        move = rng.choice(ask.legal).text
        if ask.seat == 0:
            request = ask.request(count + 1, Points(0, 0), Clock(None, None)).decoded()
            list(own.told(request, count + 0.01, NOON))
            answers += 1
            for lost in range(answers % 3):  # connections, before or after an answer
                if lost or answers % 2:
                    own.said(BotAction(request.id, "lost"), count + 0.012)
                for again in (*told.start(), msgspec.structs.replace(request, id=request.id + 100)):
                    list(own.told(again, count + 0.01, NOON))
                request = msgspec.structs.replace(request, id=request.id + 100)
            own.said(BotAction(request.id, move, f"note {count}"), count + 0.017)
        told.referee.answer(move, 7)
    assert answers > 5
    line = line_in([*own.told(told.end(), 1001.0, NOON)])
    assert (line.moves, line.notes) == (expected.moves, expected.notes)


def test_a_round_is_kept_when_its_deal_is_revealed_later() -> None:
    own, first = OwnRounds(), Later("base", SEATS[0], 1)
    assert first.play(own) == []
    second = Later("base", SEATS[0], 2, reveals=(first.deal, Told("base", SEATS[0], 2).deal))
    assert [kept.line.id for kept in second.play(own) if isinstance(kept, KeptRound)] == ["1.2-3.1", "1.2-3.2"]


@attrs.define
class Later(Told):
    """Its end reveals other deals."""

    reveals: tuple[RevealedDeal, ...] = ()

    def end(self, deals: tuple[RevealedDeal, ...] | None = None) -> RoundEnd:
        return Told.end(self, self.reveals if deals is None else deals)


def test_a_deal_that_does_not_fit_is_reported_and_not_written(tmp_path: Path) -> None:
    other = msgspec.structs.replace(Told("base", SEATS[0], 2).deal, round=1)
    told, events = Later("base", SEATS[0], 1, reveals=(other,)), list[ClientEvent]()
    (problem,) = told.play(OwnRounds())
    assert problem == NotKept("round 1.2-3.1: its moves do not follow from its deal")
    with OwnJournal(tmp_path / "own.jsonl", "host:1", events.append) as journal:
        journal.keep(problem)
    assert events == [RoundNotKept("round 1.2-3.1: its moves do not follow from its deal")]
    assert (tmp_path / "own.jsonl").read_bytes() == b""


# The file


def kept(path: Path, *rounds: Told) -> list[ClientEvent]:
    events = list[ClientEvent]()
    with OwnJournal(path, "host:1", events.append) as journal:
        own = OwnRounds()
        for told in rounds:
            for found in told.play(own):
                journal.keep(found)
    return events


def test_what_is_kept_can_be_verified_replayed_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    assert kept(path, Told("tactics", SEATS[0], 1), Told("tactics", SEATS[0], 2)) == []
    assert kept(path, Told("tactics", SEATS[0], 1)) == []  # another start: the same ids are other rounds
    report = verify_journals([path])
    assert (report.problems, report.rounds, report.tournaments) == ([], 3, 2)
    assert report.remarks[-1] == f"{path}:4: these are the rounds that one bot heard of; there may be others"
    assert arena("replay", path, "1.2-3.2", "--all").exit_code == 0
    table = arena("table", path)
    assert table.exit_code == 0
    assert "anna" in table.stdout


def test_a_server_that_begins_again_with_the_same_ids_gets_another_opening_line(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    again = [Told("base", SEATS[0], 1), Told("base", SEATS[0], 1, "1.1-2"), Told("base", SEATS[0], 1)]
    assert kept(path, *again) == []
    lines = [line[:20] for line in path.read_text().splitlines()]
    opening, line = '{"type":"tournament"', '{"type":"round","v":'
    assert lines == [opening, line, line, opening, line]


def test_a_changed_card_is_not_what_the_server_promised(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    kept(path, Told("base", SEATS[0], 1))
    text = path.read_text()
    promise = hash_of(Told("base", SEATS[0], 1).deal)
    path.write_text(text.replace(promise, "0" * 64))
    (problem,) = verify_journals([path]).problems
    assert problem.text == "round 1.2-3.1: its deal is not the one that the server promised by its hash"


def test_a_torn_line_is_cut_off_and_other_files_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    kept(path, Told("base", SEATS[0], 1))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[-90:-1])
    kept(path, Told("base", SEATS[0], 2))
    assert path.read_bytes().startswith(whole + b'{"type":"tournament"')
    assert verify_journals([path]).problems == []
    cup, notes = tmp_path / "cup.jsonl", tmp_path / "notes.txt"
    assert arena("play", "greedy", "random", "--rounds", "2", "--journal", cup).exit_code == 0
    notes.write_text("mine")
    for other, told in ((cup, "this is the journal of a tournament; name another file"), (notes, "not a journal")):
        before = other.read_bytes()
        with pytest.raises(JournalError, match=told):
            kept(other)
        assert other.read_bytes() == before
    refused = arena("connect", "127.0.0.1:1", "--journal", notes, "--", "greedy")
    assert refused.exit_code == 2
    assert "this is not a journal, but a text" in refused.stderr


def test_a_full_disk_ends_the_keeping_and_not_the_play(tmp_path: Path) -> None:
    path, events = tmp_path / "own.jsonl", list[ClientEvent]()
    with OwnJournal(path, "host:1", events.append) as journal:
        own = OwnRounds()
        for number in (1, 2, 3):
            for found in Told("base", SEATS[0], number).play(own):
                journal.keep(found)
            path.unlink(missing_ok=True)  # stands for any reason why it cannot be written
    assert events == [
        RoundNotKept(f"{path}: this file was deleted or moved away while the arena was writing to it; "
                     "no more rounds are kept")
    ]  # fmt: skip

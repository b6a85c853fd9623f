"""What one bot is told and asked in a match, checked by the sessions of both ends."""

import random

import attrs
import msgspec
import pytest

from arena.match.match_messages import MatchMessages
from arena.match.referee import Referee
from arena.plan.deals import DealKey
from arena.plan.schedule import Format, PlannedMatch, schedule
from engine.cards import SEATS, Seat, card_texts, other
from engine.ruleset import PRESETS
from engine.scoring import Score
from protocol.fairness import DealCheck
from protocol.messages import (
    BotAction,
    BotHello,
    Clock,
    EncodedRequest,
    MatchClock,
    Message,
    Points,
    ServerHello,
    Welcome,
    encode,
)
from protocol.session import Role, Session, State

KEY = DealKey("7", is_public=True)
RULES = PRESETS["tactics"]
UNTIMED = Clock(None, None)


@attrs.define
class Bot:
    """A bot without a stream: what is said to it is received by a session of its own."""

    wants_legal: bool = True
    session: Session | None = None
    end: Session = attrs.field(factory=lambda: Session(Role.BOT))
    heard: list[Message] = attrs.field(factory=list)

    def connect(self) -> None:
        self.session, self.end = Session(Role.SERVER), Session(Role.BOT)
        self.hear(ServerHello(1, "test"))
        self.say(BotHello(1, "me"))
        self.hear(Welcome("me"))

    def hear(self, message: Message | None) -> None:
        assert message is not None
        assert self.session is not None
        line = self.session.send(message)
        heard = self.end.receive(line.rstrip(b"\n"))
        assert heard is not None
        assert encode(heard) == line
        self.heard.append(heard)

    def hear_request(self, request: EncodedRequest) -> None:
        assert self.session is not None
        line = self.session.send_request(request.id, request.line)
        heard = self.end.receive(line.rstrip(b"\n"))
        assert heard == request.decoded()
        self.heard.append(heard)

    def say(self, message: Message) -> None:
        assert self.session is not None
        assert self.session.receive(self.end.send(message).rstrip(b"\n")) == message


def planned_match(rounds: int = 2) -> PlannedMatch:
    return schedule(2, Format.ROUND_ROBIN, 1, rounds, RULES)[0]


def messages_of(bot: Bot, seat: Seat, planned: PlannedMatch) -> MatchMessages:
    clock = MatchClock(1000, None, 0)
    return MatchMessages(
        bot, seat, match=planned.id, opponent="rival", rounds=planned.length, rules=RULES.name, clock=clock
    )  # fmt: skip


@pytest.mark.parametrize("seat", SEATS)
def test_a_whole_match_is_said_in_turn_and_keeps_its_promises(seat: Seat) -> None:
    planned, bot, rng, deals = planned_match(4), Bot(), random.Random(1), DealCheck()
    messages, score = messages_of(bot, seat, planned), Score(RULES, planned.first)
    bot.connect()
    bot.hear(messages.start_match())
    assert messages.start_match() is None
    for each in planned.rounds:
        score = score.begun_by(each.first)
        dealt = KEY.deal(each, RULES)
        referee = Referee(RULES, dealt.deal, score.first)
        start = messages.start_round(referee, dealt.revealed(each.number), score)
        bot.hear(start)
        assert start.hand == card_texts(tuple(referee.game.hands[seat]))
        assert (start.first == "you") is (score.first == seat)
        assert start.points == Points(score.points[seat], score.points[other(seat)])
        while ask := referee.ask():
            move = rng.choice(ask.legal).text
            if ask.seat == seat:
                request = messages.ask(ask, UNTIMED)
                bot.hear_request(request)
                assert request.decoded().state.points == start.points
                bot.say(BotAction(request.id, move))
            referee.answer(move, 0)
        assert referee.outcome is not None
        bot.hear(messages.end_round(referee.outcome, [dealt.revealed(each.number)]))
        score = score.after(referee.outcome)
    end = messages.end_match(score)
    bot.hear(end)
    assert end is not None
    assert end.points == Points(score.points[seat], score.points[other(seat)])
    assert [deals.observe(message) for message in bot.heard] == [None] * len(bot.heard)
    assert (deals.kept, deals.broken) == (4, 0)


def start_of_round(bot: Bot, messages: MatchMessages, planned: PlannedMatch) -> Referee:
    dealt = KEY.deal(planned.rounds[0], RULES)
    referee = Referee(RULES, dealt.deal, messages.seat)
    bot.hear(messages.start_match())
    bot.hear(messages.start_round(referee, dealt.revealed(1), Score(RULES, messages.seat)))
    return referee


def test_a_bot_that_is_not_in_the_round_hears_nothing_of_its_end() -> None:
    planned, bot = planned_match(), Bot()
    messages, score = messages_of(bot, SEATS[0], planned), Score(RULES, SEATS[0])
    outcome = finished().outcome
    assert outcome is not None
    assert (messages.end_round(outcome, []), messages.end_match(score)) == (None, None)  # it is away
    bot.connect()
    assert (messages.end_round(outcome, []), messages.end_match(score)) == (None, None)  # it was not told of the match
    start_of_round(bot, messages, planned)
    assert messages.end_match(score) is None  # not before the round is over
    bot.hear(messages.end_round(outcome, []))
    assert messages.end_round(outcome, []) is None
    bot.hear(messages.end_match(score))


def test_a_round_can_end_while_its_bot_is_asked() -> None:
    planned, bot = planned_match(), Bot()
    messages = messages_of(bot, SEATS[0], planned)
    bot.connect()
    ask = start_of_round(bot, messages, planned).ask()
    assert ask is not None
    bot.hear_request(messages.ask(ask, UNTIMED))
    assert bot.session is not None
    assert bot.session.state is State.THINKING
    outcome = finished().outcome
    assert outcome is not None
    bot.hear(messages.end_round(outcome, []))


def finished() -> Referee:
    referee = Referee(RULES, KEY.deal(planned_match().rounds[0], RULES).deal, SEATS[0])
    while ask := referee.ask():
        referee.answer(ask.legal[0].text, 0)
    return referee


def test_ids_rise_from_where_the_connection_is_by_the_step_that_is_wanted() -> None:
    planned, bot = planned_match(), Bot(wants_legal=False)
    messages = messages_of(bot, SEATS[0], planned)
    bot.connect()
    ask = start_of_round(bot, messages, planned).ask()
    assert ask is not None
    first = messages.ask(ask, UNTIMED)
    assert (first.id, first.decoded().legal) == (1, ())
    assert bot.session is not None
    bot.session.last_id = 40
    again = messages.ask_again(first)
    assert again.id == 41
    assert again.decoded() == msgspec.structs.replace(first.decoded(), id=41)
    assert messages.ask_again(first.with_id(90)) == first.with_id(90)
    bot.session.id_step = 1001
    assert messages.ask(ask, UNTIMED).id == 1041


def test_a_bot_that_came_back_on_another_connection_is_where_it_was() -> None:
    planned, bot = planned_match(), Bot()
    messages = messages_of(bot, SEATS[0], planned)
    bot.connect()
    ask = start_of_round(bot, messages, planned).ask()
    assert ask is not None
    request = messages.ask(ask, UNTIMED)
    bot.hear_request(request)
    before = bot.heard[-3:]
    bot.connect()
    for message in messages.start_again():
        bot.hear(message)
    bot.hear_request(messages.ask_again(request))
    assert bot.heard[-3:] == before

"""Who may say what when, from both ends."""

from collections import deque
from typing import Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import Code, LocalProtocolError, RemoteProtocolError
from protocol.framing import MAX_LINE, LineBuffer
from protocol.messages import (
    BotAction,
    BotHello,
    Bye,
    Error,
    MatchStart,
    Message,
    Request,
    RoundEnd,
    RoundStart,
    ServerHello,
    Watching,
    Welcome,
    encode,
)
from protocol.session import TRANSITIONS, Role, Session, State
from tests.helpers.wire import BOT_CLASSES, CLASSES, EXAMPLES, messages, request

SPEAKERS: Final = {kind: Role.BOT if kind in BOT_CLASSES else Role.SERVER for kind in CLASSES}
_TO_A_ROUND: Final = (ServerHello, BotHello, Welcome, MatchStart, RoundStart)
PATHS: Final[dict[State, tuple[type[Message], ...]]] = {
    State.NEW: (),
    State.GREETED: _TO_A_ROUND[:1],
    State.NAMED: _TO_A_ROUND[:2],
    State.IDLE: _TO_A_ROUND[:3],
    State.MATCH: _TO_A_ROUND[:4],
    State.ROUND: _TO_A_ROUND,
    State.THINKING: (*_TO_A_ROUND, Request),
    State.WATCHING: (*_TO_A_ROUND[:2], Watching),
    State.CLOSED: (ServerHello, Bye),
}


def line_of(message: Message) -> bytes:
    return encode(message)[:-1]


def pass_on(session: Session, message: Message) -> Message | None:
    """It is said, by us or by the other side."""
    if SPEAKERS[type(message)] is session.role:
        assert session.send(message) == encode(message)
        return message
    return session.receive(line_of(message))


def session_in(state: State, role: Role) -> Session:
    session = Session(role)
    for kind in PATHS[state]:
        pass_on(session, EXAMPLES[kind])
    assert session.state is state
    return session


def asked(*ids: int) -> Session:
    """A server that has asked these, one round each; the last is still open."""
    session = session_in(State.MATCH, Role.SERVER)
    for number in ids:
        if session.state is State.THINKING:
            session.send(EXAMPLES[RoundEnd])
        session.send(EXAMPLES[RoundStart])
        session.send(request(number))
    return session


def refused(session: Session, line: bytes) -> RemoteProtocolError:
    before = session.state
    with pytest.raises(RemoteProtocolError) as caught:
        session.receive(line)
    assert session.state is before
    return caught.value


# The table


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("kind", CLASSES)
def test_a_message_may_be_said_where_the_table_has_it_and_nowhere_else(
    role: Role, state: State, kind: type[Message]
) -> None:
    session = session_in(state, role)
    message = EXAMPLES[kind]
    after = TRANSITIONS.get((state, kind))
    if after is not None:
        assert pass_on(session, message) == message
        assert session.state is after
        return
    if isinstance(message, BotAction):
        message = BotAction(18, "pass")  # was never asked; the next tests are about those that were
    with pytest.raises(LocalProtocolError if SPEAKERS[kind] is role else RemoteProtocolError) as caught:
        pass_on(session, message)
    asks_first = isinstance(message, BotAction) and role is Role.SERVER
    assert caught.value.code is (Code.UNKNOWN_ID if asks_first else Code.OUT_OF_TURN)
    assert session.state is state


def test_the_table_lets_a_bot_speak_only_when_it_is_asked() -> None:
    assert {state for state, kind in TRANSITIONS if SPEAKERS[kind] is Role.BOT} == {State.GREETED, State.THINKING}


def test_the_server_may_complain_and_leave_at_any_time_and_nothing_follows() -> None:
    for state in set(State) - {State.CLOSED}:
        assert TRANSITIONS[state, Bye] is State.CLOSED
        assert TRANSITIONS[state, Error] is state
    assert not [kind for state, kind in TRANSITIONS if state is State.CLOSED]


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("kind", CLASSES)
def test_nobody_can_say_what_belongs_to_the_other_side(role: Role, kind: type[Message]) -> None:
    if SPEAKERS[kind] is role:
        return
    for state in State:
        with pytest.raises(LocalProtocolError, match=f"a {role.value} does not send '") as caught:
            session_in(state, role).send(EXAMPLES[kind])
        assert caught.value.code is Code.OUT_OF_TURN


def test_who_speaks_out_of_turn_is_told_what_is_going_on() -> None:
    error = refused(session_in(State.IDLE, Role.SERVER), line_of(EXAMPLES[BotHello]))
    assert str(error) == "'hello' may not be sent now: no match is being played"
    error = refused(session_in(State.MATCH, Role.BOT), line_of(request(1)))
    assert str(error) == "'request' may not be sent now: no round is being played"
    with pytest.raises(LocalProtocolError, match="'request' may not be sent now: the bot has been asked for a move"):
        asked(1).send(request(2))


# Answers


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("number", [0, 1, 17])
def test_an_answer_before_the_first_question_is_refused(state: State, number: int) -> None:
    if state is State.THINKING:
        return
    error = refused(session_in(state, Role.SERVER), line_of(BotAction(number, "pass")))
    assert error.code is Code.UNKNOWN_ID
    assert str(error) == f"an answer to request {number}, but there was no request yet"


def test_an_answer_to_a_question_to_come_is_refused() -> None:
    error = refused(asked(17), line_of(BotAction(18, "pass")))
    assert error.code is Code.UNKNOWN_ID
    assert str(error) == "an answer to request 18, but the latest request was 17"


def test_an_answer_to_an_older_question_is_ignored_and_the_right_one_still_counts() -> None:
    session = asked(16, 17)
    for _ in range(3):
        assert session.receive(line_of(BotAction(16, "pass"))) is None
        assert session.state is State.THINKING
    assert session.receive(line_of(BotAction(17, "pass"))) == BotAction(17, "pass")
    assert session.receive(line_of(BotAction(16, "pass"))) is None


def test_a_second_answer_is_refused_until_there_is_a_new_question() -> None:
    session = asked(17)
    session.receive(line_of(BotAction(17, "pass")))
    error = refused(session, line_of(BotAction(17, "pass")))
    assert error.code is Code.SECOND_ANSWER
    assert str(error) == "a second answer to request 17"
    session.send(EXAMPLES[RoundEnd])
    assert refused(session, line_of(BotAction(17, "pass"))).code is Code.SECOND_ANSWER
    session.send(EXAMPLES[RoundStart])
    session.send(request(18))
    assert session.receive(line_of(BotAction(17, "pass"))) is None
    assert session.receive(line_of(BotAction(18, "pass"))) == BotAction(18, "pass")


def test_an_answer_that_crosses_the_end_of_the_round_is_ignored() -> None:
    for kinds in ((RoundEnd,), (RoundEnd, RoundStart), (RoundEnd, Bye), (Bye,)):
        session = asked(17)
        for kind in kinds:
            session.send(EXAMPLES[kind])
        before = session.state
        assert session.receive(line_of(BotAction(17, "pass"))) is None
        assert session.state is before


def test_ids_of_questions_grow_and_answers_match_them() -> None:
    session = session_in(State.ROUND, Role.SERVER)
    with pytest.raises(LocalProtocolError, match="request 0 does not come after 0"):
        session.send(request(0))
    session.send(request(5))
    session.receive(line_of(BotAction(5, "pass")))
    with pytest.raises(LocalProtocolError, match="request 5 does not come after 5") as caught:
        session.send(request(5))
    assert caught.value.code is Code.UNKNOWN_ID
    for wrong in (16, 18):
        with pytest.raises(LocalProtocolError, match=f"request 17 is open, not {wrong}") as caught:
            session_in(State.THINKING, Role.BOT).send(BotAction(wrong, "pass"))
        assert caught.value.code is Code.UNKNOWN_ID


# The rest


@pytest.mark.parametrize("state", State)
def test_an_unknown_type_is_ignored_by_a_bot_and_refused_by_a_server(state: State) -> None:
    bot = session_in(state, Role.BOT)
    assert bot.receive(b'{"type":"weather","sun":true}') is None
    assert bot.state is state
    assert refused(session_in(state, Role.SERVER), b'{"type":"weather"}').code is Code.UNKNOWN_TYPE


def test_any_other_bad_line_is_refused_by_a_bot_too() -> None:
    for line in (b"", b"[]", b'{"type":5}', b'{"type":"request"}', b'{"type":"bye","reason":null}', b"\xff"):
        refused(session_in(State.ROUND, Role.BOT), line)


@pytest.mark.parametrize("number", [0, 2, 2**53 - 1])
def test_another_protocol_is_refused_by_both(number: int) -> None:
    for role, state, kind in ((Role.SERVER, State.GREETED, BotHello), (Role.BOT, State.NEW, ServerHello)):
        hello = msgspec.structs.replace(EXAMPLES[kind], protocol=number)
        error = refused(session_in(state, role), line_of(hello))
        assert error.code is Code.WRONG_PROTOCOL
        assert str(error) == f"protocol {number} is not supported; it has to be 1"


def test_a_line_of_the_limit_can_be_said_and_a_longer_one_cannot() -> None:
    room = MAX_LINE - len(encode(BotAction(17, "")))
    session = session_in(State.THINKING, Role.BOT)
    with pytest.raises(LocalProtocolError, match="65537 bytes is too long") as caught:
        session.send(BotAction(17, "x" * (room + 1)))
    assert caught.value.code is Code.LINE_TOO_LONG
    assert session.state is State.THINKING
    longest = session.send(BotAction(17, "x" * room))
    assert LineBuffer().feed(longest) == [longest[:-1]]


def next_message(session: Session, kind: type[Message]) -> Message:
    if kind is Request:
        return request(session.last_id + 1)
    return BotAction(session.last_id, "pass") if kind is BotAction else EXAMPLES[kind]


@pytest.mark.fuzz
@given(st.data())
def test_two_ends_agree_once_every_line_has_arrived_whatever_crosses(data: st.DataObject) -> None:
    """Steps: either end says something it may, or hears the next line. A server that has said bye hears nothing."""
    ends = {role: Session(role) for role in Role}
    wires: dict[Role, deque[bytes]] = {role: deque() for role in Role}  # by who hears

    def hear(role: Role) -> None:
        line = wires[role].popleft()
        if role is Role.BOT or ends[role].state is not State.CLOSED:
            ends[role].receive(line)

    for _ in range(data.draw(st.integers(0, 40))):
        say = [(r, k) for r, end in ends.items() for s, k in TRANSITIONS if s is end.state and SPEAKERS[k] is r]
        # bye comes last, so that most walks are long
        say.sort(key=lambda choice: choice[1] is Bye)
        choices = [*((role, None) for role in Role if wires[role]), *say]
        if not choices:
            break
        role, kind = data.draw(st.sampled_from(choices))
        if kind is None:
            hear(role)
        else:
            other = Role.BOT if role is Role.SERVER else Role.SERVER
            wires[other].append(ends[role].send(next_message(ends[role], kind))[:-1])
    while waiting := [role for role in Role if wires[role]]:
        hear(data.draw(st.sampled_from(waiting)))
    assert ends[Role.SERVER].state is ends[Role.BOT].state


@pytest.mark.fuzz
@given(st.sampled_from(State), st.sampled_from(Role), st.lists(st.binary() | messages.map(line_of), max_size=5))
def test_any_line_in_any_state_is_heard_ignored_or_refused(state: State, role: Role, lines: list[bytes]) -> None:
    session = session_in(state, role)
    for line in lines:
        before = session.state
        try:
            heard = session.receive(line)
        except RemoteProtocolError:
            assert session.state is before
        else:
            assert session.state is (before if heard is None else TRANSITIONS[before, type(heard)])

"""Messages for tests: one of each, and hypothesis' choice of all that can be said."""

import string
from typing import Any, Final, get_args

import msgspec.inspect as shape
from hypothesis import strategies as st

from protocol.messages import (
    PROTOCOL,
    BotAction,
    BotHello,
    BotMessage,
    Bye,
    CardCounts,
    Clock,
    Error,
    GameState,
    MatchClock,
    MatchEnd,
    MatchStart,
    Message,
    MoveEvent,
    Points,
    Request,
    RevealedDeal,
    RoundEnd,
    RoundStart,
    ServerHello,
    ServerMessage,
    StoneState,
    TacticsPlayed,
    WatchedPosition,
    WatchedResult,
    WatchedStone,
    Watching,
    Welcome,
)

SERVER_CLASSES: Final[tuple[type[ServerMessage], ...]] = get_args(ServerMessage)
BOT_CLASSES: Final[tuple[type[BotMessage], ...]] = get_args(BotMessage)
CLASSES: Final[tuple[type[Message], ...]] = SERVER_CLASSES + BOT_CLASSES

STATE = GameState(
    hand=("r5", "joker"),
    stones=(StoneState(("r1", "r2"), ("g9",), None, 3, (), None),) * 9,
    decks=CardCounts(31, 7),
    opponent_hand=CardCounts(6, 1),
    discard=("banshee",),
    tactics_played=TacticsPlayed(("joker",), ("banshee",)),
    points=Points(5, 2),
    recruiter=None,
)


def request(number: int, legal: tuple[str, ...] = ("play r5 1", "play r5 2")) -> Request:
    events = (MoveEvent("opponent", "play g9 1"),)
    return Request(id=number, phase="play", legal=legal, state=STATE, events=events, clock=Clock(1000, None))


POSITION = WatchedPosition(
    match="m1",
    round=1,
    rules="base",
    bots=("first", "rival"),
    first=0,
    points=(0, 0),
    number=1,
    seat=0,
    move="play r5 1",
    ms=12,
    stones=(WatchedStone((("r5",), ()), None, 3, (), None),) * 9,
    hands=(("clan",) * 6, ("clan",) * 6),
    decks=CardCounts(41, 0),
    discard=(),
    tactics_played=((), ()),
    phase="play",
    to_move=1,
)
DEAL = RevealedDeal(1, ("r1", "g2"), ("joker",), "salt")
EXAMPLES: Final[dict[type[Message], Message]] = {
    type(message): message
    for message in (
        ServerHello(PROTOCOL, "schotten-arena 0.2.0"),
        Welcome("first", seed=2**53 - 1),
        MatchStart("m1", "rival", 2, "base", MatchClock(1000, None, 0)),
        RoundStart(1, 0, "you", ("r5",), Points(0, 0), "0" * 64, seed=7),
        request(17),
        RoundEnd(1, "win", "three-in-a-row", Points(5, 2), ("you", None, "opponent"), (DEAL,)),
        MatchEnd("m1", "draw", Points(5, 5)),
        Error("illegal-move", "r5 is not in your hand", fatal=False),
        Bye("the tournament is over"),
        BotHello(PROTOCOL, "mybot", version="1", author="me", token="secret", legal=False),
        BotAction(17, "play r5 1", note="why not"),
        Watching("Evening cup", 0, hands=False),
        POSITION,
        WatchedResult("m1", 1, ("first", "rival"), 0, "five-stones", (5, 2)),
    )
}
assert set(EXAMPLES) == set(CLASSES)

names = st.text(string.ascii_letters + string.digits + "._-+", min_size=1, max_size=32)


def _values(kind: shape.Type) -> st.SearchStrategy[Any]:
    """Everything that fits the type, of a size that is soon made."""
    match kind:
        case shape.StructType():
            return st.builds(kind.cls, **{field.name: _values(field.type) for field in kind.fields})
        case shape.UnionType():
            return st.one_of(*(_values(each) for each in kind.types))
        case shape.VarTupleType():
            return st.lists(_values(kind.item_type), max_size=3).map(tuple)
        case shape.TupleType():
            return st.tuples(*(_values(each) for each in kind.item_types))
        case shape.LiteralType():
            return st.sampled_from(kind.values)
        case shape.IntType():
            return st.integers(kind.ge, kind.le)
        case shape.StrType():
            return names if kind.pattern else st.text(max_size=20)
        case shape.BoolType():
            return st.booleans()
        case shape.NoneType():
            return st.none()
    raise NotImplementedError(kind)


messages: st.SearchStrategy[Message] = st.one_of(*(_values(shape.type_info(each)) for each in CLASSES))

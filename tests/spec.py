"""The parts of SPEC.md that are made from the program itself; `make spec` writes them anew, a test compares them."""

import re
from collections.abc import Iterator
from pathlib import Path

from arena import wire
from arena.referee import Referee
from engine.cards import CLAN_CARDS, SEATS, cards_from_texts
from engine.deal import Deal
from engine.ruleset import PRESETS
from protocol.fairness import hash_of
from protocol.messages import (
    Action,
    BotHello,
    BotMessage,
    Bye,
    Clock,
    MatchClock,
    MatchEnd,
    MatchStart,
    Message,
    Points,
    RevealedDeal,
    RoundStart,
    ServerHello,
    Welcome,
    encode,
)
from protocol.session import TRANSITIONS, Role, Session, State

SPEC = Path(__file__).parent.parent / "SPEC.md"

STATES = {
    State.NEW: "*new*: nothing has been said",
    State.GREETED: "*greeted*: the server has said hello",
    State.NAMED: "*named*: the bot has said hello",
    State.IDLE: "*idle*: no match is being played",
    State.MATCH: "*match*: between the rounds of a match",
    State.ROUND: "*round*: in a round, the bot is not asked",
    State.THINKING: "*thinking*: a request is open",
    State.CLOSED: "*closed*: the server has said bye",
}


def transitions() -> Iterator[str]:
    yield "| state | who | says | next state |"
    yield "|---|---|---|---|"
    for state, words in STATES.items():
        first = True
        for (now, message), then in TRANSITIONS.items():
            if now is state and message not in (Bye,) and then is not now:
                who = "bot" if issubclass(message, BotMessage) else "server"
                yield f"| {words if first else ''} | {who} | `{message.__struct_config__.tag}` | *{then.value}* |"
                first = False
        if first:
            yield f"| {words} | | | |"


def diagram() -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    yield "    [*] --> new"
    for (now, message), then in TRANSITIONS.items():
        if then is not now and message is not Bye:
            who = "bot" if issubclass(message, BotMessage) else "server"
            yield f"    {now.value} --> {then.value}: {who} {message.__struct_config__.tag}"
    yield "```"


def transcript() -> Iterator[str]:
    yield "```transcript"
    for message in _conversation():
        mark = "<" if isinstance(message, BotMessage) else ">"
        yield f"{mark} {encode(message).decode().rstrip()}"
    yield "```"


def _conversation() -> Iterator[Message]:
    """Every message of the short round, each of them checked by the sessions of both sides."""
    server, bot = Session(Role.SERVER), Session(Role.BOT)
    for message in _script():
        speaker, listener = (bot, server) if isinstance(message, BotMessage) else (server, bot)
        assert listener.receive(speaker.send(message).rstrip(b"\n")) == message
        yield message


def _script() -> Iterator[Message]:
    rules = PRESETS["base"]
    top = cards_from_texts(
        ["r7", "g1", "r8", "g2", "r9", "b1", "o1", "b2", "y2", "p1", "g3", "p2", "o5", "y6", "p7", "o8"]
    )
    deal = Deal((*top, *(card for card in CLAN_CARDS if card not in top)), ())
    revealed = RevealedDeal(1, wire.card_texts(deal.clan), (), "5d41402abc4b2a76")
    referee = Referee(rules, deal, SEATS[0])
    clock = Clock(1000, None)
    yield ServerHello(1, "schotten-arena 0.1.0")
    yield BotHello(1, "first")
    yield Welcome("first")
    yield MatchStart("m7", "greedy", 1, rules.name, MatchClock(1000, None, 0))
    hand = wire.card_texts(tuple(referee.game.hands[0]))
    yield RoundStart(1, 0, "you", hand, Points(0, 0), hash_of(revealed))
    moves = ("play r7 4", "play r8 4", "play r9 4", "claim 4")
    for number, move in enumerate(moves, 1):
        ask = referee.ask()
        assert ask is not None
        assert ask.seat == 0
        yield referee.request(ask, number, (0, 0), clock)
        yield Action(number, move, "nothing beats the highest colour-run" if move == "claim 4" else None)
        referee.answer(move, 3)
        reply = referee.ask()
        if reply is not None and reply.seat == 1:
            referee.answer("claim 4" if referee.game.owners[3] is not None else reply.legal[0].text, 3)
    assert referee.outcome is not None
    yield wire.round_end(1, referee.outcome, SEATS[0], [revealed])
    yield MatchEnd("m7", "win", Points(5, 0))
    yield Bye("the tournament is over")


GENERATED = {"diagram": diagram, "transitions": transitions, "transcript": transcript}


def renewed(text: str) -> str:
    for name, lines in GENERATED.items():
        begin, end = f"<!-- begin generated: {name} -->", f"<!-- end generated: {name} -->"
        assert begin in text
        block = "\n".join((begin, *lines(), end))
        text = re.sub(f"{begin}.*?{end}", lambda _, block=block: block, text, flags=re.DOTALL)  # type: ignore[misc]
    return text


def main() -> None:
    SPEC.write_text(renewed(SPEC.read_text()))


if __name__ == "__main__":
    main()

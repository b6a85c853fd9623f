"""The parts of SPEC.md that are made from the program itself; `make spec` rewrites them, a test compares them."""

import json
import re
from collections.abc import Iterator
from typing import Any

from arena.match import translate
from arena.match.referee import Referee
from engine.cards import CLAN_CARDS, SEATS, card_texts, cards_from_texts
from engine.deal import Deal
from engine.ruleset import PRESETS
from protocol.fairness import hash_of
from protocol.messages import (
    BotAction,
    BotHello,
    BotMessage,
    Bye,
    Clock,
    Error,
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
from tests.docs.documents import Document, anchor_of
from tests.golden import perft
from tests.helpers.paths import ROOT

SPEC = ROOT / "SPEC.md"

STATES = {
    State.NEW: "*new*: nothing has been said",
    State.GREETED: "*greeted*: the server has said hello",
    State.NAMED: "*named*: the bot has said hello",
    State.IDLE: "*idle*: no match is being played",
    State.MATCH: "*match*: between the rounds of a match",
    State.ROUND: "*round*: in a round, the bot is not asked",
    State.THINKING: "*thinking*: a request is open",
    State.WATCHING: "*watching*: the peer watches a match",
    State.CLOSED: "*closed*: the server has said bye",
}
_ANY_TIME = (Bye, Error)  # what the server may say in every state


def contents() -> Iterator[str]:
    """Every heading as a link: parts in bold, their sections as a list, and what these hold in the same line."""
    level, line = 0, ""
    for marks, title in re.findall(r"^(#+) (.*)$", Document("SPEC.md").prose(), re.MULTILINE)[1:]:
        link = f"[{title}](#{anchor_of(title)})"
        if len(marks) == 3:
            line += f"{': ' if level == 2 else ', '}{link}"
        else:
            yield from [line] if line else []
            line = f"\n**{link}**\n" if len(marks) == 1 else f"* {link}"
        level = len(marks)
    yield f"{line}\n"


def glance() -> Iterator[str]:
    """A whole connection, one message of each type."""
    said: dict[type[Message], Message] = {}
    for _, messages in _conversation():
        for message in messages:
            said.setdefault(type(message), message)
    yield "```text"
    for message in said.values():
        yield f"{'bot:   ' if isinstance(message, BotMessage) else 'server:'} {_shortened(json.loads(encode(message)))}"
    yield "```"


_SHOWN_LETTERS = 24  # of a text: enough for all but a hash


def _shortened(value: Any, depth: int = 0) -> str:
    """As JSON, but with the first member of a list, two fields of an inner object and the beginning of a hash."""
    match value:
        case dict():
            fields = [f'"{name}":{_shortened(inner, depth + 1)}' for name, inner in value.items()]
            return f"{{{','.join(fields if depth < 1 or len(fields) < 3 else [*fields[:2], ' …'])}}}"
        case [dict(), *_]:
            return "[{…}, …]"
        case [first, _, *_]:
            return f"[{_shortened(first, depth + 1)}, …]"
        case str() if len(value) > _SHOWN_LETTERS:
            return f'"{value[:8]}…"'
        case _:
            return json.dumps(value, separators=(",", ":"))


def transitions() -> Iterator[str]:
    yield "| state | who | says | next state |"
    yield "|---|---|---|---|"
    for state, words in STATES.items():
        first = True
        for (now, message), then in TRANSITIONS.items():
            if now is state and message not in _ANY_TIME:
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
        if message not in _ANY_TIME:
            who = "bot" if issubclass(message, BotMessage) else "server"
            yield f"    {now.value} --> {then.value}: {who} {message.__struct_config__.tag}"
    yield "```"


def transcript() -> Iterator[str]:
    for words, messages in _conversation():
        yield f"{words}\n"
        yield "```transcript"
        for message in messages:
            mark = "<" if isinstance(message, BotMessage) else ">"
            yield f"{mark} {encode(message).decode().rstrip()}"
        yield "```\n"


Step = tuple[str, list[Message]]  # what happens, and what is said


def _conversation() -> Iterator[Step]:
    """Every message of the short round, each of them checked by the sessions of both sides."""
    server, bot = Session(Role.SERVER), Session(Role.BOT)
    for words, messages in _script():
        for message in messages:
            speaker, listener = (bot, server) if isinstance(message, BotMessage) else (server, bot)
            line = speaker.send(message)
            heard = listener.receive(line.rstrip(b"\n"))
            assert heard is not None
            assert encode(heard) == line
        yield words, messages


_MOVES = {
    "play r7 4": "The bot begins the round, so it is asked at once. It places its first card on stone 4.",
    "play r8 4": "The opponent has placed g1; both actions are in `events`. A card was drawn by itself.",
    "play r9 4": "The same again. With this card the side is complete.",
    "claim 4": "Nothing beats the highest colour-run, so there is a claim phase. The bot adds a note for its author.",
}


_SEED = 4503599627370497


def _script() -> Iterator[Step]:
    rules = PRESETS["base"]
    top = cards_from_texts("r7 g1 r8 g2 r9 b1 o1 b2 y2 p1 g3 p2 o5 y6 p7 o8".split())  # noqa: SIM905
    deal = Deal((*top, *(card for card in CLAN_CARDS if card not in top)), ())
    revealed = RevealedDeal(1, card_texts(deal.clan), (), "5d41402abc4b2a76")
    referee = Referee(rules, deal, SEATS[0])
    clock = Clock(1000, None)
    hello: list[Message] = [ServerHello(1, "schotten-arena 0.2.0"), BotHello(1, "first"), Welcome("first", seed=_SEED)]
    yield "The server greets the bot, the bot says its name, and the server confirms under which name it plays.", hello
    hand = card_texts(tuple(referee.game.hands[0]))
    start: list[Message] = [
        MatchStart("m7", "greedy", 1, rules.name, MatchClock(1000, None, 0)),
        RoundStart(1, 0, "you", hand, Points(0, 0), hash_of(revealed), seed=_SEED),
    ]
    yield "A match of one round begins, and the round. The bot may ignore both.", start
    for number, (move, words) in enumerate(_MOVES.items(), 1):
        ask = referee.ask()
        assert ask is not None
        assert ask.seat == 0
        note = "nothing beats the highest colour-run" if move == "claim 4" else None
        yield words, [ask.request(number, Points(0, 0), clock).decoded(), BotAction(number, move, note)]
        referee.answer(move, 3)
        reply = referee.ask()
        if reply is not None and reply.seat == 1:
            referee.answer("claim 4" if referee.game.owners[3] is not None else reply.legal[0].text, 3)
    assert referee.outcome is not None
    end: list[Message] = [
        translate.round_end(1, referee.outcome, SEATS[0], [revealed], referee.last_news(SEATS[0], Points(0, 0))),
        MatchEnd("m7", "win", Points(5, 0)),
    ]
    yield "The opponent names an illegal move: the round is won, its deal revealed, and with it the match.", end
    yield "There is nothing left to play. The bot leaves.", [Bye("the tournament is over")]


GENERATED = {
    "contents": contents,
    "glance": glance,
    "diagram": diagram,
    "transitions": transitions,
    "transcript": transcript,
    "perft": perft.table,
}


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

"""From a round of a journal to its positions. Pure: the engine plays the round again, and what each move did is read
off the positions before and after it."""

from collections.abc import Iterator
from typing import Any

import attrs

from arena.journal.endings import Fault, verify
from arena.journal.lines import RoundLine, game_record
from arena.replay.claim_reasons import reason_for
from arena.replay.movements import DECKS, Change, back_of, carried, movements
from arena.replay.positions import OVER, DrawnCard, Position, Replay, RoundFault, Step, StonePosition
from engine.actions import Action, Kind, parse
from engine.cards import SEATS, STONES, Card, Seat, Stone, card_texts, is_clan, other
from engine.game import Game


def replay_of(line: RoundLine) -> Replay:
    """All positions of the round. Raises EngineError or ValueError, saying where, if it was not played by the rules."""
    record = game_record(line)
    verify(record)
    game = Game.new(record.rules, record.deal, record.first)
    made = [_dealt(game)]
    for index, (_, text) in enumerate(record.moves):
        _, _, ms = line.moves[index]
        made.append(_after_move(made[-1], game, parse(text), ms, line.notes.get(str(index)), line.bots))
    if record.outcome is not None and isinstance(record.outcome.ending, Fault):
        made.append(_after_fault(made[-1], line))
    return Replay(
        id=line.id,
        match=line.match,
        round=line.round,
        rules=line.rules,
        bots=line.bots,
        first=line.first,
        started=line.started,
        winner=line.result.winner,
        ending=line.result.ending,
        points=line.result.points,
        view=None,
        steps=tuple(made),
    )


def position_of(game: Game) -> Position:
    """As it is now; since when sides are complete is not known."""
    return _position(game, tuple(_stone(game, stone, 0, (None, None)) for stone in STONES))


def _dealt(game: Game) -> Step:
    return Step(number=0, position=position_of(game))


def _after_move(
    last: Step, game: Game, action: Action, ms: int | None, note: str | None, bots: tuple[str, str]
) -> Step:
    """Applies the action to the game."""
    number, seat, before = last.number + 1, game.to_move, last.position
    decks = {"deck": game.clan_deck.copy(), "tactics": game.tactic_deck.copy()}
    claim = reason_for(game, seat, action.stone) if action.kind is Kind.CLAIM else None
    decision, changes = game.phase.value, game.changes.copy()
    game.apply(action)
    stones = (
        was if changes[stone] == game.changes[stone] else _stone(game, stone, number, was.complete_since)
        for stone, was in zip(STONES, before.stones, strict=True)
    )
    after = _position(game, tuple(stones))
    drawn = _drawn(decks, game, action)
    carry = _carried(before, after, decks, game, seat, drawn)
    return Step(
        number=number,
        turn=last.turn + (last.seat != seat),
        seat=seat,
        decision=decision,
        move=action.text,
        ms=ms,
        note=note,
        drawn=tuple(DrawnCard(seat, card) for card in drawn),
        claim=claim,
        reason=claim.text(bots[other(seat)]) if claim else None,
        stones_held=after.stones_held,
        movements=tuple(movements(before.places(), DECKS.values(), carry)),
        changes=tuple(_changes(before, after)),
        position=after,
    )


def _after_fault(last: Step, line: RoundLine) -> Step:
    seat = None if line.result.winner is None else 1 - line.result.winner
    asked = last.position.to_move
    after = attrs.evolve(last.position, phase=OVER, to_move=None)
    return Step(
        number=last.number + 1,
        turn=last.turn + (last.seat != asked),
        seat=seat,
        decision=last.position.phase if seat == asked else None,
        fault=RoundFault(seat, line.result.ending, line.fault.detail if line.fault else ""),
        stones_held=last.stones_held,
        changes=tuple(_changes(last.position, after)),
        position=after,
    )


def _stone(game: Game, stone: Stone, number: int, since: tuple[int | None, int | None]) -> StonePosition:
    first, second = (
        (number if since[seat] is None else since[seat]) if game.complete[seat] >> stone & 1 else None for seat in SEATS
    )
    return StonePosition(
        sides=(card_texts(game.sides[0][stone]), card_texts(game.sides[1][stone])),
        owner=game.owners[stone],
        modes=card_texts(game.modes[stone]),
        needs=game.needs[stone],
        complete_first=game.complete_first[stone],
        complete_since=(first, second),
    )


def _position(game: Game, stones: tuple[StonePosition, ...]) -> Position:
    over = game.outcome is not None
    return Position(
        stones=stones,
        hands=(card_texts(tuple(game.hands[0])), card_texts(tuple(game.hands[1]))),
        clan_deck=len(game.clan_deck),
        tactic_deck=len(game.tactic_deck),
        discard=card_texts(tuple(game.discard)),
        tactics_played=(card_texts(tuple(game.tactics_played[0])), card_texts(tuple(game.tactics_played[1]))),
        phase=game.phase.value,
        to_move=None if over else game.to_move,
        draws_left=game.draws_left,
        returns_left=game.returns_left,
    )


def _drawn(decks: dict[str, list[Card]], game: Game, action: Action) -> list[str]:
    """The cards that left a deck by its top. Comparing hands is not enough: a card returned to an empty deck may come
    right back."""
    found: list[Card] = []
    for name, now in (("deck", game.clan_deck), ("tactics", game.tactic_deck)):
        was = decks[name]
        if action.kind is Kind.RETURN and (name == "deck") is is_clan(action.card):
            was = [action.card, *was]
        found += reversed(was[len(now) :])
    return list(card_texts(tuple(found)))


def _carried(
    before: Position, after: Position, decks: dict[str, list[Card]], game: Game, seat: Seat, drawn: list[str]
) -> list[tuple[str, str, str]]:
    """Which cards went from where to where: first those of the move, then those that were drawn."""
    hand = f"hand{seat}"
    was = before.places() | {name: list(card_texts(tuple(deck))) for name, deck in decks.items()}
    now = after.places() | {
        "deck": list(card_texts(tuple(game.clan_deck))),
        "tactics": list(card_texts(tuple(game.tactic_deck))),
    }
    draws = [(card, DECKS[back_of(card)], hand) for card in drawn]
    for card, deck, _ in reversed(draws):
        now[hand].remove(card)
        now[deck].append(card)
    return [*carried(was, now), *draws]


def _changes(before: Position, after: Position) -> Iterator[Change]:
    """What a page shows that is different, besides where the cards lie."""
    for name in ("phase", "to_move"):
        yield from _change(name, getattr(before, name), getattr(after, name))
    for number, (was, now) in enumerate(zip(before.stones, after.stones, strict=True), 1):
        if was is not now:
            for name in ("owner", "needs"):
                yield from _change(f"{name}{number}", getattr(was, name), getattr(now, name))


def _change(name: str, before: Any, after: Any) -> Iterator[Change]:
    if before != after:
        yield Change(name, before, after)

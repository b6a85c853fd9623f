"""Turn a round of a journal into its positions. Pure: the engine plays the round once more, and comparing the positions
before and after a move shows what the move did."""

from collections.abc import Iterator
from typing import Any

import attrs

from arena.journal.endings import Fault, check
from arena.journal.lines import RoundLine, game_record
from arena.replay.claim_reasons import Reason, reason_for
from arena.replay.movements import DECKS, Change, Places, back_of, moved_cards, movements, places_of
from arena.replay.positions import DrawnCard, Replay, ReplayStep, RoundFault, Since
from engine.actions import Action, Kind
from engine.cards import CARD_TEXTS, SEATS, Card, card_texts, is_clan, other
from engine.game import Game
from engine.phase import Phase
from engine.position import Position, StonePosition
from engine.record import GameRecord, dealt, steps


@attrs.frozen
class _Cards:
    """A position and the places of all its cards, computed once for the steps before and after it."""

    position: Position
    places: Places
    face_up: Places  # the same, with the faces of the cards in the decks

    @staticmethod
    def of(game: Game) -> "_Cards":
        position = game.position()
        places = places_of(position)
        decks = {"deck": position.clan_deck, "tactics": position.tactic_deck}
        faces = {name: [CARD_TEXTS[card] for card in deck] for name, deck in decks.items()}
        return _Cards(position, places, places | faces)


def replay_of(line: RoundLine) -> Replay:
    """All positions of the round. Raises EngineError or ValueError, which say where, if it broke the rules."""
    record = game_record(line)
    game = dealt(record)
    before = _Cards.of(game)
    made = [ReplayStep(number=0, position=before.position)]
    for action, claim in _moves(record, game):
        after = _Cards.of(game)
        made.append(_after_move(made[-1], line, action, claim, before, after))
        before = after
    check(record, game)
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
        remark=line.assisted.words(line.bots[line.assisted.seat]) if line.assisted else "",
    )


def _moves(record: GameRecord, game: Game) -> Iterator[tuple[Action, Reason | None]]:
    """Yield each action after it was applied to the game, with the reason if it is a claim."""
    done: tuple[Action, Reason | None] | None = None
    # `steps` applies an action only when it is asked for the next one. Before that, the game is the position in which a
    # claim was made, from which its reason follows. After that, the action can be yielded.
    for step in steps(record, game):
        if done:
            yield done
        action = step.action
        done = action, _reason(game, action)
    if done:
        yield done


def _reason(game: Game, action: Action) -> Reason | None:
    """Why the claim holds; None for another action, and for an illegal claim, which the engine is about to refuse."""
    if action.kind is not Kind.CLAIM or action not in game.legal_actions():
        return None
    return reason_for(game, game.to_move, action.stone)


def _after_move(
    last: ReplayStep, line: RoundLine, action: Action, claim: Reason | None, before: _Cards, after: _Cards
) -> ReplayStep:
    index, seat = last.number, last.position.to_move
    drawn = card_texts(tuple(_drawn(before.position, after.position, action)))
    return ReplayStep(
        number=index + 1,
        turn=last.turn + (last.seat != seat),
        seat=seat,
        decision=last.position.phase.value,
        move=action.text,
        ms=line.moves[index][2],
        note=line.notes.get(str(index)),
        drawn=tuple([DrawnCard(seat, card) for card in drawn]),
        claim=claim,
        reason=claim.text(line.bots[other(seat)]) if claim else None,
        complete_since=_complete_since(last, after.position),
        movements=tuple(movements(before.places, DECKS.values(), _moved_cards(before, after, drawn))),
        changes=tuple(_changes(before.position, after.position)),
        position=after.position,
    )


def _after_fault(last: ReplayStep, line: RoundLine) -> ReplayStep:
    """The step for the fault that ended the round: nothing moves, and the round is over."""
    seat = None if line.result.winner is None else 1 - line.result.winner
    asked = last.position.decides
    after = attrs.evolve(last.position, phase=Phase.OVER)
    return ReplayStep(
        number=last.number + 1,
        turn=last.turn + (last.seat != asked),
        seat=seat,
        decision=last.position.phase.value if seat == asked else None,
        fault=RoundFault(seat, line.result.ending, line.fault.detail if line.fault else ""),
        complete_since=last.complete_since,
        changes=tuple(_changes(last.position, after)),
        position=after,
    )


def _complete_since(last: ReplayStep, after: Position) -> tuple[Since, ...]:
    """For each stone, the numbers of the positions in which its sides became complete."""
    stones = zip(last.position.stones, after.stones, last.complete_since, strict=True)
    return tuple([since if was == now else _since(now, since, last.number + 1) for was, now, since in stones])


def _since(stone: StonePosition, since: Since, number: int) -> Since:
    first, second = (
        (number if since[seat] is None else since[seat]) if stone.is_complete(seat) else None for seat in SEATS
    )
    return first, second


def _drawn(before: Position, after: Position, action: Action) -> Iterator[Card]:
    """The cards that were drawn from the decks. Comparing hands is not enough: a card that is returned to an empty deck
    may be drawn at once."""
    for is_clan_deck, was, now in (
        (True, before.clan_deck, after.clan_deck),
        (False, before.tactic_deck, after.tactic_deck),
    ):
        if action.kind is Kind.RETURN and is_clan_deck is is_clan(action.card):
            was = (*was, action.card)
        yield from was[: len(was) - len(now)]


def _moved_cards(before: _Cards, after: _Cards, drawn: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """(card, source, target) for each card that changed places: first those of the move, then those that were drawn."""
    hand = f"hand{before.position.to_move}"
    draws = [(card, DECKS[back_of(card)], hand) for card in drawn]
    undrawn = {name: after.face_up[name].copy() for name in (hand, *DECKS.values())}
    for card, deck, _ in reversed(draws):
        undrawn[hand].remove(card)
        undrawn[deck].insert(0, card)
    return [*moved_cards(before.face_up, after.face_up | undrawn), *draws]


def _changes(before: Position, after: Position) -> Iterator[Change]:
    """What a page has to change, besides the places of cards."""
    yield from _change("phase", before.phase.value, after.phase.value)
    yield from _change("to_move", before.decides, after.decides)
    for number, (was, now) in enumerate(zip(before.stones, after.stones, strict=True), 1):
        if was != now:
            yield from _change(f"owner{number}", was.owner, now.owner)
            yield from _change(f"needs{number}", was.needs, now.needs)


def _change(name: str, before: Any, after: Any) -> Iterator[Change]:
    if before != after:
        yield Change(name, before, after)

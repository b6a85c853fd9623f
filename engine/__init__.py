"""The rules of Schotten Totten, exact and pure: no clock, no files, no trio, no global randomness."""

from engine.actions import Action, Kind, every_action, parse
from engine.cards import CARD_TEXTS, Card, Seat, Stone
from engine.deal import Deal
from engine.errors import DealError, EngineError, IllegalActionError, NotationError, PositionError, RecordError
from engine.game import Game
from engine.phase import Phase
from engine.position import Position, StonePosition
from engine.position_text import position_from_text, position_to_text
from engine.record import GameRecord, replay, steps, verify
from engine.ruleset import PRESETS, RULE_SETS, Begins, ClaimTime, RuleSet
from engine.sampling import sample
from engine.scoring import Ending, Forfeit, Outcome, Score

__all__ = [
    "CARD_TEXTS",
    "PRESETS",
    "RULE_SETS",
    "Action",
    "Begins",
    "Card",
    "ClaimTime",
    "Deal",
    "DealError",
    "Ending",
    "EngineError",
    "Forfeit",
    "Game",
    "GameRecord",
    "IllegalActionError",
    "Kind",
    "NotationError",
    "Outcome",
    "Phase",
    "Position",
    "PositionError",
    "RecordError",
    "RuleSet",
    "Score",
    "Seat",
    "Stone",
    "StonePosition",
    "every_action",
    "parse",
    "position_from_text",
    "position_to_text",
    "replay",
    "sample",
    "steps",
    "verify",
]

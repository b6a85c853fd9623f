"""The rules of Schotten Totten, exact and pure: no clock, no files, no trio, no global randomness."""

from engine.actions import Action, Kind, every_action, parse
from engine.cards import Card, Seat, Stone
from engine.deal import Deal, round_seed
from engine.errors import DealError, EngineError, IllegalAction, NotationError
from engine.game import Game
from engine.phase import Phase
from engine.ruleset import PRESETS, RULE_SETS, Begins, ClaimTime, RuleSet
from engine.scoring import Ending, Outcome, Score

__all__ = [
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
    "Game",
    "IllegalAction",
    "Kind",
    "NotationError",
    "Outcome",
    "Phase",
    "RuleSet",
    "Score",
    "Seat",
    "Stone",
    "every_action",
    "parse",
    "round_seed",
]

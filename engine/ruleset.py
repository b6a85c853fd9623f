"""The rules that a round can be played by, and their names."""

import enum
from typing import Final

import attrs

from engine.arguments import Given, checked
from engine.errors import NotationError


class ClaimTime(enum.Enum):
    """When in a turn a player may claim stones."""

    AFTER_PLAY = "after-play"
    TURN_START = "turn-start"

    @property
    def words(self) -> str:
        """The time in a sentence such as "stones are claimed after playing"."""
        return "at the start of a turn" if self is ClaimTime.TURN_START else "after playing"


class Begins(enum.Enum):
    """Who begins the next round of a match."""

    ALTERNATE = "alternate"
    WINNER = "winner"


@attrs.frozen
class RuleSet:
    """One choice of the three settings that differ between editions of the game."""

    tactics: bool = False
    claims: ClaimTime = ClaimTime.AFTER_PLAY
    begins: Begins = Begins.ALTERNATE

    @property
    def hand_limit(self) -> int:
        """The number of cards up to which a hand is filled."""
        return 7 if self.tactics else 6

    @property
    def name(self) -> str:
        """The one name of this choice, as `named` reads it."""
        return _NAMES[self]

    @staticmethod
    def named(name: Given[str]) -> "RuleSet":
        """The rule set of this name. Raises NotationError, which lists all names."""
        name = checked(name, str, f"the name of a rule set, such as {next(iter(RULE_SETS))!r}")
        try:
            return RULE_SETS[name]
        except KeyError:
            known = ", ".join(RULE_SETS)
            raise NotationError(f"{name!r} is not a rule set; there are: {known}") from None


PRESETS: Final = {
    "base": RuleSet(),
    "expert": RuleSet(claims=ClaimTime.TURN_START),
    "tactics": RuleSet(tactics=True),
    "tactics-expert": RuleSet(tactics=True, claims=ClaimTime.TURN_START),
    "classic": RuleSet(claims=ClaimTime.TURN_START, begins=Begins.WINNER),
}

# The three settings are independent, so the presets leave three combinations without a name. These are named here, so
# that one word always identifies a rule set.
RULE_SETS: Final = PRESETS | {
    f"{name}-winner-begins": attrs.evolve(PRESETS[name], begins=Begins.WINNER)
    for name in ("base", "tactics", "tactics-expert")
}
_NAMES = {rules: name for name, rules in RULE_SETS.items()}

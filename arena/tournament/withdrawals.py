"""What is said of bots that are withdrawn: which they are, and how each of them can play again. Pure."""

from collections.abc import Iterator

from arena.plan.bot_spec import BotSpec
from arena.plan.config import Config, OnChange
from arena.tournament.events import BotReadmitted, BotWithdrawn, Comeback
from arena.tournament.ledger import Ledger


def withdrawal(config: Config, name: str, *, still: bool = False) -> BotWithdrawn:
    """The event about a bot that is withdrawn now, or `still` after a resume."""
    spec = next(bot for bot in config.bots if bot.name == name)
    comeback = Comeback.NONE
    if isinstance(spec, BotSpec):
        comeback = Comeback.REPAIRED if config.changed is OnChange.CONTINUE else Comeback.ACCEPTED
    return BotWithdrawn(name, config.max_faults, still, comeback)


def withdrawals_at_start(config: Config, ledger: Ledger) -> Iterator[BotReadmitted | BotWithdrawn]:
    """What the organiser has to know of withdrawals when a tournament resumes."""
    for name in ledger.readmitted:
        yield BotReadmitted(name)
    for name in ledger.withdrawn:
        yield withdrawal(config, name, still=True)

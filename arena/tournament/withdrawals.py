"""What is said of bots that are withdrawn: which they are, and how each of them can play again. Pure."""

from collections.abc import Callable, Iterator

from arena.plan.config import Config, OnChange
from arena.tournament.ledger import Ledger
from arena.tournament.tournament_events import BotReadmitted, BotWithdrawn, Comeback


def withdrawal(config: Config, ledger: Ledger, name: str, later: bool, *, still: bool = False) -> BotWithdrawn:
    """The event about a bot that is withdrawn now, or `still` after a resume. `later` says whether some of its matches
    are forfeited only after others are over."""
    spec = next(bot for bot in config.bots if bot.name == name)
    if spec.program is None or not ledger.state.players.of(name):
        comeback = Comeback.NONE
    elif not later:
        comeback = Comeback.TOO_LATE
    else:
        comeback = Comeback.REPAIRED if config.changed is OnChange.CONTINUE else Comeback.ACCEPTED
    return BotWithdrawn(name, config.max_faults, still, comeback)


def withdrawals_at_start(
    config: Config, ledger: Ledger, forfeits_later: Callable[[str], bool]
) -> Iterator[BotReadmitted | BotWithdrawn]:
    """What the organiser has to know of withdrawals when a tournament resumes."""
    for name in ledger.readmitted:
        yield BotReadmitted(name)
    for name in ledger.withdrawn:
        yield withdrawal(config, ledger, name, forfeits_later(name), still=True)

"""Which bots were started in a sandbox, over all tournaments of the standings. Pure."""

from collections.abc import Iterable

from arena.plan.recorded_config import RecordedConfig
from arena.plan.sandbox import Level

MIXED = "mixed"  # not the same in all tournaments


class Sandboxes:
    """The levels of all bots that the arena started. Bots that connected ran elsewhere, and have none."""

    def __init__(self) -> None:
        self._levels: dict[str, set[Level]] = {}

    def add(self, config: RecordedConfig) -> None:
        for bot in config.bots or ():
            if not bot.remote:
                self._levels.setdefault(bot.name, set()).add(bot.sandbox.level if bot.sandbox else Level.NONE)

    def of(self, name: str) -> str | None:
        """The level of a bot, in one word; None if the arena did not start it."""
        levels = self._levels.get(name)
        if not levels:
            return None
        return next(iter(levels)).value if len(levels) == 1 else MIXED

    def notes(self) -> list[str]:
        """Remarks for people; none if no bot was to be started in a sandbox."""
        if not set().union(*self._levels.values()) - {Level.NONE}:
            return []
        if all(levels == {Level.FULL} for levels in self._levels.values()):
            return ["All bots that the arena started were in a sandbox."]
        kept, missing, open_ = (self._with(level) for level in (Level.FULL, Level.MISSING, Level.NONE))
        found = [f"In a sandbox: {_listed(kept)}."] if kept else []
        found += [f"Started without a sandbox, because it was unavailable: {_listed(missing)}."] if missing else []
        return found + ([f"Started without a sandbox: {_listed(open_)}."] if open_ else [])

    def _with(self, level: Level) -> list[str]:
        return [name for name, levels in sorted(self._levels.items()) if level in levels]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)

"""The players of a recorded tournament: which versions of its bots the journal knows. Pure."""

import attrs

from arena.journal.identity import BotLine


@attrs.define
class Players:
    """The identities that lines of the journal describe."""

    most: int | None = None  # of each bot that are remembered, the last ones; None: all of them
    _by_name: dict[str, dict[str, BotLine]] = attrs.field(factory=dict)  # then by id, the oldest first

    def add(self, line: BotLine) -> None:
        known = self._by_name.setdefault(line.name, {})
        known.setdefault(line.id, line)
        if self.most is not None:
            forget_oldest(known, self.most)

    def of(self, name: str) -> tuple[BotLine, ...]:
        """The identities of a bot, the oldest first."""
        return tuple(self._by_name.get(name, {}).values())

    def has(self, name: str, id: str) -> bool:
        return id in self._by_name.get(name, ())

    def find(self, id: str | None) -> BotLine | None:
        """The identity with this id, whatever the name of its bot."""
        return next((known[id] for known in self._by_name.values() if id in known), None)

    def version(self, id: str | None) -> str:
        """Which version this is, for people; empty if it is not known."""
        found = self.find(id)
        return found.short if found else ""


def forget_oldest(lines: dict[str, BotLine], most: int) -> None:
    while len(lines) > most:
        del lines[next(iter(lines))]

"""What the names in journals stand for: programs, versions and rule sets, and which of them are rated apart. Pure.

Ratings compare players, not names. By default a name is one player, unless it stands for different programs in several
tournaments, or was played by different rules: those are rated apart in any case. Within one tournament, and for bots
that connect, of which only claims are known, versions are rated together, and a remark says so. `RatedBy.VERSION` rates
all of them apart. Where a name is not enough, a player gets a label of its own, which takes the place of the name in
all standings.
"""

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from arena.journal.identity import BotLine, is_recorded_name
from arena.journal.lines import PlayerIds
from arena.plan.recorded_config import RecordedConfig
from arena.support.text import cropped, printable

MIXED: Final = "mixed"
_VERSION_WIDTH: Final = 24  # columns
_MOST_NAMED: Final = 6  # players in a remark about one name


class RatedBy(enum.Enum):
    """What is rated as one player."""

    NAME = "name"
    VERSION = "version"


@attrs.frozen
class RatedPlayer:
    """Whoever is rated as one. None means that it is not known, that there are several, or that it does not matter."""

    bot: str
    version: str | None = None
    fingerprint: str | None = None  # shortened
    rules: str | None = None
    is_known: bool = True  # False for rounds that do not say who played


class Roster:
    """Who played in some journals. Memory grows with the number of bots and versions, not with that of rounds."""

    def __init__(self) -> None:
        self.rules: list[str | None] = []  # by tournament
        self.rules_of: dict[str, set[str]] = {}  # by name
        self._lines: dict[str, BotLine] = {}  # by id, which is the same in all journals
        self._by_name: dict[str, list[BotLine]] = {}
        self._versions: dict[tuple[str, str], set[str]] = {}  # that a program said, by name and fingerprint
        self._programs: dict[str, set[frozenset[str]]] = {}  # by name: those of each tournament
        self._of_this: dict[str, set[str]] = {}  # the programs of the tournament that began last

    def begin(self, config: RecordedConfig) -> None:
        self._end_of_tournament()
        self.rules.append(config.rules)
        for bot in config.bots or ():
            self.rules_of.setdefault(bot.name, set()).update([config.rules] if config.rules else ())

    def _end_of_tournament(self) -> None:
        for name, programs in self._of_this.items():
            self._programs.setdefault(name, set()).add(frozenset(programs))
        self._of_this.clear()

    def add(self, line: BotLine) -> None:
        """Add an identity of the tournament that began last."""
        if line.id not in self._lines:
            self._lines[line.id] = line
            self._by_name.setdefault(line.name, []).append(line)
        if line.fingerprint is not None:
            program = line.fingerprint.short
            self._of_this.setdefault(line.name, set()).add(program)
            self._versions.setdefault((line.name, program), set()).update([line.version] if line.version else ())

    def lines(self) -> list[BotLine]:
        """All identities, in the order in which they were recorded."""
        return list(self._lines.values())

    def by_id(self) -> dict[str, RatedPlayer]:
        """The players by their identities."""
        return {id: _player(line, self._versions) for id, line in self._lines.items()}

    def players(self) -> dict[str, list[RatedPlayer]]:
        """The players of each name."""
        found: dict[str, dict[RatedPlayer, None]] = {}
        for player in self.by_id().values():
            found.setdefault(player.bot, {})[player] = None
        return {name: list(players) for name, players in sorted(found.items())}

    def of(self, name: str) -> RatedPlayer:
        """A name as one player."""
        players = [_player(line, self._versions) for line in self._by_name.get(name, ())]
        versions, programs = ({player.version for player in players}, {player.fingerprint for player in players})
        return RatedPlayer(name, _only(versions), _only(programs), _only({*self.rules_of.get(name, ())}))

    def notes(self) -> list[str]:
        """Remarks, if versions are not distinguished: which of them stand for several versions."""
        several = [f"{printable(name)} ({_described(each)})" for name, each in self.players().items() if len(each) > 1]
        together = f"Versions that are rated together: {'; '.join(several)}."
        return [f"{together} `arena table --by version` rates them apart."] if several else []

    def apart(self, by: RatedBy) -> "Naming | None":
        """How to name players if some names stand for several of them; None if names are enough."""
        self._end_of_tournament()
        programs = {name for name, sets in self._programs.items() if len(sets) > 1}
        rules = {name for name, sets in self.rules_of.items() if len(sets) > 1}
        if by is RatedBy.VERSION:
            return Naming(self, {*self.rules_of, *self.players()}, rules, unasked=set())
        return Naming(self, programs, rules, unasked=programs) if programs or rules else None


def _player(line: BotLine, versions: Mapping[tuple[str, str], set[str]]) -> RatedPlayer:
    """A player by its identity. A program that did not start has not said its version, but may have at other times."""
    if line.fingerprint is None:
        return RatedPlayer(line.name, line.version)
    program = line.fingerprint.short
    said = versions[line.name, program]
    return RatedPlayer(line.name, line.version or (next(iter(said)) if len(said) == 1 else None), program)


def _only(values: set[str | None]) -> str | None:
    return MIXED if len(values) > 1 else next(iter(values), None)


class Naming:
    """Gives each player of a round a label. Of the names in `versions`, versions are distinguished, and of those in
    `rules`, rule sets. `unasked` are the names of which nobody asked for that, so that a remark is due. Rounds have to
    come in the order of the journals."""

    def __init__(self, roster: Roster, versions: set[str], rules: set[str], *, unasked: set[str]):
        self._roster = roster
        self._versions, self._rules, self._unasked = versions, rules, unasked
        self._known = roster.by_id()
        self._tournament = 0
        self._last: dict[str, RatedPlayer] = {}  # by name: who played last in this tournament
        self._only = {name: each[0] for name, each in roster.players().items() if len(each) == 1}
        self._labels = self._labelled()
        self.players: Mapping[str, RatedPlayer] = {label: player for player, label in self._labels.items()}
        self.order = tuple(self.players)  # of the labels, for those who store many of them
        self.place: Mapping[str, int] = {label: place for place, label in enumerate(self.order)}

    def names(self, tournament: int, bots: tuple[str, str], ids: PlayerIds | None) -> tuple[str, str]:
        """The labels of the bots of a round, or of a void one, in the tournament with this number, from 1."""
        if tournament != self._tournament:
            self._tournament = tournament
            self._last.clear()
        if bots[0] == bots[1]:
            return bots  # an impossible round, which is reported
        one, two = ids or (None, None)
        knows = ids is not None
        return self._label(bots[0], one, knows), self._label(bots[1], two, knows)

    def _label(self, name: str, id: str | None, knows: bool) -> str:
        """The label of a bot. One that was not asked to play, as a journal says that `knows` who played, counts as the
        one that played last; if none has yet, as the only one of its name."""
        known = self._known.get(id) if id is not None else None
        if known is not None and known.bot == name:
            self._last[name] = known
        only = self._only.get(name) if knows and id is None else None
        player = self._last.get(name) or only or RatedPlayer(name, is_known=False)
        return self._labels.get(self._key(player, self._roster.rules[self._tournament - 1]), name)

    def _key(self, player: RatedPlayer, rules: str | None) -> RatedPlayer:
        """The player as far as it is distinguished from others."""
        known = player if player.bot in self._versions else RatedPlayer(player.bot)
        return attrs.evolve(known, rules=rules if player.bot in self._rules else None)

    def _labelled(self) -> dict[RatedPlayer, str]:
        """All players with their labels; each has one that no other has. Texts that are no names have none."""
        # All that may have to be named: each known player and the unknown one of its name, by each rule set, as far as
        # these are distinguished.
        names, every = self._roster.rules_of.keys(), self._roster.players()
        players: dict[RatedPlayer, None] = {}
        for name in sorted(filter(is_recorded_name, {*names, *every})):
            for player in (RatedPlayer(name, is_known=False), *every.get(name, ())):
                rules = (None, *sorted(self._roster.rules_of.get(name, ())))
                players.update(dict.fromkeys(self._key(player, each) for each in rules))
        # A version is enough if no other program of that name has it; the name alone, if there is one program.
        known = {(each.bot, each.version, each.fingerprint) for each in players if each.is_known}
        alike = Counter((bot, version) for bot, version, _ in known)
        versions = Counter(bot for bot, _, _ in known)
        # The shortest label that no player has yet, and that is not the name of another bot.
        labels: dict[RatedPlayer, str] = {}
        taken: set[str] = set()
        for player in players:
            by_version = player.is_known and alike[player.bot, player.version] == 1
            is_enough = by_version and (player.version is not None or versions[player.bot] == 1)
            free = (each for each in _candidates(player, is_enough) if each not in taken)
            labels[player] = label = next(each for each in free if each == player.bot or each not in names)
            taken.add(label)
        return labels

    def described(self, label: str, roster: Roster) -> RatedPlayer:
        """The player with this label, with what need not be distinguished, too."""
        player = self.players[label]
        whole = roster.of(player.bot)
        if player.bot not in self._versions:
            return attrs.evolve(whole, rules=player.rules or whole.rules)
        return attrs.evolve(player, rules=player.rules or whole.rules)

    def notes(self) -> list[str]:
        """Remarks: what is distinguished although nobody asked for it, and why."""
        reasons = {
            "several rule sets were played": self._rules,
            "the name stands for different programs": self._unasked,
        }
        return [
            f"Rated apart, because {why}: {', '.join(map(printable, sorted(names)))}."
            for why, names in reasons.items()
            if names
        ]


def _candidates(player: RatedPlayer, is_enough: bool) -> Iterator[str]:
    """Labels for a player, the shortest first. `is_enough`: no other player has its name and version."""
    version = cropped(printable(player.version), _VERSION_WIDTH) if player.version else ""
    name = f"{player.bot} {version}".strip()
    rules = [cropped(printable(player.rules), _VERSION_WIDTH)] if player.rules else []
    program = [player.fingerprint or "connected"] if player.is_known else ["version not recorded"]
    if is_enough:
        yield name + _in_brackets(rules)
    yield name + _in_brackets([*program, *rules])
    number = 2
    while True:
        yield name + _in_brackets([*program, *rules, str(number)])
        number += 1


def _in_brackets(words: Iterable[str]) -> str:
    text = ", ".join(words)
    return f" ({text})" if text else ""


def _described(players: Iterable[RatedPlayer]) -> str:
    """The versions of a name, in a remark."""
    texts = [" ".join(filter(None, (player.version, player.fingerprint))) or "no version" for player in players]
    texts = [cropped(printable(text), _VERSION_WIDTH) for text in texts]
    return ", ".join(texts[:_MOST_NAMED]) + (", …" if len(texts) > _MOST_NAMED else "")

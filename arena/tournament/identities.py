"""Who played, as the journal of a tournament knows it, and whether a bot has changed since.

An identity is written once in each tournament, right before the first round that refers to it. A bot that changes
between two runs is refused or accepted as the organiser wishes; one that changes during a run, or connects, is always
accepted, because no bot and no author shall be able to stop a tournament. In any case the rounds are distinguished.
Only a format that is of one version of each bot ends as soon as a program changes.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from arena.journal.identity import Fingerprint, changes
from arena.journal.lines import AnyRound, BotLine, JournalError
from arena.journal.players import forget_oldest
from arena.journal.tournament_state import TournamentState
from arena.plan.config import Config, OnChange
from arena.processes.fingerprint import fingerprint_of
from arena.support.text import counted
from arena.tournament.tournament_events import BotIdentified

# Identities that are remembered: a bot may say another version each time that it starts. One that was forgotten is in
# the journal, and comes into it again if it is reported again.
_MOST_OF_A_NAME: Final = 100
_MOST_REPORTED: Final = 10_000  # that are not in the journal yet: the first round of each is under way
WHAT_BELONGS: Final = "A file that is no part of the bot can be left out: fingerprint says what belongs to it."
_Claims = tuple[str | None, str | None, str | None]


@attrs.define
class Identities:
    """The identities of a tournament's bots that its journal gets with their first rounds."""

    state: TournamentState
    _reported: dict[str, BotLine] = attrs.field(factory=dict)  # by id
    unknown: int = 0  # rounds that do not say who played

    def __attrs_post_init__(self) -> None:
        self.state.players.most = _MOST_OF_A_NAME

    def report(self, line: BotLine) -> None:
        """Learn of an identity, to which rounds may refer from now on."""
        if not self.state.players.has(line.name, line.id):
            self._reported[line.id] = line
            forget_oldest(self._reported, _MOST_REPORTED)

    def before(self, line: AnyRound) -> Iterator[BotIdentified]:
        """Yield what has to be written before this round. A match reports each identity once, so one that is not known
        here was written before an earlier round, and forgotten since."""
        for name, id in zip(line.bots, line.players or (), strict=False):
            if id is not None and (now := self._reported.pop(id, None)) is not None:
                earlier = self.state.players.of(name)
                self.state.add(now)
                yield BotIdentified(now, tuple(differences(earlier[-1], now)) if earlier else ())


def differences(before: BotLine, now: BotLine) -> Iterator[str]:
    """Yield how two identities of a bot differ, for people."""
    if before.fingerprint and now.fingerprint:
        yield from changes(before.fingerprint, now.fingerprint)
    what = ("version", "author", "name")
    for word, was, is_now in zip(what, _claims(before), _claims(now), strict=True):
        if was != is_now:
            yield f"its {word} is {_quoted(is_now)}, before {_quoted(was)}"


def _claims(line: BotLine) -> _Claims:
    return line.version, line.author, line.calls_itself


def _quoted(claim: str | None) -> str:
    return "not said" if claim is None else repr(claim)


def check_unchanged(
    journal: Path, identities: Identities, config: Config, withdrawn: Collection[str], *, is_over: bool
) -> list[str]:
    """Compare the programs of the bots with those that the journal knows. Returns remarks for the organiser. Raises
    JournalError if one has changed and the organiser did not accept that. If nothing is left to play (`is_over`), a
    remark is enough, unless the format is of one version: there the result is an answer about it. `withdrawn` are the
    bots that forfeit their rounds."""
    found, again = [], []
    one_version = identities.state.format.one_version
    for bot in config.programs:
        known = identities.state.players.of(bot.name)
        if not known:
            continue
        now = fingerprint_of(bot)
        accepted = known[:1] if one_version else known
        if all(line.fingerprint != now for line in accepted):
            found.append(_changed(accepted[-1], now))
            again += [bot.name] if bot.name in withdrawn else []
    if is_over and not one_version:
        return [f"{each}. The results are those of the bot as it was." for each in found]
    if found and config.changed is OnChange.REFUSE:
        raise JournalError(refusal(journal, found, again, one_version))
    if not identities.unknown:
        return []
    rounds = counted(identities.unknown, "round")
    return [f"{journal}: of {rounds} it is not known which versions of the bots played; from now on it is recorded"]


def _changed(before: BotLine, now: Fingerprint) -> str:
    what = changes(before.fingerprint, now) if before.fingerprint else ("its program was not recorded",)
    return f"{before.name} has changed since {before.started}: {'; '.join(what)}"


def repaired(identities: Identities, config: Config, withdrawn: Mapping[str, str | None]) -> list[str]:
    """The withdrawn bots that are another program now than the one that failed, which the organiser accepts.
    `withdrawn` has the ids of those that failed. If an id is not known, it was the last one that is; if none is,
    nothing shows that the program is another one."""
    if config.changed is not OnChange.CONTINUE:
        return []
    found = []
    for bot in config.programs:
        if bot.name in withdrawn:
            known = identities.state.players.of(bot.name)
            failed = next((line for line in known if line.id == withdrawn[bot.name]), known[-1] if known else None)
            found += [bot.name] if failed and failed.fingerprint != fingerprint_of(bot) else []
    return found


def refusal(journal: Path, found: Sequence[str], withdrawn: Sequence[str], one_version: str) -> str:
    """Why a tournament with changed bots does not resume, and what to do. `withdrawn` are those of them that forfeit
    their rounds so far; `one_version` says why its format accepts no change, if it does not."""
    remedy = (
        "Begin another journal (--journal FILE), or go on in this one with --changed continue: then each "
        "round is recorded with the version that played it, and arena table --by version rates each version by itself."
    )
    if withdrawn:
        play = "plays" if len(withdrawn) == 1 else "play"
        remedy += f" {' and '.join(withdrawn)}, withdrawn so far, {play} again then."
    if one_version:
        remedy = f"Begin another journal (--journal FILE), or remove this one: {one_version}."
    changes_found = "".join(f"  {line}\n" for line in found)
    return f"{journal}: the rounds of two versions of a bot would be mixed:\n{changes_found}{remedy} {WHAT_BELONGS}"


def new_claim(known: Sequence[BotLine], now: BotLine) -> str | None:
    """How a program that is the same as before a resume describes itself differently, because something that its
    fingerprint does not contain has changed. None if it does not, or if it always says something else."""
    said = {_claims(line) for line in known if line.fingerprint == now.fingerprint} - {(None, None, None)}
    claims = _claims(now)
    if len(said) != 1 or claims in said or claims == (None, None, None):
        return None
    last = [line for line in known if _claims(line) in said][-1]
    return f"{now.name} has changed since {last.started}: {'; '.join(differences(last, now))}"

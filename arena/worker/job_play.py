"""Play a match job: all rounds that are missing, each until it counts. Pure: it says what it wants (bots/wants.py).

A bot that is withdrawn forfeits its rounds without being asked. Faults of bots arrive here as values (see match.py). An
exception is our own bug, or the machine ran out of something: then the round is void and played again.
"""

import traceback
from collections import Counter
from collections.abc import Collection
from typing import Protocol

import msgspec

from arena.bots.wants import Logic
from arena.journal.endings import Fault
from arena.journal.lines import PlayerIds, RoundLine, outcome_of
from arena.match.audience import Audience
from arena.match.match import Match, PlayedRound
from arena.match.referee import Referee
from arena.match.round_play import Players, Void
from arena.plan.bot_spec import Restart
from arena.plan.deals import Dealt, GrantedDeals
from arena.plan.schedule import PlannedRound
from arena.support.signals import first_exception
from arena.support.timekeeping import Stalls
from arena.support.timestamps import utc_now
from arena.worker.fault_bundle import bundle_files, bundle_folder, is_worth_a_bundle, write_bundle
from arena.worker.job import (
    BotIdentified,
    DealExposed,
    DealWanted,
    FaultBundled,
    MatchJob,
    Report,
    RoundFinished,
    RoundStarted,
    RoundVoid,
)
from arena.worker.recording import round_line, void_line
from engine.cards import SEATS


class MatchOwner(Protocol):
    """Where a match reports, and learns what is decided elsewhere."""

    def report(self, report: Report) -> Logic[None]:
        """Hand in a report; if the next round may depend on it (`waits`), wait until it is processed."""

    def warn(self, text: str) -> None:
        """Tell the organiser something."""

    def is_withdrawn(self, name: str) -> bool: ...

    def may_excuse(self, name: str) -> bool:
        """Whether the lateness of this bot, or the death of its keeper, may still make a round void."""


class JobPlay:
    def __init__(
        self, job: MatchJob, players: Players, stalls: Stalls, owner: MatchOwner, audience: Audience | None = None
    ):
        self._job = job
        self._players = players
        self._owner = owner
        self._score = job.so_far.score
        self._voids = Counter(job.so_far.voids)
        self._unsent: list[FaultBundled] = []  # of the last fault
        self._stalls = stalls
        self._introduced: set[str] = set()  # ids of players
        self._match = Match(
            job.planned,
            job.rules,
            players,
            stalls,
            self._keep_fault,
            owner.may_excuse,
            audience,
            self._show,
        )

    def play(self) -> Logic[None]:
        for planned in self._job.planned.rounds:
            if planned.id not in self._job.so_far.finished:
                line = yield from self._play_until_valid(planned)
                yield from self._introduce(line.players or ())
                yield from self._owner.report(RoundFinished(line))
                yield from self._dismiss(Restart.ROUND)
        yield from self._match.conclude(self._score)
        yield from self._dismiss(Restart.MATCH)

    def _introduce(self, ids: Collection[str | None]) -> Logic[None]:
        """Report who the players with these ids are, once for each match."""
        for player in self._players:
            identity = player.identity
            if identity is not None and identity.id in ids and identity.id not in self._introduced:
                self._introduced.add(identity.id)
                yield from self._owner.report(BotIdentified(identity))

    def _dismiss(self, restart: Restart) -> Logic[None]:
        for player in self._players:
            if player.spec.restart is restart:
                yield from player.leave()

    def _play_until_valid(self, planned: PlannedRound) -> Logic[RoundLine]:
        job = self._job
        self._score = self._score.begun_by(planned.first)
        while True:
            dealt = yield from self._deal(planned)
            lost = self._stalls.lost
            if any(map(self._owner.is_withdrawn, job.names)):
                played = self._forfeited(planned, dealt)
            else:
                yield from self._owner.report(RoundStarted(job.planned.id, planned, job.names))
                played = yield from self._try(planned, dealt)
            while self._unsent:
                yield from self._owner.report(self._unsent.pop())
            if played.void is None:
                line = round_line(played, job.planned.id, job.names, job.rules, self._who_played(played))
                if job.relocation is not None:
                    line = msgspec.structs.replace(line, delay=round((self._stalls.lost - lost) * 1000))
                self._score = self._score.after(outcome_of(line.result))
                return line
            for player in self._players:
                yield from player.leave()
            self._voids[planned.id] += 1
            line_of_void = void_line(planned, job.planned.id, job.names, played.void, played.started)
            yield from self._owner.report(RoundVoid(line_of_void))

    def _who_played(self, played: PlayedRound) -> PlayerIds:
        one, two = (None if played.withdrawn or not each.identity else each.identity.id for each in self._players)
        return one, two

    def _try(self, planned: PlannedRound, dealt: Dealt) -> Logic[PlayedRound]:
        try:
            return (yield from self._match.play_round(planned, self._score, dealt, utc_now()))
        except Exception as error:
            cause = first_exception(error)
            reason = f"{cause.strerror}" if isinstance(cause, OSError) else traceback.format_exc()
            return self._unplayed(planned, dealt, Void(f"the arena failed: {reason}"))

    def _unplayed(self, planned: PlannedRound, dealt: Dealt, void: Void | None) -> PlayedRound:
        referee = Referee(self._job.rules, dealt.deal, self._score.first)
        return PlayedRound(planned, self._score.first, dealt, referee, utc_now(), void, withdrawn=void is None)

    def _forfeited(self, planned: PlannedRound, dealt: Dealt) -> PlayedRound:
        """The round as forfeited by a withdrawn bot, without asking anything of either bot."""
        played = self._unplayed(planned, dealt, None)
        absent = [seat for seat in SEATS if self._owner.is_withdrawn(self._job.names[seat])]
        reason = f"withdrawn after {self._job.max_faults} faults in a row"
        if len(absent) == len(SEATS):
            played.referee.nobody_started(reason, reason)
        else:
            played.referee.forfeit(absent[0], Fault.FAILED_TO_START, reason)
        return played

    def _deal(self, planned: PlannedRound) -> Logic[Dealt]:
        key, voids = self._job.key, self._voids[planned.id]
        if isinstance(key, GrantedDeals) and not key.has(planned.id, voids):
            yield from self._owner.report(DealWanted(self._job.planned.id, planned.id, voids))
        return key.deal(
            planned,
            self._job.rules,
            voids=voids,
            resumes=self._job.resumes,
            bots=self._job.names,
        )

    def _show(self) -> Logic[None]:
        yield from self._introduce([player.identity.id for player in self._players if player.identity])
        yield from self._owner.report(DealExposed(self._job.planned.id))

    def _keep_fault(self, played: PlayedRound, players: Players) -> str | None:
        if self._job.faults is None:
            return None
        folder, fault = bundle_folder(self._job.faults, played, players), played.referee.fault
        assert fault is not None
        name = self._job.names[fault.seat]
        try:
            if not self._job.relocation and not is_worth_a_bundle(folder.parent, name, fault.ending):
                return None
            files = bundle_files(folder, self._job, played, players, self._score.points)
            if self._job.relocation:
                self._unsent.append(FaultBundled(self._job.planned.id, played.planned.id, name, fault.ending, files))
            else:
                write_bundle(files)
            return str(folder)
        except OSError as error:
            self._owner.warn(f"no bundle for {played.planned.id}: {error.strerror}: {error.filename}")
            return None

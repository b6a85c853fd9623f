"""The server: a lobby in front of a tournament, or of one cycle after the other.

Theory of operation. The door admits bots as long as the server runs. `Gathering` waits until a tournament can
begin, `Cycles` says which bots take part in it and writes that to the journal, and then `_play` runs it like any other
(runner.py), with the lobby as the source of its players. With `forever` this is repeated: every cycle is a tournament
of its own in the same journal, among the bots that are connected when it begins.

The first signal drains: no match begins any more, and running matches get some time to finish. The second signal stops
the server at once.
"""

import contextlib
from collections.abc import Sequence
from typing import Final

import trio
from msgspec.structs import replace

from arena.journal.file import JournalChangedError, Rescue, rescue
from arena.journal.lines import Journal, JournalError
from arena.plan.bot_spec import AnySpec
from arena.plan.config import Config, ConfigError
from arena.plan.server_config import ServerConfig, tls_context
from arena.server.admission import Registry
from arena.server.connection import Connection
from arena.server.cycles import Cycles
from arena.server.door import Door
from arena.server.gathering import BeginKey, Gathering
from arena.server.lobby import Lobby
from arena.server.name_claims import NamesFile
from arena.server.new_peers import most_new_peers
from arena.server.server_events import (
    BotCame,
    BotLeft,
    CycleBegins,
    FewDescriptors,
    Incident,
    Listening,
    NamesForgotten,
    ServerListener,
    Stopping,
    TokensUnprotected,
)
from arena.server.spectators import Spectators
from arena.server.wall_clock import Clock, local_time
from arena.support.address import address_of, open_listener
from arena.support.process_limits import raise_descriptor_limit, tune_gc
from arena.support.signals import calling_on_signals, unwrap_exception_group
from arena.tournament.ledger import Ledger, end, hash_to_publish
from arena.tournament.run import TournamentRun
from arena.tournament.runner import Tournament, TournamentError
from arena.tournament.tournament_events import TournamentEnded, TournamentOpened

_SAVE_SECONDS: Final = 1.0  # from one time that new names are saved to the next


def serve(
    config: Config, server: ServerConfig, listener: ServerListener, begin_key: BeginKey | None = None
) -> TournamentRun:
    """Run a server until its tournament is over or a signal stops it. Raises JournalError, ConfigError or AddressError
    if it cannot start."""
    assert config.journal is not None
    with Journal(config.journal) as journal:
        running = Server(config, server, journal, listener, begin_key)
        if running.cycles.is_over:
            listener.heard(TournamentOpened(running.cycles.total, running.cycles.finished))
            listener.heard(TournamentEnded(running.cycles.finished, running.cycles.total))
            return running.result()
        tune_gc()
        running.warn_of_few_descriptors(raise_descriptor_limit())
        failure = None
        try:
            with unwrap_exception_group(TournamentError, JournalError, OSError):
                trio.run(running.run)
            journal.check()
        except JournalChangedError as error:  # between two tournaments
            running.rescue = rescue(journal, b"", 0)
            failure = f"{error}; {running.rescue.outcome}"
        except (TournamentError, JournalError) as error:
            failure = str(error)
        return running.result(failure)


class Server:
    """Joins door, lobby, gathering, cycles and tournament. Raises ConfigError or JournalError on construction."""

    def __init__(
        self,
        config: Config,
        server: ServerConfig,
        journal: Journal,
        listener: ServerListener,
        begin_key: BeginKey | None = None,
        wall_clock: Clock = local_time,
    ):
        if server.begin == "key" and begin_key is None:
            raise ConfigError("--begin key needs a terminal, or a pipe, on which Enter can be pressed")
        self._config = config
        self._server = server
        self._journal = journal
        self._listener = listener
        self.cycles = Cycles(config, server, journal)
        self._tls = tls_context(server)
        self._names = NamesFile(journal.path)
        self._names_changed = trio.Event()
        self.registry = self._opened_registry()
        self.lobby = Lobby(
            server.grace, self._bot_availability_changed, self._presence_changed, self._could_begin_another
        )
        self._gathering = Gathering(
            server.begin,
            server.forever,
            self.lobby,
            listener,
            begin_key,
            wall_clock,
            expects_others=server.open_door or any(bot.may_be_away for bot in config.bots),
        )
        self._spectators = Spectators(config.event, server.watch_delay, server.show_hands, server.watchers)
        self._incidents = _Incidents(listener)
        self._tournament: Tournament | None = None
        self._waiting = trio.CancelScope()  # for the next tournament
        self.stopping = 0  # signals
        self._warnings: list[str] = list(self.cycles.remarks)
        self.rescue: Rescue | None = None  # if another program changed the journal

    def _opened_registry(self) -> Registry:
        bots, is_open = self._config.bots, self._server.open_door
        left = [bot.name for bot in self.cycles.left[0].bots] if self.cycles.left else []
        kept = self._names.read() if is_open else ()
        return Registry(bots, open_door=is_open, names=self._server.door.names, kept=kept, roster=left)

    def result(self, failure: str | None = None) -> TournamentRun:
        cycles = self.cycles
        stopped = self.stopping > 0 and not cycles.is_over
        return TournamentRun(cycles.total, cycles.finished, stopped, failure, self._warnings, self.rescue)

    def warn_of_few_descriptors(self, limit: int) -> None:
        connections = self._server.door.connections
        if connections + most_new_peers(self._server.door) + 100 > limit:
            self._listener.heard(FewDescriptors(limit, connections))

    async def run(self, *, task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until all tournaments are over or a signal stops the server; the task starts with the address."""
        self._remember_names()  # tokens of the file, which the organiser may take out of it before anything is played
        listener = await open_listener(self._server.listen)
        limits, report = self._server.door, self._incidents.report
        door = Door(listener, self.registry, self.lobby, self._spectators, limits, self._tls, report)
        self._report_address(address_of(listener))
        task_status.started(address_of(listener))
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(door.run)
                async with calling_on_signals(self._signalled), trio.open_nursery() as saving:
                    saving.start_soon(self._save_names)
                    await self._tournaments()
                    saving.cancel_scope.cancel()
                again = self.stopping > 0
                reason = "the server stops and may start again" if again else "the tournament is over"
                self.lobby.dismiss_all(reason, again=again)
                self._spectators.close(show_rest=not again)
                door.close()
        finally:
            self._incidents.close()

    def _report_address(self, address: str) -> None:
        self._listener.heard(Listening(address, tls=self._tls is not None))
        host = address.rpartition(":")[0]
        if self._tls is None and not host.startswith(("127.", "[::1]")):
            self._listener.heard(TokensUnprotected())

    async def _tournaments(self) -> None:
        with self._waiting:
            while not self.stopping and not self.cycles.is_over:
                await self._play(*await self._next())

    async def _next(self) -> tuple[Config, Ledger]:
        """The unfinished tournament of the journal, or another one, as soon as it can begin."""
        if self.cycles.left is not None:
            config, ledger = self.cycles.resume()
            self._warn_of_forgotten_names(config.bots)
            await self._gathering.wait(config.bots, lambda: config.bots)
            return config, ledger
        await self._gathering.wait(self._config.bots, self._players)
        players = self._players()
        self._remember_names([bot.name for bot in players])  # first, so that bots own their names even after a crash
        return self.cycles.begin(players)

    def _players(self) -> tuple[AnySpec, ...]:
        return self.cycles.players(self.lobby.is_here, self.registry.entered())

    def _could_begin_another(self) -> bool:
        """Whether another cycle could begin among the bots that are present."""
        return self._server.forever and len(self._players()) >= 2 and bool(self.lobby.names())

    def _warn_of_forgotten_names(self, bots: Sequence[AnySpec]) -> None:
        known = {claim.name for claim in self.registry.lasting_claims()}
        lost = [bot.name for bot in bots if bot.may_be_away and not bot.token_hash and bot.name not in known]
        if lost:
            self._listener.heard(NamesForgotten(str(self._names.path), lost))

    def _remember_names(self, roster: Sequence[str] = ()) -> None:
        """Save which bots own their names, including those of `roster`. Raises JournalError if that fails."""
        if self._server.open_door:
            self._names.write(self.registry.lasting_claims(roster))
            self.registry.has_news = False

    async def _save_names(self) -> None:
        """Save new claims until cancelled, at most once a second, because strangers can make many."""
        try:
            while True:
                await self._names_changed.wait()
                self._names_changed = trio.Event()
                self._save_news_of_names()
                await trio.sleep(_SAVE_SECONDS)
        finally:
            self._save_news_of_names()

    def _save_news_of_names(self) -> None:
        if self.registry.has_news:
            with contextlib.suppress(JournalError):  # no other tournament begins before it succeeds
                self._remember_names()

    def _presence_changed(self, connection: Connection, came: bool) -> None:
        kind = BotCame if came else BotLeft
        number = len(self.lobby.connections(connection.name))
        self._listener.heard(kind(connection.name, number, connection.address))

    def _bot_availability_changed(self, name: str) -> None:
        """Note that the bot connected, left, or is free for another match."""
        if self.registry.has_news:
            if self.registry.has_place(name):
                self._remember_names()
            self._names_changed.set()
        self._gathering.bots_changed()
        if self._tournament is not None:
            self._tournament.bot_availability_changed(name)

    async def _play(self, config: Config, ledger: Ledger) -> None:
        names = [bot.name for bot in config.bots]
        self.registry.begin(names, self.lobby.names(), closed=not self._server.forever)
        self.lobby.begin(names)
        total, before = ledger.state.plan.total, ledger.state.finished.count
        self._listener.heard(TournamentOpened(total, before, hash_to_publish(self._journal, config)))
        self._listener.heard(CycleBegins(names, config.first_cycle, self._server.forever))
        tournament = Tournament(config, self._journal, ledger, self._listener, self.lobby, self.lobby, self._spectators)
        for event in tournament.withdrawals():
            self._listener.heard(event)
        self._tournament = tournament
        try:
            await tournament.run()
        finally:
            self.cycles.count(ledger.state, before + tournament.saved)
            self._warnings += [text for text in tournament.warnings if text not in self._warnings]
            self.rescue = tournament.rescue
            self._tournament = None
            is_complete = before < total == before + tournament.saved  # even if a cancellation came just after that
            if is_complete and self.rescue is None:
                end(self._journal, config)
        self._listener.heard(TournamentEnded(self.cycles.finished, self.cycles.total))

    def _signalled(self) -> None:
        self.stopping += 1
        if self._tournament is None:
            self._waiting.cancel()
        elif self.stopping == 1:
            self._listener.heard(Stopping())
            self._tournament.drain(self._server.drain)
        else:
            self._tournament.stop()


class _Incidents:
    """Reports at most one incident per second: a peer that connects again and again must not fill the screen."""

    def __init__(self, listener: ServerListener):
        self._listener = listener
        self._quiet_until = 0.0
        self._unreported: list[Incident] = []  # the last of them
        self._count = 0  # of incidents that are not reported yet, besides it

    def report(self, incident: Incident) -> None:
        now = trio.current_time()
        if now < self._quiet_until:
            self._count += len(self._unreported)
            self._unreported = [incident]
            return
        self._listener.heard(replace(incident, unreported=self._count + len(self._unreported)))
        self._quiet_until, self._count, self._unreported = now + 1, 0, []

    def close(self) -> None:
        """Report what was not reported yet, because no incident followed."""
        for incident in self._unreported:
            self._listener.heard(replace(incident, unreported=self._count))

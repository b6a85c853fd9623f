"""The server: a lobby in front of a tournament, or of one cycle after the other.

Theory of operation. The door lets bots in for as long as the server runs. `_gather` waits until a tournament can begin,
`_next` says who takes part in it and writes that to the journal, and then `_play` runs it like any other (runner.py),
with the lobby as the source of its players. With `forever` this is done again and again: every cycle is a tournament
of its own in the same journal, among those who are there when it begins.

The first signal drains: no match begins any more, those under way have a time to end. A second one stops at once.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import attrs
import msgspec
import trio

from arena.journal.file import JournalChanged, Rescue, rescue
from arena.journal.lines import Journal, JournalError, TournamentLine
from arena.plan.bot_spec import AnySpec, RemoteSpec
from arena.plan.config import Config, ConfigError
from arena.plan.server_config import ServerConfig, tls_context
from arena.plan.time_control import Limits
from arena.server.admission import Registry
from arena.server.door import Door
from arena.server.lobby import Lobby
from arena.server.name_claims import NamesFile
from arena.server.porch import most_on_porch
from arena.server.spectators import Gallery
from arena.server.wall_clock import Clock, local_time, wait_until
from arena.support.address import address_of, open_listener
from arena.support.keys import call_on_enter, is_pipe, is_terminal
from arena.support.process_limits import raise_descriptor_limit, tune_gc
from arena.support.signals import calling_on_signals, unwrapped
from arena.support.text import printable
from arena.tournament.drive import MakeListener, Ran
from arena.tournament.ledger import Ledger, Past, begin, check_same, end, go_on, ledger_of, planned_rounds, read_past
from arena.tournament.runner import Listener, Tournament, TournamentError

_NAMED_AT_MOST: Final = 8  # bots in a line about the lobby


def serve(config: Config, server: ServerConfig, make_listener: MakeListener, lobby_news: Listener) -> Ran:
    """Raises JournalError, ConfigError or AddressError if it cannot begin."""
    assert config.journal is not None
    with Journal(config.journal) as journal:
        running = Server(config, server, journal, make_listener, lobby_news)
        if running.is_over:
            with make_listener(running.total, running.finished) as listener:
                listener.ended(running.finished, running.total)
            return Ran(running.total, running.finished, False, None, running.warnings)
        tune_gc()
        running.warn_of_few_descriptors(raise_descriptor_limit())
        failure = None
        try:
            with unwrapped(TournamentError, JournalError, OSError):
                trio.run(running.run)
            journal.check()
        except JournalChanged as error:  # between two tournaments
            running.rescue = rescue(journal, b"", 0)
            failure = f"{error}; {running.rescue.told}"
        except (TournamentError, JournalError) as error:
            failure = str(error)
        stopped = running.stopping > 0 and not running.is_over
        return Ran(running.total, running.finished, stopped, failure, running.warnings, running.rescue)


class Server:
    def __init__(
        self,
        config: Config,
        server: ServerConfig,
        journal: Journal,
        make_listener: MakeListener,
        lobby_news: Listener,
        wall_clock: Clock = local_time,
    ):
        self._server = server
        self._wall_clock = wall_clock
        self._journal = journal
        self._make_listener = make_listener
        self._lobby_news = lobby_news
        self._listener: Listener | None = None  # while a tournament runs
        past = read_past(journal, config.max_faults)
        self._cycles = past.tournaments  # that have begun
        self._config = config
        self._rounds: dict[int, tuple[int, int]] = {}  # finished and in all, by cycle
        self._left = self._left_over(past)  # to be gone on with
        self._tls = tls_context(server)
        self._names = NamesFile(journal.path)
        self._registry = self._opened_registry()
        self._lobby = Lobby(server.grace, self._changed)
        self._gallery = Gallery(config.event, server.watch_delay, server.show_hands, server.watchers)
        self._here: dict[str, int] = {}  # as was told: connections by name
        self._change = trio.Event()
        self._quiet_until, self._untold = 0.0, 0  # of refused visitors
        self._begin_when = server.begin
        self._is_time = False  # a key was pressed, or the moment is there
        if server.begin == "key" and not self._has_keys():
            raise ConfigError("--begin key needs a terminal, or a pipe, on which Enter can be pressed")
        self._tournament: Tournament | None = None
        self._waiting = trio.CancelScope()  # before a tournament
        self.stopping = 0  # signals
        self.warnings: list[str] = list(past.ledger.remarks)
        self.rescue: Rescue | None = None  # if somebody changed the journal

    @property
    def finished(self) -> int:
        return sum(finished for finished, _ in self._rounds.values())

    @property
    def total(self) -> int:
        return sum(total for _, total in self._rounds.values())

    @property
    def is_over(self) -> bool:
        """Everything was played; never so with `forever`."""
        return not self._server.forever and bool(self._rounds) and self.finished == self.total

    def warn_of_few_descriptors(self, limit: int) -> None:
        if self._server.door.connections + most_on_porch(self._server.door) + 100 > limit:
            self._news.news(
                "warning",
                f"Warning: this machine allows {limit} open files, which is too few for "
                f"{self._server.door.connections} connections (ulimit -n)",
            )

    @property
    def _news(self) -> Listener:
        return self._listener or self._lobby_news

    async def run(self, *, task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED) -> None:
        """Starts with the address."""
        listener = await open_listener(self._server.listen)
        door = Door(listener, self._registry, self._lobby, self._gallery, self._server.door, self._tls, self._refused)
        self._say_where(address_of(listener))
        task_status.started(address_of(listener))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(door.run)
            async with calling_on_signals(self._signalled):
                await self._tournaments()
            again = self.stopping > 0
            reason = "the server stops; it may be back" if again else "the tournament is over"
            self._lobby.send_all_away(reason, again=again)
            self._gallery.close(show_rest=not again)
            door.close()

    def _say_where(self, address: str) -> None:
        self._news.news("listening", f"Listening at {address}", address=address, tls=self._tls is not None)
        host = address.rpartition(":")[0]
        if self._tls is None and not host.startswith(("127.", "[::1]")):
            self._news.news(
                "warning", "Warning: tokens cross the network in the clear; with --cert and --key they do not"
            )

    async def _tournaments(self) -> None:
        with self._waiting:
            while not self.stopping and not self.is_over:
                await self._play(*await self._next())
                self._begin_when = "all"  # how the first one began says nothing about the others

    async def _next(self) -> tuple[Config, Ledger]:
        """The tournament that the journal was left with, or another one once enough bots are there."""
        if self._left is not None:
            left, self._left = self._left, None
            self._warn_of_forgotten_names(left[0].bots)
            await self._gather(left[0].bots)
            return left
        await self._gather(None)
        self._cycles += 1
        config = attrs.evolve(self._config, bots=self._roster())
        if self._server.forever:
            config = attrs.evolve(config, first_cycle=self._cycles, cycles=1)
        self._remember_names([bot.name for bot in config.bots])  # first: no bot may be without its name after a crash
        return begin(self._journal, config), ledger_of(config)

    def _opened_registry(self) -> Registry:
        bots, is_open = self._config.bots, self._server.open_door
        left = [bot.name for bot in self._left[0].bots] if self._left else []
        return Registry(bots, open_door=is_open, kept=self._names.read() if is_open else (), roster=left)

    def _warn_of_forgotten_names(self, bots: Sequence[AnySpec]) -> None:
        known = {claim.name for claim in self._registry.lasting_claims()}
        lost = [
            bot.name for bot in bots if isinstance(bot, RemoteSpec) and not bot.token_hash and bot.name not in known
        ]
        if lost:
            self._news.news(
                "warning",
                f"Warning: {self._names.path} does not say whose names these are: {_list(lost)}; the first bot that "
                "comes with one of them has it",
            )

    def _remember_names(self, roster: Sequence[str] = ()) -> None:
        """Raises JournalError."""
        if self._server.open_door:
            self._names.write(self._registry.lasting_claims(roster))
            self._registry.has_news = False

    def _left_over(self, past: Past) -> tuple[Config, Ledger] | None:
        """Raises JournalError if the journal is that of another tournament."""
        if past.opening is None:
            return None
        config = go_on(self._journal, self._resumed(past.opening), past)
        total, finished = planned_rounds(config), len(past.ledger.finished)
        self._rounds[config.first_cycle] = finished, total
        if finished < total:
            return config, past.ledger
        if not past.revealed:
            end(self._journal, config)
        return None

    def _resumed(self, opening: TournamentLine) -> Config:
        """The config of the tournament that has begun. Bots that the file does not name came through the open door."""
        bots = list(self._config.bots)
        if self._server.open_door or self._server.forever:
            bots = self._recorded_bots(opening)
        cycles = 1 if self._server.forever else self._config.cycles
        number = int(opening.config.get("first_cycle", 1))
        config = attrs.evolve(self._config, bots=tuple(bots), first_cycle=number, cycles=cycles)
        check_same(self._journal, opening, config)
        return config

    def _recorded_bots(self, opening: TournamentLine) -> list[AnySpec]:
        named = {bot.name: bot for bot in self._config.bots}
        found: list[AnySpec] = []
        for recorded in opening.config.get("bots", ()):
            name = recorded.get("name")
            if name in named:
                found.append(named[name])
            elif recorded.get("remote"):
                found.append(RemoteSpec(name, None, self._recorded_limits(recorded)))
        return found

    def _recorded_limits(self, bot: Mapping[str, Any]) -> Limits:
        try:
            return msgspec.convert(bot.get("clock"), Limits)
        except msgspec.ValidationError as error:
            where = f"the clock of {printable(bot['name'])} in its last opening line is damaged"
            raise JournalError(f"{self._journal.path}: {where}: {printable(str(error))}") from None

    def _roster(self) -> tuple[AnySpec, ...]:
        """Who takes part: with `forever` those who are there; else everybody whom the file names, too."""
        named = [
            bot
            for bot in self._config.bots
            if not (self._server.forever and isinstance(bot, RemoteSpec)) or self._lobby.is_here(bot.name)
        ]
        entered = [
            RemoteSpec(name, None, self._server.bot_limits)
            for name in self._registry.entered()
            if self._lobby.is_here(name)
        ]
        return (*named, *entered)

    # The lobby

    async def _gather(self, bots: Sequence[AnySpec] | None) -> None:
        """Returns when it is time to begin, with these bots or with whoever is there."""
        self._is_time = False
        if self._may_begin(bots):
            return
        async with trio.open_nursery() as nursery:
            if self._has_keys():
                nursery.start_soon(call_on_enter, self._time_has_come)
            if isinstance(self._begin_when, datetime):
                nursery.start_soon(self._begin_at, self._begin_when)
            self._say_who_is_missing(bots)
            while not self._may_begin(bots):
                self._change = trio.Event()
                await self._change.wait()
            nursery.cancel_scope.cancel()

    def _may_begin(self, bots: Sequence[AnySpec] | None) -> bool:
        roster = self._roster() if bots is None else bots
        if len(roster) < 2 or (self._server.forever and not self._lobby.names()):
            return False
        return self._is_time or (self._begin_when == "all" and (self._server.forever or not self._missing(bots)))

    def _missing(self, bots: Sequence[AnySpec] | None) -> list[str]:
        expected = self._config.bots if bots is None else bots
        return [bot.name for bot in expected if isinstance(bot, RemoteSpec) and not self._lobby.is_here(bot.name)]

    def _say_who_is_missing(self, bots: Sequence[AnySpec] | None) -> None:
        here, missing = self._lobby.names(), self._missing(bots)
        match self._begin_when:
            case datetime() as moment:
                how = f"at {moment:%Y-%m-%d %H:%M:%S}"
            case "key":
                how = ""
            case _:
                how = "when two are there" if self._server.forever else "when all are there"
        enter = "when Enter is pressed" if self._has_keys() else ""
        how = " or ".join(filter(None, (how, enter)))
        text = f"In the lobby: {_list(here)}. Missing: {_list(missing)}. It begins {how}."
        self._news.news("lobby", text, here=here, missing=missing)

    def _has_keys(self) -> bool:
        """Whether somebody can press Enter: at a terminal, or through a pipe if nothing else begins it."""
        return is_terminal() or (self._begin_when == "key" and is_pipe())

    async def _begin_at(self, moment: datetime) -> None:
        await wait_until(moment, self._wall_clock)
        self._time_has_come()

    def _time_has_come(self) -> None:
        self._is_time = True
        self._change.set()

    def _changed(self, name: str) -> None:
        """A bot came, went, or is free again."""
        before, now = self._here.get(name, 0), len(self._lobby.connections(name))
        if now != before:
            self._here[name] = now
            if not now:
                del self._here[name]
            kind = "came" if now > before else "left"
            several = f" ({now} connections)" if now > 1 else ""
            words = f"{name} {'is here' if now else 'has left'}{several}"
            self._news.news(kind, words, bot=name, connections=now)
        if self._registry.has_news:
            self._remember_names()
        self._change.set()
        if self._tournament is not None:
            self._tournament.poke(name)

    def _refused(self, text: str) -> None:
        """Told once a second at most: whoever knocks all the time shall not fill the screen."""
        now = trio.current_time()
        if now < self._quiet_until:
            self._untold += 1
            return
        more = f" (and {self._untold} more)" if self._untold else ""
        self._quiet_until, self._untold = now + 1, 0
        self._news.news("refused", text + more)

    # The tournament

    async def _play(self, config: Config, ledger: Ledger) -> None:
        names = [bot.name for bot in config.bots]
        self._registry.begin(names, self._lobby.names(), closed=not self._server.forever)
        self._lobby.begin(names)
        total, before = planned_rounds(config), len(ledger.finished)
        with self._make_listener(total, before) as listener:
            self._listener = listener
            cycle = f"Cycle {config.first_cycle}" if self._server.forever else "The tournament"
            listener.news("begins", f"{cycle} begins: {_list(names)}", bots=names, cycle=config.first_cycle)
            tournament = Tournament(config, self._journal, ledger, listener, self._lobby, self._gallery)
            self._tournament = tournament
            try:
                await tournament.run()
            finally:
                self._rounds[config.first_cycle] = before + tournament.saved, total
                self.warnings += tournament.warnings
                self.rescue = tournament.rescue
                self._tournament = self._listener = None
            if before < total == before + tournament.saved:
                end(self._journal, config)
            listener.ended(self.finished, self.total)

    def _signalled(self) -> None:
        self.stopping += 1
        if self._tournament is None:
            self._waiting.cancel()
        elif self.stopping == 1:
            self._news.news("stopping", "Stopping: running matches may end; once more stops at once.")
            self._tournament.drain(self._server.drain)
        else:
            self._tournament.stop()


def _list(names: Sequence[str]) -> str:
    if not names:
        return "nobody"
    more = len(names) - _NAMED_AT_MOST
    return ", ".join(names[:_NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")

"""Who may come in, and under which name. Pure."""

import enum
import hmac
from collections.abc import Callable, Iterable

from arena.bots import AnySpec, RemoteSpec
from arena.names import twin_of
from arena.tokens import owner_of, token_hash
from protocol.messages import BotHello


class Refusal(enum.StrEnum):
    """Why somebody stays outside; the code of the error that tells so."""

    WRONG_TOKEN = "wrong-token"
    NAME_TAKEN = "name-taken"
    BEGUN = "begun"
    FULL = "full"
    TOO_SLOW = "too-slow"


class Refused(Exception):
    def __init__(self, code: Refusal, message: str, *, guessed: bool = False):
        super().__init__(message)
        self.code = code
        self.guessed = guessed  # a token was tried that is not the right one


class Registry:
    """Bots of the tournament file come in with their tokens, and play under the names that the file gives them. An open
    door lets in others, too: a name belongs to whoever brings it first, and with a token of its own choice it stays so
    while that bot is away."""

    def __init__(self, bots: Iterable[AnySpec], *, open_door: bool):
        self._open_door = open_door
        self._hashes = {bot.name: bot.token_hash for bot in bots if isinstance(bot, RemoteSpec) and bot.token_hash}
        self._in_file = {bot.name for bot in bots}
        self._entered: dict[str, str | None] = {}  # names that came through the open door, with the hash of their token
        self._roster: frozenset[str] = frozenset()  # of the tournament that has begun
        self._closed = False  # nobody else may join it

    def admit(self, hello: BotHello, holds: Callable[[str], bool]) -> str:
        """The name it plays under; `holds` tells whether the hello takes the place of a connection of that name, or
        there is none. Raises Refused."""
        owner = owner_of(hello.token, self._hashes) if hello.token else None
        if owner is not None:
            return owner
        if not self._open_door:
            what = "this token is not known here" if hello.token else "a token is needed here: hello has a field for it"
            text = f"{what}; the organiser has one for each bot"
            raise Refused(Refusal.WRONG_TOKEN, text, guessed=hello.token is not None)
        self._check_name(hello, holds)
        return hello.name

    def _check_name(self, hello: BotHello, holds: Callable[[str], bool]) -> None:
        name, given = hello.name, token_hash(hello.token) if hello.token else None
        guessed = given is not None
        if name in self._in_file:
            what = "and this is not its token" if guessed else "which needs its token"
            text = f"{name!r} is a bot of this tournament, {what}; anybody else has to choose another name"
            raise Refused(Refusal.WRONG_TOKEN if guessed else Refusal.NAME_TAKEN, text, guessed=guessed)
        if name not in self._entered:
            if self._closed and name not in self._roster:
                raise Refused(Refusal.BEGUN, "the tournament has begun; nobody can join it any more")
            self._refuse_twin(name)
            self._entered[name] = given
            return
        kept = self._entered[name]
        if kept is not None and not (given is not None and hmac.compare_digest(given, kept)):
            text = f"{name!r} belongs to somebody who came with another token; choose another name"
            raise Refused(Refusal.NAME_TAKEN, text, guessed=guessed)
        if kept is None and not holds(name):
            raise Refused(
                Refusal.NAME_TAKEN,
                f"{name!r} is connected already; choose another name (with a token of your own from the beginning, a "
                "bot may have several connections)",
            )

    def _refuse_twin(self, name: str) -> None:
        """One bot for all names that look alike. Whoever takes part already keeps its name."""
        if name not in self._roster and (twin := twin_of(name, (*self._in_file, *self._entered, *self._roster))):
            text = f"{name!r} can be taken for {twin!r}, who is here or takes part; choose another name"
            raise Refused(Refusal.NAME_TAKEN, text)

    def left(self, name: str) -> None:
        """Its last connection is gone. A name that plays in the tournament is kept for it."""
        if name not in self._roster:
            self._entered.pop(name, None)

    def entered(self) -> list[str]:
        """Names that came through the open door, in the order in which they came."""
        return list(self._entered)

    def begin(self, roster: Iterable[str], here: Iterable[str], *, closed: bool) -> None:
        """A tournament among these begins; `closed` if nobody can join it or another one after it. Names are free again
        that neither take part nor are here."""
        self._roster = frozenset(roster)
        for name in self._entered.keys() - self._roster - set(here):
            del self._entered[name]
        self._closed = closed

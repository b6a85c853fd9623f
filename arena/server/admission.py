"""Who may come in, and under which name. Pure."""

import enum
from collections.abc import Callable, Iterable

from arena.plan.bot_spec import AnySpec, RemoteSpec
from arena.plan.names import twin_of
from arena.plan.tokens import Owners
from arena.server.name_claims import Claim, claim_with, key_of, new_key, session_with
from protocol.messages import BotHello


class Refusal(enum.StrEnum):
    """Why somebody stays outside; the code of the error that tells so."""

    WRONG_TOKEN = "wrong-token"
    NAME_TAKEN = "name-taken"
    BEGUN = "begun"
    FULL = "full"
    TOO_SLOW = "too-slow"


class Refused(Exception):
    def __init__(self, code: Refusal, message: str, *, guessed: bool = False, again: bool = False):
        super().__init__(message)
        self.code = code
        self.guessed = guessed  # a token was tried that is not the right one
        self.again = again  # it may come again


class Registry:
    """Bots of the tournament file come in with their tokens, and play under the names that the file gives them. An open
    door lets in others, too: a name belongs to whoever brings it first. With a token of its own choice it keeps it for
    good once it has played under it; without one while it is connected, or while a tournament lasts in which it plays:
    then it comes back with the session that it was given.

    `kept` are the claims of an earlier run, `roster` the names of the tournament that was left then.
    """

    def __init__(
        self, bots: Iterable[AnySpec], *, open_door: bool, kept: Iterable[Claim] = (), roster: Iterable[str] = ()
    ):
        self._open_door = open_door
        self._owners = Owners({b.name: b.token_hash for b in bots if isinstance(b, RemoteSpec) and b.token_hash})
        self._in_file = {bot.name for bot in bots}
        self._at_home = {bot.name for bot in bots if not isinstance(bot, RemoteSpec)}
        self._roster = frozenset(roster)  # of the tournament that has begun
        self._claims = {claim.name: claim for claim in kept if claim.by == "token" or claim.name in self._roster}
        self._lasting = set(self._claims)  # names whose claims outlive their connections
        self._entered: dict[str, None] = {}  # names that came through the open door, in this order
        self._keys: dict[str, str] = {}  # of those without a token
        self._closed = False  # nobody else may join it
        self.has_news = False  # a claim has to be remembered that was made since the tournament began

    def owner(self, hello: BotHello) -> str | None:
        """The name that the hello proves to be its own."""
        if hello.token and (owner := self._owners.of(hello.token)) is not None:
            return owner
        claim = self._claims.get(hello.name) if self._open_door else None
        return hello.name if claim is not None and claim.is_proven_by(hello) else None

    def admit(self, hello: BotHello, holds: Callable[[str], bool]) -> str:
        """The name it plays under; `holds` tells whether the hello takes the place of a connection of that name, or
        there is none. Raises Refused."""
        owner = self._owners.of(hello.token) if hello.token else None
        if owner is not None:
            return owner
        if not self._open_door:
            what = "this token is not known here" if hello.token else "a token is needed here: hello has a field for it"
            text = f"{what}; the organiser has one for each bot"
            raise Refused(Refusal.WRONG_TOKEN, text, guessed=hello.token is not None)
        self._check_name(hello, holds)
        return hello.name

    def _check_name(self, hello: BotHello, holds: Callable[[str], bool]) -> None:
        name, guessed = hello.name, hello.token is not None
        if name in self._in_file:
            what = "and this is not its token" if guessed else "which needs its token"
            text = f"{name!r} is a bot of this tournament, {what}; anybody else has to choose another name"
            raise Refused(Refusal.WRONG_TOKEN if guessed else Refusal.NAME_TAKEN, text, guessed=guessed)
        if self._closed and name not in self._roster and name not in self._entered:
            raise Refused(Refusal.BEGUN, "the tournament has begun; nobody can join it any more")
        claim = self._claims.get(name)
        if claim is None:
            self._refuse_twin(name)
            self._claim(hello)
        elif not claim.is_proven_by(hello):
            self._check_unproven(name, claim, guessed, holds)
            self._claim(hello)
        elif claim.by == "session":
            self._keys[name] = key_of(hello.session) or ""
            _check_free(name, holds)
        self._entered[name] = None

    def _claim(self, hello: BotHello) -> None:
        if hello.token is not None:
            self._claims[hello.name] = claim_with(hello.name, "token", hello.token)
        else:
            self._keys[hello.name] = new_key()
            self._claims[hello.name] = claim_with(hello.name, "session", self._keys[hello.name])
        if hello.name in self._roster:  # it played before claims were remembered
            self._lasting.add(hello.name)
            self.has_news = True

    def _check_unproven(self, name: str, claim: Claim, guessed: bool, holds: Callable[[str], bool]) -> None:
        if claim.by == "token":
            text = f"{name!r} belongs to somebody who came with another token; choose another name"
            raise Refused(Refusal.NAME_TAKEN, text, guessed=guessed)
        if name in self._roster:
            raise Refused(
                Refusal.NAME_TAKEN,
                f"{name!r} plays in this tournament, and came without a token: its bot can come back only with the "
                "session of its last welcome; a token of your own from the beginning is simpler",
            )
        _check_free(name, holds)

    def session(self, name: str) -> str:
        """For another connection of that bot."""
        return session_with(self._keys.get(name))

    def _refuse_twin(self, name: str) -> None:
        """One bot for all names that look alike. Whoever takes part already keeps its name."""
        if name not in self._roster and (twin := twin_of(name, (*self._in_file, *self._claims, *self._roster))):
            text = f"{name!r} can be taken for {twin!r}, who is here or takes part; choose another name"
            raise Refused(Refusal.NAME_TAKEN, text)

    def left(self, name: str) -> None:
        """Its last connection is gone. A name that plays in the tournament is kept for it."""
        if name not in self._roster:
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._entered.pop(name, None)
        if name not in self._lasting:
            self._claims.pop(name, None)
            self._keys.pop(name, None)

    def entered(self) -> list[str]:
        """Names that came through the open door, in the order in which they came."""
        return list(self._entered)

    def has_place(self, name: str) -> bool:
        """Whether a place is kept for the bot: the file names it, or the tournament that has begun."""
        return name in self._owners.names or name in self._roster

    def is_established(self, name: str) -> bool:
        """Whether the bot has a place, or has played: anybody can make up a name and prove it to be his own."""
        return self.has_place(name) or name in self._lasting

    def places_kept(self, is_here: Callable[[str], bool]) -> int:
        """For how many bots that are not here."""
        return sum(not is_here(name) for name in (self._owners.names | self._roster) - self._at_home)

    def begin(self, roster: Iterable[str], here: Iterable[str], *, closed: bool) -> None:
        """A tournament among these begins; `closed` if nobody can join it or another one after it. Names are free again
        that neither take part nor are here, and were not claimed for good."""
        self._roster = frozenset(roster)
        self._lasting = {name for name in self._lasting if self._claims[name].by == "token"}
        self._lasting |= self._claims.keys() & self._roster
        for name in (self._claims.keys() | self._entered.keys()) - self._roster - set(here):
            self._forget(name)
        self._closed = closed

    def lasting_claims(self, roster: Iterable[str] = ()) -> list[Claim]:
        """What has to be remembered, also once a tournament among these has begun."""
        names = self._lasting | (self._claims.keys() & set(roster))
        return [claim for name, claim in self._claims.items() if name in names]


def _check_free(name: str, holds: Callable[[str], bool]) -> None:
    if not holds(name):
        raise Refused(
            Refusal.NAME_TAKEN,
            f"{name!r} is connected already; choose another name (with a token of your own from the beginning, a "
            "bot may have several connections)",
        )

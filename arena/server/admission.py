"""Which bots may join the server, and under which names. No I/O."""

import enum
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from arena.plan.bot_spec import AnySpec
from arena.plan.tokens import Owners
from arena.server.name_claims import Claim, claim_of_file, claim_with, key_of, new_key, session_with
from arena.server.rates import Buckets, Place
from protocol.messages import BotHello
from protocol.names import twin_of

_NETWORK: Final = 4  # times as many names as an address may a network have
# New names of an address: as many times as it may have can come at once, then one every this many seconds.
_NEW_NAMES_AT_ONCE, _NEW_NAME_SECONDS = 4, 10.0
MOST_NAMES: Final = 4_000  # in all; a new one is compared with each of them


class Refusal(enum.StrEnum):
    """Why a peer is refused: the `code` of the error that it is sent."""

    WRONG_TOKEN = "wrong-token"
    NAME_TAKEN = "name-taken"
    BEGUN = "begun"
    FULL = "full"
    TOO_SLOW = "too-slow"


class AdmissionError(Exception):
    """The peer may not join; the text says why, and what it can do."""

    def __init__(self, code: Refusal, message: str, *, guessed: bool = False, again: bool = False):
        super().__init__(message)
        self.code = code
        self.guessed = guessed  # the peer sent a wrong token
        self.again = again  # the peer may try again later


class Registry:
    """Decides which bots may join, and remembers which bot owns which name.

    Bots of the tournament file join with their tokens, and play under the names in the file. An open server also admits
    other bots: a name belongs to the first bot that uses it. A bot with a token of its own keeps its name for good, and
    so does one whose token was in the file before; only when there are too many names, the oldest that never played
    becomes free. A bot without a token keeps its name while it is connected, or until
    the end of a tournament in which it plays; it reconnects with the session that the server gave it. An address may
    have `names` names through the open door, for good or for now, because each costs the others matches and memory.

    `kept` are the claims of an earlier run, `roster` the names in the tournament that was unfinished then.
    """

    def __init__(
        self,
        bots: Iterable[AnySpec],
        *,
        open_door: bool,
        names: int,
        kept: Iterable[Claim] = (),
        roster: Iterable[str] = (),
    ):
        self._open_door = open_door
        self._most = names
        self._new_names = Buckets(1 / _NEW_NAME_SECONDS, _NEW_NAMES_AT_ONCE * names)
        hashes = {b.name: b.token_hash for b in bots if b.token_hash}
        self._owners = Owners(hashes)
        self._in_file = {bot.name for bot in bots}
        self._at_home = {bot.name for bot in bots if not bot.may_be_away}
        self._roster = frozenset(roster)  # names in the tournament that has begun
        self._claims: dict[str, Claim] = {}
        self._held: Counter[str] = Counter()  # names by address and by network
        for claim in (*kept, *(claim_of_file(*each) for each in hashes.items())):
            if claim.is_for_good or claim.name in self._roster:
                self._keep(claim)
        self._entered: dict[str, None] = {}  # names that joined through the open door, in this order
        self._keys: dict[str, str] = {}  # session keys of bots without a token
        self._closed = False  # no other bot may join
        self.has_news = False  # a claim has to be saved

    def owner(self, hello: BotHello) -> str | None:
        """The name whose ownership the hello proves, or None."""
        if hello.token and (owner := self._owners.of(hello.token)) is not None:
            return owner
        claim = self._claims.get(hello.name) if self._open_door else None
        return hello.name if claim is not None and claim.is_proven_by(hello) else None

    def admit(self, hello: BotHello, holds: Callable[[str], bool], place: Place, now: float) -> str:
        """The name that the bot, which connects from `place`, will play under. `holds(name)` says whether the bot may
        have it: there is no connection of that name, or this hello replaces it. Raises AdmissionError."""
        owner = self._owners.of(hello.token) if hello.token else None
        if owner is not None:
            return owner
        if not self._open_door:
            what = "this token is not known here" if hello.token else "hello needs a token, in its field 'token'"
            text = f"{what}; the organiser has one for each bot"
            raise AdmissionError(Refusal.WRONG_TOKEN, text, guessed=hello.token is not None)
        self._check_name(hello, holds, place, now)
        return hello.name

    def _check_name(self, hello: BotHello, holds: Callable[[str], bool], place: Place, now: float) -> None:
        name, guessed = hello.name, hello.token is not None
        if name in self._in_file:
            what = "and this is not its token" if guessed else "which needs its token"
            text = f"{name!r} is a bot of this tournament, {what}; other bots have to choose another name"
            raise AdmissionError(Refusal.WRONG_TOKEN if guessed else Refusal.NAME_TAKEN, text, guessed=guessed)
        if self._closed and name not in self._roster and name not in self._entered:
            raise AdmissionError(Refusal.BEGUN, "the tournament has begun; no more bots can join it")
        claim = self._claims.get(name)
        if claim is None:
            self._refuse_twin(name)
            self._claim(hello, place, now)
        elif not claim.is_proven_by(hello):
            self._check_unproven(name, claim, guessed, holds)
            self._claim(hello, place, now)
        elif claim.by == "session":
            self._keys[name] = key_of(hello.session) or ""
            _check_free(name, holds)
        self._entered[name] = None

    def _claim(self, hello: BotHello, place: Place, now: float) -> None:
        name = hello.name
        if name not in self._roster:  # else it had played before claims were saved
            self._check_names_of(place, now)
        if hello.token is not None:
            self._keep(claim_with(name, "token", hello.token, place))
        else:
            self._keys[name] = new_key()
            self._keep(claim_with(name, "session", self._keys[name], place))
        self.has_news |= self._is_lasting(name)

    def _check_names_of(self, place: Place, now: float) -> None:
        """Raise AdmissionError if a bot from this place may have no new name."""
        for where, most in ((place.address, self._most), (place.network, _NETWORK * self._most)):
            if self._held[where] >= most:
                text = f"bots from {where} have {most} names already; come back with the token of one of them, or ask "
                raise AdmissionError(Refusal.FULL, text + "the organiser for a token")
        if not self._new_names.of(place.address).take(now):
            text = f"too many new names come from {place.address}; try again later, or bring a token and keep your name"
            raise AdmissionError(Refusal.FULL, text, again=True)
        if len(self._claims) >= MOST_NAMES and not self._drop_unplayed():
            text = f"{MOST_NAMES} names are taken, and this server keeps no more; ask the organiser for a token"
            raise AdmissionError(Refusal.FULL, text)

    def _drop_unplayed(self) -> bool:
        """Free the name that was claimed first of those that never played, unless its bot is here. Returns whether
        there is one."""
        for name, claim in self._claims.items():
            if not claim.played and name not in self._entered and name not in self._roster:
                self._drop(name)
                self.has_news = True
                return True
        return False

    def _keep(self, claim: Claim) -> None:
        self._drop(claim.name)
        self._claims[claim.name] = claim
        self._held.update(_places_of(claim))

    def _drop(self, name: str) -> None:
        if (claim := self._claims.pop(name, None)) is not None:
            self._held -= Counter(_places_of(claim))  # removes a place at zero

    def _is_lasting(self, name: str) -> bool:
        """Whether the claim outlives the connections of the bot."""
        return name in self._claims and (self._claims[name].is_for_good or name in self._roster)

    def _check_unproven(self, name: str, claim: Claim, guessed: bool, holds: Callable[[str], bool]) -> None:
        if claim.is_for_good:
            text = f"{name!r} belongs to a bot with another token; choose another name"
            raise AdmissionError(Refusal.NAME_TAKEN, text, guessed=guessed)
        if name in self._roster:
            raise AdmissionError(
                Refusal.NAME_TAKEN,
                f"{name!r} plays in this tournament and joined without a token: it can come back only with the session "
                "of its last welcome; it is simpler to choose a token and send it from the beginning",
            )
        _check_free(name, holds)

    def session(self, name: str) -> str:
        """A new session for another connection of this bot."""
        return session_with(self._keys.get(name))

    def _refuse_twin(self, name: str) -> None:
        """Raise AdmissionError if another bot has the name in another case. A bot that already takes part keeps its
        name."""
        if name not in self._roster and (twin := twin_of(name, (*self._in_file, *self._claims, *self._roster))):
            text = f"{name!r} is the same name as {twin!r}, which is taken: only the case differs; choose another name"
            raise AdmissionError(Refusal.NAME_TAKEN, text)

    def left(self, name: str) -> None:
        """Note that the last connection of a bot is closed. Its name becomes free unless it plays in the tournament."""
        if name not in self._roster:
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._entered.pop(name, None)
        if not self._is_lasting(name):
            self._drop(name)
            self._keys.pop(name, None)

    def entered(self) -> list[str]:
        """Names that joined through the open door, in the order in which they joined."""
        return list(self._entered)

    def has_place(self, name: str) -> bool:
        """Whether a place is reserved for the bot, because it is in the file or in the tournament that has begun."""
        return name in self._owners.names or name in self._roster

    def is_established(self, name: str) -> bool:
        """Whether the bot has a place or has played. Owning a name is not enough: any peer can make one up and own
        it."""
        return self.has_place(name) or (name in self._claims and self._claims[name].played)

    def places_kept(self, is_here: Callable[[str], bool]) -> int:
        """The number of bots that have a place and are not connected."""
        return sum(not is_here(name) for name in (self._owners.names | self._roster) - self._at_home)

    def begin(self, roster: Iterable[str], here: Iterable[str], *, closed: bool) -> None:
        """Begin a tournament among `roster`. `closed`: no other bot can join this tournament or a later one. Names that
        neither take part nor are connected become free, unless they were claimed for good."""
        self._roster = frozenset(roster)
        for name in self._claims.keys() & self._roster:
            self._claims[name] = replace(self._claims[name], played=True)
        for name in (self._claims.keys() | self._entered.keys()) - self._roster - set(here):
            self._forget(name)
        self._closed = closed

    def lasting_claims(self, roster: Iterable[str] = ()) -> list[Claim]:
        """The claims to save, including those of `roster`, the bots of a tournament that is about to begin."""
        begins = set(roster)
        return [
            replace(claim, played=True) if name in begins else claim
            for name, claim in self._claims.items()
            if name in begins or self._is_lasting(name)
        ]


def _places_of(claim: Claim) -> list[str]:
    return [where for where in (claim.address, claim.network) if where]


def _check_free(name: str, holds: Callable[[str], bool]) -> None:
    if not holds(name):
        raise AdmissionError(
            Refusal.NAME_TAKEN,
            f"{name!r} is already connected; choose another name (a bot that sends a token of its own from the "
            "beginning may have several connections)",
        )

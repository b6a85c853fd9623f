"""What a server needs to know besides its tournament: where to listen, when to begin, and whom to let in."""

import ssl
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

import attrs
from msgspec.structs import replace

from arena.plan.config import Config, ConfigError
from arena.plan.config_file import TournamentFile, read_file
from arena.plan.option_rows import FROM_ROW, fields_of, with_rows
from arena.plan.options import DOOR, SERVING
from arena.plan.time_control import TimeLimits

BANK_OF_STRANGERS: Final = 6  # times the limit of an answer, for a round: two seconds for each answer of most rounds


@attrs.frozen(field_transformer=with_rows(DOOR))
class DoorLimits:
    connections: int = FROM_ROW  # at once, of bots and watchers together
    per_address: int = FROM_ROW  # connections at once; enough for a class behind one router, with a few for each bot
    names: int = FROM_ROW  # of bots from one address that the file does not name; enough for a class behind one router
    per_second: int = FROM_ROW  # connections greeted; further ones wait
    hello_seconds: float = FROM_ROW  # to say hello, TLS included
    line: int = FROM_ROW
    unread: int = FROM_ROW  # bytes sent to a bot that it has not read yet
    late_answers: int = FROM_ROW  # answers without a request, per connection
    wrong_tokens: int = FROM_ROW  # per address and minute; further ones are answered with a delay


@attrs.frozen(field_transformer=with_rows(SERVING))
class ServerConfig:
    door: DoorLimits
    bot_limits: TimeLimits  # of bots that the file does not name
    listen: str
    open_door: bool
    forever: bool
    begin: str | datetime  # "all", "key" or a moment
    grace: float  # seconds
    drain: float  # seconds
    cert: Path | None  # the chain
    key: Path | None
    watch_delay: float  # seconds
    show_hands: bool
    watchers: int

    @property
    def certificate(self) -> tuple[Path, Path] | None:
        """Chain and key."""
        return (self.cert, self.key) if self.cert and self.key else None


def read_server_file(path: Path, options: Mapping[str, str]) -> tuple[Config, ServerConfig]:
    """Read the tournament file of a server; `options` are those of the command line. Raises ConfigError."""
    found = read_file(path, options, least=0)
    server = _server(found)
    if found.test is not None:
        raise ConfigError(f"{path}: [sprt] is a test of two bots that the arena starts: use arena sprt")
    if found.config.seed:
        raise ConfigError(
            f"{found.where('seed')}: a server does not take a seed, because anyone who knows it knows all deals; leave "
            "it out, and the deals come from a secret"
        )
    if server.open_door and not server.forever and "begin" not in found.server:
        raise ConfigError(
            "with --open any number of bots may connect: say when to begin, --begin key or --begin 20:30; to resume a "
            "tournament, --begin all waits for its bots"
        )
    if len(found.config.bots) < 2 and not server.open_door:
        raise ConfigError(
            f"a tournament needs two bots or more, found {len(found.config.bots)}; with --open others may join"
        )
    return found.config, server


def _server(found: TournamentFile) -> ServerConfig:
    values = found.server
    if "listen" not in values:
        raise ConfigError("--listen HOST:PORT is missing: the address to listen at")
    for given, missing in (("cert", "key"), ("key", "cert")):
        if given in values and missing not in values:
            raise ConfigError(f"--{given} needs --{missing}, too")
    return ServerConfig(
        door=DoorLimits(**fields_of(DOOR, values)),
        bot_limits=_limits_of_strangers(found.limits),
        **fields_of(SERVING, values),
    )


def _limits_of_strangers(limits: TimeLimits) -> TimeLimits:
    """The limits of bots that the file does not name. They have a bank: otherwise a bot could take the whole limit for
    each of its answers, which makes a round last for ten minutes."""
    if limits.bank_ms is not None or limits.move_ms is None:
        return limits
    return replace(limits, bank_ms=BANK_OF_STRANGERS * limits.move_ms)


def tls_context(server: ServerConfig) -> ssl.SSLContext | None:
    """The TLS settings of the server; None without a certificate. Raises ConfigError if the files are not a certificate
    and its key."""
    if server.certificate is None:
        return None
    chain, key = server.certificate
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(chain, key)
    except OSError as error:  # ssl.SSLError is one
        raise ConfigError(f"cannot use --cert {chain} with --key {key}: {error.strerror or error}") from None
    return context

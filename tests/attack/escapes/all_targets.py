"""What is laid out for the attempts here, besides what `arena sandbox` lays out for its own."""

from __future__ import annotations

from dataclasses import dataclass

from arena.devtools.sandbox_attempts import Targets


@dataclass(frozen=True)
class AllTargets(Targets):
    journal: str
    secret: str  # of the deals
    shared: str  # a file in the bot's own folder, which another instance of the bot reads too
    fifo: str  # a named pipe of another program
    socket: str  # a unix socket of another program
    scratch: str  # the folder in which the bot may write
    shared_memory: str  # the folder of POSIX shared memory
    scratch_bytes: int  # what fits into each of the two
    tcp6: int  # the same as `tcp` for IPv6; 0 on a host without it
    udp: int
    abstract: str  # the name of an abstract unix socket
    key: str  # the description of a key in the user's keyring

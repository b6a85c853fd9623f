"""A bot as the operating system sees it: a process or a connection, its sandbox, its streams (stderr too), its limits
and its end, and the player that speaks the protocol over them. What to ask, and when an answer is too late, is decided
in match."""

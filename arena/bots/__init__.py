"""A bot as the operating system sees it: a process or a connection, its sandbox, its streams (stderr too), its limits
and its end, and the player that speaks the protocol over them; and the two drivers, trio's and the polled one, that do
what a match wants. What to ask, and when an answer is too late, is decided in match."""

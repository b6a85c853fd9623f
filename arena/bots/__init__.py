"""A bot as a match sees it: the player, the link on which it is asked, told and heard, and the two drivers, trio's and
the polled one, that do what a match wants. A player may be a process, a connection or a function. What to ask, and when
an answer is too late, is decided in match."""

"""A bot as the operating system knows it: a process or a connection, its streams, its limits and its end, and the
player that speaks the protocol through them. What is asked, and when an answer is too late, is decided in match."""

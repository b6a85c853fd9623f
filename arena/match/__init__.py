"""One match between two bots: the referee between engine and protocol, the messages of a match, the
clock that charges thinking time, and what a round and a match do when a bot fails. It does no I/O: it says what it
wants, and a driver in bots does it. Which matches there are, and where their rounds are saved, is decided in
tournament."""

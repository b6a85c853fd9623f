"""One match between two bots: the referee between engine and protocol, the host that makes the messages of a match, the
clock that charges thinking time and its watchdog, and what a round and a match do when a bot fails. Which matches there
are, and where their rounds are saved, is decided in tournament."""

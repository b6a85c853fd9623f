"""The command line: a command parses options, calls another room, prints the result and chooses the exit status.
The words for events of a tournament, a server and a client are chosen here. No other room imports this one."""

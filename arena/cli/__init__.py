"""The command line: a command parses options, calls another room, prints the result and chooses the exit status.
All texts shown while a tournament runs are written here. No other room imports this one."""

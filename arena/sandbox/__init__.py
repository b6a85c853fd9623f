"""What confines a bot's program: the limits and descriptors with which it is started, and the sandbox around it: a
command of bubblewrap, what the bot sees, a filter of system calls, and whether this machine can make it."""

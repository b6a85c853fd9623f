"""The wire: what bots and the arena say to each other.

All modules are pure except `bot_runner`, which puts a bot on its standard streams or on a socket.
"""

"""A person as a player: what they know, what is on their screen, what each key does, and their end of a connection. The
person is beyond the referee, as every bot is: all that gets here are the messages of the protocol. Terminals and the
words around a match are in cli."""

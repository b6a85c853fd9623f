"""A tournament of bots that connect: the peers that have not said hello and the door, both of which make strangers cost
little, which bot owns which name, which bots and spectators are present, and when a tournament begins. The other end of
such a connection is in client."""

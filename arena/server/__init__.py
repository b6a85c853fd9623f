"""A tournament of bots that connect: the porch and the door that make strangers cost little, which bot owns which name,
which bots and spectators are present, and when a tournament begins. The other end of such a connection is in client."""

"""A tournament of bots that connect: the porch and the door that keep strangers cheap, who may use which name, who is
present, who watches, and when to begin. The other end of such a connection is in client."""

"""The other end of a server: the bridge between a local bot and a server, and the screen of a spectator. It shares
only the protocol with server."""

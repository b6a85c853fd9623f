"""Programs that connect to a server: the bridge between a local bot and a server, and the screen of a spectator. This
room and server know nothing of each other; they share the protocol."""

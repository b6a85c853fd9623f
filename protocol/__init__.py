"""The wire: what bots and the arena say to each other, without any I/O."""

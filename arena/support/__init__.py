"""Helpers that know nothing about the game, bots or tournaments: text made safe for a terminal, signals, addresses,
atomic file writes, limits of this process. Code that mentions a round or a bot belongs in a higher room."""

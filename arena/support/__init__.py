"""Helpers that know nothing about the game, bots or tournaments: text made safe for a terminal, signals, addresses,
atomic file writes, limits of this process, its deadlines and stalls, a loop of tasks without trio. Code that mentions a
round or a bot belongs in a higher room."""

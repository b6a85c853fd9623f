"""What knows nothing of the game, of bots or of tournaments: texts made safe for a terminal, signals, addresses,
whole files, limits of this process. Code that mentions a round or a bot belongs in a higher room."""

"""What a position is worth: the interface of evaluators, and the bundled one, which thinks like the bot `counting`.
Pure. Whole rounds, their curves and mistakes are in replay."""

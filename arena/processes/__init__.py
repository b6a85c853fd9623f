"""A bot's program as the operating system sees it: what belongs to it, how it is started, its keeper, its limits, its
stderr and its end. What is said to it is the business of bots."""

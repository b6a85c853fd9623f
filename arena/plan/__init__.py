"""What is to be played: bots, the time they are allowed, the schedule, where deals come from, and the options and files
that say so. These are frozen values, made before the first round; a running clock is in match. What was played is in
journal; tournament plays it."""

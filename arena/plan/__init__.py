"""What is to be played: bots, time limits, the schedule, where deals come from, and the options and files that say
so. These are frozen values, made before the first round. What was played is in journal; tournament plays it."""

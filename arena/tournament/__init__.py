"""Many matches, several at once, saved round by round and resumable: what is left to play, which bots play it and when
one is withdrawn, what is written, what is kept of a fault. Bots that connect come from server; texts for the organiser
are written in cli."""

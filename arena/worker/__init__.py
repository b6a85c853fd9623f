"""One match as a job: plain data that any process can play, the logic that plays it and reports its rounds, and the
worker process that does nothing else. Which matches there are, what becomes of the reports, and what happens when a
worker dies, is decided in tournament."""

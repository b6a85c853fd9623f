"""Matches on the machines of a Dask cluster: the task that runs there, the client that reaches it, the pool that gives
it matches, and the comparison of machines before a tournament begins. What becomes of finished rounds is decided in
tournament. The only room that needs `distributed`, an extra of the installation."""

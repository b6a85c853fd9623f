"""The arena for other Python programs: a match between two Python functions in their own process. It is the same match,
and makes the same records, as all other ways to play."""

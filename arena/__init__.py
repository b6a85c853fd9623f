"""Joins rules and wire: the only place with I/O."""

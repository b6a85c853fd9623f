"""Journals as tables for other programs: what the columns are, how their values are found, and the files that are
written. Statistics of journals live in `stats`, pages for people in `pages`."""

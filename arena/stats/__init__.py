"""Turns results into numbers and numbers into tables: standings, Elo, head-to-head scores, thinking times, and what a
report shows. Everything is a fold over journal lines; tables are rendered as text here, pages for a browser in
pages."""

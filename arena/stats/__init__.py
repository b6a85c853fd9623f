"""Turns results into numbers and numbers into tables: standings, Elo, head-to-head scores, thinking times. Everything
is a fold over journal lines and is rendered as text; pages for a browser are in pages."""

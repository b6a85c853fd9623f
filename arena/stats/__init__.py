"""Results become numbers, and numbers become tables: standings, Elo, head-to-head scores, thinking times. Everything
is folded from journal lines and rendered as text; pages for a browser are in pages."""

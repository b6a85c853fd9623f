"""Pages for a browser: reports, charts and the viewer of replays. A page embeds its CSS and JavaScript (from assets)
and loads nothing from a network. The contents come from stats and replay."""

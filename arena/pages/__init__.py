"""Pages for a browser: reports, charts and the viewer of replays, each a single HTML file that loads nothing else.
Their contents come from stats and replay; CSS and JavaScript are in assets."""

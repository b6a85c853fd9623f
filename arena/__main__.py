from arena.cli.main import entry

entry()

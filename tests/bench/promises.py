"""`make promises`: the figures that this project promises, in some minutes. Each stands next to a baseline of the same
run; all are taken at least five times, in turns. The other parts of `make bench` say where the time goes."""

import shutil
import sys
import tempfile
from pathlib import Path

from arena.support import compilation
from arena.support.process_limits import tune_gc
from tests.bench import offline, server
from tests.bench.arena import c_bot, show, show_matches, show_start_up


def main() -> None:
    missing = [program for program in ("cc", "time", "taskset") if not shutil.which(program)]
    if missing:
        sys.exit(f"these figures need the programs cc, time and taskset; missing: {', '.join(missing)}")
    print(f"The arena runs {compilation.kind()}.")
    tune_gc()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bot = c_bot(folder)
        show_matches(folder, bot)
        show_start_up(folder, bot)
        program = server.load_generator(folder)
        show("Bots over loopback, on another core", server.HEAD, server.under_load(program, folder))
    offline.main()


if __name__ == "__main__":
    main()

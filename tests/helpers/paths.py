"""Where things are that tests read or start."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
GOLDEN: Final = ROOT / "tests" / "golden"
BENCH: Final = ROOT / "tests" / "bench"
BAD_BOTS: Final = ROOT / "tests" / "bots" / "bad_bots.py"
ESCAPE_BOT: Final = ROOT / "tests" / "bots" / "escape_bot.py"
DEADLY_BOT: Final = ROOT / "tests" / "bots" / "deadly_bot.py"
SORE_LOSER_BOT: Final = ROOT / "tests" / "bots" / "sore_loser_bot.py"
LATE_BOT: Final = ROOT / "tests" / "bots" / "late_bot.py"
STEADY_BOT: Final = ROOT / "tests" / "bots" / "steady_bot.py"
THINKING_BOT: Final = ROOT / "tests" / "bots" / "thinking_bot.py"
WORKING_BOT: Final = ROOT / "tests" / "bots" / "working_bot.py"
CROWDING_BOT: Final = ROOT / "tests" / "bots" / "crowding_bot.py"
WATCHING_BOT: Final = ROOT / "tests" / "bots" / "watching_bot.py"

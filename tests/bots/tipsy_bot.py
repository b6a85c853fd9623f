"""Greedy, but a share of its decisions is random: bots of every strength in between. `tipsy_bot.py NAME SHARE`"""

import random
import sys

from example_bots import greedy
from protocol.bot_runner import run
from protocol.messages import Request


def main(name: str, share: float) -> None:
    def choose(request: Request) -> str:
        return random.choice(request.legal) if random.random() < share else greedy.choose(request)

    run(choose, name=name)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))

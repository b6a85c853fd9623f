"""A bot that buys voids: `python sore_loser_bot.py worker|keeper|nothing`. Where it is a stone behind, it kills the
process that plays its match, or its own keeper, and hopes that the round does not count. Else it plays any legal move.
"""

import json
import os
import random
import signal
import sys
from pathlib import Path


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def kill(victim: str) -> None:
    keeper = os.getppid()
    if victim != "nothing":
        os.kill(parent_of(parent_of(keeper)) if victim == "worker" else keeper, signal.SIGKILL)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"sore"}', flush=True)
    elif message["type"] == "request":
        owners = [stone["owner"] for stone in message["state"]["stones"]]
        if owners.count("opponent") > owners.count("you"):
            kill(sys.argv[1])
        print(json.dumps({"type": "action", "id": message["id"], "move": random.choice(message["legal"])}), flush=True)
    elif message["type"] == "bye":
        break

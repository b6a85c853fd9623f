"""The smallest bot, in Python: plays a random legal move. Standard library only.
Run:  python3 random_bot.py
To write your own bot, change choose(): it gets the whole request and returns one of request["legal"].
"""

import json
import random
import sys
from typing import Any

rng = random.Random()


def choose(request: dict[str, Any]) -> str:
    return str(rng.choice(request["legal"]))  # the cards are in request["state"]


if __name__ == "__main__":
    for line in sys.stdin.buffer:  # bytes: the protocol is UTF-8, whatever the locale is
        message = json.loads(line)
        if message["type"] == "hello":
            print('{"type":"hello","protocol":1,"name":"random-python"}', flush=True)
        elif message["type"] == "round_start":
            rng.seed(message.get("seed"))  # the same seed and the same requests: the same moves
        elif message["type"] == "request":
            print(json.dumps({"type": "action", "id": message["id"], "move": choose(message)}), flush=True)
        elif message["type"] == "error":
            print(message, file=sys.stderr)
        elif message["type"] == "bye":
            break

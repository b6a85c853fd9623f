"""A bot that kills the process that plays its match: `python deadly_bot.py [FILE [once]]`.

It does so at its third request of a match: always, or only while FILE does not exist, which it makes first if it is to
kill `once`. In the name of FILE, {match} stands for the match. Else it plays the first legal move.
"""

import json
import os
import signal
import sys
from pathlib import Path


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def is_peaceful(match: str) -> bool:
    for name in sys.argv[1:2]:
        file = Path(name.replace("{match}", match))
        if file.exists():
            return True
        if sys.argv[2:] == ["once"]:
            file.touch()
    return False


count, match = 0, ""
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"deadly"}', flush=True)
    elif message["type"] == "match_start":
        count, match = 0, message["match"]
    elif message["type"] == "request":
        count += 1
        if count == 3 and not is_peaceful(match):
            keeper = os.getppid()
            os.kill(parent_of(parent_of(keeper)), signal.SIGKILL)  # the parent of the launcher
        print(json.dumps({"type": "action", "id": message["id"], "move": message["legal"][0]}), flush=True)
    elif message["type"] == "bye":
        break

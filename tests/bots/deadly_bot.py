"""A bot that kills the process that plays its match: `python deadly_bot.py [FILE]`.

It does so at its third request: always, or only while FILE does not exist. Else it plays the first legal move.
"""

import json
import os
import signal
import sys
from pathlib import Path


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


count = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"deadly"}', flush=True)
    elif message["type"] == "request":
        count += 1
        if count == 3 and not (sys.argv[1:] and Path(sys.argv[1]).exists()):
            for name in sys.argv[1:]:
                Path(name).touch()
            keeper = os.getppid()
            os.kill(parent_of(parent_of(keeper)), signal.SIGKILL)  # the parent of the launcher
        print(json.dumps({"type": "action", "id": message["id"], "move": message["legal"][0]}), flush=True)
    elif message["type"] == "bye":
        break

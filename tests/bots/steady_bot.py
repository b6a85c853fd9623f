"""A bot that answers the same request always the same way: `python steady_bot.py SALT [WORD ...]`.

With `note` it tells its process id in a note to each move, with `log=FILE` it keeps what it hears, with `illegal` it
names moves that are none. With `rest=ROUNDS:PATH` it answers nothing after this many rounds until PATH.over exists, so
that a test can do something to a tournament before it is over.
"""

import json
import os
import sys
import time
import zlib

salt, noting = sys.argv[1], "note" in sys.argv
rests = [word.removeprefix("rest=").split(":") for word in sys.argv if word.startswith("rest=")]
rounds = 0
logs = [word.removeprefix("log=") for word in sys.argv if word.startswith("log=")]
for line in sys.stdin:
    message = json.loads(line)
    for log in logs:
        with open(log, "a") as file:
            file.write(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"steady"}', flush=True)
    elif message["type"] == "round_start":
        rounds += 1
    elif message["type"] == "request":
        while any(rounds > int(after) and not os.path.exists(f"{path}.over") for after, path in rests):
            time.sleep(0.01)
        legal = message["legal"]
        # A lower number of the stone is liked more, so that rounds do not always end blocked.
        place = zlib.crc32(f"{salt}{message['state']['hand']}{message['state']['decks']}".encode()) % len(legal)
        action = {"type": "action", "id": message["id"], "move": "resign" if "illegal" in sys.argv else legal[place]}
        print(json.dumps(action | ({"note": str(os.getpid())} if noting else {})), flush=True)
    elif message["type"] == "bye":
        break

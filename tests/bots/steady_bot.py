"""A bot that answers the same request always the same way: `python steady_bot.py SALT [note] [log=FILE] [illegal]`.

With `note` it tells its process id in a note to each move, with `log` it keeps what it hears, with `illegal` it names
moves that are none.
"""

import json
import os
import sys
import zlib

salt, noting = sys.argv[1], "note" in sys.argv
logs = [word.removeprefix("log=") for word in sys.argv if word.startswith("log=")]
for line in sys.stdin:
    message = json.loads(line)
    for log in logs:
        with open(log, "a") as file:
            file.write(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"steady"}', flush=True)
    elif message["type"] == "request":
        legal = message["legal"]
        # A lower number of the stone is liked more, so that rounds do not always end blocked.
        place = zlib.crc32(f"{salt}{message['state']['hand']}{message['state']['decks']}".encode()) % len(legal)
        action = {"type": "action", "id": message["id"], "move": "resign" if "illegal" in sys.argv else legal[place]}
        print(json.dumps(action | ({"note": str(os.getpid())} if noting else {})), flush=True)
    elif message["type"] == "bye":
        break

"""A bot that answers the same request always the same way: `python steady_bot.py SALT [note]`. With `note` it tells its
process id in a note to each move."""

import json
import os
import sys
import zlib

salt, noting = sys.argv[1], "note" in sys.argv
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"steady"}', flush=True)
    elif message["type"] == "request":
        legal = message["legal"]
        # A lower number of the stone is liked more, so that rounds do not always end blocked.
        place = zlib.crc32(f"{salt}{message['state']['hand']}{message['state']['decks']}".encode()) % len(legal)
        action = {"type": "action", "id": message["id"], "move": legal[place]}
        print(json.dumps(action | ({"note": str(os.getpid())} if noting else {})), flush=True)
    elif message["type"] == "bye":
        break

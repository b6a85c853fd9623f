"""A bot that wants a second chance: `python late_bot.py SECONDS`. Where it is two stones behind it answers half a
millisecond after its time, and hopes that the round does not count. With `never` it does not."""

import json
import sys
import time

allowed = None if sys.argv[1] == "never" else float(sys.argv[1])
for line in sys.stdin:
    heard = time.monotonic()
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"late"}', flush=True)
    elif message["type"] == "request":
        owners = [stone["owner"] for stone in message["state"]["stones"]]
        if allowed is not None and owners.count("opponent") > owners.count("you") + 1:
            time.sleep(max(0.0, allowed + 0.0005 - (time.monotonic() - heard)))
        print(json.dumps({"type": "action", "id": message["id"], "move": message["legal"][0]}), flush=True)
    elif message["type"] == "bye":
        break

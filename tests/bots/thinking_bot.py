"""A bot that thinks for some seconds before each answer, without using the processor: `thinking_bot.py SECONDS`."""

import json
import sys
import time

seconds = float(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"thinking"}', flush=True)
    elif message["type"] == "request":
        time.sleep(seconds)
        print(json.dumps({"type": "action", "id": message["id"], "move": message["legal"][0]}), flush=True)
    elif message["type"] == "bye":
        break

"""A bot that needs some seconds of processor time for each answer: `python working_bot.py SECONDS`."""

import json
import sys
import time

seconds = float(sys.argv[1])
for line in sys.stdin:
    began = time.process_time()
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"working"}', flush=True)
    elif message["type"] == "request":
        while time.process_time() - began < seconds:
            pass
        print(json.dumps({"type": "action", "id": message["id"], "move": message["legal"][0]}), flush=True)
    elif message["type"] == "bye":
        break

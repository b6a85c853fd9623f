"""A bot that takes the processor from its opponent: `python crowding_bot.py CHILDREN [sessions | threads]`. After its
first answer it has CHILDREN processes that are busy except while it has something to do itself. With `sessions`, each
has a session of its own if it can: Linux gives each session as much of the processor as the opponent. With `threads`,
it has CHILDREN threads that do nothing, which whoever looks at them has to read one by one.
"""

import contextlib
import json
import mmap
import os
import select
import sys
import tempfile
import threading
import time


def crowd() -> None:
    with contextlib.suppress(PermissionError):
        if "sessions" in sys.argv:
            os.setsid()
    while True:
        if is_busy[0] or select.select([0], [], [], 0)[0]:
            os.read(waiting, 1)


children, started = int(sys.argv[1]), 0
waiting, releasing = os.pipe()
with tempfile.TemporaryFile() as file:
    file.truncate(1)
    is_busy = mmap.mmap(file.fileno(), 1)
with open(0, "rb", buffering=0) as lines:
    while select.select([0], [], []):
        is_busy[0] = True
        message = json.loads(lines.readline() or '{"type":"bye"}')
        if message["type"] == "hello":
            print('{"type":"hello","protocol":1,"name":"crowding"}', flush=True)
        elif message["type"] == "request":
            print(json.dumps({"type": "action", "id": message["id"], "move": message["legal"][0]}), flush=True)
            is_busy[0] = False
            os.write(releasing, bytes(started))
            while started < children:
                started += 1
                if "threads" in sys.argv:
                    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
                elif not os.fork():
                    crowd()
        elif message["type"] == "bye":
            break

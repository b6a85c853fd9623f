"""A bot that tries to get out in the middle of a round: `python3 escape_bot.py PROGRAM TARGETS [NAME]...`

PROGRAM is what tests/helpers/escape_targets.py writes, TARGETS tells of the targets, and NAME is that of an attempt;
without names, the bot makes all that it survives. It makes them at its first request, writes each result as a line of
JSON to stderr, and then plays on. It needs only Python 3.9: in its sandbox, there may be nothing else.
"""

import json
import os
import signal
import sys

sys.path.insert(0, sys.argv[1])
from arena.devtools.sandbox_attempts import leave_daemon, results
from tests.attack.escapes.all_targets import AllTargets
from tests.attack.escapes.run import ATTEMPTS

STOP = "stop-own-group"  # not an attempt to get something, but to make the arena wait for ever


def attack() -> None:
    if STOP in sys.argv:
        os.kill(0, signal.SIGSTOP)
    leave_daemon()
    for result in results(ATTEMPTS, AllTargets.read(sys.argv[2]), sys.argv[3:]):
        print(result.line(), file=sys.stderr, flush=True)


asked = False
for line in sys.stdin.buffer:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"escape"}', flush=True)
    elif message["type"] == "request":
        if not asked:
            asked = True
            attack()
        print(json.dumps({"type": "action", "id": message["id"], "move": message["legal"][0]}), flush=True)
    elif message["type"] == "bye":
        break

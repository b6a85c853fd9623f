"""Bots that misbehave, one way each: `python bad_bots.py WAY`. They play like the random bot until they do."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

TROUBLE_AT = 5  # the request at which most of them begin
rng = random.Random(1)
count = current_round = 0


def say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


def answer(request: dict[str, Any], **changes: Any) -> None:
    say(**{"type": "action", "id": request["id"], "move": rng.choice(request["legal"]), **changes})


def exits(status: int) -> Callable[[dict[str, Any]], None]:
    def leave(_: dict[str, Any]) -> None:
        print("I am leaving", file=sys.stderr, flush=True)
        os._exit(status)

    return leave


def hang(_: dict[str, Any]) -> None:
    time.sleep(1000)


def ignore_sigterm(_: dict[str, Any]) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1000)


def fork_children(_: dict[str, Any]) -> None:
    command = [
        sys.executable,
        "-c",
        "import signal as s, time; s.signal(s.SIGTERM, s.SIG_IGN); time.sleep(1000)",
    ]
    child = subprocess.Popen([*command, *sys.argv[3:]], stdin=subprocess.DEVNULL)
    print(f"child {child.pid}", file=sys.stderr, flush=True)
    time.sleep(1000)


def flood(descriptor: int) -> Callable[[dict[str, Any]], None]:
    def forever(_: dict[str, Any]) -> None:
        while True:
            os.write(descriptor, b"x" * 4096)

    return forever


def flood_lines(_: dict[str, Any]) -> None:
    """Valid lines that answer a request of long ago, without end."""
    while True:
        say(type="action", id=0, move="pass")


def flood_stderr_and_play(request: dict[str, Any]) -> None:
    os.write(2, b"y" * 200_000)
    answer(request)


def late(request: dict[str, Any]) -> None:
    """After five seconds, or, with a path in the command, as soon as there is such a file, which is removed."""
    if not sys.argv[3:]:
        time.sleep(5)
    for path in sys.argv[3:]:
        while not os.path.exists(path):
            time.sleep(0.01)
        os.remove(path)
    answer(request)


def close_input(_: dict[str, Any]) -> None:
    os.close(0)
    os.close(1)
    time.sleep(1000)


hoard: list[bytearray] = []


def eat_memory(request: dict[str, Any]) -> None:
    for _ in range(2048):
        hoard.append(bytearray(b"z" * 2**20))
    answer(request)


def eat_memory_later(request: dict[str, Any]) -> None:
    """While the opponent thinks."""
    answer(request)
    eat_memory(request)


def eat_memory_in_child(_: dict[str, Any]) -> None:
    """Four processes that use 64 MiB each, while their parent waits."""
    for _child in range(4):
        if os.fork() == 0:
            hoard.append(bytearray(b"z" * 2**26))
            time.sleep(1000)
    time.sleep(1000)


def torn_by_memory(_: dict[str, Any]) -> None:
    os.write(1, b'{"type":"act')
    eat_memory_at_once()


def eat_memory_at_once() -> None:
    hoard.append(bytearray(b"z" * 2**29))
    time.sleep(1000)


def fork_bomb(_: dict[str, Any]) -> None:
    """Every process leaves the group of the others. It stops at 512, in case nobody else stops it."""
    for _turn in range(9):
        if os.fork() == 0:
            os.setsid()
    time.sleep(1000)


def daemon(_: dict[str, Any]) -> None:
    """A grandchild that nothing joins to the bot any more: no parent, no group, no session, no descriptors, no
    environment."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 100)
            os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(1000)", *sys.argv[3:]], {})
        os._exit(0)
    time.sleep(1000)


def leak(request: dict[str, Any]) -> None:
    hoard.append(bytearray(b"z" * 100_000))
    answer(request)


def raw(line: bytes) -> Callable[[dict[str, Any]], None]:
    def write(_: dict[str, Any]) -> None:
        os.write(1, line)

    return write


def twice(request: dict[str, Any]) -> None:
    line = json.dumps({"type": "action", "id": request["id"], "move": request["legal"][0]}) + "\n"
    os.write(1, 2 * line.encode())


def twice_later(request: dict[str, Any]) -> None:
    answer(request)
    time.sleep(0.002)
    answer(request)


def slow_now_and_then(request: dict[str, Any]) -> None:
    if count % 60 == 0:
        time.sleep(0.5)
    answer(request)


def always_slow(request: dict[str, Any]) -> None:
    time.sleep(0.01)
    answer(request)


def illegal_in_tactics(request: dict[str, Any]) -> None:
    answer(request, **({"move": "resign"} if request["state"]["decks"]["tactic"] else {}))


def spin(_: dict[str, Any]) -> None:
    while True:
        pass


def crash_in_odd_rounds(request: dict[str, Any]) -> None:
    if current_round % 2:
        os._exit(3)
    answer(request)


def chatter(request: dict[str, Any]) -> None:
    print("thinking about", request["phase"])
    answer(request)


WAYS: dict[str, Callable[[dict[str, Any]], None]] = {
    "crash": exits(3),
    "exit-0": exits(0),
    "hang": hang,
    "ignore-sigterm": ignore_sigterm,
    "fork": fork_children,
    "flood-stdout": flood(1),
    "flood-lines": flood_lines,
    "flood-stderr": flood_stderr_and_play,
    "late": late,
    "garbage": raw(b"\xff\xfe\x00 garbage\n"),
    "half-line": raw(b'{"type":"act'),
    "illegal": lambda request: answer(request, move="claim 9" if "claim 9" not in request["legal"] else "claim 8"),
    "no-action": lambda request: answer(request, move="resign"),
    "wrong-type": lambda request: answer(request, id=str(request["id"])),
    "future-id": lambda request: answer(request, id=request["id"] + 1),
    "old-id": lambda request: answer(request, id=0),
    "twice": twice,
    "chatter": chatter,
    "close-input": close_input,
    "eat-memory": eat_memory,
    "eat-memory-later": eat_memory_later,
    "eat-memory-in-child": eat_memory_in_child,
    "torn-by-memory": torn_by_memory,
    "fork-bomb": fork_bomb,
    "daemon": daemon,
    "leak": leak,
    "twice-later": twice_later,
    "spin": spin,
    "crash-in-odd-rounds": crash_in_odd_rounds,
    "slow-now-and-then": slow_now_and_then,
    "always-slow": always_slow,
    "illegal-in-tactics": illegal_in_tactics,
    "long-notes": lambda request: answer(request, note="n" * 3000),
    "no-newline": raw(b'{"type":"action","id":1,"move":"pass"}'),
}
FROM_THE_START = (
    "leak", "flood-stderr", "twice-later", "always-slow", "slow-now-and-then", "illegal-in-tactics",
    "crash-in-odd-rounds", "long-notes",
)  # fmt: skip


def main(way: str) -> None:
    global count, current_round
    if way == "crash-at-start":
        sys.exit("no licence file")
    if way == "eat-memory-at-start":
        eat_memory_at_once()
    if way == "slow-start":
        time.sleep(1000)
    if way == "silent":
        sys.stdin.read()
        return
    if way == "unflushed":
        sys.stdin.readline()
        sys.stdout = os.fdopen(1, "w", buffering=65536)
        print('{"type":"hello","protocol":1,"name":"unflushed"}')
        sys.stdin.read()
        return
    if way == "never-reads":
        say(type="hello", protocol=1, name=way)
        time.sleep(1000)
    if way == "hello-without-newline":
        os.write(1, b'{"type":"hello","protocol":1,"name":"x"}')
        time.sleep(1000)
    matches = 0
    for line in sys.stdin:
        message = json.loads(line)
        matches += message["type"] == "match_start"
        if message["type"] == "round_start":
            current_round = message["round"]
        if way == "leaves-after-a-round" and message["type"] == "round_end":
            sys.exit("enough")
        if way == "eat-memory-between" and message["type"] == "round_end":
            eat_memory_at_once()
        if way == "dies-at-unknown-field" and "x_new" in message:
            sys.exit("what is x_new?")
        if way == "dies-at-second-match" and matches == 2:
            sys.exit("I have played already")
        if way == "dies-at-early-end" and message["type"] == "round_end" and message["ending"] == "disconnected":
            sys.exit("but I was thinking")
        if way == "exits-1-at-bye" and message["type"] == "bye":
            sys.exit(1)
        if message["type"] == "hello":
            say(type="hello", protocol=2 if way == "old-protocol" else 1, name=way)
        elif message["type"] == "request":
            count += 1
            trouble = way in WAYS and (count == TROUBLE_AT or way in FROM_THE_START)
            (WAYS[way] if trouble else answer)(message)
        elif message["type"] == "bye" and way != "stays":
            return
        elif message["type"] not in KNOWN and way == "strict":
            sys.exit(f"unknown type {message['type']}")
    if way == "stays":
        time.sleep(1000)
    if way == "exits-1-at-bye":
        sys.exit(1)


KNOWN = ("hello", "welcome", "match_start", "round_start", "request", "round_end", "match_end", "error", "bye")

if __name__ == "__main__":
    main(sys.argv[1])

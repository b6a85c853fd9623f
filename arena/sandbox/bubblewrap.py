"""The sandbox of a bot: the command that starts it in bubblewrap (bwrap), which needs neither root nor a daemon.

Theory of operation. bwrap makes new namespaces (user, mount, process, network, IPC, host name, cgroup), fills an empty
root with what the bot may see (sandbox_view.py), drops all capabilities, forbids further user namespaces, and installs
a filter for system calls (seccomp_filters.py). The bot's processes then see nothing that is not theirs, and all end
with the first process of their namespace.

* The first process of the namespace is bwrap's own and has the bot's user. So /proc/1 is covered, because the bot could
  write into its memory, and there is a session of its own, because a signal to a process group leaves the namespace.
* bwrap starts with an empty environment and reads its arguments from a descriptor. The bot's variables are among the
  arguments: given to bwrap itself, LD_PRELOAD would run code of the bot outside of the sandbox.
* It has few devices. Shared maps of /dev/zero, for example, are memory that nobody counts.
* Its root, /dev and everything that is shown are read-only. /tmp and /dev/shm are sized; the keeper counts the files in
  them, which also take memory.
* An arena that runs as root becomes another user first, because root may read every file and has no limit of processes.
  Each running bot is a user of its own, where there are enough, and shares nothing that the kernel counts for users.
* Otherwise all bots are of the user who runs the arena. The kernel counts timers and threads for each user namespace as
  well, so bwrap waits until the keeper has set limits inside (spawning.py).
* On a descriptor that only bwrap has, it reports the exit of the bot's program. Without this report the program never
  ran, and what is on stderr comes from bwrap.
"""

import errno
import functools
import os
import platform
import pwd
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from arena.plan.bot_spec import BotSpec
from arena.sandbox.sandbox_view import SandboxError, SandboxView, view_of
from arena.sandbox.seccomp_filters import FILTERS
from arena.sandbox.spawning import OWN_USER, OWN_USERS

USER: Final = "nobody"
_DEVICES: Final = ("null", "random", "urandom")
_MOST_ARGUMENTS: Final = 8900  # bubblewrap takes 9000
OWN_PROCESSES: Final = 2  # bwrap itself, and the first process of the namespace
# Links in /usr lead here, and programs in /usr do not start without some of it.
_PARTS_OF_ETC: Final = ("alternatives", "ld.so.cache", "java-*")


class SandboxCommand(Struct, frozen=True):
    """How to start a bot in its sandbox."""

    command: tuple[str, ...]
    # What the command reads from descriptors 3, 4, …; it reports its end on the one after them, and runs the bot once
    # the other end of the next one is closed.
    data: tuple[bytes, ...]


@functools.lru_cache(maxsize=1024)  # bots are started again and again
def sandboxed(spec: BotSpec) -> SandboxCommand:
    """How to start this bot in its sandbox on this machine. Raises SandboxError, and OSError for what is not the bot's
    fault."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise OSError(errno.ENOENT, "bubblewrap (bwrap) is no longer installed")
    return confined(spec, view_of(spec), bwrap, platform.machine())


def confined(spec: BotSpec, view: SandboxView, bwrap: str, machine: str) -> SandboxCommand:
    """The command that starts the bot with this view. `bwrap` is the path of bubblewrap, `machine` that of the
    architecture, as `platform.machine` says it. Raises SandboxError."""
    words = [*_base(spec.sandbox.scratch), *_shown(view, spec.cwd)]
    for name, value in spec.environment().items():
        words += ["--setenv", name, value]
    if len(words) > _MOST_ARGUMENTS:
        raise SandboxError("it has too many variables or paths for bubblewrap")
    arguments = b"".join(os.fsencode(word) + b"\0" for word in words)
    descriptors = ("--args", "3", "--seccomp", "4", "--json-status-fd", "5", "--block-fd", "6")
    command = (*_as_user(spec.sandbox.user), bwrap, *descriptors, "--", str(view.program), *spec.command[1:])
    return SandboxCommand(command, (arguments, FILTERS[machine]))


def _base(scratch: int) -> list[str]:
    """The sandbox without anything of the bot."""
    words = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    words += ["--cap-drop", "ALL", "--ro-bind", "/usr", "/usr", *_links_to_usr(), *_parts_of_etc()]
    words += ["--proc", "/proc", "--perms", "0555", "--size", "4096", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]
    words += ["--size", "65536", "--perms", "0755", "--tmpfs", "/dev"]
    for device in _DEVICES:
        words += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    for number, stream in enumerate(("stdin", "stdout", "stderr")):
        words += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{stream}"]
    words += ["--symlink", "/proc/self/fd", "/dev/fd"]
    for folder in ("/tmp", "/dev/shm"):
        words += ["--size", str(scratch), "--perms", "0700", "--tmpfs", folder]
    return words


def _links_to_usr() -> Iterator[str]:
    """/bin and the like: links to /usr on most systems, folders on others."""
    for path in map(Path, ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")):
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _parts_of_etc() -> Iterator[str]:
    for part in _PARTS_OF_ETC:
        for path in sorted(Path("/etc").glob(part)):
            yield from ("--ro-bind", str(path), str(path))


def _shown(view: SandboxView, cwd: Path | None) -> list[str]:
    words: list[str] = []
    for path in view.paths:
        words += ["--ro-bind", str(path), str(path)]
    folder = str(Path(cwd or "").absolute())
    return [*words, "--dir", folder, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", folder]


def _as_user(name: str | None) -> tuple[str, ...]:
    """The words that make root another user: one that no other bot has, in the group of the user with this name, which
    decides what it may read. Raises SandboxError."""
    if os.geteuid() != 0:
        if name is not None:
            raise SandboxError(f"sandbox-user = {name!r}, but only an arena that is run by root can change the user")
        return ()
    try:
        user = pwd.getpwnam(name or USER)
    except KeyError:
        raise SandboxError(f"there is no user {name or USER!r}; name another one with sandbox-user") from None
    if user.pw_uid == 0:
        raise SandboxError(f"sandbox-user = {name!r}, but expected a user without the rights of root")
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise SandboxError("setpriv, which makes root another user, is not installed; it is part of util-linux")
    number = OWN_USER if has_own_users() else f"--reuid={user.pw_uid}"
    return (setpriv, number, f"--regid={user.pw_gid}", "--clear-groups", "--inh-caps=-all", "--")


@functools.cache
def has_own_users() -> bool:
    """Whether root may become any of the users of bots. In a container it may have fewer."""
    ranges = [[*map(int, line.split())] for line in Path("/proc/self/uid_map").read_text().splitlines()]
    return any(first <= OWN_USERS.start and OWN_USERS.stop <= first + count for first, _, count in ranges)


def program_problem(wrote: str) -> str:
    """Why bwrap, which wrote this on stderr, could not run the program of a bot. Raises OSError if it failed before it
    came to the program, which is not the bot's fault: its sandbox could be made when the run began. bwrap ends alike in
    both cases; only the name of the call that failed differs."""
    # Nothing else shows it. --json-status-fd reports the exit of a program that ran, and nothing of one that did not.
    # Whether bwrap took a byte from --block-fd would show that all mounts were made; but it forks after that, and a bot
    # would lose because the machine was short of processes. A program of ours between bwrap and the bot's, which could
    # report the errno, would have to run in every sandbox, whatever of this machine is shown there.
    if "execvp" not in wrote:
        raise OSError(errno.ECHILD, f"bubblewrap could not make the sandbox of a bot: {wrote or 'it said nothing'}")
    return f"its program cannot be run in the sandbox; {wrote}"

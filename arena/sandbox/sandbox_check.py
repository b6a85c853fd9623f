"""Find out, before a run begins, whether its bots can be started in their sandboxes: by starting them there, with a
harmless program in the place of the bot. A run that asks for sandboxes never begins with less.
"""

import contextlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import attrs
from msgspec import Struct
from msgspec.structs import replace

from arena.plan.bot_spec import AnySpec, BotSpec
from arena.plan.sandbox import Level
from arena.sandbox.bubblewrap import USER, SandboxCommand, confined, has_own_users
from arena.sandbox.sandbox_view import SandboxError as SandboxError
from arena.sandbox.sandbox_view import SandboxView, check_apart, check_plain, view_of
from arena.sandbox.seccomp_filters import FILTERS
from arena.sandbox.spawning import file_with, spawn

_LEAST_VERSION: Final = (0, 8)  # of bubblewrap: the first that can forbid further user namespaces
_LEAST_KERNEL: Final = (5, 14)  # the first that counts timers and threads for each user namespace
_TEST: Final = "/usr/bin/test"
_INSTALL: Final = "install it, for example with `apt install bubblewrap` or `dnf install bubblewrap`"


class SandboxSupport(Struct, frozen=True):
    """What decides whether this machine can make sandboxes, and why not."""

    bwrap: str | None  # its path
    version: str
    architecture: str
    kernel: str  # its version
    settings: dict[str, str]  # of the kernel, by path; without those that it does not have

    @staticmethod
    def this() -> "SandboxSupport":
        bwrap = shutil.which("bwrap")
        found = {path: Path(path).read_text().strip() for path in _SETTINGS if Path(path).exists()}
        return SandboxSupport(bwrap, _version(bwrap) if bwrap else "", platform.machine(), platform.release(), found)

    @property
    def lacks(self) -> str | None:
        """What is missing for any sandbox, and what to do; None if it is worth a try."""
        if self.architecture not in FILTERS:
            return f"there is no filter of system calls for {self.architecture}, only for {' and '.join(FILTERS)}"
        if _number(self.kernel) < _LEAST_KERNEL:
            return f"Linux {self.kernel} is too old: {_dotted(_LEAST_KERNEL)} or newer is needed"
        if self.bwrap is None:
            return f"bubblewrap (bwrap) is not installed: {_INSTALL}"
        number = _number(self.version)
        if number < _LEAST_VERSION:
            problem = f"{self.version} is too old" if number else f"`{self.bwrap} --version` names no version"
            return f"{problem}: {_dotted(_LEAST_VERSION)} or newer is needed; {_INSTALL}"
        return None

    def why(self, words: str) -> str:
        """Why bwrap, which ended with these words on stderr, cannot make any sandbox, and what to do."""
        for path, bad, remedy in _REMEDIES:
            if self.settings.get(path) == bad:
                return f"{remedy} ({words})"
        return (
            f"bubblewrap cannot make a sandbox here: {words}; a container has to allow user namespaces and mounts "
            "(Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
            "--security-opt systempaths=unconfined)"
        )


def _number(version: str) -> tuple[int, ...]:
    """The first two numbers of a version; () if there are none."""
    found = re.search(r"(\d+)\.(\d+)", version)
    return tuple(map(int, found.groups())) if found else ()


def _dotted(number: tuple[int, ...]) -> str:
    return ".".join(map(str, number))


def _version(bwrap: str) -> str:
    try:
        return subprocess.run([bwrap, "--version"], capture_output=True, text=True).stdout.strip()
    except OSError:  # it is no program for this machine
        return ""


_APPARMOR: Final = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
_REMEDIES: Final = (  # setting of the kernel, value that is in the way, what to do
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "this system allows no user namespaces: `sysctl user.max_user_namespaces=10000` allows them",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "this system allows user namespaces only to root: `sysctl kernel.unprivileged_userns_clone=1` allows them",
    ),
    (
        _APPARMOR,
        "1",
        "AppArmor's profile unprivileged_userns is in the way: install the profile bwrap-userns-restrict "
        "(`apt install apparmor-profiles`, then copy it from /usr/share/apparmor/extra-profiles to /etc/apparmor.d and "
        "run `apparmor_parser -r` on it), or set `sysctl kernel.apparmor_restrict_unprivileged_userns=0`",
    ),
)
_SETTINGS: Final = tuple(path for path, _, _ in _REMEDIES)


class Settled(Struct, frozen=True):
    """Bots whose level of sandbox is decided."""

    bots: tuple[AnySpec, ...]
    remarks: tuple[str, ...]  # why some run without a sandbox, although they were to try one; what else is less

    @property
    def programs(self) -> list[BotSpec]:
        """Those that the arena starts."""
        return [bot.program for bot in self.bots if bot.program is not None]


def settled(bots: Iterable[AnySpec], hidden: Iterable[Path] = ()) -> Settled:
    """The bots as they will be started. No bot may see a path in `hidden`. Raises SandboxError if a bot cannot be
    started in the sandbox that it has to have."""
    bots = tuple(bots)
    programs = [bot.program for bot in bots if bot.program is not None]
    wanted = [bot for bot in programs if bot.sandbox.level in (Level.FULL, Level.TRY)]
    if not wanted:
        return Settled(bots, ())
    views = {bot.name: _view(bot) for bot in wanted}
    check_apart(views, tuple(hidden), _views_without_sandbox(programs))
    # A trial costs the start of a process, so what can be known without one was checked before.
    machine = SandboxSupport.this()
    problems = {bot: problem for bot in wanted if (problem := problem_of(bot, views[bot.name], machine))}
    for bot, problem in problems.items():
        # Only what this machine lacks excuses a bot from the sandbox, and only one that is to try it: no bot may get
        # out of it by how its own files are.
        if problem.of_bot or bot.sandbox.level is Level.FULL:
            raise SandboxError(f"no sandbox for {bot.name}: {problem.words}")
    missing = {bot.name: problem.words for bot, problem in problems.items()}
    decided = {bot.name: Level.MISSING if bot.name in missing else Level.FULL for bot in wanted}
    remarks = [f"{name} is started without a sandbox: {problem}" for name, problem in missing.items()]
    if os.geteuid() == 0 and not has_own_users() and Level.FULL in decided.values():
        remarks.append(_ONE_USER)
    return Settled(tuple(_with_level(bot, decided.get(bot.name)) for bot in bots), tuple(remarks))


def _views_without_sandbox(bots: Iterable[BotSpec]) -> dict[str, SandboxView]:
    """What bots without a sandbox consist of, where their commands tell it."""
    found: dict[str, SandboxView] = {}
    for bot in bots:
        if bot.sandbox.level is Level.NONE:
            with contextlib.suppress(SandboxError):
                found[bot.name] = view_of(bot)
    return found


def _view(bot: BotSpec) -> SandboxView:
    try:
        view = view_of(bot)
        check_plain(view)
        return view
    except SandboxError as error:
        raise SandboxError(f"no sandbox for {bot.name}: {error}") from None
    except FileNotFoundError:
        raise SandboxError(f"no sandbox for {bot.name}: the current folder is gone") from None


def _with_level(bot: AnySpec, level: Level | None) -> AnySpec:
    if level is None or (program := bot.program) is None:
        return bot
    return attrs.evolve(program, sandbox=attrs.evolve(program.sandbox, level=level))


class Problem(Struct, frozen=True):
    """Why a bot cannot be started in a sandbox, and what to do."""

    words: str
    of_bot: bool = False  # its own files are the reason: its author must not decide that it runs without a sandbox


def problem_of(spec: BotSpec, view: SandboxView, machine: SandboxSupport) -> Problem | None:
    """Why the bot cannot be started in a sandbox on this machine; None if it can."""
    if machine.lacks:
        return Problem(machine.lacks)
    try:
        if (words := _tried(spec, view, machine)) is None:
            return None
        elsewhere = attrs.evolve(spec, cwd=Path("/tmp"))
        if (of_machine := _tried(elsewhere, _NOTHING, machine)) is not None:
            return Problem(machine.why(of_machine))
        of_bot = _tried(elsewhere, replace(_NOTHING, interpreter=view.interpreter), machine) is None
    except SandboxError as error:
        return Problem(str(error), of_bot=True)
    reader = f"a user in the group of {spec.sandbox.user or USER}" if os.geteuid() == 0 else "bwrap"
    remedy = (
        "use programs in /usr, such as /usr/bin/python3, make its folders readable for all, or run the arena as the"
    )
    return Problem(f"{reader} cannot reach what the bot needs ({words}); {remedy} user to whom they belong", of_bot)


_ONE_USER: Final = (
    "bots in sandboxes are of one user, because this container has few of them: "
    "a bot can use up the timers and threads that all bots of that user share"
)
_NOTHING: Final = SandboxView(Path(_TEST), (), (), (), ())


def _tried(spec: BotSpec, view: SandboxView, machine: SandboxSupport) -> str | None:
    assert machine.bwrap is not None
    return _trial(confined(spec, view, machine.bwrap, machine.architecture), view)


def _trial(tried: SandboxCommand, view: SandboxView) -> str | None:
    """Start a sandbox, and in it look whether the bot's program can be run and its files be read. Returns None if so,
    or what is wrong."""
    place = tried.command.index("--", tried.command.index("--json-status-fd")) + 1
    tests = [_TEST, "-x", str(view.program)]
    for path in view.files:
        tests += ["-a", "-r", str(path)]
    command = [os.fsencode(word) for word in (*tried.command[:place], *tests)]
    status, words = _ended(command, tried.data)
    if status == 0:
        return None
    return words or f"one of these cannot be run or read: {', '.join(map(str, (view.program, *view.files)))}"


def _ended(command: list[bytes], data: Sequence[bytes]) -> tuple[int, str]:
    """Run the command of a sandbox, which reads `data` from descriptors 3, 4, …; returns its exit status and its last
    line on stderr."""
    nothing, (errors, theirs) = os.open(os.devnull, os.O_RDWR), os.pipe()
    files = [file_with(each) for each in data]
    try:
        pid = spawn(command[0], command, {}, [nothing, nothing, theirs, *files, nothing, nothing])
    finally:
        for descriptor in (nothing, theirs, *files):
            os.close(descriptor)
    with open(errors, errors="replace") as stream:
        lines = stream.read().splitlines()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), lines[-1] if lines else ""

"""What a sandboxed bot sees of this machine besides /usr: its own folder, what its command names, the interpreter that
runs it, and what the organiser exposes. All of it at its usual place, and read-only.

Nothing is started here, except for `pyenv which`.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from arena.plan.bot_spec import BotSpec, packages_of_bundled_bots
from arena.plan.sandbox import absolute

USR: Final = Path("/usr")
_OF_THE_SYSTEM: Final = (USR, Path("/dev"), Path("/proc"), Path("/sys"))  # a sandbox has its own, or none
_CROWDED: Final = (Path("/tmp"), Path("/var/tmp"), Path("/etc"), Path("/home"))  # never the folder of one bot
# Interpreters are installed as PREFIX/bin/NAME; one of these in PREFIX shows that all of PREFIX belongs to one.
_MARKS_OF_PREFIXES: Final = (
    "lib/python3*/os.py",
    "lib/node_modules/npm",
    "lib/modules",
    "lib/ruby",
    "lib/perl5",
    "lib/lua",
)
_MARK_OF_VENV: Final = "pyvenv.cfg"
_SHARED_MEMORY: Final = Path("/dev/shm")
_PYENV_SECONDS: Final = 10
_LONGEST_FIRST_LINE: Final = 256  # bytes; Linux reads no more of it


class SandboxError(Exception):
    """A bot cannot be started in a sandbox, or would see too much there; the text says why, and what to do."""


class SandboxView(Struct, frozen=True):
    program: Path  # what is run
    files: tuple[Path, ...]  # the bot itself: program, script, and what else its command names
    own: tuple[Path, ...]  # the folders of these files, as far as the bot sees them
    interpreter: tuple[Path, ...]  # what runs the bot, if it is not in /usr; of a bundled bot also the bot
    exposed: tuple[Path, ...]  # what the organiser chose to show

    @property
    def paths(self) -> list[Path]:
        """All that the bot sees; nothing that lies in another of these paths."""
        every = {*self.own, *self.interpreter, *self.exposed}
        return sorted(path for path in every if not is_in(path, (USR, *every - {path})))

    def resolved(self) -> "SandboxView":
        """The same view without symbolic links, for comparing it with others."""
        files, own, interpreter, exposed = (
            tuple(map(_real, paths)) for paths in (self.files, self.own, self.interpreter, self.exposed)
        )
        return SandboxView(self.program, files, own, interpreter, exposed)


def is_in(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a path is one of the folders or lies in one of them."""
    return any(path.is_relative_to(folder) for folder in folders)


def view_of(spec: BotSpec) -> SandboxView:
    """What the bot sees. Raises SandboxError."""
    cwd = Path(absolute(spec.cwd or Path()))
    exposed = tuple(map(Path, spec.sandbox.exposed(cwd)))
    shown = (cwd,) if spec.sandbox.own_dir else ()
    for path in (*exposed, *shown):
        if path in (Path("/"), Path("/tmp")) or is_in(path, _OF_THE_SYSTEM[1:]):
            option = "expose" if path in exposed else "dir"
            raise SandboxError(f"{option} = {str(path)!r}, but a sandbox has its own {path}; name what is in it")
    program, interpreter = _run_by(_program(spec, cwd))
    is_own = not interpreter and not is_in(program, (USR,))
    interpreter = (*interpreter, *_of_first_line(program, (*interpreter, *shown, *exposed)))
    if spec.is_bundled:
        interpreter = (*interpreter, *packages_of_bundled_bots())  # no secret of any bot
    files = [*([program] if is_own else ()), *_named_by(spec.command[1:], cwd)]
    own = list(shown)
    for place, path in enumerate(files):
        # The first file is the bot's program or script, and its folder may hold more of the bot.
        seen = path.parent if place == 0 and not path.is_dir() else path
        if not is_in(seen, (*shown, *exposed)):
            _check_not_crowded(seen, path)
        own.append(seen)
    return SandboxView(
        program, tuple(files), tuple(path for path in own if not is_in(path, exposed)), interpreter, exposed
    )


def _program(spec: BotSpec, cwd: Path) -> Path:
    name = spec.command[0]
    if "/" in name:
        program = Path(absolute(cwd / name))
        return _without_links(program.parent, cwd) / program.name
    found = shutil.which(name, path=dict(spec.env).get("PATH"))
    if found is None:
        raise SandboxError(f"there is no program {name!r}")
    return _behind_shim(Path(absolute(Path(found))), cwd)


def _behind_shim(program: Path, cwd: Path) -> Path:
    """The program that a shim of pyenv runs in folder `cwd`. A shim is a script that needs all of pyenv."""
    if program.parent.name != "shims":
        return program
    pyenv = program.parent.parent / "bin" / "pyenv"
    if not pyenv.exists():
        raise SandboxError(f"{program} is a shim, which cannot be followed; name the program that it runs")
    asked = [str(pyenv), "which", program.name]
    try:
        which = subprocess.run(asked, cwd=cwd, capture_output=True, text=True, check=False, timeout=_PYENV_SECONDS)
    except subprocess.TimeoutExpired:
        raise SandboxError(f"pyenv does not say within {_PYENV_SECONDS} s which {program.name!r} it runs") from None
    if which.returncode != 0:
        raise SandboxError(f"pyenv does not say which {program.name!r} it runs: {which.stderr.strip()}")
    return Path(which.stdout.strip())


def _run_by(program: Path) -> tuple[Path, tuple[Path, ...]]:
    """The path to run a program by, and the folders of its interpreter that lie outside /usr."""
    real = Path(os.path.realpath(program))
    if (mark := program.parent.parent / _MARK_OF_VENV).exists():
        return program, (mark.parent, *_prefix(real))
    if prefix := _prefix(real):
        return real, prefix
    folder = _real(program.parent)  # /bin is /usr/bin on most systems
    if is_in(folder, (USR,)):
        return folder / program.name, ()  # by its name, which some programs look at
    # Other links are not followed: whoever made them would choose what is shown.
    return (real if is_in(real, (USR,)) else program), ()


def _of_first_line(program: Path, shown: Iterable[Path]) -> tuple[Path, ...]:
    """The folders of the interpreter that the first line of a script names (#! and its path), where it is not in /usr.
    A venv has to be `shown` already, because the author of the script would choose it. Raises SandboxError."""
    try:
        with open(program, "rb") as file:
            line = file.readline(_LONGEST_FIRST_LINE)
    except OSError:  # it is for running, not for reading, or it is not there
        return ()
    words = line.removeprefix(b"#!").split()
    if not line.startswith(b"#!") or not words:
        return ()
    named = Path(os.fsdecode(words[0]))
    folders = _run_by(named)[1]
    if hidden := [path for path in folders if (path / _MARK_OF_VENV).exists() and not is_in(path, shown)]:
        raise SandboxError(f"the first line of {program} names {named}; allow it: expose {hidden[0]}")
    return folders


def _prefix(program: Path) -> tuple[Path, ...]:
    prefix = program.parent.parent
    is_prefix = program.parent.name == "bin" and any(any(prefix.glob(mark)) for mark in _MARKS_OF_PREFIXES)
    if not is_prefix or is_in(prefix, (USR,)):
        return ()
    _check_not_crowded(prefix, program)
    return (prefix,)


def _named_by(words: Iterable[str], cwd: Path) -> Iterator[Path]:
    """The files and folders among the words of a command, as absolute paths."""
    for word in words:
        path = Path(absolute(cwd / word))
        if not word or word.startswith("-") or not _exists(path):
            continue
        if is_in(path, (_SHARED_MEMORY,)):
            raise SandboxError(f"{path} would not be seen, because a sandbox has its own {_SHARED_MEMORY}; move it")
        if not is_in(path, _OF_THE_SYSTEM):
            yield _without_links(path, cwd)


def _without_links(path: Path, cwd: Path) -> Path:
    """The path, if no link on the way to it leaves its folder: whoever made such a link, perhaps the author of the bot,
    would choose what the bot sees. The way to `cwd` is the organiser's. Raises SandboxError."""
    folder = cwd if is_in(path, (cwd,)) else Path("/")
    for part in path.relative_to(folder).parts:
        folder /= part
        if folder.is_symlink() and not is_in(_real(folder), (_real(folder.parent),)):
            raise SandboxError(f"{folder} is a link; name {_real(path)} instead of {path}")
    return path


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a word that is too long for a path, or contains a null byte
        return False


def _check_not_crowded(seen: Path, named: Path) -> None:
    """Raise SandboxError if a bot would see much more than itself, because its command names path `named`."""
    of_user = Path(os.path.expanduser("~/.local"))  # programs, but also keyrings and tokens
    if any(is_in(crowded, (seen,)) for crowded in (of_user, *_CROWDED)):
        remedy = "name a folder in it" if seen == named else f"put {named.name} into a folder of its own"
        raise SandboxError(f"all of {seen} would be seen; {remedy}")


def check_plain(view: SandboxView) -> None:
    """Raise SandboxError if the bot would see a named pipe or a socket: even where it cannot write files, it could use
    these to talk to others."""
    for path in (*view.own, *view.exposed):
        for folder, _, names in os.walk(path) if path.is_dir() else [(path.parent, (), [path.name])]:
            for name in names:
                try:
                    mode = os.lstat(os.path.join(folder, name)).st_mode
                except FileNotFoundError:  # removed just now
                    continue
                if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
                    raise SandboxError(
                        f"{folder}/{name} is a pipe or a socket, through which bots could talk; remove it"
                    )


def check_apart(
    views: Mapping[str, SandboxView], hidden: Iterable[Path], others: Mapping[str, SandboxView] | None = None
) -> None:
    """Raise SandboxError if one of these bots would see files of another one, or of `others`, which have no sandbox, or
    one of the paths in `hidden`. What the organiser exposes may hold files of other bots, but nothing of `hidden`."""
    real = {name: view.resolved() for name, view in views.items()}
    every = real | {name: view.resolved() for name, view in (others or {}).items()}
    for name, view in real.items():
        for path in hidden:
            if is_in(_real(path), (USR, *view.paths)):
                raise SandboxError(f"{name} would see {path}; keep it out of the folders that bots see")
        venvs = [path for path in view.interpreter if (path / _MARK_OF_VENV).exists()]  # may be a folder of many bots
        mine, folders = {*view.files, *view.own}, (*view.own, *venvs)
        for other, its in every.items():
            if seen := [path for path in (*its.files, *its.own) if path not in mine and is_in(path, folders)]:
                folder = next(folder for folder in folders if is_in(seen[0], (folder,)))
                raise SandboxError(
                    f"{name} would see {seen[0]}, which belongs to {other}; give each bot a folder of its own, "
                    f"or allow it: expose {folder}"
                )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))

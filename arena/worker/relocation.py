"""A bot of a tournament on another machine, made fit for this one: where it is, and what runs it."""

import os
from collections.abc import Mapping
from pathlib import Path

import attrs

from arena.journal.identity import Fingerprint
from arena.plan.bot_spec import BotSpec, command_of
from arena.plan.recorded_config import recorded_bot
from arena.support.text import printable
from arena.worker.job import Relocation


def portable(spec: BotSpec) -> BotSpec:
    """The bot as another machine can be told about it: a bundled one by its name, because Python may be elsewhere."""
    words = recorded_bot(spec).cmd
    assert words is not None
    return attrs.evolve(spec, command=words)


def localized(spec: BotSpec, relocation: Relocation) -> BotSpec:
    """A portable bot as this machine starts it. What lies in a folder that was shipped is found where that is now;
    everything else is expected at the same place as on the machine of the tournament."""
    command, cwd = command_of(spec.command), Path(relocation.cwd, spec.cwd or "")
    spec = attrs.evolve(spec, sandbox=attrs.evolve(spec.sandbox, expose=spec.sandbox.exposed(cwd)))
    if spec.name in relocation.folders:
        return _shipped(spec, command, relocation)
    needs_no_place = spec.cwd is None and not os.path.isdir(relocation.cwd)  # nor a folder
    return attrs.evolve(spec, cwd=None if needs_no_place else cwd, command=command)


def _shipped(spec: BotSpec, command: tuple[str, ...], relocation: Relocation) -> BotSpec:
    there, here = relocation.folders[spec.name]
    cwd = os.path.normpath(Path(relocation.cwd, spec.cwd or ""))
    if not _is_in(cwd, there):  # that place need not exist here, so words that were relative to it become absolute
        command, cwd = tuple(_absolute(word, cwd, there) for word in command), there
    return attrs.evolve(
        spec,
        cwd=Path(_moved(cwd, there, here)),
        command=tuple(_moved(word, there, here) for word in command),
    )


def at_home(found: Fingerprint, spec: BotSpec, relocation: Relocation) -> Fingerprint:
    """The fingerprint that this machine took of a portable bot, as the machine of the tournament would take it. Where
    the bot was sent to does not matter, nor does its interpreter, which belongs to a machine and not to the bot."""
    local = localized(spec, relocation)
    if local.is_bundled:
        return found
    words = dict(zip(map(printable, local.command), map(printable, spec.command), strict=True))
    values = ((ours.partition("=")[2], theirs.partition("=")[2]) for ours, theirs in words.items() if ours[:1] == "-")
    words |= {ours: theirs for ours, theirs in values if ours}
    there, here = relocation.folders.get(spec.name, ("", ""))
    command, files = tuple(map(printable, spec.command)), dict[str, str]()
    for name, content in found.files.items():
        files[words.get(name) or _named_by_owner(name, words) or _moved(name, here, there)] = content
    if spec.name in relocation.interpreters and command[0] in files:
        files[command[0]] = relocation.interpreters[spec.name]
    return Fingerprint(command, files)


def _named_by_owner(name: str, words: Mapping[str, str]) -> str | None:
    """How the owner names a file in a folder that a word of the command names, or beside a file that one names. `words`
    are those of the owner, by those of this machine. None if it is no such file, or if its word is the same here."""
    moved = [(ours, theirs) for ours, theirs in words.items() if ours != theirs]
    files = [pair for pair in moved if os.path.basename(pair[0]) == os.path.basename(pair[1])]
    for ours, theirs in (*moved, *(tuple(map(os.path.dirname, pair)) for pair in files)):
        if ours and _is_in(name, ours):
            return os.path.normpath(os.path.join(theirs, os.path.relpath(name, ours)))
    return None


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _absolute(word: str, cwd: str, folder: str) -> str:
    """A word that names something in a folder, relative to `cwd`, as an absolute path; any other word as it is."""
    path = os.path.normpath(Path(cwd, word))
    return path if _is_in(path, folder) else word


def _moved(word: str, there: str, here: str) -> str:
    """The path, if it lies in the folder `there`, as it is called in the folder `here`; the same for --option=PATH."""
    option, equals, path = word.partition("=") if word.startswith("-") else ("", "", word)
    return f"{option}{equals}{here}{path[len(there) :]}" if there and _is_in(path, there) else word

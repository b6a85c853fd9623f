"""A bot of a tournament on another machine, made fit for this one: where it is, and what runs it."""

from pathlib import Path

import attrs

from arena.plan.bot_spec import BotSpec, command_of
from arena.plan.recorded_config import recorded_bot
from arena.worker.job import Away


def portable(spec: BotSpec) -> BotSpec:
    """The bot as another machine can be told about it: a bundled one by its name, because Python may be elsewhere."""
    words = recorded_bot(spec).cmd
    assert words is not None
    return attrs.evolve(spec, command=words)


def localized(spec: BotSpec, away: Away) -> BotSpec:
    """A portable bot as this machine starts it. What lies in a folder that was sent along is found where that is now;
    everything else is expected at the same place as on the machine of the tournament."""
    cwd, command = Path(away.cwd) / (spec.cwd or Path()), command_of(spec.command)
    if spec.name not in away.folders:
        return attrs.evolve(spec, cwd=cwd, command=command)
    there, here = away.folders[spec.name]
    folder = spec.sandbox.folder
    return attrs.evolve(
        spec,
        cwd=Path(_moved(str(cwd), there, here)),
        command=tuple(_moved(word, there, here) for word in command),
        sandbox=attrs.evolve(spec.sandbox, folder=folder and _moved(folder, there, here)),
    )


def _moved(path: str, there: str, here: str) -> str:
    """The path, if it lies in the folder `there`, as it is called in the folder `here`."""
    return here + path[len(there) :] if path == there or path.startswith(f"{there}/") else path

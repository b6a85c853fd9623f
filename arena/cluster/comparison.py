"""Compare the machines of a cluster with that of the tournament. Pure."""

from collections.abc import Iterator

from arena.cluster.machine_facts import BotFacts, MachineFacts


def differences(ours: MachineFacts, theirs: MachineFacts) -> list[str]:
    """What differs on another machine, each with its remedy."""
    return [*_of_arena(ours, theirs), *_of_bots(ours, theirs)]


def _of_arena(ours: MachineFacts, theirs: MachineFacts) -> Iterator[str]:
    if theirs.arena != ours.arena:
        yield f"it has arena {theirs.arena}, here it is {ours.arena}; install the same version there"
    elif theirs.sources != ours.sources:
        yield f"its arena {theirs.arena} was built from other sources; install the same there"
    if theirs.python != ours.python:
        yield f"it runs Python {theirs.python}, here it is {ours.python}; install the same there"
    if theirs.kind != ours.kind:
        yield f"its arena is {theirs.kind}, here it is {ours.kind}; install both with the same ARENA_COMPILED"
    for name, version in ours.packages.items():
        if (other := theirs.packages.get(name)) != version:
            yield f"it has {name} {other}, here it is {version}; `pip install {name}=={version}` there"


def _of_bots(ours: MachineFacts, theirs: MachineFacts) -> Iterator[str]:
    for name, bot in ours.bots.items():
        yield from _of_bot(name, bot, theirs.bots.get(name, BotFacts(missing="it was not asked about")))
    if theirs.sandbox is not None:
        yield f"{theirs.sandbox}"


def _of_bot(name: str, ours: BotFacts, theirs: BotFacts) -> Iterator[str]:
    if theirs.missing and not ours.folder:
        yield f"bot {name}: {theirs.missing}; install it there"
    elif theirs.missing:
        yield f"bot {name}: {theirs.missing}; copy it there to the same place, or send it along with --ship"
    elif theirs.problem or ours.problem:
        yield f"bot {name}: {theirs.problem or ours.problem}"
    elif ours.folder and not theirs.folder:
        yield f"bot {name}: there is no {ours.folder}; copy it there to the same place, or send it along with --ship"
    elif theirs.digest != ours.digest:
        place = f"{theirs.folder}{_first_different(ours, theirs)}"
        yield f"bot {name}: {place} is not the same as here; copy it there, or send it along with --ship"
    else:
        yield from _of_named(name, ours.named, theirs.named)


def _of_named(name: str, ours: dict[str, str], theirs: dict[str, str]) -> Iterator[str]:
    """What differs of the files that the command names and that are in no folder of the bot."""
    for file in sorted(ours.keys() | theirs.keys()):
        if file not in theirs:
            yield f"bot {name}: there is no {file}, which its command names; copy it there to the same place"
        elif ours.get(file) != theirs[file]:
            yield f"bot {name}: {file} is not the same as here; install the same there"


def _first_different(ours: BotFacts, theirs: BotFacts) -> str:
    different = {name for name, _ in ours.files.items() ^ theirs.files.items()}
    return f"/{min(different)}" if different else ""

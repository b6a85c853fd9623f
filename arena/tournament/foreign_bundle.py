"""Keep the bundle of a fault that another machine sends."""

import os
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from arena.journal.lines import AnyRound
from arena.worker.job import FaultBundled

_LARGEST: Final = 4 << 20  # characters


def keep_bundle(faults: Path | None, bundle: FaultBundled) -> str | None:
    """Write a bundle into the folder `faults`, if it is one of the first of its kind. Returns why that was not
    possible, if so."""
    size = sum(len(text) for files in bundle.folders.values() for text in files.values())
    plain = all(
        folder.parent == faults and all(map(_is_plain, (folder.name, *files)))
        for folder, files in bundle.folders.items()
    )
    if faults is None or not plain or size > _LARGEST:
        return f"no bundle for {bundle.round}: it is larger than {_LARGEST >> 20} MB, or not a bundle at all"
    from arena.worker.fault_bundle import is_worth_a_bundle, write_bundle  # loads what makes bundles: rarely needed

    try:
        if is_worth_a_bundle(faults, bundle.bot, bundle.ending):
            write_bundle(bundle.folders)
    except OSError as error:
        return f"no bundle for {bundle.round}: {error.strerror}: {error.filename}"
    return None


def naming_kept_bundle(line: AnyRound) -> AnyRound:
    """The round, which was perhaps played on another machine. That does not know whether its bundle is kept here."""
    fault = line.fault
    if line.host is None or fault is None or fault.bundle is None or os.path.isdir(fault.bundle):
        return line
    return replace(line, fault=replace(fault, bundle=None))


def _is_plain(name: str) -> bool:
    """Whether this is the name of a file or folder, and no path that leads elsewhere."""
    return name not in ("", ".", "..") and not set(name) & {"/", "\0"}

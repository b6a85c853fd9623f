"""Keep the bundle of a fault that another machine sends."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_LARGEST: Final = 4 << 20  # characters


def keep_bundle(faults: Path | None, folder: Path, files: Mapping[str, str]) -> str | None:
    """Write a bundle into the folder `faults`. Returns why that was not possible, if so."""
    sound = folder.parent == faults and all(map(_is_plain, (folder.name, *files)))
    if not sound or sum(map(len, files.values())) > _LARGEST:
        return f"no bundle for {folder.name}: it is larger than {_LARGEST >> 20} MB, or not a bundle at all"
    from arena.worker.fault_bundle import write_bundle  # loads what makes bundles, which is rarely needed

    try:
        write_bundle(folder, files)
    except OSError as error:
        return f"no bundle for {folder.name}: {error.strerror}: {error.filename}"
    return None


def _is_plain(name: str) -> bool:
    """Whether this is the name of a file or folder, and no path that leads elsewhere."""
    return name not in ("", ".", "..") and not set(name) & {"/", "\0"}

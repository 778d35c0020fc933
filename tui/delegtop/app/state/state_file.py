"""Small files of delegtop's own in the state folder: read whole, written whole or not at all, for the owner's eyes."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from delegtop.base import leftovers
from delegtop.base.paths import make_private, state_folder

_LARGEST = 8 * 1024 * 1024

Stamp = tuple[int, int]


def place(name: str) -> Path:
    return state_folder() / name


def stamp(path: Path) -> Stamp | None:
    """By which it is known that somebody else has written it; None if it is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116 -- once a second
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


def read(path: Path) -> bytes:
    """What is in it; ValueError if that is more than anybody of ours wrote."""
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError(f"more than {_LARGEST:,} bytes")
    return data


def write(path: Path, data: bytes) -> None:
    make_private(path.parent)
    leftovers.clear(path)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise


def put_aside(path: Path) -> Path | None:
    """Keep what cannot be read, so that it is not overwritten; where it is then, None if that cannot be done."""
    aside = path.with_suffix(".unreadable.json")
    try:
        path.replace(aside)
    except OSError:
        return None
    return aside

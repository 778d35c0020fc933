"""Files that lie beside a log which should name them, and which neither it nor another log in its folder does."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.base.origin import Origin

if TYPE_CHECKING:
    from delegtop.feed.followed_file import SourceStatus
    from delegtop.model.events import Deviation

_LARGEST = 16 * 1024 * 1024
_MOST = 1_000
"""Files of a folder that are looked at."""
_SUFFIX = ".jsonl"


def beside(source: "SourceStatus") -> "list[Deviation]":
    """Of each such file, that it is not listed; none for a format that names no files."""
    from delegtop.model.deviation_kinds import UNLISTED
    from delegtop.model.events import Deviation

    if not (pattern := _outputs(source)):
        return []
    folder = Path(source.path).parent
    try:
        names = sorted(each.name for each in folder.iterdir() if re.fullmatch(pattern, each.name))[:_MOST]
        told = b"".join(map(_read, folder.glob(f"*{_SUFFIX}"))) if names else b""  # an old entry may have been put away
    except OSError:
        return []
    return [
        Deviation(Origin(str(folder / name), 1, 0), UNLISTED, f"no entry names {name}")
        for name in names
        if name.encode() not in told
    ]


def is_empty_list(source: "SourceStatus") -> bool:
    """Whether it is a file in which nothing is named yet, but should be."""
    return source.status == "empty" and bool(_outputs(source))


def _outputs(source: "SourceStatus") -> str:
    """What the files are called that must be named in it; empty if there are none."""
    from delegtop.dialects import load, names

    if source.dialect in names() and source.status == "live":
        return load(source.dialect).outputs
    name = Path(source.path).name
    if source.status != "empty" or Path(name).suffix != _SUFFIX:
        return ""
    return next((format.outputs for format in map(load, names()) if format.outputs_listed_in == name), "")


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_LARGEST)

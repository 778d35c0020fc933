"""Do the files a delegation says it made exist? Looked at, never read, and never outside the project.

A path is a claim by a stranger: it is resolved beneath the working directory or the log's own directory, and one that
leads out of both, by `..`, by being absolute or through a symbolic link, is not looked at.
"""

from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path


class Presence(Enum):
    THERE = "there"
    MISSING = "missing"
    OUTSIDE = "outside"


def look(paths: Iterable[str], roots: Iterable[Path]) -> dict[str, Presence]:
    """Every path with what is there."""
    real = [root.resolve() for root in roots]
    return {path: _presence(path, real) for path in paths}


def existence(paths: Iterable[str], roots: Iterable[Path], sure: bool = False) -> Callable[[str], bool | None]:
    """Whether each of the paths exists, None where that cannot be told.

    A log is often read far from its project, where nothing of it is. So if none of the paths is found, and nobody is
    `sure` that the project is beneath the roots, then none of them is called missing.
    """
    seen = look(set(paths), roots)
    here = sure or Presence.THERE in seen.values()

    def exists(path: str) -> bool | None:
        presence = seen.get(path)
        if presence is Presence.THERE:
            return True
        return False if presence is Presence.MISSING and here else None

    return exists


def _presence(path: str, roots: list[Path]) -> Presence:
    if not path.strip():
        return Presence.MISSING
    inside = False
    for root in roots:
        try:
            place = (root / path).resolve()
            if not place.is_relative_to(root):
                continue
            inside = True
            if place.exists():
                return Presence.THERE
        except (OSError, ValueError, RuntimeError):  # too long, NUL inside, a loop of links: nothing is there
            continue
    return Presence.MISSING if inside else Presence.OUTSIDE

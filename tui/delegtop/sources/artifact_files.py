"""The files a delegation says it made: whether they exist and, for the rules that ask, what is in them.

A path is a claim by a stranger: it is resolved beneath the working directory or the log's own directory, and one that
leads out of both, by `..`, by being absolute or through a symbolic link, is not looked at. A log that lies in the very
folder that a path names from the root of its project shows where that root is, and so does one that lies in the root.
"""

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path, PurePath
from typing import NamedTuple

_LARGEST = 1024 * 1024
"""Bytes of a file that are read: one that is larger is judged by its beginning."""


def this_folder() -> list[Path]:
    """Where the program was started, unless that folder is gone."""
    try:
        return [Path.cwd()]
    except OSError:
        return []


_OWN_FOLDER = 2
"""Parts of a path, the name of the file among them, beyond which its folder is not one that others have, too."""
_REPOSITORY = ".git"


class LogPlace(NamedTuple):
    """Where a log lies whose paths are from the root of its project."""

    folder: Path
    marks: tuple[str, ...]
    """The folders that those who wrote it keep in that root."""


class Presence(Enum):
    THERE = "there"
    MISSING = "missing"
    OUTSIDE = "outside"


def look(paths: Iterable[str], roots: Iterable[Path]) -> dict[str, Presence]:
    """Every path with what is there."""
    real = [root.resolve() for root in roots]
    return {path: _presence(path, real) for path in paths}


def existence(
    paths: Iterable[str], roots: Iterable[Path], sure: bool = False, beside: bool = False, log: LogPlace | None = None
) -> Callable[[str], bool | None]:
    """Whether each of the paths exists, None where that cannot be told.

    A log is often read far from its project, where nothing of it is. So if none of the paths is found, and nobody is
    `sure` that the project is beneath the roots, then only those are called missing whose own folder is there: they
    were to be beside what is in it; with `beside`, bare names, which were to be beside the log; and all for which the
    place of the `log` shows the root of the project.
    """
    real = [root.resolve() for root in roots]
    seen = look(set(paths), real)
    here = sure or Presence.THERE in seen.values()

    def exists(path: str) -> bool | None:
        presence = seen.get(path)
        if presence is Presence.THERE:
            return True
        if presence is not None and log is not None and (root := _shown_root(path, log)) is not None:
            return {Presence.THERE: True, Presence.MISSING: False}.get(_presence(path, [root]))
        own = beside and len(PurePath(path).parts) == 1
        is_missing = presence is Presence.MISSING and (here or own or _has_folder(path, real))
        return False if is_missing else None

    return exists


def _shown_root(path: str, log: LogPlace) -> Path | None:
    """The root of the project by where the log lies: in the root itself, or below one that has the marked folder that
    the path begins with. Any project may keep the logs of another one deeper within it."""
    try:
        real = log.folder.resolve()
    except OSError:
        return None
    if any(_is_there(real / mark) for mark in (_REPOSITORY, *log.marks)):
        return real
    first = PurePath(path).parts[:1]
    for above in real.parents if first and first[0] in log.marks else ():
        if _is_there(above / first[0]):
            return above
        if _is_there(above / _REPOSITORY):
            break
    return None


def is_in_place(folder: Path) -> bool:
    """Whether a log in that folder lies where it was written, not alone and far from its project: a repository is above
    it, or texts are beside it."""
    try:
        real = folder.resolve()
        return any(_is_there(each / ".git") for each in (real, *real.parents)) or any(real.glob("*.md"))
    except OSError:
        return False


def reader(roots: Iterable[Path]) -> Callable[[str], tuple[str, str] | None]:
    """The file at a path beneath the roots, by where it lies from here, and its text; None if there is none."""
    real = [root.resolve() for root in roots]

    def read(path: str) -> tuple[str, str] | None:
        for place in _places(path, real):
            try:
                if place.is_file():  # a pipe would be waited for
                    with place.open("rb") as file:
                        return _from_here(place), file.read(_LARGEST).decode("utf-8-sig", "replace")
            except OSError:
                continue
        return None

    return read


def _from_here(place: Path) -> str:
    """The path from where the program was started, if the file lies below that."""
    for here in this_folder():
        if place.is_relative_to(here):
            return str(place.relative_to(here))
    return str(place)


def _presence(path: str, roots: list[Path]) -> Presence:
    if not path.strip():
        return Presence.MISSING
    places = list(_places(path, roots))
    if any(map(_is_there, places)):
        return Presence.THERE
    return Presence.MISSING if places else Presence.OUTSIDE


def _has_folder(path: str, roots: list[Path]) -> bool:
    """Whether the folder that it was to be in is there, and is one of its own: every project has a `docs`."""
    return len(PurePath(path).parts) > _OWN_FOLDER and any(_is_there(place.parent) for place in _places(path, roots))


def _is_there(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # a name that is too long, for one
        return False


def _places(path: str, roots: list[Path]) -> Iterator[Path]:
    """Where the path may lead within each root."""
    for root in roots:
        for base in (root, *_project_above(root, PurePath(path).parts[:-1])):
            try:
                place = (base / path).resolve()
            except (OSError, ValueError, RuntimeError):  # too long, NUL inside, a loop of links: nothing is there
                continue
            if place.is_relative_to(base):
                yield place


def _project_above(root: Path, folders: tuple[str, ...]) -> tuple[Path, ...]:
    """The folder from which those folders lead to the root, if they do."""
    if not folders or len(folders) >= len(root.parts) or root.parts[-len(folders) :] != folders:
        return ()
    return (root.parents[len(folders) - 1],)

"""Which files the arguments mean, now: files, folders, globs."""

import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_LOG_NAME = re.compile(r"\.(jsonl|ndjson|json|log)([.-]\d[\d.-]*)?$")
_COMPRESSED = re.compile(r"\.(gz|zst|xz|bz2|zip)$")
_LEFT_OUT = frozenset({".git", "node_modules", "__pycache__", ".venv"})
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@dataclass(frozen=True, slots=True)
class Scan:
    """One look at what is there."""

    files: tuple[str, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


class Roots:
    """The SOURCE arguments. `scan` may be asked again and again; new files and folders turn up in it."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = tuple(dict.fromkeys(arguments))
        self._directories: dict[str, None] = {}
        self._known: dict[str, None] = {}

    def scan(self) -> Scan:
        self._directories = {}
        files: dict[str, None] = {}
        skipped: dict[str, str] = {}
        missing: list[str] = []
        for argument in self._arguments:
            found = list(self._expand(argument, skipped))
            if not found and not os.path.isdir(argument) and not glob.has_magic(argument):  # noqa: PTH112 # hot, plain strings
                # What was there before is only out of sight: its reader knows whether it is gone.
                if argument in self._known:
                    found = [argument]
                elif argument not in skipped:
                    missing.append(argument)
            files.update(dict.fromkeys(found))
        self._known.update(files)
        return Scan(tuple(files), skipped, tuple(missing))

    def directories(self) -> tuple[str, ...]:
        """The folders to watch for changes."""
        return tuple(self._directories)

    def _expand(self, argument: str, skipped: dict[str, str]) -> Iterator[str]:
        if os.path.isdir(argument):  # noqa: PTH112 # hot, plain strings
            yield from self._walk(argument, skipped)
            return
        named = (
            [argument]
            if os.path.lexists(argument)
            else sorted(glob.glob(argument, recursive=True, include_hidden=True))
        )  # noqa: PTH207 # hot, plain strings
        for path in named:
            if os.path.isdir(path):  # noqa: PTH112 # hot, plain strings
                yield from self._walk(path, skipped)
            elif _takes(path, skipped):
                self._directories[os.path.dirname(path) or "."] = None  # noqa: PTH120 # hot, plain strings
                yield path

    def _walk(self, top: str, skipped: dict[str, str]) -> Iterator[str]:
        for folder, folders, names in os.walk(top):
            self._directories[folder] = None
            folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
            for name in sorted(names):
                path = os.path.join(folder, name)  # noqa: PTH118 # hot, plain strings
                if _LOG_NAME.search(_COMPRESSED.sub("", name)) and _takes(path, skipped):
                    yield path


def _takes(path: str, skipped: dict[str, str]) -> bool:
    """True for a regular file; why not is noted."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 # hot, plain strings
    except OSError as error:
        skipped[path] = "a broken link" if os.path.islink(path) else error.strerror or "unreadable"  # noqa: PTH114 # as above
        return False
    why = next((kind for test, kind in _KINDS if test(mode)), None)
    if why is None and _COMPRESSED.search(path):
        why = "compressed"
    if why is not None:
        skipped[path] = why
    return why is None

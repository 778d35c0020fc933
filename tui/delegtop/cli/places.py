"""Where to look when no source is named: here, and the places where logs of agents are known to be kept."""

import glob
import os
from argparse import Namespace
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from delegtop.cli.diagnostics import fail
from delegtop.cli.state import state_folder as state_folder
from delegtop.clock import Millis, WallClock, parse_span
from delegtop.dialects import Dialect, Sample, UnknownDialect, load, names
from delegtop.sources.discover import excluded, matching, secret
from delegtop.sources.homes import Home, claude_slug, homes

if TYPE_CHECKING:
    from delegtop.config import Settings

DEPTH = 4
"""Levels of folders that are looked into."""
FILES = 400
ENTRIES = 20_000
"""Looking round must not take longer than a blink: so many files are opened and so many names read, at most."""

_HEAD = 64 * 1024
_SURE = 50
_KNOWN = (".opencode", ".delegtop")
_NEW = "*.jsonl"
# Logs may have any name, and a named source is told by its shape alone; unasked, only likely names are opened.
_LIKELY = frozenset({".jsonl", ".ndjson", ".json", ".log"})
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


class Places(NamedTuple):
    """What the arguments mean."""

    sources: list[str]
    since: Millis | None
    """Only what was written since then is read."""
    only: str
    """The filter that narrows what is shown to this folder."""
    awaited: Mapping[str, Sequence[str]] = MappingProxyType({})
    """Where logs may appear later: places that are not there yet, and patterns of new names, with what fits them
    already."""
    here: Sequence[str] = ()
    """The sources that were only come across in this folder: they are read if something in them is alive."""


def places(arguments: Namespace, settings: "Settings", start: Path | None = None) -> Places:
    """The sources that were named. Without any, what this folder and the homes of the known agents hold."""
    start = start or Path()
    if arguments.here and arguments.all:
        fail("--here and --all contradict each other")
    if arguments.sources:
        return Places(arguments.sources, _since(arguments, None), "")
    wanted = [*(str(Path(source).expanduser()) for source in settings.sources), str(state_folder())]
    for home in homes(os.environ, Path.home(), start):
        wanted += _this_folders(home, start) if arguments.here else [_pattern(home.path)]
    new = [*(str(start / name) for name in _KNOWN), _pattern(start, _NEW)]
    known = {place: matching(place) for place in (*wanted, *new)}  # asked first: what comes from now on is new
    met = find_sources(start, settings.exclude)
    asked = [_whole(place) for place in wanted] if met else []
    here = [path for path in met if not any(_whole(path).is_relative_to(place) for place in asked)]
    only = f'project:"{_whole(start)}"|"{_whole(start)}/*"' if arguments.here else ""
    since = None if arguments.all else _since(arguments, settings.since)
    found = dict.fromkeys(path for source in (*met, *wanted) for path in _there(source))
    awaited = {place: there for place, there in known.items() if not os.path.exists(place)}  # noqa: PTH110 - a Path is indignant at a folder it must not look into
    return Places(list(found), since, only, awaited, here)


def _since(arguments: Namespace, default: int | None) -> Millis | None:
    span = default
    if arguments.since is not None and arguments.since != "all":
        span = parse_span(arguments.since)
        if span is None:
            fail(f"--since {arguments.since}: that is no time; write it like 30m, 2h or 7d, or all")
    return None if span is None or arguments.since == "all" else Millis(WallClock().now() - span)


def _this_folders(home: Home, folder: Path) -> list[str]:
    """The part of a home that belongs to a folder: Claude Code files sessions by folder, others do not."""
    if home.path.name != "projects" or home.product != "claude-code":
        return [_pattern(home.path)]
    slug = claude_slug(_whole(folder))
    return [str(home.path / slug), _pattern(home.path, f"{slug}-*")]


def _whole(path: str | Path) -> Path:
    """The path from the root on, its links followed."""
    try:
        return Path(path).resolve()
    except OSError:  # this folder is gone
        fail("this folder is gone; go to another one")


def _pattern(folder: Path, name: str = "") -> str:
    """What lies in a folder under such a name; the folder itself may have any name."""
    if not name and not glob.has_magic(folder.name):
        return str(folder)
    return str(Path(glob.escape(str(folder if name else folder.parent))) / (name or folder.name))


def _there(source: str) -> list[str]:
    """What a place or a pattern names now."""
    if os.path.exists(source):  # noqa: PTH110 - as above
        return [source]
    return sorted(glob.glob(source)) if glob.has_magic(source) else []  # noqa: PTH207 - Path.glob takes no absolute pattern


def find_sources(start: Path, exclude: Sequence[str] = ()) -> list[str]:
    """Files right here that look like logs, and folders below that hold some, the nearest first."""
    places = [start, *(start / name for name in _KNOWN), state_folder()]
    found: dict[Path, None] = {}
    out = excluded(exclude)
    for path in islice((path for place in places for path in _files(place, out)), FILES):
        source = path if path.parent == start else path.parent
        covered = source in found or any(parent in found for parent in source.parents)
        if not covered and _looks_like_a_log(path):
            found[source] = None
    return [str(source) for source in found]


def _files(top: Path, excluded: Callable[[str], bool]) -> Iterator[Path]:
    """Likely files at and below `top`, the nearest first. What cannot be listed, or must not be opened, is left out."""
    pending = deque([(top, 1)])
    entries = 0
    while pending:
        folder, level = pending.popleft()
        try:
            with os.scandir(folder) as listing:
                names_here = sorted(islice(listing, ENTRIES - entries), key=lambda entry: entry.name)
        except OSError:
            continue
        entries += len(names_here)
        for entry in names_here:
            path = folder / entry.name
            if excluded(entry.path):
                continue
            if entry.is_file(follow_symlinks=False):
                if path.suffix.lower() in _LIKELY and _may_be_opened(entry):
                    yield path
            elif entry.is_dir(follow_symlinks=False) and level < DEPTH and not _passed_over(entry.name):
                pending.append((path, level + 1))


def _may_be_opened(entry: os.DirEntry[str]) -> bool:
    """False for hidden files, for credentials, and for empty ones: those of /proc say so too and may block a reader."""
    if entry.name.startswith(".") or secret(entry.name):
        return False
    try:
        return entry.stat(follow_symlinks=False).st_size > 0
    except OSError:
        return False


def _passed_over(folder: str) -> bool:
    return folder.startswith(".") or folder in _SKIPPED


@cache
def _formats() -> list[type[Dialect]]:
    """Every format that can be loaded; one that cannot is told of when a file needs it.

    Loading them takes as long as the screen does to open, so it is done when the first file asks for it.
    """
    formats = []
    for name in names():
        try:
            formats.append(load(name))
        except UnknownDialect:
            continue
    return formats


def _looks_like_a_log(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD + 1)
    except OSError:
        return False
    sample = Sample(str(path), head[:_HEAD], whole=len(head) <= _HEAD)
    return bool(head) and any(dialect.sniff(sample) >= _SURE for dialect in _formats())

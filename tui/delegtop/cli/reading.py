"""Reading the named sources once, at one moment: what the headless commands have in common."""

import gc
import glob
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from delegtop.cli import diagnostics, options
from delegtop.cli.progress import Progress

if TYPE_CHECKING:
    from delegtop.config import Settings
    from delegtop.feed import Feed, SourceStatus
    from delegtop.model.forest import Forest


class Picture(NamedTuple):
    """What the sources said, at the moment of looking."""

    forest: "Forest"
    statuses: "tuple[SourceStatus, ...]"


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "sources", nargs="+", metavar="SOURCE", help="a file, a folder, a glob, or - for standard input"
    )


def read(arguments: Namespace, settings: "Settings") -> Picture:
    """Everything there is, as it is at `--at` or now."""
    options.check_format(arguments.format)
    at = options.moment(arguments, settings)

    from delegtop.clock import FrozenClock, WallClock
    from delegtop.feed import Feed
    from delegtop.model.forest import Forest

    clock = WallClock() if at is None else FrozenClock(at)
    forest = Forest(settings.policy())
    feed = Feed(arguments.sources, clock=clock, format=arguments.format, zone=settings.zone())
    try:
        _take_in(feed, forest)
        statuses = feed.statuses()
    finally:
        feed.close()
    forest.advance(clock.now())
    return Picture(forest, statuses)


def _take_in(feed: "Feed", forest: "Forest") -> None:
    # What is read stays until the end, so collecting garbage meanwhile finds none.
    gc.disable()
    with Progress("reading") as progress:
        for batch in feed.read_all():
            forest.apply(batch.events)
            progress.update(*feed.progress())


def unread(named: Sequence[str], statuses: "tuple[SourceStatus, ...]") -> "list[SourceStatus]":
    """The sources that should have been read and could not be. In a folder, files of other formats are no harm."""
    paths = {os.path.normpath(path) for path in named}
    return [
        source
        for source in statuses
        if source.status in ("missing", "unreadable")
        or (source.status in ("unrecognised", "skipped") and os.path.normpath(source.path) in paths)
    ]


def complain(named: Sequence[str], statuses: "tuple[SourceStatus, ...]") -> bool:
    """Say which sources could not be read; True if there was one."""
    failed = unread(named, statuses)
    unmatched = [pattern for pattern in named if _matches_nothing(pattern)]
    for pattern in unmatched:
        diagnostics.say(f"{pattern}: no file matches")
    for source in failed:
        diagnostics.say(f"{source.path}: {source.detail or source.status}")
    return bool(failed or unmatched)


def _matches_nothing(pattern: str) -> bool:
    """True for a glob without a match: a live view waits for one, a look at this moment does not."""
    if not glob.has_magic(pattern) or Path(pattern).exists():
        return False
    return next(glob.iglob(pattern, recursive=True, include_hidden=True), None) is None  # noqa: PTH207 - Path.glob takes no absolute pattern

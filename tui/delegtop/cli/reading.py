"""Reading the named sources once, at one moment: what the headless commands have in common."""

import gc
import glob
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from delegtop.cli import diagnostics, options
from delegtop.cli.progress import Progress

if TYPE_CHECKING:
    from delegtop.cli.places import Places
    from delegtop.config import Settings
    from delegtop.feed import Feed, SourceStatus, Witness
    from delegtop.model.events import Event
    from delegtop.model.forest import Forest

    Heed = Callable[[list[Event]], None]


class Picture(NamedTuple):
    """What the sources said, at the moment of looking."""

    forest: "Forest"
    statuses: "tuple[SourceStatus, ...]"


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="a file, a folder, a glob, or - for standard input; else what is found",
    )
    options.add(parser, "since", "here", "all")


def settle(arguments: Namespace, settings: "Settings", *, waits: bool = False) -> "Places":
    """Find the sources if none is named; with `waits`, those that come later are taken too."""
    from delegtop.cli import hints
    from delegtop.cli.places import places

    named = bool(arguments.sources)
    found = places(arguments, settings)
    arguments.sources = found.sources
    if found.only and "filter" in arguments:
        arguments.filter = f"{found.only} {arguments.filter or ''}".strip()
    if not named and not found.sources:
        diagnostics.say(hints.NOTHING_YET if waits else hints.NOTHING_FOUND)
    return found


def read(arguments: Namespace, settings: "Settings") -> Picture:
    """Everything there is, as it is at `--at` or now."""
    with opened(arguments, settings) as sources:
        return Picture(sources.forest, sources.statuses)


class Opened(NamedTuple):
    """What the sources said, and the sources themselves, so that a line can be read again."""

    forest: "Forest"
    statuses: "tuple[SourceStatus, ...]"
    feed: "Feed"


@contextmanager
def opened(
    arguments: Namespace, settings: "Settings", heed: "Heed | None" = None, witness: "Witness | None" = None
) -> Iterator[Opened]:
    """The same with the sources still open; `heed` is told the events as they come, `witness` every line as well."""
    options.check_format(arguments.format)
    at = options.moment(arguments, settings)
    learned = not arguments.sources and at is None
    found = settle(arguments, settings)

    from delegtop.cli.limits import policy_for
    from delegtop.clock import FrozenClock, WallClock
    from delegtop.feed import Feed
    from delegtop.model.forest import Forest

    clock = WallClock() if at is None else FrozenClock(at)
    forest = Forest(policy_for(settings, arguments.sources, learned=learned))
    feed = Feed(
        arguments.sources,
        clock=clock,
        format=arguments.format,
        zone=settings.zone(),
        since=found.since,
        exclude=settings.exclude,
        here=found.here,
        witness=witness,
    )
    try:
        _take_in(feed, forest, heed)
        statuses = feed.statuses()
        forest.advance(clock.now())
        yield Opened(forest, statuses, feed)
    finally:
        feed.close()


def _take_in(feed: "Feed", forest: "Forest", heed: "Heed | None") -> None:
    # What is read stays until the end, so collecting garbage meanwhile finds none.
    gc.disable()
    if heed is not None:
        feed.tell_once()
    with Progress("reading") as progress:
        for batch in feed.read_all():
            forest.apply(batch.events)
            if heed is not None:
                heed(batch.events)
            progress.update(feed.progress)


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
    if not glob.has_magic(pattern) or os.path.exists(pattern):  # noqa: PTH110 - as places does
        return False
    return next(glob.iglob(pattern, recursive=True, include_hidden=True), None) is None  # noqa: PTH207 - Path.glob takes no absolute pattern

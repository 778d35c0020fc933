"""`delegtop tree`: the tree of delegations, printed once."""

import gc
import glob
import os
import shutil
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.cli import diagnostics, options, output
from delegtop.cli.exit_codes import Exit
from delegtop.cli.progress import Progress

if TYPE_CHECKING:
    from delegtop.config import Settings
    from delegtop.feed import Feed, SourceStatus
    from delegtop.model.forest import Forest
    from delegtop.model.ledger import Handle
    from delegtop.report.text import Look

DESCRIPTION = "Read the sources once and print the tree of delegations as it is at a moment."
PIPE_WIDTH = 120


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "sources", nargs="+", metavar="SOURCE", help="a file, a folder, a glob, or - for standard input"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, a stable contract (docs/tree-json.md)")
    parser.add_argument(
        "--exit-code", action="store_true", help="exit 3 if something is overdue or lost, 1 if something went wrong"
    )
    parser.add_argument(
        "--plain", action="store_true", help="indent only: no lines, no colour, good for screen readers"
    )
    options.add(parser, "filter", "sort", "at", "format", "ascii", "no_color", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    options.check_format(arguments.format)
    at = options.moment(arguments, settings)
    query = options.query(arguments)

    from delegtop.clock import FrozenClock, WallClock
    from delegtop.feed import Feed
    from delegtop.model.forest import Forest

    clock = WallClock() if at is None else FrozenClock(at)
    forest = Forest(settings.policy())
    feed = Feed(arguments.sources, clock=clock, format=arguments.format, zone=settings.zone())
    try:
        _read(feed, forest)
        statuses = feed.statuses()
    finally:
        feed.close()
    forest.advance(clock.now())
    matches = {handle for handle in forest.walk() if query.matches(forest, handle)} if query else None
    output.emit(_lines(arguments, settings, forest, statuses, matches))
    if _complain(arguments.sources, statuses):
        return Exit.UNREADABLE
    return _verdict(forest, matches) if arguments.exit_code else Exit.OK


def _read(feed: "Feed", forest: "Forest") -> None:
    # What is read stays until the end, so collecting garbage meanwhile finds none.
    gc.disable()
    with Progress("reading") as progress:
        for batch in feed.read_all():
            forest.apply(batch.events)
            progress.update(*feed.progress())


def _lines(
    arguments: Namespace,
    settings: "Settings",
    forest: "Forest",
    statuses: "tuple[SourceStatus, ...]",
    matches: "Collection[Handle] | None",
) -> Iterable[str]:
    # What the dashboard sorts by does not turn what scripts read round.
    sort = settings.sort if arguments.sort else "start"
    if arguments.json:
        from delegtop.report import tree_json

        return tree_json.tree(forest, statuses, matches=matches, sort=sort)
    from delegtop.report import text

    look = _look(arguments.plain, settings)
    return text.tree(forest, statuses, matches=matches, sort=sort, look=look)


def _look(plain: bool, settings: "Settings") -> "Look":
    from delegtop.report.text import ASCII, PLAIN, UNICODE, Look

    terminal = output.is_terminal()
    ascii_only = settings.ascii or not output.takes("".join(UNICODE))
    guides = PLAIN if plain else ASCII if ascii_only else UNICODE
    colourless = plain or not settings.color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    width = shutil.get_terminal_size((PIPE_WIDTH, 24)).columns if terminal else PIPE_WIDTH
    return Look(guides, width, color=terminal and not colourless, cuts=terminal)


def _complain(named: Sequence[str], statuses: "tuple[SourceStatus, ...]") -> bool:
    """Say which sources could not be read; True if there was one. In a folder, files of other formats are no harm."""
    paths = {os.path.normpath(path) for path in named}
    unread = [
        source
        for source in statuses
        if source.status in ("missing", "unreadable")
        or (source.status in ("unrecognised", "skipped") and os.path.normpath(source.path) in paths)
    ]
    unmatched = [pattern for pattern in named if _matches_nothing(pattern)]
    for pattern in unmatched:
        diagnostics.say(f"{pattern}: no file matches")
    for source in unread:
        diagnostics.say(f"{source.path}: {source.detail or source.status}")
    return bool(unread or unmatched)


def _matches_nothing(pattern: str) -> bool:
    """True for a glob without a match: a live view waits for one, a look at this moment does not."""
    if not glob.has_magic(pattern) or Path(pattern).exists():
        return False
    return next(glob.iglob(pattern, recursive=True, include_hidden=True), None) is None  # noqa: PTH207 - Path.glob takes no absolute pattern


def _verdict(forest: "Forest", matches: "Collection[Handle] | None") -> Exit:
    from delegtop.model.delegation import State

    states: set[State] = {state for state, count in forest.counts.items() if count}
    if matches is not None:
        states = {forest.state(handle) for handle in matches}
    if states & {State.OVERDUE, State.LOST}:
        return Exit.OVERDUE
    if states & {State.FAILED, State.TIMEOUT, State.BLOCKED, State.PARTIAL}:
        return Exit.FINDINGS
    return Exit.OK

"""Sources that somebody named and that cannot be read: who asked for them is told."""

import glob
import os
from collections.abc import Sequence

from delegtop.base.paths import is_there
from delegtop.feed.file_catalogue import STDIN
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.source_statuses import odd
from delegtop.sources.discover import closed_folder


def unread(named: Sequence[str], statuses: Sequence[SourceStatus]) -> list[SourceStatus]:
    """The sources that should have been read and could not be. In a folder, files of other formats are no harm."""
    paths = {os.path.normpath(path) for path in named}
    return [
        source
        for source in odd(statuses)
        if source.status in ("missing", "unreadable")
        or (source.status in ("unrecognised", "skipped") and os.path.normpath(source.path) in paths)
    ]


def unmatched(named: Sequence[str]) -> list[str]:
    """The globs without a match: a live view waits for one, a look at this moment does not."""
    return [pattern for pattern in named if _matches_nothing(pattern)]


def _matches_nothing(pattern: str) -> bool:
    if not glob.has_magic(pattern) or os.path.exists(pattern):  # noqa: PTH110 - as discovery does
        return False
    if closed_folder(pattern) is not None:  # of which it is told
        return False
    return next(glob.iglob(pattern, recursive=True, include_hidden=True), None) is None  # noqa: PTH207 - Path.glob takes no absolute pattern


def absent(named: Sequence[str]) -> list[str]:
    """The names at which there is nothing. Of hosts and of standard input nobody knows that before they are read, and
    of what lies in a folder that is closed nobody ever."""
    return [
        name
        for name in named
        if not (glob.has_magic(name) or "://" in name or name == STDIN or is_there(name) or closed_folder(name))
    ]

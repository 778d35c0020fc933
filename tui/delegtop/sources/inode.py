"""One inode that is followed, and how far it is read."""

import os

from delegtop.base.clock import Millis, WallClock, wall
from delegtop.sources.file_status import GAP
from delegtop.sources.handles import Inode
from delegtop.sources.text_identity.text_trace import TextTrace

Stamp = tuple[int, int, int]
"""Size, time of writing and time of change: equal stamps mean an unchanged file."""
Look = tuple[int, int, int, int, int]
"""The inode and its stamp: equal looks mean the same file, unchanged."""

_SETTLED = 20_000_000
"""Nanoseconds: file times may be as coarse as a clock tick, so a change right after a look may not show in them."""


def stamp_of(found: os.stat_result) -> Stamp:
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def look_of(found: os.stat_result) -> Look:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def settled(stamp: Stamp) -> Stamp | None:
    """The stamp if a later change is sure to show in it."""
    age = WallClock().now() * 1_000_000 - stamp[2]
    return None if -_SETTLED < age < _SETTLED else stamp


class FollowedInode:
    """One inode and how far it is read."""

    __slots__ = (
        "compared",
        "copy_of",
        "error",
        "flushed",
        "gap",
        "inode",
        "linked",
        "loading",
        "names",
        "original",
        "path",
        "quiet",
        "replaces",
        "seen",
        "size",
        "source",
        "trace",
        "written",
    )

    def __init__(self, inode: Inode, path: str) -> None:
        self.inode = inode
        self.path = path
        """The name that it had when its text began."""
        self.source = path
        self.names: list[str] = []
        self.trace: TextTrace | None = None
        self.copy_of: TextTrace | None = None
        """The text that this file so far only repeats."""
        self.original: FollowedInode | None = None
        """The file that held that text then, if it was still there."""
        self.compared: tuple[int, int] | None = None
        """Its size and time of writing then."""
        self.replaces: FollowedInode | None = None
        """The file that bore one of its names just before."""
        self.seen: Stamp | None = None
        """Size and times at the last look that went to the end; None to look again."""
        self.size = 0
        self.written = Millis(0)
        self.linked = True
        self.loading = False
        self.quiet = 0
        """Polls without a change since it lost its name."""
        self.flushed = -1
        """The size at which its unfinished last line was reported."""
        self.error = ""
        self.gap = ""

    def observe(self, found: os.stat_result) -> None:
        self.size = found.st_size
        self.written = Millis(found.st_mtime_ns // 1_000_000)
        self.linked = found.st_nlink > 0

    def note_gap(self, at: Millis, why: str) -> None:
        self.gap = f"{GAP}: at {wall(at)} {why}, what was written just before may be missing"

    def at_rest(self, path: str) -> Look | None:
        """What it looks like if this is its only name, all of it is read and nothing is in doubt; None otherwise."""
        trace = self.trace
        if trace is None or self.seen is None or trace.offset != self.size or self.error or self.gap:
            return None
        plain = not (trace.start or trace.open or trace.moved or trace.copies) and self.path == path
        return (*self.inode, *self.seen) if plain and self.names == [path] else None

    @property
    def orphaned(self) -> bool:
        """The file it repeated is gone or holds another text: perhaps this one has the end of it."""
        return self.original is not None and not (self.original.names and self.original.trace is self.copy_of)

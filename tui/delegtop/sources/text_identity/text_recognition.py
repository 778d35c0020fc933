"""Which text a file holds: a new one, one that goes on from elsewhere, or only a copy of one that is known."""

import os

from delegtop.base.clock import Clock
from delegtop.sources.handles import Handles, Inode
from delegtop.sources.inode import FollowedInode
from delegtop.sources.text_identity.known_texts import KnownTexts
from delegtop.sources.text_identity.text_trace import PREAMBLE, TextTrace, goes_on, opening, same_bytes


class TextRecogniser:
    """Looks up texts among the known ones, and brings files and texts together."""

    def __init__(self, library: KnownTexts, handles: Handles, limit: int, clock: Clock) -> None:
        self._library = library
        self._handles = handles
        self._limit = limit
        self._clock = clock
        self.copies: dict[Inode, FollowedInode] = {}
        """The files that so far only repeat another."""

    def recognise(self, file: FollowedInode, fd: int) -> bool:
        """Find out which text the file holds and where to read on; False if there is nothing to read (yet)."""
        self.copies.pop(file.inode, None)
        file.copy_of = file.original = None
        beginning = opening(fd, file.size, self._limit)
        if beginning is None:
            return False
        start, key = beginning
        known, furthest, goes_further = None, 0, False
        for trace in self._library.like(key):
            agreed = trace.agreement(fd, file.size)
            if trace.start != start or agreed.contradicted:
                continue
            home = trace.home
            if home is not None and home is not file and self._repeats(home, fd, file.size):
                self._wait_as_copy(file, trace, home if home.trace is trace else None)
                return False
            living = home is not None and home.trace is trace and bool(home.names)
            whole = agreed.offset == trace.offset
            more = whole and goes_on(fd, trace.offset, file.size, self._limit)
            comes_from_it = trace.moved or trace.offset >= PREAMBLE or home is file.replaces
            if living and not (more and comes_from_it):
                continue
            if agreed.offset > furthest and (whole or agreed.offset >= file.size):
                known, furthest, goes_further = trace, agreed.offset, more
        file.replaces = None
        if known is None:
            self.begin(file, TextTrace(key, start))
        elif goes_further:
            self._adopt(file, known)
        else:
            self._wait_as_copy(file, known, None)
        return file.trace is not None

    def is_known(self, fd: int, size: int, start: int, key: int) -> bool:
        """Whether all of a file, whose only line has no end, stands in a text that was delivered."""
        return any(
            trace.start == start and trace.agreement(fd, size).offset >= size for trace in self._library.like(key)
        )

    def close_text(self, file: FollowedInode) -> None:
        """The file no longer holds what was read from it."""
        trace = file.trace
        if trace is None:
            return
        self._library.close(trace)
        file.trace = None
        file.note_gap(self._clock.now(), "it was cut off or overwritten in place")

    def begin(self, file: FollowedInode, trace: TextTrace) -> None:
        """The file holds a text that was not known."""
        self._library.add(trace)
        self._settle_in(file, trace)

    def _wait_as_copy(self, file: FollowedInode, trace: TextTrace, original: FollowedInode | None) -> None:
        self.copies[file.inode] = file
        file.copy_of, file.original = trace, original
        trace.copied = True
        if trace.home is None:
            trace.home = file

    def _repeats(self, home: FollowedInode, fd: int, size: int) -> bool:
        """Whether the file holds only what stands in another. If that has lost its text, this is noticed."""
        try:
            original = self._handles.private(home.inode, home.names)
        except OSError:
            return False
        try:
            if same_bytes(original, fd, size):
                return True
            if home.trace is not None and not home.trace.is_in(original, os.fstat(original).st_size):
                self.close_text(home)
                home.seen = None
            return False
        finally:
            os.close(original)

    def _adopt(self, file: FollowedInode, trace: TextTrace) -> None:
        """Read on in `file` where the text had got to elsewhere."""
        home = trace.home
        trace.moved = True
        if home is not None and home is not file and home.trace is trace:
            twin = trace.clone()
            home.trace, twin.home = twin, home
            home.source = self._library.name(twin, home.path)
            if home.names:
                self._library.add(twin)
        self._library.reopen(trace)
        self._settle_in(file, trace)

    def _settle_in(self, file: FollowedInode, trace: TextTrace) -> None:
        file.trace, trace.home = trace, file
        file.source = self._library.name(trace, file.path)

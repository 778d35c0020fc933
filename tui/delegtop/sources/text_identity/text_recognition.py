"""Which text a file holds: a new one, one that goes on from elsewhere, or only a copy of one that is known."""

import os
from collections.abc import Collection, Sequence

from delegtop.base.clock import Clock
from delegtop.sources.discover import unrotated
from delegtop.sources.handles import Handles, Inode
from delegtop.sources.inode import FollowedInode
from delegtop.sources.text_identity.known_texts import KnownTexts
from delegtop.sources.text_identity.text_trace import (
    PREAMBLE,
    TextTrace,
    alike,
    digest_of,
    file_digest,
    goes_on,
    key_of,
    line_end,
    opening,
    same_bytes,
)


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
        repeated, file.copy_of, file.original = file.copy_of, None, None
        beginning = opening(fd, file.size, self._limit)
        if beginning is None:
            return False
        start, key, head = beginning
        known, furthest, goes_further = None, 0, False
        for trace in self._library.like(key, head):
            agreed = trace.agreement(fd, file.size)
            if trace.start != start or agreed.contradicted:
                continue
            home = trace.home
            if home is not None and home is not file and self._repeats(home, fd, file.size):
                trace.note_copy(file.size, file_digest(fd, start, file.size))
                self._wait_as_copy(file, trace, home if home.trace is trace else None)
                return False
            whole = agreed.offset == trace.offset
            more = whole and goes_on(fd, trace.offset, file.size, self._limit)
            if more and is_living(trace) and not comes_from(trace, file.names or [file.path], file.replaces):
                continue
            reached = agreed.offset if whole else file.size
            if furthest < reached <= trace.offset and self._holds(fd, trace, reached, agreed.offset):
                known, furthest, goes_further = trace, reached, more
        replaced, file.replaces = file.replaces, None
        fork: TextTrace | None = None
        if known is None or goes_further:
            origin = replaced.trace if replaced is not None else repeated
            others = [trace for trace in self._library.like(key, head) if trace.copies and trace.start == start]
            fork = self._fork(file, fd, origin, others, replaced)
        # A copy that went on by itself parted from what it repeated, even if a text is known that ended earlier.
        if known is None or (fork is not None and fork.offset > furthest):
            self.begin(file, fork or TextTrace(key, start))
        elif goes_further:
            self._adopt(file, known)
        else:
            self._wait_as_copy(file, known, None)
        return file.trace is not None

    def _holds(self, fd: int, trace: TextTrace, reached: int, agreed: int) -> bool:
        """Whether the file holds all of the text up to there, of which the samples agreed so far."""
        if agreed >= reached and trace.is_proven(fd, reached):
            return True
        return bool(trace.packed_in) and is_packed_there(trace, reached, file_digest(fd, trace.start, reached))

    def _fork(
        self,
        file: FollowedInode,
        fd: int,
        origin: TextTrace | None,
        others: Sequence[TextTrace],
        replaced: FollowedInode | None,
    ) -> TextTrace | None:
        """What the file has in common with a text of which it was a copy, if both went on: the one that it repeated or
        whose name it took, else one of which copies were seen."""
        found: TextTrace | None = None
        furthest = 0
        for trace in dict.fromkeys([origin, *others]):
            if trace is None or trace.home is file or not is_related(trace, file.names or [file.path], replaced):
                continue
            most = min(file.size, trace.offset)
            end = trace.furthest_proof(fd, most, (*trace.copies, *(trace.marks if trace is origin else ())))
            end = line_end(fd, max(end, self._common(trace, fd, most) if trace is origin else 0))
            if end > max(furthest, trace.start):
                found, furthest = trace, end
        return found.cut_back(fd, furthest) if found is not None else None

    def is_overtaken(self, file: FollowedInode, fd: int, size: int) -> bool:
        """Whether more of the text that the file holds was read from another: it could not be read itself for a while,
        or both were copies of one."""
        own = file.trace
        if own is None or not own.moved or size <= own.offset:
            return False
        for trace in self._library.like(own.key, own.head):
            if trace is not own and trace.start == own.start and trace.offset > own.offset:
                agreed = trace.agreement(fd, size)
                reached, home = min(trace.offset, size), trace.home
                if agreed.contradicted:
                    continue
                if self._holds(fd, trace, reached, agreed.offset):
                    return True
                if home is not None and home is not file and self._repeats(home, fd, reached):
                    return True
        return False

    def let_go(self, file: FollowedInode) -> None:
        """It is to be found out anew which text the file holds."""
        if file.trace is not None:
            self._library.close(file.trace)
            file.trace = None

    def _common(self, trace: TextTrace, fd: int, most: int) -> int:
        """How far a file agrees with the one that holds the text, if that can be read."""
        home = trace.home
        if home is None or home.trace is not trace:
            return 0
        try:
            other = self._handles.private(home.inode, home.names)
        except OSError:
            return 0
        try:
            return alike(other, fd, most)
        finally:
            os.close(other)

    def is_known(self, fd: int, size: int, start: int, head: bytes) -> bool:
        """Whether all of a file, whose only line has no end, stands in a text that was delivered."""
        return any(
            trace.start == start and trace.agreement(fd, size).offset >= size and trace.is_proven(fd, size)
            for trace in self._library.like(key_of(head), head)
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
            self._library.add(twin)
        self._library.reopen(trace)
        self._settle_in(file, trace)

    def _settle_in(self, file: FollowedInode, trace: TextTrace) -> None:
        file.trace, trace.home = trace, file
        if file.names and file.path not in file.names:  # another text under another name, in an inode used again
            file.path = file.names[0]
        file.source = self._library.name(trace, file.path)


def is_living(trace: TextTrace) -> bool:
    """Whether a file with a name holds it, and is read."""
    return trace.home is not None and trace.home.trace is trace and bool(trace.home.names)


def comes_from(trace: TextTrace, names: Collection[str], replaced: FollowedInode | None = None) -> bool:
    """Whether a longer text that begins with all of this one goes on from it, and does not merely begin alike."""
    return trace.moved or trace.offset >= PREAMBLE or is_related(trace, names, replaced)


def is_related(trace: TextTrace, names: Collection[str], replaced: FollowedInode | None) -> bool:
    """Whether a file is a copy of the text by its names: it took the same, or both are generations of one log."""
    known = trace.home.names if trace.home is not None and trace.home.names else trace.sources
    is_replaced = replaced is not None and trace.home is replaced
    return is_replaced or not {*map(unrotated, names)}.isdisjoint(map(unrotated, known))


def is_packed_there(trace: TextTrace, size: int, digest: int) -> bool:
    """Whether the compressed file that a text was read from begins with so many bytes of that digest."""
    from delegtop.sources import packed  # few files are

    found = at = 0
    try:
        for block in packed.text(trace.packed_in, size):
            found = digest_of(block, found, 0, size - at)
            at += len(block)
    except OSError:
        return False
    return at >= size and found == digest

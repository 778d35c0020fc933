"""What is remembered of a text that was read, so that it is known again wherever it turns up.

A log is not its name, nor its inode: it is rotated, copied, cut off, replaced by a longer copy of itself. A `Trace`
keeps the place that reading has reached, samples of what stands before it, and a digest of all of that. Samples are
looked at whenever a file has grown; they can only miss a change made in the middle of a long text in place. Before
anything is passed over in another file, all of it is compared by its digest; wherever a doubt is left, the text is read
again rather than skipped.
"""

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from delegtop.base.common_beginning import in_common

if TYPE_CHECKING:
    from delegtop.sources.inode import FollowedInode

HEAD = 1024
TAIL = 256
"""There may be thousands of traces: what is kept of each has to be little."""
MARK = 128
MARKS = 8
COPIES = 8
UNENDED = 0
"""The key of a text whose first line has no end yet; no other has it."""
PREAMBLE = 4096
"""Logs of one program may begin alike. Only more than this in common proves that one text comes from the other."""
_BLOCK = 256 * 1024
_FIRST_LOOK = 4 * 1024
_DIGEST_BITS = 32
_NOTHING = (b"", b"\0")


class TextMark(NamedTuple):
    """What stands before an offset: a sample, and all of it. Two digests in one number, as there may be many."""

    offset: int
    digests: int

    @property
    def sample(self) -> int:
        return self.digests >> _DIGEST_BITS

    @property
    def all(self) -> int:
        return self.digests & ((1 << _DIGEST_BITS) - 1)


class Agreement(msgspec.Struct, frozen=True):
    """How far a file holds the text of a trace."""

    offset: int
    contradicted: bool
    """True if a difference was seen; False if the rest is merely unknown or there is none."""


Read = Callable[[int, int], bytes]
"""So many bytes of a text, from an offset on; fewer where it ends."""


class TextTrace:
    """The part of a text that was read: where it ends, and enough of it to recognise it."""

    __slots__ = (
        "copies",
        "digest",
        "disturbed",
        "head",
        "home",
        "key",
        "line",
        "marks",
        "moved",
        "offset",
        "open",
        "oversize",
        "packed_in",
        "sources",
        "start",
        "tail",
    )

    def __init__(self, key: int, start: int) -> None:
        self.key = key
        """The digest of its first line."""
        self.start = start
        """Where the text begins: behind the hole that a writer leaves which kept its place in a truncated file."""
        self.offset = start
        """Everything before this was delivered."""
        self.line = 0
        """Lines finished before the offset."""
        self.digest = 0
        """Of everything before the offset."""
        self.head = b""
        self.tail = b""
        self.marks: tuple[TextMark, ...] = ()
        self.open = False
        """The offset stands inside a line whose beginning was delivered."""
        self.oversize: int | None = None
        """The offset stands inside a line too long to keep, which began here."""
        self.home: FollowedInode | None = None
        """The file that holds the text now, if only as a copy."""
        self.moved = False
        """It has been found in a second file: copies of it are about."""
        self.copies: tuple[TextMark, ...] = ()
        """How far files repeat it that were compared with it, and the digest of that. They may turn up again."""
        self.packed_in = ""
        """The compressed file that it was read from."""
        self.disturbed = False
        """The file was changed while it was read."""
        self.sources: list[str] = []
        """The names its lines were delivered under."""

    def advance(self, data: bytes, base: int, offset: int, line: int, *, marked: bool = True) -> None:
        """Go on to `offset`; `data` are the bytes from `base` on, at least from the present tail to the offset."""
        known = self.start + len(self.head)
        if len(self.head) < HEAD and base <= known >= self.offset:  # nothing was passed over since
            self.head += data[known - base : min(self.start + HEAD, offset) - base]
        self.tail = data[max(offset - TAIL, self.start, base) - base : offset - base]
        self.digest = digest_of(data, self.digest, self.offset - base, offset - base)
        self.offset = offset
        self.line = line
        if marked:
            digests = _sample_digest(self.tail[-MARK:]) << _DIGEST_BITS | self.digest
            marks = (*self.marks, TextMark(offset, digests))
            self.marks = marks if len(marks) <= MARKS else marks[::2]

    def jump(self, fd: int, offset: int) -> None:
        """Go on behind a hole."""
        base = max(offset - TAIL, self.start)
        self.tail = os.pread(fd, offset - base, base)
        self.offset = offset

    def recall_ends(self, fd: int) -> None:
        """Its beginning and its end are taken from the file, which holds all of it."""
        self.head = os.pread(fd, min(HEAD, self.offset - self.start), self.start)
        first = max(self.offset - TAIL, self.start)
        self.tail = os.pread(fd, self.offset - first, first)

    def agreement(self, fd: int, size: int) -> Agreement:
        """How far the first `size` bytes of the file hold this text."""
        return self.agreement_with(partial(os.pread, fd), size)

    def agreement_with(self, read: Read, size: int) -> Agreement:
        """How far a text of that size, which need be no file, holds this one."""
        opening = self.head[: max(size - self.start, 0)]
        if not opening or read(len(opening), self.start) != opening:
            return Agreement(0, contradicted=True)
        agreed = self.start + len(opening)
        for mark in self.marks:
            if mark.offset > size:
                break
            if not self._holds(read, mark):
                return Agreement(agreed, contradicted=True)
            agreed = max(agreed, mark.offset)
        first = self.offset - len(self.tail)
        wanted = min(size, self.offset) - first
        if wanted <= 0:
            was_copy = any(copy.offset == size for copy in self.copies)  # whether it is that one, its digest tells
            return Agreement(size if was_copy else agreed, contradicted=False)
        same = in_common(read(wanted, first), self.tail)
        if same or agreed > first:
            agreed = first + same
        return Agreement(agreed, contradicted=same < wanted)

    def proof(self, agreed: int) -> TextMark:
        """The furthest place up to there for which the digest of all before it is known."""
        if agreed >= self.offset:
            return TextMark(self.offset, self.digest)
        known = (mark for mark in (*self.marks, *self.copies) if mark.offset <= agreed)
        return max(known, default=TextMark(self.start, 0))

    def furthest_proof(self, fd: int, most: int, marks: Iterable[TextMark]) -> int:
        """The furthest of these places up to which the file holds the text."""
        known = sorted(mark for mark in marks if mark.offset <= most)
        return next(
            (each.offset for each in reversed(known) if file_digest(fd, self.start, each.offset) == each.all), 0
        )

    def is_proven(self, fd: int, agreed: int) -> bool:
        """Whether the file holds all of the text up to there, of which every sample agreed."""
        proof = self.proof(agreed)
        return self.completes(proof, agreed) and file_digest(fd, self.start, proof.offset) == proof.all

    def completes(self, proof: TextMark, agreed: int) -> bool:
        """Whether what lies between was compared byte by byte."""
        return agreed <= max(proof.offset, self.start + len(self.head)) or proof.offset >= self.offset - len(self.tail)

    def note_copy(self, size: int, digest: int) -> None:
        """A file was found that repeats the text so far."""
        if not any(copy.offset == size for copy in self.copies):
            self.copies = (*self.copies, TextMark(size, digest))[-COPIES:]

    def is_in(self, fd: int, size: int) -> bool:
        """Whether the file still holds all of it."""
        return self.offset == self.start or self.agreement(fd, size).offset == self.offset

    def has_ends_in(self, fd: int) -> bool:
        """Whether the file holds the end and the beginning of it, which is enough for a first look."""
        ends = os.pread(fd, len(self.tail), self.offset - len(self.tail)) == self.tail
        return ends and os.pread(fd, len(self.head), self.start) == self.head

    def is_roughly_in(self, fd: int) -> bool:
        """`is_in` by the samples alone, which may be asked while another thread advances."""
        return os.pread(fd, len(self.head), self.start) == self.head and all(
            self._holds(partial(os.pread, fd), mark) for mark in self.marks
        )

    def clone(self) -> "TextTrace":
        """The same text, to be read on in a second file."""
        trace = TextTrace(self.key, self.start)
        trace.offset, trace.line, trace.head, trace.tail = self.offset, self.line, self.head, self.tail
        trace.open, trace.oversize, trace.marks, trace.moved = self.open, self.oversize, self.marks, self.moved
        trace.digest, trace.copies = self.digest, self.copies
        return trace

    def cut_back(self, fd: int, offset: int) -> "TextTrace":
        """The same text up to the end of an earlier line, as the file holds it, to be read on from there."""
        trace = TextTrace(self.key, self.start)
        trace.moved = True
        for block in file_blocks(fd, self.start, offset):
            trace.digest = digest_of(block, trace.digest)
            trace.line += block.count(b"\n")
        trace.offset = offset
        trace.head = self.head[: offset - self.start]
        first = max(offset - TAIL, self.start)
        trace.tail = os.pread(fd, offset - first, first)
        trace.marks = tuple(mark for mark in self.marks if mark.offset <= offset)
        trace.copies = tuple(copy for copy in self.copies if copy.offset <= offset)
        return trace

    def samples(self) -> Iterator[tuple[int, int]]:
        """Where the bytes stand by which it is known, each from and to an offset."""
        yield self.start, self.start + len(self.head)
        yield self.offset - len(self.tail), self.offset
        for mark in self.marks:
            yield mark.offset - min(MARK, mark.offset - self.start), mark.offset

    def _holds(self, read: Read, mark: TextMark) -> bool:
        size = min(MARK, mark.offset - self.start)
        return _sample_digest(read(size, mark.offset - size)) == mark.sample


def _sample_digest(sample: bytes) -> int:
    return zlib.crc32(sample)


def digest_of(data: bytes, before: int = 0, begin: int = 0, end: int | None = None) -> int:
    """The digest of a text that goes on with these bytes. NULs do not count: holes are passed over unread."""
    if b"\0" in data:
        return zlib.crc32(data[begin:end].translate(None, b"\0"), before)
    return zlib.crc32(memoryview(data)[begin:end], before)


def file_blocks(fd: int, offset: int, end: int) -> Iterator[bytes]:
    """The bytes of a file between two places, without its holes."""
    while offset < end and (at := first_data(fd, offset, end)) is not None:
        data = os.pread(fd, min(_BLOCK, end - at), at)
        if not data:
            return
        yield data
        offset = at + len(data)


def file_digest(fd: int, offset: int, end: int) -> int:
    """The digest of what stands between two places of a file."""
    digest = 0
    for block in file_blocks(fd, offset, end):
        digest = digest_of(block, digest)
    return digest


def opening(fd: int, size: int, limit: int) -> tuple[int, int, bytes] | None:
    """Where the text of a file begins, the digest to know it by, and its head; None while that line is unfinished."""
    start, head = 0, os.pread(fd, min(HEAD, size), 0)
    if head[:1] in _NOTHING:
        found = first_data(fd, 0, size)
        if found is None:
            return None
        start, head = found, os.pread(fd, min(HEAD, size - found), found)
    return (start, key_of(head), head) if b"\n" in head or goes_on(fd, start, size, limit) else None


def key_of(head: bytes) -> int:
    """The digest of the first line, by which a text is looked up: the same in every run, and less than 1 << 63."""
    line = head.lstrip(b"\0")[:HEAD].partition(b"\n")[0]
    return (zlib.crc32(line) << 31) ^ zlib.adler32(line) or 1


def goes_on(fd: int, offset: int, size: int, limit: int) -> bool:
    """Whether there is a whole line from `offset` on, or one so long that it is not waited for."""
    at, end = offset, min(offset + limit + 1, size)
    while at < end:
        data = os.pread(fd, min(_FIRST_LOOK, end - at), at)
        if not data or b"\n" in data:
            return bool(data)
        at += len(data)
    return at - offset > limit


def first_data(fd: int, offset: int, size: int) -> int | None:
    """The first byte from `offset` on that is not NUL; None if there is none yet."""
    block = _FIRST_LOOK  # nearly always the very first byte is one
    while offset < size:
        try:
            offset = os.lseek(fd, offset, os.SEEK_DATA)
        except OSError:  # a hole up to the end
            return None
        data = os.pread(fd, min(block, size - offset), offset) if offset < size else b""
        if not data:
            return None
        block = _BLOCK
        text = data.lstrip(b"\0")
        offset += len(data) - len(text)
        if text:
            return offset
    return None


def same_bytes(one: int, other: int, size: int) -> bool:
    """Whether two files begin with the same `size` bytes."""
    return alike(one, other, size) == size


def alike(one: int, other: int, size: int) -> int:
    """How many of the first `size` bytes two files have in common at their beginning."""
    at = 0
    while at < size:
        wanted = min(_BLOCK, size - at)
        left, right = os.pread(one, wanted, at), os.pread(other, wanted, at)
        if len(left) < wanted or left != right:
            return at + in_common(left, right)
        at += wanted
    return at


def line_end(fd: int, offset: int) -> int:
    """The end of the last whole line before that place; 0 if there is none."""
    while offset > 0:
        first = max(offset - _FIRST_LOOK, 0)
        newline = os.pread(fd, offset - first, first).rfind(b"\n")
        if newline >= 0:
            return first + newline + 1
        offset = first
    return 0

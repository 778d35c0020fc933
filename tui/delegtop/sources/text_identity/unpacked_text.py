"""Which known text a compressed log holds.

What was rotated and then compressed was read before, and so was a compressed log that has got another name.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from delegtop.sources.handles import Handles, Inode
from delegtop.sources.inode import FollowedInode
from delegtop.sources.text_identity.known_texts import KnownTexts
from delegtop.sources.text_identity.text_recognition import comes_from, is_living, is_packed_there
from delegtop.sources.text_identity.text_trace import HEAD, TextTrace, digest_of, key_of
from delegtop.sources.unpack import is_hole

Blocks = Callable[[], Iterator[bytes]]


class Reached(NamedTuple):
    """How far a known text was read already."""

    offset: int
    line: int
    is_open: bool
    """Whether that is inside a line whose beginning was delivered."""
    trace: TextTrace
    size: int
    """Of all the text there is."""
    is_copy: bool
    """Whether it holds nothing beyond what another file holds, which is read."""


class UnpackedTexts:
    """Looks up the texts of compressed logs among those that a reader knows, and adds them."""

    def __init__(self, library: KnownTexts, handles: Handles, copies: Mapping[Inode, FollowedInode]) -> None:
        self._library = library
        self._handles = handles
        self._copies = copies
        """Files that only repeat a text, which may be gone where it was read."""

    def reached(self, path: str, blocks: Blocks) -> Reached | None:
        """Where to read on in the text of that file; None if it is a new one."""
        beginning = _beginning(blocks())
        if beginning is None:
            return None
        start, head = beginning
        candidates = [trace for trace in self._library.like(key_of(head), head) if trace.start == start]
        if not candidates:
            return None
        copies = [(file, trace) for file in self._copies.values() if (trace := file.copy_of) in candidates and trace]
        text = _Sampled(candidates, self._handles, copies)
        text.take(blocks())
        found = [known for trace in candidates if (known := _known(trace, path, text)) is not None]
        return max(found, key=lambda each: (each.is_copy, each.offset), default=None)

    def add(self, trace: TextTrace, path: str) -> None:
        """So much of the text in that file was read: whoever meets it elsewhere goes on from there."""
        trace.packed_in = path
        self._library.add(trace)
        self._library.close(trace)

    def end_first_line(self, trace: TextTrace) -> None:
        self._library.end_first_line(trace)


def _beginning(text: Iterator[bytes]) -> tuple[int, bytes] | None:
    """Where it begins behind a hole, and how."""
    hole, head = 0, bytearray()
    for block in text:
        part = block if head else b"" if is_hole(block) else block.lstrip(b"\0")
        hole += len(block) - len(part)
        head += part
        if len(head) >= HEAD:
            break
    return (hole, bytes(head[:HEAD])) if head else None


def _known(trace: TextTrace, path: str, text: "_Sampled") -> Reached | None:
    if text.stands_in(trace):
        trace.note_copy(text.size, text.digest)
        return Reached(0, 0, False, trace, text.size, True)
    agreed = trace.agreement_with(text.read, text.size)
    if agreed.contradicted:
        return None
    if agreed.offset == trace.offset and text.proves(trace, agreed.offset):
        if text.size > trace.offset and is_living(trace) and not comes_from(trace, (path,)):
            return None
        offset = trace.offset if trace.oversize is None else trace.oversize
        return Reached(offset, trace.line, trace.open, trace, text.size, False)
    is_copy = (agreed.offset >= text.size and text.proves(trace, text.size)) or (
        bool(trace.packed_in) and text.size <= trace.offset and is_packed_there(trace, text.size, text.digest)
    )
    return Reached(0, 0, False, trace, text.size, True) if is_copy else None


class _Sampled:
    """What is compared of a text that can only be read from its beginning on."""

    def __init__(
        self, traces: list[TextTrace], handles: Handles, copies: Sequence[tuple[FollowedInode, TextTrace]]
    ) -> None:
        self.size = 0
        spans = sorted(span for trace in traces for span in trace.samples())
        self._parts: list[tuple[int, int, bytearray]] = []
        for begin, end in spans:
            if self._parts and begin <= self._parts[-1][1]:
                before, ended, data = self._parts[-1]
                self._parts[-1] = (before, max(ended, end), data)
            else:
                self._parts.append((begin, end, bytearray()))
        self._homes: dict[int, tuple[int, TextTrace]] = {}
        for home, trace in [*((trace.home, trace) for trace in traces), *copies]:
            if home is not None:
                try:
                    self._homes[handles.private(home.inode, home.names)] = (id(trace), trace)
                except OSError:
                    continue
        self._within: set[int] = set()
        self.digest = 0
        marks = (mark.offset for each in traces for mark in (*each.marks, *each.copies, each.proof(each.offset)))
        self._wanted = sorted({*marks, *(trace.start for trace in traces)}, reverse=True)
        self._digests: dict[int, int] = {}

    def take(self, blocks: Iterator[bytes]) -> None:
        """Go through the text once."""
        try:
            for block in blocks:
                self._compare(block)
                self._sum_up(block)
                for begin, end, data in self._parts:
                    if begin < self.size + len(block) and end > self.size:
                        data += block[max(begin - self.size, 0) : end - self.size]
                self.size += len(block)
        finally:
            self._within = {trace for trace, _ in self._homes.values()}
            for fd in self._homes:
                os.close(fd)

    def _compare(self, block: bytes) -> None:
        for fd in list(self._homes):
            if os.pread(fd, len(block), self.size) != block:
                os.close(fd)
                del self._homes[fd]

    def _sum_up(self, block: bytes) -> None:
        begin = 0
        while self._wanted and self._wanted[-1] <= self.size + len(block):
            end = self._wanted.pop() - self.size
            self.digest = self._digests[end + self.size] = digest_of(block, self.digest, begin, end)
            begin = end
        self.digest = digest_of(block, self.digest, begin)

    def proves(self, trace: TextTrace, agreed: int) -> bool:
        """Whether all of that text up to there stands here, of which every sample agreed."""
        proof = trace.proof(agreed)
        return trace.completes(proof, agreed) and self._digests.get(proof.offset) == proof.all

    def stands_in(self, trace: TextTrace) -> bool:
        """Whether all of the text stands in the file that holds that text."""
        return id(trace) in self._within

    def read(self, size: int, offset: int) -> bytes:
        for begin, end, data in self._parts:
            if begin <= offset and offset + size <= end:
                return bytes(data[offset - begin : offset - begin + size])
        return b""

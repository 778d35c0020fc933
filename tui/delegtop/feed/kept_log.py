"""What a log told whose lines each speak for themselves, in the form in which it is kept between two runs: a ledger,
and where reading had got to, so that it goes on from there.

What was said and returned in it is not kept: it is read again from the very line when somebody asks.
"""

import os
from collections.abc import Sequence
from datetime import UTC
from weakref import finalize

import msgspec
from msgspec import Struct

from delegtop.base.origin import Origin
from delegtop.dialects import Dialect
from delegtop.feed.followed_file import FollowedFile
from delegtop.feed.kept_session import KeptFile
from delegtop.model.events import Event, Started
from delegtop.sources.records import Line, Unreadable
from delegtop.sources.text_identity.text_trace import TextMark, TextTrace

_BLOCK = 4 * 1024
_LONGEST = 1024 * 1024


class KeptTrace(Struct, frozen=True, gc=False, array_like=True):
    """A text that was read to the end of a line; none of it, for there may be secrets in it."""

    key: int
    offset: int
    line: int
    digest: int
    marks: tuple[tuple[int, int], ...]

    def trace(self) -> TextTrace:
        found = TextTrace(self.key, 0)
        found.offset, found.line, found.digest = self.offset, self.line, self.digest
        found.marks = tuple(TextMark(*mark) for mark in self.marks)
        return found


def kept_trace(trace: TextTrace) -> KeptTrace:
    marks = tuple((mark.offset, mark.digests) for mark in trace.marks)
    return KeptTrace(trace.key, trace.offset, trace.line, trace.digest, marks)


class KeptLog(Struct, frozen=True, gc=False, array_like=True, tag="log"):
    """One log."""

    file: KeptFile
    trace: KeptTrace
    running: tuple[Started, ...]
    """Those whose process it names, and of which it tells no end."""
    ledger: bytes


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(KeptLog).decode


def pack_log(log: KeptLog) -> bytes | None:
    """None if something in it cannot be kept."""
    try:
        return _pack(log)
    except (UnicodeEncodeError, OverflowError):
        return None


def unpack_log(data: bytes) -> KeptLog | None:
    """The log; None if it is none."""
    try:
        return _unpack(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


class LogLines:
    """The lines of a log, read again one by one; it stays open for that."""

    def __init__(self, path: str, dialect: type[Dialect]) -> None:
        self._path, self._dialect = path, dialect
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        finalize(self, os.close, self._fd)

    def __call__(self, origin: Origin) -> Sequence[Event]:
        """What the line at that place tells; nothing if it cannot be read any more."""
        try:
            data = os.pread(self._fd, _BLOCK, origin.offset)
            while b"\n" not in data and len(data) < _LONGEST:
                more = os.pread(self._fd, _LONGEST, origin.offset + len(data))
                if not more:
                    break
                data += more
        except OSError:
            return ()
        reading = FollowedFile(self._path, self._dialect(UTC), None)
        told = reading.read(Line(origin, data.partition(b"\n")[0]))
        return [event for event in told if not isinstance(event, Unreadable)]

"""The whole lines of a file from where its reading stopped, in bounded memory."""

import os
from collections.abc import Generator
from io import BytesIO

from delegtop.base.origin import Origin
from delegtop.sources.records import Line, LineBlock, Unreadable, fault
from delegtop.sources.text_identity.text_trace import TextTrace, first_data

CHUNK = 64 * 1024
"""Iterating over blocks of this size costs half of splitting them, and small blocks stay in the processor's cache."""
LARGE = 4 * CHUNK
"""The same where lines are long: in a smaller block there are too few of them for what is done once a block."""
_LONG = 1024
"""Bytes of a line on average."""

_NEWLINE = ord("\n")
OVERSIZE = "oversize"
WITHOUT_TEXTS = ", read without its long texts"


def whole_lines(
    trace: TextTrace, source: str, fd: int, size: int, limit: int
) -> Generator[LineBlock | Line | Unreadable, None, None]:
    """Every line that ends within the first `size` bytes and was not delivered yet; the trace advances with them.

    Each block is read together with the bytes before it, so a text that was exchanged in the meantime is noticed
    before any of it is delivered: the trace is then marked as disturbed.
    """
    usual = wanted = min(CHUNK, limit)
    while trace.offset < size:
        known = len(trace.tail)
        base = trace.offset - known
        data = os.pread(fd, known + min(wanted, size - trace.offset), base)
        if len(data) <= known or not data.startswith(trace.tail):
            trace.disturbed = True
            return
        newline = data.find(b"\n", known)
        if trace.oversize is not None:
            yield from _skip(trace, source, fd, data, base, newline, limit)
        elif data[known] == 0 and (start := first_data(fd, trace.offset, size)) != trace.offset:
            if start is None:  # room that the writer has not filled yet
                return
            trace.jump(fd, start)
        elif newline < 0:
            if size - trace.offset <= limit and base + len(data) >= size:
                return  # the last line waits for its end
            if len(data) - known <= limit:
                wanted = limit + 1
                continue
            yield from _break_off(trace, source, data, base)
        elif trace.open:
            offset = trace.offset
            trace.open = False
            trace.advance(data, base, base + newline + 1, trace.line + 1)
            rest = data[known:newline]
            if rest.strip(b"\0\r\t "):
                yield Line(Origin(source, trace.line, offset), rest)
        else:
            text = BytesIO(data)
            text.seek(known)
            raws = text.readlines()
            if data[-1] != _NEWLINE:
                raws.pop()
            usual = min(LARGE if len(data) > _LONG * len(raws) else CHUNK, limit)
            if usual > wanted and base + len(data) < size:  # as nearly every transcript begins
                wanted = usual
                continue
            block = LineBlock(source, trace.line + 1, trace.offset, raws)
            try:
                yield block
            finally:  # whoever stops listening has had the lines up to here
                trace.advance(data, base, *block.reached)
                block.raws.clear()
        wanted = usual


def _break_off(trace: TextTrace, source: str, data: bytes, base: int) -> Generator[Line, None, None]:
    """No end within the limit: either a torn line before a hole, or a line too long to keep."""
    known = len(trace.tail)
    hole = data.find(b"\0", known)
    if hole < 0:
        trace.oversize = trace.offset
        trace.advance(data, base, base + len(data), trace.line, marked=False)
        return
    offset = trace.offset
    trace.open = True
    trace.advance(data, base, base + hole, trace.line, marked=False)
    yield Line(Origin(source, trace.line + 1, offset), data[known:hole])


def oversize(length: int, limit: int, more: str = "") -> str:
    """How long a line is, and how long it may be."""
    return f"{length:,} bytes{more}; a line may have {limit:,}"


def _skip(
    trace: TextTrace, source: str, fd: int, data: bytes, base: int, newline: int, limit: int
) -> Generator[Line | Unreadable, None, None]:
    """Go on through a line too long to keep, and report it at its end, with what is left of it without long texts."""
    if newline < 0:
        trace.advance(data, base, base + len(data), trace.line, marked=False)
        return
    start, end = trace.oversize or 0, base + newline
    trace.oversize = None
    trace.advance(data, base, end + 1, trace.line + 1)
    origin = Origin(source, trace.line, start)
    from delegtop.sources.line_outline import outline  # few lines are that long

    short = outline(fd, start, limit)
    is_record = bool(short) and not fault(short)
    yield Unreadable(origin, OVERSIZE, oversize(end - start, limit, WITHOUT_TEXTS if is_record else ""))
    if is_record:
        yield Line(origin, short)

"""Lines read once more: what the screen shows as raw text and as history is taken from the file itself.

Keeping every line in memory would cost more than all the rest; the file has them already.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from delegtop.origin import Origin
from delegtop.sources.record import Line

SPAN = 64 * 1024 * 1024
"""How much of a file is searched at most, counted back from the last known line."""
LINE_LIMIT = 1024 * 1024


def lines_about(needle: bytes, first: Origin, last: Origin) -> Iterator[Line]:
    """The lines of one file from `first` to `last` that hold the needle. Nothing if the file is not what it was."""
    begin = max(first.offset, last.offset - SPAN)
    try:
        with Path(first.source).open("rb") as file:
            file.seek(begin)
            line, offset = first.line, begin
            if begin != first.offset:
                offset += len(file.readline())
                line = 0  # what stands before is not counted, so the numbers are not known
            while offset <= last.offset:
                data = file.readline(LINE_LIMIT)
                if not data:
                    return
                if needle in data:
                    yield Line(Origin(first.source, line, offset), data.rstrip(b"\r\n"))
                offset += len(data)
                line += 1 if line and data.endswith(b"\n") else 0
    except OSError:
        return


def entry_at(origin: Origin) -> bytes | None:
    """The text of one keyed value of a JSON document, from its key to its end."""
    try:
        data = Path(origin.source).read_bytes()[origin.offset :]
        text = data.decode("utf-8", "replace")
        key, end = json.JSONDecoder().raw_decode(text)
        start = text.index(":", end) + 1
        start += len(text[start:]) - len(text[start:].lstrip())
        _, end = json.JSONDecoder().raw_decode(text, start)
    except (OSError, ValueError, RecursionError):
        return None
    return text[:end].encode() if isinstance(key, str) else None


def head(path: str, size: int) -> tuple[bytes, bool]:
    """The first bytes of a file, and whether that is all of it."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        data = os.pread(fd, size, 0)
        return data, len(data) == os.fstat(fd).st_size
    finally:
        os.close(fd)

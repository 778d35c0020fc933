"""Lines read once more: what the screen shows as raw text and as history is taken from the file itself.

Keeping every line in memory would cost more than all the rest; the file has them already.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from delegtop.base.origin import Origin
from delegtop.sources.records import Line
from delegtop.sources.text_identity.text_trace import first_data

SPAN = 64 * 1024 * 1024
"""How much of a file is searched at most, counted back from the last known line."""
LINE_LIMIT = 1024 * 1024


def tells(path: str, offset: int, needle: bytes) -> bool:
    """Whether the line at that place holds the needle: another text may have taken the file's name."""
    try:
        with Path(path).open("rb") as file:
            file.seek(offset)
            return needle in file.readline(LINE_LIMIT)
    except OSError:
        return False


def line_at(path: str, offset: int) -> bytes | None:
    """The line that begins at that place; None if there is none."""
    try:
        with Path(path).open("rb") as file:
            file.seek(offset)
            return file.readline(LINE_LIMIT).rstrip(b"\n").lstrip(b"\0") or None
    except OSError:
        return None


def lines_about(needle: bytes, path: str, first: Origin | None, last: Origin | None) -> Iterator[Line]:
    """The lines of one file that hold the needle, from `first` (else its top) to `last` (else its end)."""
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            end = min(last.offset, size) if last else size
            line, offset = (first.line, first.offset) if first else (1, 0)
            if end - offset > SPAN:
                file.seek(end - SPAN)
                line, offset = 0, end - SPAN + len(file.readline())  # what stands before is not counted: no numbers
            file.seek(offset)
            while offset <= end:
                data = file.readline(LINE_LIMIT)
                if not data:
                    return
                if needle in data:
                    yield Line(Origin(path, line, offset), data.rstrip(b"\r\n"))
                offset += len(data)
                line += 1 if line and data.endswith(b"\n") else 0
    except OSError:
        return


def entry_at(origin: Origin) -> bytes | None:
    """The text of one keyed value of a JSON document, from its key to its end."""
    import json  # only who looks at an entry needs it

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


def whole(path: str) -> bytes | None:
    """All of a file, cut at the length of the longest line shown."""
    try:
        with Path(path).open("rb") as file:
            return file.read(LINE_LIMIT)
    except OSError:
        return None


def head(path: str, size: int) -> tuple[bytes, bool]:
    """The first bytes of a file, and whether that is all of it. A hole before them is left out, however large."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        data = os.pread(fd, size, 0)
        if data[:1] == b"\0" and (start := first_data(fd, 0, os.fstat(fd).st_size)) is not None:
            return os.pread(fd, size, start), False
        return data, len(data) < size or len(data) == os.fstat(fd).st_size
    finally:
        os.close(fd)

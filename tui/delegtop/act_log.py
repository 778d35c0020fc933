"""The act log: everything that delegtop did to a process or a session, one line as it is done and one for its outcome.

It is only ever added to, and only its owner can read it. Who cannot write it does not act.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from delegtop.base.clock import Millis, iso, parse_time
from delegtop.base.paths import make_private, state_folder

ACT, OUTCOME = "act", "outcome"
_READ = 1 << 20
"""Bytes that are read at a look; of a longer log those at its end."""


class ActLine(NamedTuple):
    """One line."""

    at: Millis
    event: str
    """`act` as it is done, `outcome` once it is known what came of it."""
    act: str
    """Which act it is, the same in both lines."""
    id: str
    """The delegation it was done to."""
    words: str
    """What was done, or what came of it, masked."""
    log: str | None = None
    """The file that told of the delegation."""
    more: Mapping[str, Any] = {}
    """The rung, the process, who asked; for those who read the file."""

    def written(self) -> bytes:
        import json  # nobody has acted in most of what is read

        told = {"at": iso(self.at), "event": self.event, "act": self.act, "id": self.id, "words": self.words}
        told |= {"log": self.log} if self.log else {}
        return json.dumps(told | dict(self.more)).encode() + b"\n"


def place() -> Path:
    return state_folder() / "acts.jsonl"


def add(line: ActLine) -> None:
    """Write it down, on the disk when this returns; OSError if that cannot be done."""
    path = place()
    make_private(path.parent)
    fd = _opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        os.fchmod(fd, 0o600)
        data = line.written()
        size = os.fstat(fd).st_size
        if size and os.pread(fd, 1, size - 1) != b"\n":  # what a full disk cut off stays a line of its own
            data = b"\n" + data
        if os.write(fd, data) != len(data):
            raise OSError("the disk took only a part of it")
        os.fsync(fd)
    finally:
        os.close(fd)


def _opened(path: Path, how: int) -> int:
    """A descriptor of it; OSError if it is no file of our own: what others wrote nobody here has done."""
    fd = os.open(path, how | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    found = os.fstat(fd)
    if stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid():
        return fd
    os.close(fd)
    raise OSError("it is no file of our own")


def lines(start: int = 0) -> Iterator[tuple[int, int, bytes]]:
    """The whole lines from that byte on: where each ends and begins, and what stands there."""
    try:
        with os.fdopen(_opened(place(), os.O_RDONLY), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            begin = start if start <= size else 0
            begin = max(begin, size - _READ)
            file.seek(begin)
            data = file.read(_READ)
    except OSError:
        return
    if begin > start:  # in the middle of a line
        cut = data.find(b"\n") + 1
        data, begin = data[cut:], begin + cut
    for each in data.split(b"\n")[:-1]:
        yield begin + len(each) + 1, begin, each + b"\n"
        begin += len(each) + 1


def parsed(data: bytes) -> ActLine | None:
    """What a line says; None if it is none of ours."""
    import json  # as above

    try:
        told = json.loads(data)
        at = parse_time(told["at"])
        event, act, id, words = (told[name] for name in ("event", "act", "id", "words"))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    log = told.get("log")
    if at is None or not all(isinstance(each, str) for each in (event, act, id, words)):
        return None
    return ActLine(at, event, act, id, words, log if isinstance(log, str) else None)

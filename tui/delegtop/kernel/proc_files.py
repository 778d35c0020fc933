"""The files in which the kernel tells of processes (`proc(5)`), read without a word if one is gone or not ours."""

import os
import stat
from contextlib import suppress
from threading import Thread

PROC = "/proc"
_MOST = 1 << 26
"""Bytes: more than any of these files has."""
RECORD = 1 << 12
"""Bytes: more than a file has that is one record, such as `stat`; it comes in one piece."""
_PATIENCE = 0.2
"""Seconds in which a file system answers."""
_asked: list[Thread] = []
"""Who waits for a file system that does not answer."""


def data(*parts: object, root: str = PROC, most: int = _MOST) -> bytes:
    """The content of one file; nothing if the process is gone, or somebody else's. Not much more than `most` bytes."""
    try:
        fd = os.open("/".join((root, *map(str, parts))), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        if most <= RECORD:
            return os.read(fd, most)
        blocks, size = [], 0
        while size < most and (block := os.read(fd, 1 << 16)):  # a long list comes in pieces, whatever is asked for
            blocks.append(block)
            size += len(block)
        return b"".join(blocks)
    except OSError:
        return b""
    finally:
        os.close(fd)


def text(*parts: object, root: str = PROC, most: int = _MOST) -> str:
    return data(*parts, root=root, most=most).decode("utf-8", "replace")


def link(*parts: object, root: str = PROC) -> str:
    """Where a link leads; nothing if that cannot be told."""
    try:
        return os.readlink("/".join((root, *map(str, parts))))  # noqa: PTH115 -- thousands at a look
    except OSError:
        return ""


def numbers(*parts: object, root: str = PROC) -> list[int]:
    """The names in a folder that are numbers: processes, threads or descriptors."""
    try:
        names = os.listdir("/".join((root, *map(str, parts))))  # noqa: PTH208 -- likewise
        return [int(name) for name in names if name.isdecimal()]
    except OSError:
        return []


def is_mounted() -> bool:
    """Whether the kernel tells of processes at all: not on macOS, and not everywhere else."""
    return os.access(f"{PROC}/self/stat", os.R_OK)


def is_open(pid: int) -> bool:
    """Whether we may see what it has open, and so what it waits for: not if it is another user's."""
    return os.access(f"{PROC}/{pid}/fd", os.R_OK | os.X_OK, effective_ids=True)


def owner(pid: int) -> str:
    """The name of its user, else the number; nothing if it is gone."""
    try:
        number = os.stat(f"{PROC}/{pid}").st_uid  # noqa: PTH116 -- likewise
    except OSError:
        return ""
    return user_name(number)


def user_name(number: int) -> str:
    """What a user is called; the number where nobody knows."""
    import pwd  # seldom is anybody's name asked for

    try:
        return pwd.getpwuid(number).pw_name
    except (KeyError, OverflowError):
        return str(number)


def is_there(pid: int) -> bool:
    return os.access(f"{PROC}/{pid}", os.F_OK)


def inode(pid: int, fd: int) -> int | None:
    """Of an open file, as far as the kernel says so. The file itself is not asked: its file system may not answer."""
    for line in data(pid, "fdinfo", fd).splitlines():
        if line.startswith(b"ino:"):
            return int(line[4:])
    return None


def written_at(*parts: object, root: str = PROC) -> int | None:
    """When the file that a link leads to was last written, in milliseconds since 1970."""
    found = _asked_of("/".join((root, *map(str, parts))))
    return found and found.st_mtime_ns // 1_000_000


def read_at(*parts: object, root: str = PROC) -> int | None:
    """When it was last read. Of a terminal the kernel notes that by spans of eight seconds."""
    found = _asked_of("/".join((root, *map(str, parts))))
    return found and found.st_atime_ns // 1_000_000


def is_fifo(path: str) -> bool:
    """Whether there is a FIFO at that place."""
    found = _asked_of(path)
    return found is not None and stat.S_ISFIFO(found.st_mode)


def _asked_of(path: str) -> os.stat_result | None:
    """What a file system tells of a file. It may no longer answer, and who asks hangs as well: so another thread asks,
    and as long as it waits nobody else does."""
    if _asked and _asked[0].is_alive():
        return None
    found: list[os.stat_result] = []

    def ask() -> None:
        with suppress(OSError, ValueError):
            found.append(os.stat(path))  # noqa: PTH116 -- likewise

    _asked[:] = [Thread(target=ask, daemon=True)]
    _asked[0].start()
    _asked[0].join(_PATIENCE)
    return found[0] if found else None

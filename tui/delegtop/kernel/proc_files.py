"""The files in which the kernel tells of processes (`proc(5)`), read without a word if one is gone or not ours."""

import os

PROC = "/proc"


def data(*parts: object, root: str = PROC) -> bytes:
    """The content of one file; nothing if the process is gone, or somebody else's."""
    try:
        fd = os.open("/".join((root, *map(str, parts))), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        blocks = []
        while block := os.read(fd, 1 << 16):  # a long list comes in pieces, however much is asked for
            blocks.append(block)
        return b"".join(blocks)
    except OSError:
        return b""
    finally:
        os.close(fd)


def text(*parts: object, root: str = PROC) -> str:
    return data(*parts, root=root).decode("utf-8", "replace")


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


def is_open(pid: int) -> bool:
    """Whether we may see what it has open, and so what it waits for: not if it is another user's."""
    return os.access(f"{PROC}/{pid}/fd", os.R_OK | os.X_OK, effective_ids=True)


def inode(*parts: object, root: str = PROC) -> int | None:
    """Of the file that a link leads to."""
    try:
        return os.stat("/".join((root, *map(str, parts)))).st_ino  # noqa: PTH116 -- likewise
    except OSError:
        return None


def written_at(*parts: object, root: str = PROC) -> int | None:
    """When the file that a link leads to was last written, in milliseconds since 1970."""
    try:
        return os.stat("/".join((root, *map(str, parts)))).st_mtime_ns // 1_000_000  # noqa: PTH116 -- likewise
    except OSError:
        return None

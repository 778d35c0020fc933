"""Open files, as many as the process can afford.

A file kept open stays readable after it was renamed or removed, and its inode cannot become another file's.
"""

import errno
import os
import resource
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from itertools import islice

Inode = tuple[int, int]

_MOST = 4_096
"""A file that is opened anew for each line that comes takes as long to open as to read."""
_LEAST = 8


def affordable() -> int:
    """How many files to keep open under the limit of this process, which is raised for it as far as the system allows:
    half of it is left to all else."""
    make_room(2 * _MOST)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(_LEAST, min(_MOST, soft // 2))


def make_room(count: int) -> None:
    """Let this process have so many files open, as far as the system allows it. Programs it starts inherit it, which
    is left so: only one that opens more than it was allowed before would notice, and that one would have failed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Handles:
    """Descriptors by inode. The longest unused is closed first, those without a name to open them by last."""

    def __init__(self, limit: int, attached: Mapping[str, int]) -> None:
        self._limit = limit
        self._attached = attached
        self._open: OrderedDict[Inode, int] = OrderedDict()
        self._nameless: set[Inode] = set()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._open)

    def get(self, inode: Inode, names: Collection[str]) -> int:
        """A descriptor of the file, opened by one of its names if need be; OSError if it cannot be."""
        with self._lock:
            fd = self._open.get(inode)
            if fd is not None:
                self._open.move_to_end(inode)
                return fd
            while len(self._open) >= self._limit and self._close_one():
                pass
            fd = self._open[inode] = self._open_by_name(inode, names)
            return fd

    def peek(self, inode: Inode) -> int | None:
        """The descriptor if the file is open."""
        return self._open.get(inode)

    def private(self, inode: Inode, names: Collection[str]) -> int:
        """A descriptor of the caller's own to close; OSError if there is no way to the file."""
        with self._lock:
            fd = self._open.get(inode)
            return self._sparing(os.dup, fd) if fd is not None else self._open_by_name(inode, names)

    def named(self, inode: Inode, named: bool) -> None:
        """Say whether the file can be opened again by a name."""
        (self._nameless.discard if named else self._nameless.add)(inode)

    def close(self, inode: Inode) -> None:
        with self._lock:
            self._nameless.discard(inode)
            fd = self._open.pop(inode, None)
            if fd is not None:
                os.close(fd)

    def close_all(self) -> None:
        for inode in list(self._open):
            self.close(inode)

    def _open_by_name(self, inode: Inode, names: Collection[str]) -> int:
        for name in names:
            fd = self._open_path(name)
            found = os.fstat(fd)
            if (found.st_dev, found.st_ino) == inode and stat.S_ISREG(found.st_mode):
                return fd
            os.close(fd)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def _open_path(self, path: str) -> int:
        attached = self._attached.get(path)
        if attached is not None:
            return self._sparing(os.dup, attached)
        return self._sparing(os.open, path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)

    def _sparing(self, make: Callable[..., int], *arguments: object) -> int:
        """Make a descriptor, closing others for it when the process has no more."""
        while True:
            try:
                return make(*arguments)
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE) or not self._close_one():
                    raise

    def _close_one(self) -> bool:
        """Close the longest unused, but never the last one asked for: that one is being read."""
        unused = len(self._open) - 1
        if unused < 1:
            return False
        named = (inode for inode in islice(self._open, unused) if inode not in self._nameless)
        inode = next(named, None) or next(iter(self._open))
        os.close(self._open.pop(inode))
        return True

"""What Linux itself reports of changes in folders, at once: whoever aims at a write has no time to wait."""

import ctypes
import errno
import os
import select
import struct
from collections.abc import Sequence

_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _ONLYDIR = 0x400, 0x800, 0x1000000
_GROWTH = _MODIFY | _ATTRIB
_WANTED = _GROWTH | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLYDIR
_HEADER = struct.Struct("iIII")
_BUFFER = 256 * 1024
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.EACCES)


class Inotify:
    """Watches folders themselves, not what lies below them. OSError or AttributeError if this system cannot."""

    def __init__(self, folders: Sequence[str]) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        add = library.inotify_add_watch
        self._fd = _checked(library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._folders: dict[int, str] = {}
        try:
            for folder in folders:
                watch = add(self._fd, os.fsencode(folder), _WANTED)
                if watch >= 0:
                    self._folders[watch] = folder
                elif ctypes.get_errno() not in _GONE:
                    _checked(watch)
        except OSError:
            self.close()
            raise

    def changes(self, timeout: float) -> set[str]:
        """The files that were written to, and an empty name for any other change; waits that many seconds for the
        first."""
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        if not poll.poll(timeout * 1_000):
            return set()
        try:
            data = os.read(self._fd, _BUFFER)
        except BlockingIOError:
            return set()
        found: set[str] = set()
        at = 0
        while at < len(data):
            watch, mask, _, length = _HEADER.unpack_from(data, at)
            at += _HEADER.size + length
            folder = self._folders.get(watch)
            if folder is None or mask & ~_GROWTH:
                found.add("")
            elif name := data[at - length : at].rstrip(b"\0"):
                found.add(os.path.join(folder, os.fsdecode(name)))  # noqa: PTH118 - as scandir spells it, a thousand times a second
        return found

    def close(self) -> None:
        os.close(self._fd)


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer

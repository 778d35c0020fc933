"""Who waits for a lock on a file, and who holds it (`/proc/locks`)."""

from typing import NamedTuple

from delegtop.kernel import proc_files

_WAITS = b"->"


class FileLock(NamedTuple):
    """A lock that somebody waits for."""

    file: str
    """Device and inode, as the kernel writes them."""
    holders: tuple[int, ...]
    """As they were noted when they took it; -1 for one that belongs to an open file and no process."""

    @property
    def inode(self) -> int:
        return int(self.file.rpartition(":")[2])


def awaited() -> dict[int, FileLock]:
    """The locks that are waited for, by who waits."""
    held: dict[bytes, list[tuple[int, str]]] = {}
    waits: list[tuple[bytes, int, str]] = []
    for line in proc_files.data("locks").splitlines():
        fields = line.split()
        blocked = _WAITS in fields[:2]
        try:
            pid, file = int(fields[5 if blocked else 4]), fields[6 if blocked else 5].decode()
            int(file.rpartition(":")[2])
        except (IndexError, ValueError):
            continue
        if blocked:
            waits.append((fields[0], pid, file))
        else:
            held.setdefault(fields[0], []).append((pid, file))
    return {
        pid: FileLock(file, tuple(holder for holder, locked in held.get(number, ()) if locked == file))
        for number, pid, file in waits
    }

"""Which processes there are, and which group, session and parent each has."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")


class ListedProcess(NamedTuple):
    """One process, as the kernel counts it."""

    pid: int
    is_dead: bool
    """It has ended, and nobody has collected it yet."""
    parent: int
    group: int
    session: int


def processes() -> Iterator[ListedProcess]:
    """All of them, from /proc; where there is none, from ps."""
    told = False
    for stat in _PROC.glob("[0-9]*/stat"):
        told = True
        with suppress(OSError, ValueError):  # it went while we looked
            state, parent, group, session = stat.read_bytes().rpartition(b")")[2].split()[:4]
            yield ListedProcess(int(stat.parent.name), state in b"ZX", int(parent), int(group), int(session))
    if not told:
        yield from _by_ps()


def _by_ps() -> Iterator[ListedProcess]:
    line = ["ps", "-A", "-o", "pid=,stat=,ppid=,pgid="]
    try:
        told = subprocess.run(line, capture_output=True, text=True, check=False).stdout  # noqa: S603  # fixed words
    except OSError:
        return
    for words in map(str.split, told.splitlines()):
        with suppress(ValueError, OSError):  # it went while we looked
            pid, state, parent, group = words
            yield ListedProcess(int(pid), state[0] == "Z", int(parent), int(group), os.getsid(int(pid)))

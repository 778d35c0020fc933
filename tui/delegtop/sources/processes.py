"""Whether a process of this machine is still there."""

import os
import socket
from pathlib import Path

from delegtop.clock import SECOND, Millis

_CLOCK_SLACK = 5 * SECOND
"""A process may be noted in a log a little before the kernel says it started: clocks are read at different moments."""


def hostname() -> str:
    return socket.gethostname()


def is_gone(pid: int, noted_at: Millis) -> bool:
    """True if no process has that id, or only one that started after the log noted it. False when in doubt."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    started = _started_at(pid)
    return started is not None and started > noted_at + _CLOCK_SLACK


def _started_at(pid: int) -> Millis | None:
    """When the process started, where /proc tells it."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        boot = next(row for row in Path("/proc/stat").read_bytes().splitlines() if row.startswith(b"btime "))
        ticks = int(after_name[19])
        return Millis(int(boot.split()[1]) * SECOND + ticks * SECOND // os.sysconf("SC_CLK_TCK"))
    except (OSError, StopIteration, IndexError, ValueError):
        return None

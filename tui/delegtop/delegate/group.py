"""A process group: everything a command started and did not send away."""

import os
import signal
from contextlib import suppress
from pathlib import Path


class ProcessGroup:
    """The group a process leads."""

    def __init__(self, leader: int) -> None:
        self._id = leader

    def send(self, number: int, *, wakes: bool = True) -> None:
        """Signal all of it; one that is gone already is no error. One that is stopped is woken to hear it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._id, number)
            if wakes and number != signal.SIGKILL:
                os.killpg(self._id, signal.SIGCONT)

    def is_alive(self) -> bool:
        """True if a process is left in it. The dead that nobody has collected yet do not count, where /proc tells."""
        try:
            os.killpg(self._id, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        stats = list(Path("/proc").glob("[0-9]*/stat"))
        return not stats or any(map(self._lives_here, stats))

    def _lives_here(self, stat: Path) -> bool:
        try:
            state, _, group = stat.read_bytes().rpartition(b")")[2].split()[:3]
        except (OSError, ValueError):
            return False  # it went while we looked
        return int(group) == self._id and state not in b"ZX"

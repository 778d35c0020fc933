"""Processes where there is no `/proc`, as on macOS: by psutil, if it is there."""

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from delegtop.base.clock import SECOND, Millis

if TYPE_CHECKING:
    import psutil

TICKS = 100
"""In a second, by which starts are told: with the number of the process that names it for good."""
_LETTERS = {"running": "R", "disk-sleep": "D", "stopped": "T", "tracing-stop": "t", "zombie": "Z", "dead": "X"}


class ToldProcess(NamedTuple):
    """What is told of a process."""

    state: str
    """A letter, as Linux writes it."""
    ticks: int
    """When it started, since 1970."""

    @property
    def started_at(self) -> Millis:
        return moment(self.ticks)


@cache
def is_told() -> bool:
    """Whether anybody tells of processes."""
    return find_spec("psutil") is not None


def seen(pid: int) -> ToldProcess | None:
    """What is told of the process of that number; None if there is none, or if nobody tells."""
    if not is_told():
        return None
    import psutil  # only where there is nothing better

    try:
        process = psutil.Process(pid)
        return ToldProcess(letter(process), ticks(process))
    except (psutil.Error, OSError, ValueError, OverflowError):
        return None


def letter(process: "psutil.Process") -> str:
    return _LETTERS.get(process.status(), "S")


def ticks(process: "psutil.Process") -> int:
    return int(process.create_time() * TICKS)


def moment(ticks: int) -> Millis:
    return Millis(ticks * SECOND // TICKS)


def mount(folder: str) -> tuple[str, str]:
    """Where what the folder lies on is mounted, and what kind of file system it is."""
    if not is_told():
        return "", "unknown"
    import psutil  # as above

    found = [(each.mountpoint, each.fstype) for each in psutil.disk_partitions(all=True)]
    above = [each for each in found if folder == each[0] or folder.startswith(each[0].rstrip("/") + "/")]
    return max(above, key=lambda each: len(each[0]), default=("/", ""))

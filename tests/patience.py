"""Waiting for what other threads and processes do, and what work costs, on a machine that others may keep busy.

No test measures seconds of the wall: whoever shares the machine changes them. A wait ends as soon as its condition
holds, and costs are times of the processor, compared with each other.
"""

import os
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from time import monotonic, sleep, thread_time

PATIENCE = 120.0
"""Seconds until a wait has failed. Only what never happens takes so long."""
_FIRST_PACE, _PACE = 0.001, 0.02
_LEAST = 0.0002
"""Seconds: below that it is the clock that is measured."""


def until(holds: Callable[[], object], what: str = "it", *, every: float | None = None) -> None:
    """Wait until it holds; `every` so many seconds it is looked, where a look is costly."""
    end, pace = monotonic() + PATIENCE, paces() if every is None else repeat(every)
    while not holds():
        assert monotonic() < end, f"{what} did not happen in {PATIENCE:g} s"
        sleep(next(pace))


def has_ended(pid: int) -> bool:
    """Whether the process is over, even if whoever inherited it has not asked for its status yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return not _is_listed(pid)


def _is_listed(pid: int) -> bool:
    """For systems without /proc."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def paces() -> Iterator[float]:
    """The seconds between two looks: what comes at once is seen at once, and what takes long is not looked at often."""
    pace = _FIRST_PACE
    while True:
        yield pace
        pace = min(2 * pace, _PACE)


def cost(work: Callable[[], object], rounds: int = 3) -> float:
    """Seconds of the processor that this takes, the best of a few rounds."""
    return min(_spent(work) for _ in range(rounds))


def growth(work: Callable[[int], object], size: int, times: int = 10) -> float:
    """How many times as much it costs if there is so many times as much to do.

    As many times, if the cost grows with the size; a hundred for ten, if it grows with its square.
    """
    work(size)  # what is made only once is not counted
    return cost(lambda: work(size * times)) / max(cost(lambda: work(size)), _LEAST)


def _spent(work: Callable[[], object]) -> float:
    began = thread_time()
    work()
    return thread_time() - began

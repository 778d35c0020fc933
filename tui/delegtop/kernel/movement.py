"""Whether processes do anything: the time they ran, how often they were woken, and the bytes they moved."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from delegtop.kernel import process_source
from delegtop.kernel.process_row import TICKS, Effort
from delegtop.kernel.process_table import ProcessTable

_NANO = 1_000_000_000
_STARTS = 100_000
"""Bytes a second: what starting programs reads again and again is no work of theirs."""


class Moved(NamedTuple):
    """What a number of processes did between two looks."""

    seconds: float
    share: float
    """Of one processor."""
    chars: int
    woken: bool
    """One of them ran, however short."""
    others: bool
    """Some are new, or have ended."""

    @property
    def flow(self) -> int:
        """Bytes a second that mean something."""
        flow = int(self.chars / self.seconds) if self.seconds > 0 else 0
        return 0 if self.others and flow < _STARTS else flow

    @property
    def still(self) -> bool:
        return not (self.woken or self.chars or self.others)


def efforts(table: ProcessTable, pids: Iterable[int], before: Mapping[int, Effort]) -> dict[int, Effort]:
    """What they have done so far; `before` is what was known of them at the last look."""
    effort = process_source.source().effort
    return {pid: effort(row, before.get(pid)) for pid in pids if (row := table.rows.get(pid)) is not None}


def moved(before: dict[int, Effort], after: dict[int, Effort], seconds: float) -> Moved:
    """What changed. Of a process that is new the time it ran counts, and not what it read to begin with."""
    ran = ticks = chars = 0
    woken = others = False
    for pid, now in after.items():
        then = before.get(pid)
        if then is None or then.started != now.started:
            then, others = Effort(now.started, 0, 0, 0, now.chars), True
        ran += max(now.ran - then.ran, 0)
        ticks += max(now.ticks - then.ticks, 0)
        chars += max(now.chars - then.chars, 0)
        woken = woken or now.woken != then.woken
    others = others or any(pid not in after for pid in before)
    spent = max(ran / _NANO, ticks / TICKS)
    return Moved(seconds, spent / seconds if seconds > 0 else 0.0, chars, woken, others)

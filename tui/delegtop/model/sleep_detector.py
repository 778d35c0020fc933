"""The pulse: the minutes in which any log said anything. Where all were silent at once, the machine slept."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise

from delegtop.base.clock import MINUTE, Millis

ASLEEP = 15 * MINUTE
"""So long must every log be silent at once."""

Gaps = tuple[tuple[Millis, Millis], ...]


class SleepDetector:
    """A set of minutes, so the order in which events come does not matter."""

    def __init__(self) -> None:
        self.minutes: set[int] = set()
        self._sorted: list[int] = []
        self._asleep: tuple[tuple[int, int], Gaps] = ((0, 0), ())
        """By how many minutes the last answer was found, and the answer."""

    def asleep(self, until: Millis) -> Gaps:
        """All long silences of everybody that were over by then."""
        self._sort()
        found_by = len(self._sorted), bisect_right(self._sorted, until // MINUTE)
        if self._asleep[0] != found_by:
            self._asleep = found_by, tuple(self.gaps(Millis(0), until))
        return self._asleep[1]

    def _sort(self) -> None:
        if len(self._sorted) != len(self.minutes):
            self._sorted = sorted(self.minutes)

    def gaps(self, since: Millis, until: Millis) -> Iterator[tuple[Millis, Millis]]:
        """The long silences of everybody that began at or after `since` and were over by `until`, oldest first."""
        self._sort()
        first = bisect_left(self._sorted, since // MINUTE)
        last = bisect_right(self._sorted, until // MINUTE)
        for before, after in pairwise(self._sorted[first:last]):
            if (after - before) * MINUTE > ASLEEP:
                yield Millis((before + 1) * MINUTE), Millis(after * MINUTE)

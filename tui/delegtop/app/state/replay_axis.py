"""The axis of a recording: which moments a cell of the timeline stands for.

Time runs evenly along it, but for long silences of everybody: a night takes one cell, so that the day has room.
"""

from bisect import bisect_left, bisect_right
from itertools import groupby
from typing import NamedTuple

from delegtop.base.clock import Millis
from delegtop.model.history.timeline import Timeline
from delegtop.model.sleep_detector import ASLEEP

_GRAIN = 1_000
"""Into so many equal parts a recording is cut to find its silences."""
_SILENCE = 40
"""A silence of so many parts in a row is long, if it is also long enough for a machine to have slept."""
_ROOM = 8
"""At most one cell in so many is given to silences."""


class Cell(NamedTuple):
    """One place on the timeline."""

    events: int
    problems: int
    silent: bool
    """It stands for a long silence."""


class ReplayAxis:
    """The moments of a recording on so many cells."""

    def __init__(self, first: Millis, last: Millis, timeline: Timeline, width: int) -> None:
        self.width = width
        self._silent: set[int] = set()
        self.edges = self._divide(first, Millis(max(last, first + 1)), timeline)
        """The first moment of every cell, and the moment after the last."""

    def cell_of(self, at: Millis) -> int:
        return max(min(bisect_right(self.edges, at) - 1, self.width - 1), 0)

    def moment(self, cell: int) -> Millis:
        """The moment to go to in a cell: where it begins, but the last of all in the last one."""
        cell = max(min(cell, self.width - 1), 0)
        return Millis(self.edges[-1] - 1 if cell == self.width - 1 else self.edges[cell])

    def cells(self, timeline: Timeline) -> list[Cell]:
        """What lies in each cell."""
        events = [bisect_left(timeline.times, edge) for edge in self.edges]
        problems = [bisect_left(timeline.problems, (Millis(edge), -1)) for edge in self.edges]
        return [
            Cell(events[cell + 1] - events[cell], problems[cell + 1] - problems[cell], cell in self._silent)
            for cell in range(self.width)
        ]

    def _divide(self, first: Millis, last: Millis, timeline: Timeline) -> list[int]:
        silences = _silences(first, last, timeline)[: self.width // _ROOM]
        silences.sort()
        loud = (last + 1 - first) - sum(end - begin for begin, end in silences)
        stretches = [*silences, (int(last) + 1, int(last) + 1)]
        spare = self.width - len(silences) - len(stretches)  # every stretch between silences has a cell for sure
        edges: list[int] = []
        begin, passed = int(first), 0
        for number, silence in enumerate(stretches, 1):
            until = number + round(spare * (passed + silence[0] - begin) / loud)
            count = until - (len(edges) - len(self._silent))
            edges += [begin + (silence[0] - begin) * cell // count for cell in range(count)]
            passed += silence[0] - begin
            if silence[1] > silence[0]:
                self._silent.add(len(edges))
                edges.append(silence[0])
            begin = silence[1]
        return [int(first), *edges[1:], int(last) + 1]


def _silences(first: Millis, last: Millis, timeline: Timeline) -> list[tuple[int, int]]:
    """The long stretches without an event or a problem, the longest first."""
    span = last - first
    if span < _GRAIN:
        return []
    edges = [first + span * part // _GRAIN for part in range(_GRAIN + 1)]
    counts = [*(_before(timeline, edge) for edge in edges[:-1]), _before(timeline, last + 1)]
    found = []
    for silent, run in groupby(range(_GRAIN), key=lambda part: counts[part] == counts[part + 1]):
        parts = list(run)
        begin, end = edges[parts[0]], edges[parts[-1] + 1]
        if silent and len(parts) > _SILENCE and end - begin >= ASLEEP:
            found.append((begin, end))
    return sorted(found, key=lambda silence: silence[0] - silence[1])


def _before(timeline: Timeline, moment: int) -> int:
    """How many events and problems come before a moment."""
    return bisect_left(timeline.times, moment) + bisect_left(timeline.problems, (Millis(moment), -1))

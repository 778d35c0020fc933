"""Durations drawn in a terminal: a box plot for each agent, all on one logarithmic axis."""

from collections.abc import Iterator, Sequence
from math import log
from typing import NamedTuple

from delegtop.base.clock import DAY, HOUR, MINUTE, SECOND
from delegtop.report.agent_stats import Durations
from delegtop.report.layout import fit


class Signs(NamedTuple):
    """What a plot is drawn with."""

    whisker: str
    box: str
    median: str
    tail: str
    most: str
    timeout: str
    tick: str
    axis: str
    cut: str


UNICODE = Signs("─", "▒", "█", "┤", "•", "▲", "┴", "─", "…")
ASCII = Signs("-", "=", "#", "]", "*", "T", "+", "-", "...")

_TICKS = (
    (100, "0.1s"),
    (SECOND, "1s"),
    (10 * SECOND, "10s"),
    (MINUTE, "1m"),
    (10 * MINUTE, "10m"),
    (HOUR, "1h"),
    (10 * HOUR, "10h"),
    (4 * DAY, "4d"),
    (40 * DAY, "40d"),
)
_LEAST = 100
"""Milliseconds: what is shorter stands at the left end."""


class Strip(NamedTuple):
    """One line of the plot."""

    name: str
    durations: Durations
    timeout: float | None


def plot(strips: Sequence[Strip], width: int, signs: Signs = UNICODE) -> Iterator[str]:
    """The lines: one a strip, the axis, and what the signs mean. Nothing if there is no strip or no room."""
    names = min(max((len(strip.name) for strip in strips), default=0), 32)
    room = width - names - 2
    if not strips or room < 20:
        return
    ends = [strip.durations.least for strip in strips], [max(s.durations.most, s.timeout or 0) for s in strips]
    axis = _Axis(min(ends[0]) * SECOND, max(ends[1]) * SECOND, room)
    for strip in strips:
        yield f"{fit(strip.name, names, signs.cut)}  {_line(strip, axis, signs)}".rstrip()
    yield " " * (names + 2) + axis.rule(signs)
    yield " " * (names + 2) + axis.labels()
    yield ""
    yield (
        f"{signs.whisker}{signs.tail} up to the 95th percentile   {signs.box} the middle half   "
        f"{signs.median} median   {signs.most} longest   {signs.timeout} timeout given"
    )


class _Axis:
    """A logarithmic axis over so many columns, from one tick to another."""

    def __init__(self, least: float, most: float, room: int) -> None:
        spans = [span for span, _ in _TICKS]
        below = [span for span in spans if span <= least]
        above = [span for span in spans if span >= most]
        self.begin = below[-1] if below else spans[0]
        self.end = above[0] if above else spans[-1]
        if self.end <= self.begin:
            self.begin = spans[max(spans.index(self.end) - 1, 0)]
            self.end = spans[spans.index(self.begin) + 1]
        self.room = room

    def column(self, span: float) -> int:
        """Where a span of milliseconds stands."""
        share = log(max(span, _LEAST) / self.begin) / log(self.end / self.begin)
        return round(min(max(share, 0.0), 1.0) * (self.room - 1))

    def _ticks(self) -> Iterator[tuple[int, str]]:
        return ((self.column(span), name) for span, name in _TICKS if self.begin <= span <= self.end)

    def rule(self, signs: Signs) -> str:
        line = [signs.axis] * self.room
        for column, _ in self._ticks():
            line[column] = signs.tick
        return "".join(line)

    def labels(self) -> str:
        line = ""
        for column, name in self._ticks():
            start = max(min(column - len(name) // 2, self.room - len(name)), 0)
            if start >= len(line) + bool(line):
                line = line.ljust(start) + name
        return line


def _line(strip: Strip, axis: _Axis, signs: Signs) -> str:
    took = strip.durations
    cells = [" "] * axis.room

    def column(seconds: float) -> int:
        return axis.column(seconds * SECOND)

    for place in range(column(took.least), column(took.p95) + 1):
        cells[place] = signs.whisker
    for place in range(column(took.quarter), column(took.three_quarters) + 1):
        cells[place] = signs.box
    if took.p95 > took.three_quarters:
        cells[column(took.p95)] = signs.tail
    if took.most > took.p95:
        cells[column(took.most)] = signs.most
    if strip.timeout is not None:
        cells[column(strip.timeout)] = signs.timeout
    cells[column(took.median)] = signs.median
    return "".join(cells)

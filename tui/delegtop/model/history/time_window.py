"""A stretch of time laid out on so many cells: where a moment falls, and which round moments to write along it."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

from delegtop.base.clock import DAY, HOUR, MINUTE, SECOND, LocalZone, Millis, millis

LEAST, MOST = 2 * SECOND, 40 * 365 * DAY
"""The shortest and the longest time there is any use in looking at."""

_STEPS = (
    *(each * SECOND for each in (1, 2, 5, 10, 15, 30)),
    *(each * MINUTE for each in (1, 2, 5, 10, 15, 30)),
    *(each * HOUR for each in (1, 2, 3, 6, 12)),
    *(each * DAY for each in (1, 2, 7, 14)),
)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
_MONTH = 30 * DAY
_SPACE = 3
"""Cells between two labels."""


class TimeWindow(NamedTuple):
    """From one moment to another."""

    start: int
    end: int

    @property
    def span(self) -> int:
        return self.end - self.start

    def holds(self, at: int) -> bool:
        return self.start <= at <= self.end

    def shifted(self, by: int) -> "TimeWindow":
        return TimeWindow(self.start + by, self.end + by)

    def zoomed(self, factor: float, around: int) -> "TimeWindow":
        """So many times as much time in view, and the moment `around` stays where it is."""
        span = min(max(round(self.span * factor), LEAST), MOST)
        part = (around - self.start) / max(self.span, 1)
        start = around - round(span * part)
        return TimeWindow(start, start + span)

    def cell(self, at: int, width: int) -> float:
        """Where on so many cells the moment falls; before the first it is negative."""
        return (at - self.start) * width / max(self.span, 1)

    def moment(self, cell: float, width: int) -> Millis:
        return Millis(self.start + round(cell * self.span / max(width, 1)))


def hull(windows: Iterable[TimeWindow]) -> TimeWindow | None:
    """From the first start to the last end."""
    windows = list(windows)
    if not windows:
        return None
    return TimeWindow(min(each.start for each in windows), max(each.end for each in windows))


def around(window: TimeWindow, before: float = 0.01, after: float = 0.05) -> TimeWindow:
    """A window with some air on both sides."""
    span = max(window.span, LEAST)
    return TimeWindow(window.start - round(span * before), window.start + round(span * (1 + after)))


class Tick(NamedTuple):
    """A round moment, as an operator writes it."""

    at: Millis
    label: str


def ticks(window: TimeWindow, width: int, zone: tzinfo | None = None) -> list[Tick]:
    """Round moments in the operator's zone, as many as their labels have room for. A day begins with its date."""
    if width <= 0 or window.span <= 0:
        return []
    try:
        for step in _STEPS:
            if step * width / window.span >= _label_width(step) + _SPACE:
                return [Tick(at, _label(at, step, zone)) for at in _round_moments(window, step, zone)]
        for months in _MONTHS:
            if months * _MONTH * width / window.span >= _label_width(_MONTH) + _SPACE:
                return [Tick(at, _label(at, _MONTH, zone)) for at in _months(window, months, zone)]
    except (ValueError, OverflowError, OSError):  # a moment before or after all calendars
        pass
    return []


def day(at: int, zone: tzinfo | None = None) -> str:
    """`Nov 15`, in the operator's zone; nothing for a moment before or after all calendars."""
    try:
        moment = _local(at, zone)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{moment:%b} {moment.day}"


def _label_width(step: int) -> int:
    return 8 if step < MINUTE else 5 if step < DAY else 6 if step < _MONTH else 7


def _round_moments(window: TimeWindow, step: int, zone: tzinfo | None) -> Iterator[Millis]:
    """Every `step` of local time. Clocks that are put forward or back leave the hours and days round."""
    offset = _offset(window.start, zone)
    local = -(-(window.start + offset) // step) * step
    before = window.start - 1
    while True:
        at = local - offset
        if step >= HOUR:  # shorter steps are as round after the change as before it
            at = local - _offset(at, zone)
        if at > window.end:
            return
        if at > before:
            yield Millis(at)
            before = at
        local += step


def _months(window: TimeWindow, step: int, zone: tzinfo | None) -> Iterator[Millis]:
    """The first day of every so many months."""
    first = _local(window.start, zone)
    number = (first.year * 12 + first.month - 1) // step * step
    while True:
        at = millis(datetime(number // 12, number % 12 + 1, 1, tzinfo=zone or LocalZone()))
        if at > window.end:
            return
        if at >= window.start:
            yield at
        number += step


def _offset(at: int, zone: tzinfo | None) -> int:
    offset = _local(at, zone).utcoffset()
    return (offset or timedelta()) // timedelta(milliseconds=1)


def _label(at: int, step: int, zone: tzinfo | None) -> str:
    moment = _local(at, zone)
    if step >= _MONTH:
        return moment.strftime("%Y-%m")
    if step >= DAY or (moment.hour, moment.minute, moment.second) == (0, 0, 0):
        return day(at, zone)
    return moment.strftime("%H:%M:%S" if step < MINUTE else "%H:%M")


def _local(at: int, zone: tzinfo | None) -> datetime:
    return datetime.fromtimestamp(at / SECOND, zone).astimezone(zone)

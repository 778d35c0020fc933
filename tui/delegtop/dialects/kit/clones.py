"""Whether the time of a file can be believed: a clone and a copy give every file the time of the copying.

Whoever works stamps what they write, so a file that was written long after every time it tells of is a copy. Its time
is then no sign of life; the latest that it tells of is.
"""

import re
from collections.abc import Iterator
from datetime import UTC, tzinfo
from typing import Any

from delegtop.base.clock import DAY, SECOND, Millis, moment, parse_time
from delegtop.base.lazy_pattern import lazy_pattern

GAP = DAY
"""Nobody at work writes for so long without a time of the day. It is as long as the silence after which a delegation
is lost, so what is taken for a copy by mistake had told of nothing for that long."""

_ANY = lazy_pattern(r"20\d\d-?\d\d-?\d\d|[12]\d{9}", re.ASCII)
_ISO = lazy_pattern(r"20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d.{0,21})?")
_IN_AN_ID = lazy_pattern(r"[A-Za-z_-]+[_-](?P<second>[12]\d{9})(?:\d{3})?(?:[_-][\w-]*)?", re.ASCII)
_OF_A_RUN = lazy_pattern(r"(?:\w+_)?(20\d\d)-?(\d\d)-?(\d\d)[_-](?:(\d\d)(\d\d)(\d\d)\b)?.*", re.ASCII)
_DATE = len("2026-01-01")
_VALUES = 10_000
"""Of a larger document so many values are looked at."""
_LONGEST = 100
_FIRST, _LAST = 1_400_000_000, 2_500_000_000
"""The seconds, of 2014 and of 2049, between which a bare number is taken for a time."""


class Copies:
    """The copies among the files that are read together."""

    def __init__(self) -> None:
        self._taken: dict[str, tuple[Millis, Millis]] = {}

    def told(self, source: str, value: Any, written: Millis | None, zone: tzinfo = UTC) -> Millis | None:
        """The latest time in a document, if it lies so long before its writing that it is a copy; else None.

        One that is written again with the same times in it comes a moment later, so that its word outweighs the one
        before.
        """
        latest = None if written is None else _latest(value, written, zone)
        if written is None or latest is None:
            return None
        when, at = self._taken.get(source, (written, latest))
        if when != written:
            at = max(latest, Millis(at + 1))
        self._taken[source] = (written, at)
        return at


def _latest(value: Any, written: Millis, zone: tzinfo) -> Millis | None:
    """The same for one writing. A time that is later than the file speaks for the file if it is of the same day, as of
    a model that only guesses at the hour; a later one is a plan, and tells nothing."""
    latest = None
    for at in _times(value, zone):
        if abs(written - at) <= GAP:
            return None
        if at < written and (latest is None or at > latest):
            latest = at
    return latest


def newest(value: Any, until: Millis, zone: tzinfo) -> Millis | None:
    """The latest time in it that is not later than that moment; None if there is none."""
    return max((at for at in _times(value, zone) if at <= until), default=None)


def names_day(value: Any, at: Millis, zone: tzinfo) -> bool:
    """Whether the day of that moment stands in it, and nowhere a time of day: whoever wrote it tells no more than days.
    An id may be made of a day, too."""
    days = list(_times(value, zone))
    return all((day + SECOND) % DAY == 0 for day in days) and any(day - DAY < at <= day for day in days)


def tells_time(value: Any) -> bool:
    """Whether any time at all stands in it."""
    return next(_times(value, UTC), None) is not None


def remark(written: Millis, told: Millis | None) -> str:
    """Both claims, for people; a file that tells no time is judged by the one it belongs to."""
    file = f"The file was written at {moment(written, UTC)} UTC"
    if told is None:
        return f"{file}, tells no time itself, and long before that whoever it is about was last heard of: copied?"
    return f"{file}, later than anything in it tells, which is {moment(told, UTC)} UTC: copied?"


def _times(value: Any, zone: tzinfo) -> Iterator[Millis]:
    """Every time in it: ISO stamps and days, seconds and milliseconds of the epoch, and those that ids are made of."""
    pending, looked_at = [value], 0
    while pending and looked_at < _VALUES:
        looked_at += 1
        each = pending.pop()
        kind = type(each)
        if kind is str:
            if len(each) <= _LONGEST and _ANY.search(each):
                yield from _in_text(each.strip(), zone)
        elif kind is dict:
            pending += each.values()
        elif kind is list:
            pending += each
        elif (kind is int or kind is float) and each >= _FIRST:
            yield from _in_number(each)


def _in_text(text: str, zone: tzinfo) -> Iterator[Millis]:
    if _ISO.fullmatch(text):
        if (at := parse_time(text, zone)) is not None:
            yield _late(at) if len(text) == _DATE else at
    elif match := _IN_AN_ID.fullmatch(text):
        yield from _in_number(int(match["second"]))
    elif match := _OF_A_RUN.fullmatch(text):
        year, month, day, hour, minute, second = match.groups()
        at = parse_time(f"{year}-{month}-{day}T{hour or '00'}:{minute or '00'}:{second or '00'}", zone)
        if at is not None:
            yield at if hour else _late(at)


def _in_number(number: float) -> Iterator[Millis]:
    if _FIRST <= number < _LAST:
        yield Millis(int(number * SECOND))
    elif _FIRST * SECOND <= number < _LAST * SECOND:
        yield Millis(int(number))


def _late(day: Millis) -> Millis:
    """The last moment of a day: of one that is only named by its date, that is as late as it can be."""
    return Millis(day + DAY - SECOND)

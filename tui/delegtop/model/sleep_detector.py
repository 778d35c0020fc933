"""The pulse: the minutes in which any log said anything. Where all were silent at once, the machine slept, unless its
kernel says that it did not."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import NamedTuple

from delegtop.base.clock import MINUTE, Millis, Slept

ASLEEP = 15 * MINUTE
"""So long must every log be silent at once."""

Gaps = tuple[tuple[Millis, Millis], ...]
_BITS = 9
"""Some eight hours of minutes stand in one number."""
_LAST = (1 << _BITS) - 1
_SILENCE = "0" * (ASLEEP // MINUTE)


class Minutes:
    """A set of minutes, a bit for each: of a long history there are very many, and as numbers they take sixty bytes."""

    def __init__(self, minutes: Iterable[int] = ()) -> None:
        self._spans: dict[int, int] = {}
        self.changed: set[int] = set()
        """The spans in which there are more than when somebody last looked."""
        self.update(minutes)

    def add(self, minute: int) -> None:
        span, bit = minute >> _BITS, 1 << (minute & _LAST)
        known = self._spans.get(span, 0)
        if not known & bit:
            self._spans[span] = known | bit
            self.changed.add(span)

    def update(self, minutes: Iterable[int]) -> None:
        if not isinstance(minutes, Minutes):
            spans, changed = self._spans, self.changed
            for minute in minutes:  # as `add`: there are thousands
                span, bit = minute >> _BITS, 1 << (minute & _LAST)
                known = spans.get(span, 0)
                if not known & bit:
                    spans[span] = known | bit
                    changed.add(span)
            return
        for span, bits in minutes._spans.items():
            known = self._spans.get(span, 0)
            if known | bits != known:
                self._spans[span] = known | bits
                self.changed.add(span)

    def __iter__(self) -> Iterator[int]:
        for span, bits in sorted(self._spans.items()):
            first, told = span << _BITS, bin(bits)[:1:-1]
            at = told.find("1")
            while at >= 0:
                yield first + at
                at = told.find("1", at + 1)

    def spells(self, span: int) -> "array[int]":
        """The first and the last minute of each spell in a span that no long silence breaks."""
        bits = bin(self._spans[span])[:1:-1]  # its last one is set
        found = array("q")
        start = bits.find("1")
        while start >= 0:
            end = bits.find(_SILENCE, start)
            found.extend(((span << _BITS) + start, (span << _BITS) + (end if end >= 0 else len(bits)) - 1))
            start = bits.find("1", end) if end >= 0 else -1
        return found


class Silence(NamedTuple):
    """How everybody was silent at once since a moment."""

    began: Millis | None = None
    """When that was first so; None if it never was."""
    span: int = 0
    """For how long, in all."""
    asleep: int = 0
    """For how much of it the machine may have slept."""
    by_kernel: bool = False
    """Whether its kernel says how much that is at most."""


def silence(gaps: Iterable[tuple[Millis, Millis]], slept: Slept | None) -> Silence:
    """All these gaps together. Before the machine was started it may have slept as long as it likes, and it may where
    nobody counted; since then no longer than its kernel counts, and a nap within a minute is no reason for anything."""
    began, before, after = None, 0, 0
    for start, end in gaps:
        began = start if began is None else began
        if slept is None or start < slept.booted_at:
            before += end - start
        else:
            after += end - start
    counted = slept.span if slept is not None and slept.span >= MINUTE else 0
    return Silence(began, before + after, before + min(after, counted), counted < after)


class SleepDetector:
    """A set of minutes, so the order in which events come does not matter."""

    def __init__(self, minutes: Iterable[int] = ()) -> None:
        self.minutes = Minutes(minutes)
        self._spells: dict[int, array[int]] = {}
        self._before, self._after = array("q"), array("q")
        """The minutes before and after each long silence, oldest first."""
        self._looks = 0
        """How often there was something new."""
        self._asleep: tuple[tuple[int, int], Gaps] = ((0, 0), ())
        """By what the last answer was found, and the answer."""

    def asleep(self, until: Millis) -> Gaps:
        """All long silences of everybody that were over by then."""
        self._look()
        found_by = self._looks, bisect_right(self._after, until // MINUTE)
        if self._asleep[0] != found_by:
            self._asleep = found_by, tuple(self.gaps(Millis(0), until))
        return self._asleep[1]

    def _look(self) -> None:
        minutes = self.minutes
        if not minutes.changed:
            return
        for span in minutes.changed:
            self._spells[span] = minutes.spells(span)
        minutes.changed.clear()
        self._looks += 1
        edges = [edge for _, spells in sorted(self._spells.items()) for edge in spells]
        silences = zip(edges[1:-1:2], edges[2::2], strict=True)  # from the end of one spell to the start of the next
        long = [each for each in silences if (each[1] - each[0]) * MINUTE > ASLEEP]
        self._before, self._after = array("q", map(itemgetter(0), long)), array("q", map(itemgetter(1), long))

    def gaps(self, since: Millis, until: Millis) -> Iterator[tuple[Millis, Millis]]:
        """The long silences of everybody that began at or after `since` and were over by `until`, oldest first."""
        self._look()
        first, last = bisect_left(self._before, since // MINUTE), bisect_right(self._after, until // MINUTE)
        for before, after in zip(self._before[first:last], self._after[first:last], strict=True):
            yield Millis((before + 1) * MINUTE), Millis(after * MINUTE)

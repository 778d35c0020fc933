"""A survival curve: of all that is known of a kind, how many took how long.

Kept as counts in steps that grow by a fifth, four to a doubling, from a second on: seventy numbers say all that is
asked of a million calls. What is known of little is drawn towards what is known of much, and beyond the longest that
was seen the curve goes on falling as such tails do.
"""

from collections.abc import Iterable, Sequence
from math import log2

import msgspec

from delegtop.base.clock import SECOND
from delegtop.model.policy import Counts

_STEPS = 4
"""Steps to a doubling."""
_WEIGHT = 100
"""What a wider name says counts as much as so many calls of the narrower one."""
_FALLS = 2.0
"""Beyond the longest that was seen, four times as long is a sixteenth as likely."""
_SEVERAL = 5
"""Fewer that took very long say little of all others: they may have waited for a person, or while the machine slept."""


def step_of(took: int) -> int:
    """The step in which a span of so many milliseconds lies."""
    return 0 if took < SECOND else 1 + int(log2(took / SECOND) * _STEPS)


def end_of(step: int) -> int:
    """The milliseconds at which a step ends."""
    return int(SECOND * 2.0 ** (step / _STEPS))


def next_step(span: int) -> int:
    """The first longer span that lies in another step."""
    step = step_of(span)
    end = end_of(step)
    return end + 1 if step_of(end) == step else end


def counted(spans: Iterable[int]) -> Counts:
    """The counts of these spans."""
    counts: list[int] = []
    for took in spans:
        add(counts, took)
    return tuple(counts)


def add(counts: list[int], took: int) -> None:
    """Count one that took so long."""
    step = 0 if took < SECOND else step_of(took)
    if step >= len(counts):
        counts.extend([0] * (step + 1 - len(counts)))
    counts[step] += 1


def add_all(counts: list[int], more: Sequence[int]) -> None:
    """Count all that these count."""
    counts.extend([0] * (len(more) - len(counts)))
    for step, count in enumerate(more):
        counts[step] += count


def as_long(counts: Counts, span: int) -> int:
    """How many took that long or may have."""
    return sum(counts[step_of(span) :])


class DurationCurve(msgspec.Struct, frozen=True):
    """How the calls of a kind are spread, with fractions of those that are only like them."""

    weights: tuple[float, ...] = ()
    total: float = 0.0

    def refined(self, counts: Sequence[int] | None) -> "DurationCurve":
        """The curve of a narrower kind of which these are known: few of them change little, many nearly all."""
        if not counts:
            return self
        known = sum(counts)
        if not self.total:
            return DurationCurve(tuple(map(float, counts)), float(known))
        share = _WEIGHT / self.total
        longest = max(len(self.weights), len(counts))
        here, there = [*counts, *[0] * (longest - len(counts))], [*self.weights, *[0.0] * (longest - len(self.weights))]
        return DurationCurve(tuple(own + share * of for own, of in zip(here, there, strict=True)), known + _WEIGHT)

    def exceeded_by(self, share: float) -> int:
        """The milliseconds that only this share takes longer than, as it was seen, but no more than the curve says
        that falls on from where several were seen."""
        wanted, several = self.total * share, self._longest(_SEVERAL)
        seen = self._seen(wanted)
        return (
            seen if wanted >= _SEVERAL or not several else min(seen, int(several * (_SEVERAL / wanted) ** (1 / _FALLS)))
        )

    def _longest(self, number: int) -> int:
        """The milliseconds that so many took at most, of those that took longest."""
        longer = 0.0
        for step in range(len(self.weights) - 1, -1, -1):
            longer += self.weights[step]
            if longer >= number:
                return end_of(step)
        return 0

    def _seen(self, wanted: float) -> int:
        """The milliseconds that so many took longer than."""
        longer = 0.0
        for step in range(len(self.weights) - 1, -1, -1):
            if longer + self.weights[step] > wanted:
                # Of those in the longest step one may be at its end, and none was seen beyond.
                beyond = max(min(self.weights[step], 1.0) / wanted, 1.0) if not longer else 1.0
                return int(end_of(step) * beyond ** (1 / _FALLS))
            longer += self.weights[step]
        return 0

"""When a machine slept is told by the minutes alone, however they are kept."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegtop.base.clock import MINUTE, SECOND, Millis, Slept
from delegtop.model.sleep_detector import ASLEEP, Minutes, Silence, SleepDetector, silence

DAY = 1_440
MINUTES = st.lists(st.integers(-3 * DAY, 3 * DAY) | st.integers(0, 100), max_size=60)


@given(MINUTES)
def test_minutes_are_a_set_in_order(told: list[int]) -> None:
    assert [*Minutes(told)] == sorted({*told})


@given(MINUTES, MINUTES, st.integers(-3 * DAY, 3 * DAY), st.integers(-3 * DAY, 3 * DAY))
def test_silences_are_those_between_the_minutes(first: list[int], then: list[int], since: int, until: int) -> None:
    detector = SleepDetector()
    for told in (first, [*first, *then]):
        detector.minutes.update(told)
        within = [minute for minute in sorted({*told}) if since <= minute <= until]
        silences = [(a, b) for a, b in pairwise(within) if (b - a) * MINUTE > ASLEEP]
        expected = [((before + 1) * MINUTE, after * MINUTE) for before, after in silences]
        assert [*detector.gaps(Millis(since * MINUTE), Millis(until * MINUTE))] == expected


_GAPS = [(Millis(10 * MINUTE), Millis(30 * MINUTE)), (Millis(50 * MINUTE), Millis(90 * MINUTE))]


@pytest.mark.parametrize(
    ("slept", "asleep", "by_kernel"),
    [
        (None, 60, False),  # nobody counted
        (Slept(0, Millis(0)), 0, True),
        (Slept(59 * SECOND, Millis(0)), 0, True),
        (Slept(25 * MINUTE, Millis(0)), 25, True),
        (Slept(60 * MINUTE, Millis(0)), 60, False),
        (Slept(0, Millis(20 * MINUTE)), 20, True),  # it was started in the first
        (Slept(5 * MINUTE, Millis(40 * MINUTE)), 25, True),
        (Slept(0, Millis(60 * MINUTE)), 60, False),
    ],
)
def test_a_machine_slept_no_longer_than_its_kernel_counts_since_it_was_started(
    slept: Slept | None, asleep: int, *, by_kernel: bool
) -> None:
    assert silence(_GAPS, slept) == Silence(Millis(10 * MINUTE), 60 * MINUTE, asleep * MINUTE, by_kernel)
    assert silence([], slept) == Silence()


@given(MINUTES, MINUTES)
def test_what_is_told_later_is_heard(first: list[int], then: list[int]) -> None:
    detector, other = SleepDetector(), SleepDetector()
    until = Millis(3 * DAY * MINUTE)
    detector.minutes.update(first)
    detector.asleep(until)
    detector.minutes.update(then)
    other.minutes.update([*then, *first])
    assert detector.asleep(until) == other.asleep(until) == tuple(other.gaps(Millis(0), until))


def test_minutes_that_follow_each_other_take_little_room() -> None:
    minutes = Minutes(range(DAY * 100))
    assert len(minutes._spans) < 300


@given(MINUTES, MINUTES)
def test_minutes_of_another_are_taken_in_as_if_each_was_told(first: list[int], then: list[int]) -> None:
    """Also which spans have more than before."""
    one, other = Minutes(first), Minutes(first)
    one.changed, other.changed = set(), set()
    one.update(then)
    other.update(Minutes(then))
    assert ([*one], one.changed) == ([*other], other.changed)

"""A stretch of time on so many cells, and the round moments along it."""

from datetime import UTC
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from delegtop.base.clock import DAY, HOUR, MINUTE, SECOND, Millis, parse_time
from delegtop.model.history.time_window import LEAST, MOST, TimeWindow, around, hull, ticks

BERLIN, CALCUTTA = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata")


def at(text: str) -> Millis:
    moment = parse_time(text)
    assert moment is not None
    return moment


def window(start: str, end: str) -> TimeWindow:
    return TimeWindow(at(start), at(end))


def labels(window: TimeWindow, width: int, zone: ZoneInfo | None = None) -> list[str]:
    return [tick.label for tick in ticks(window, width, zone or UTC)]


def test_a_moment_falls_into_its_cell_and_back() -> None:
    hour = TimeWindow(0, HOUR)
    assert hour.cell(HOUR // 4, 60) == 15
    assert hour.cell(-MINUTE, 60) == -1
    assert hour.moment(15, 60) == HOUR // 4


def test_zooming_leaves_the_moment_where_it_is() -> None:
    zoomed = TimeWindow(0, 100_000).zoomed(0.5, 30_000)
    assert zoomed == TimeWindow(15_000, 65_000)
    assert zoomed.cell(30_000, 100) == TimeWindow(0, 100_000).cell(30_000, 100)


def test_zooming_ends_at_two_seconds_and_at_forty_years() -> None:
    small = large = TimeWindow(0, HOUR)
    for _ in range(100):
        small, large = small.zoomed(0.5, MINUTE), large.zoomed(2, MINUTE)
    assert (small.span, large.span) == (LEAST, MOST)


def test_there_is_air_around_what_is_shown_and_no_moment_is_too_short_to_show() -> None:
    assert around(TimeWindow(0, 100_000)) == TimeWindow(-1_000, 105_000)
    assert around(TimeWindow(5, 5)).span > 0


def test_the_hull_holds_all_of_them() -> None:
    assert hull([TimeWindow(5, 9), TimeWindow(1, 3), TimeWindow(7, 20)]) == TimeWindow(1, 20)
    assert hull([]) is None


@pytest.mark.parametrize(
    ("start", "end", "width", "expected"),
    [
        ("2026-03-03T10:00:00Z", "2026-03-03T11:00:00Z", 60, "10:00 10:10 10:20 10:30 10:40 10:50 11:00"),
        ("2026-03-03T10:00:01Z", "2026-03-03T10:00:09Z", 60, "10:00:02 10:00:04 10:00:06 10:00:08"),
        ("2026-03-03T21:00:00Z", "2026-03-04T03:30:00Z", 60, "21:00 22:00 23:00 Mar 4 01:00 02:00 03:00"),
        ("2026-03-01T10:00:00Z", "2026-03-06T11:00:00Z", 60, "Mar 2 Mar 3 Mar 4 Mar 5 Mar 6"),
        ("2016-11-15T00:00:00Z", "2026-05-01T00:00:00Z", 60, "2018-01 2020-01 2022-01 2024-01 2026-01"),
        ("2025-11-01T00:00:00Z", "2026-05-01T00:00:00Z", 40, "2025-11 2026-01 2026-03 2026-05"),
    ],
)  # fmt: skip
def test_moments_are_as_round_as_there_is_room_for(start: str, end: str, width: int, expected: str) -> None:
    assert " ".join(labels(window(start, end), width)) == expected


def test_moments_are_round_in_the_zone_of_the_operator() -> None:
    assert labels(window("2026-03-03T10:00:00Z", "2026-03-03T13:00:00Z"), 30, CALCUTTA) == ["16:00", "17:00", "18:00"]
    assert labels(window("2026-03-03T20:00:00Z", "2026-03-04T04:00:00Z"), 40, BERLIN) == [
        "22:00",
        "Mar 4",
        "02:00",
        "04:00",
    ]


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_the_hours_stay_round_when_the_clocks_change(day: str) -> None:
    start = at(f"{day}T00:00:00+00:00") - 2 * HOUR
    found = ticks(TimeWindow(start, start + DAY), 80, BERLIN)
    assert all(tick.label.endswith(":00") or " " in tick.label for tick in found)
    assert [tick.at for tick in found] == sorted({tick.at for tick in found})
    assert {"06:00", "12:00", "18:00"} <= {tick.label for tick in found}


def test_half_hours_go_on_through_the_hour_that_comes_twice() -> None:
    start = at("2026-10-25T00:00:00Z")
    found = [tick.label for tick in ticks(TimeWindow(start, start + 2 * HOUR), 40, BERLIN)]
    assert found == ["02:00", "02:30", "02:00", "02:30", "03:00"]


def test_labels_never_touch_one_another() -> None:
    for span in (3 * SECOND, MINUTE, HOUR, DAY, 40 * DAY, 4_000 * DAY):
        for width in (10, 33, 100, 300):
            window = TimeWindow(1_770_000_000_000, 1_770_000_000_000 + span)
            found = ticks(window, width, UTC)
            gaps = [window.cell(b.at, width) - window.cell(a.at, width) for a, b in pairwise(found)]
            assert all(gap > 6 for gap in gaps)


def test_a_time_before_all_calendars_has_no_moments_and_breaks_nothing() -> None:
    assert ticks(TimeWindow(-(10**18), -(10**18) + HOUR), 80, UTC) == []
    assert ticks(TimeWindow(0, 0), 80, UTC) == []
    assert ticks(TimeWindow(0, HOUR), 0, UTC) == []

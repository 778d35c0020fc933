"""Times are read exactly, and written the way an operator reads them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegtop.clock import DAY, HOUR, MINUTE, FrozenClock, Millis, countdown, duration, iso, lacks_zone, parse_time


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1)))
def test_a_written_time_reads_back_to_the_millisecond(moment: datetime) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
    expected = round(moment.timestamp() * 1000)
    assert parse_time(moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z") == expected
    assert parse_time(moment.isoformat()) == expected
    assert parse_time(iso(Millis(expected))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "20251226",
        "2025",
        "1766743200",
        "2025-13-01T00:00:00Z",
        "2025-12-26T10:00:61Z",
        "2025-12-26T10:00:0xZ",
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_time(text) is None


def test_a_time_without_zone_is_read_in_the_given_one() -> None:
    berlin = timezone(timedelta(hours=1))
    assert parse_time("2025-12-26T10:00:00") == parse_time("2025-12-26T10:00:00Z")
    assert parse_time("2025-12-26T10:00:00", berlin) == parse_time("2025-12-26T09:00:00Z")
    assert lacks_zone("2025-12-26T10:00:00")
    assert not lacks_zone("2025-12-26T10:00:00+01:00")


def test_an_offset_is_respected() -> None:
    assert parse_time("2025-12-26T10:00:00-08:00") == parse_time("2025-12-26T18:00:00Z")


@pytest.mark.parametrize("digits", ["²5", "٣٤", "0²"])
def test_digits_of_other_scripts_are_not_a_time(digits: str) -> None:
    assert parse_time(f"2025-12-26T10:00:{digits}Z") is None


@pytest.mark.parametrize(
    ("span", "text"),
    [(0, "0:00"), (3_000, "0:03"), (842_000, "14:02"), (3_731_000, "1:02:11"), (100 * HOUR, "4d04h"), (-5, "0:00")],
)
def test_durations(span: int, text: str) -> None:
    assert duration(span) == text


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (599_000, "9:59"),
        (10 * MINUTE, "10m"),
        (65 * MINUTE, "1h05m"),
        (5 * DAY, "5d00h"),
        (-131_000, "+2:11"),
        (-37 * MINUTE, "+37m"),
        (-26 * HOUR, "+26h00m"),
        (-1, "+0:00"),
        (0, "0:00"),
    ],
)
def test_a_countdown_is_coarse_until_it_matters(left: int, text: str) -> None:
    assert countdown(left) == text


def test_an_absurd_moment_is_still_written() -> None:
    assert iso(Millis(10**18)) == "1000000000000000000ms"


def test_a_frozen_clock_moves_only_by_hand() -> None:
    clock = FrozenClock(Millis(5))
    assert clock.now() == clock.now() == 5
    clock.set(Millis(7))
    assert clock.now() == 7

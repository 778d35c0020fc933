"""Times are read exactly, and written the way an operator reads them."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegtop.base import clock as clock_module
from delegtop.base.clock import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    FrozenClock,
    Millis,
    ReplayClock,
    Slept,
    age,
    countdown,
    duration,
    iso,
    lacks_zone,
    parse_hours,
    parse_place,
    parse_time,
    slept,
)
from delegtop.report.table.cells import TIME


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


def test_the_letters_of_a_time_may_be_small() -> None:
    assert parse_time("2026-02-03t09:00:00.5z") == parse_time("2026-02-03T09:00:00.5Z") is not None


@pytest.mark.parametrize("digits", ["²5", "٣٤", "0²"])
def test_digits_of_other_scripts_are_not_a_time(digits: str) -> None:
    assert parse_time(f"2025-12-26T10:00:{digits}Z") is None


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (0, "0:00"),
        (3_000, "0:03"),
        (842_000, "14:02"),
        (3_731_000, "1:02:11"),
        (DAY - 1, "23:59:59"),
        (DAY, "1d00h"),
        (100 * HOUR, "4d04h"),
        (-5, "0:00"),
    ],
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
        (DAY - 1, "23h59m"),
        (-26 * HOUR, "+1d02h"),
        (-1, "+0:00"),
        (0, "0:00"),
    ],
)
def test_a_countdown_is_coarse_until_it_matters(left: int, text: str) -> None:
    assert countdown(left) == text


@pytest.mark.parametrize(
    ("span", "text"), [(0, "0s"), (59_999, "59s"), (90_000, "1m"), (DAY - 1, "23h"), (-5, "0s"), (DAY, "1d00h")]
)
def test_an_age_is_about_how_long_it_is(span: int, text: str) -> None:
    assert age(span) == text


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (DAY, "1d00h"),
        (92 * HOUR + 45 * MINUTE + 35_000, "3d20h"),
        (100 * DAY - 1, "99d23h"),
        (100 * DAY, "100d"),
        (14_600 * DAY, "14600d"),
    ],
)
def test_from_a_day_on_every_span_is_told_alike_and_fits_into_any_column(span: int, text: str) -> None:
    assert duration(span) == age(span) == countdown(span) == text
    assert countdown(-span) == f"+{text}"
    assert len(f"~+{text}") <= TIME


def test_an_absurd_moment_is_still_written() -> None:
    assert iso(Millis(10**18)) == "1000000000000000000ms"


class Kernel:
    """Clocks of a kernel: seconds since the start of the machine, with and without those in which it slept."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, passed: float, awake: float) -> None:
        read = {"boottime": passed, "monotonic": awake}
        monkeypatch.setattr(time, "CLOCK_BOOTTIME", "boottime")
        monkeypatch.setattr(time, "CLOCK_MONOTONIC", "monotonic")
        monkeypatch.setattr(time, "clock_gettime_ns", lambda which: int(read[which] * 1e9))
        monkeypatch.setattr(time, "time_ns", lambda: int(1_000_000 * 1e9))


class TestSleep:
    def test_the_kernel_tells_how_long_the_machine_slept_since_it_was_started(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Kernel(monkeypatch, passed=50_000, awake=20_000)
        assert slept() == Slept(30_000 * SECOND, Millis(950_000 * SECOND))

    def test_clocks_that_contradict_each_other_tell_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        Kernel(monkeypatch, passed=20_000, awake=20_001)
        assert slept() is None

    def test_where_there_is_no_such_clock_nothing_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
        assert slept() is None


def test_a_frozen_clock_moves_only_by_hand() -> None:
    clock = FrozenClock(Millis(5))
    assert clock.now() == clock.now() == 5
    clock.set(Millis(7))
    assert clock.now() == 7


# A time that can be moved


class Seconds:
    """The seconds that pass, by hand."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> Seconds:
    seconds = Seconds()
    monkeypatch.setattr(clock_module, "monotonic", seconds)
    return seconds


def test_a_replay_clock_runs_at_its_speed_and_a_change_of_speed_counts_from_then_on(seconds: Seconds) -> None:
    clock = ReplayClock(Millis(1_000_000), 10)
    seconds.now += 2
    assert clock.now() == 1_020_000
    clock.go_at(0.5)
    seconds.now += 2
    assert clock.now() == 1_021_000


def test_a_paused_replay_clock_stands_still_and_goes_on_from_there(seconds: Seconds) -> None:
    clock = ReplayClock(Millis(1_000_000), paused=True)
    seconds.now += 5
    assert clock.now() == 1_000_000
    assert not clock.playing
    clock.play()
    seconds.now += 1
    clock.pause()
    seconds.now += 9
    assert clock.now() == 1_001_000


def test_a_replay_clock_goes_where_it_is_sent_within_its_bounds() -> None:
    clock = ReplayClock(Millis(0), paused=True)
    clock.bounds = (Millis(1_000), Millis(9_000))
    assert clock.now() == 1_000
    clock.seek(Millis(5_000))
    assert (clock.now(), clock.leaps) == (5_000, 1)
    clock.seek(Millis(99_000))
    assert clock.now() == 9_000
    clock.seek(Millis(-5))
    assert clock.now() == 1_000


def test_at_its_end_a_replay_clock_does_not_move_and_begins_again_when_it_is_to_play(seconds: Seconds) -> None:
    clock = ReplayClock(Millis(0))
    clock.bounds = (Millis(1_000), Millis(9_000))
    seconds.now += 60
    assert (clock.now(), clock.playing) == (9_000, False)
    clock.play()
    assert (clock.now(), clock.playing) == (1_000, True)


def test_speed_steps_between_a_tenth_and_a_thousand_and_no_further() -> None:
    clock = ReplayClock(Millis(0), 7)
    clock.faster()
    assert clock.speed == 10
    clock.slower()
    assert clock.speed == 5
    for _ in range(20):
        clock.faster()
    assert clock.speed == 1000
    for _ in range(20):
        clock.slower()
    assert clock.speed == 0.1
    assert ReplayClock(Millis(0), 5_000).speed == 1000


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("10:41", 41),
        (" 10:41:30 ", 41.5),
        ("2026-03-03T10:05:00Z", 5),
        ("-5m", 15),
        ("+30s", 20.5),
        ("1h20m", 85),
        ("90", 6.5),
    ],
)
def test_a_place_in_a_recording_is_a_time_of_the_day_an_iso_time_or_a_span(text: str, minutes: float) -> None:
    ten = parse_time("2026-03-03T10:00:00Z")
    assert ten is not None
    first, now = Millis(ten + 5 * MINUTE), Millis(ten + 20 * MINUTE)
    assert parse_place(text, now, first, UTC) == ten + minutes * 60 * SECOND


@pytest.mark.parametrize("text", ["", "noon", "25:00", "10:61", "--5m", "+-5m", "5m-", "1e3", "²"])
def test_what_is_no_place_in_a_recording_is_none(text: str) -> None:
    assert parse_place(text, Millis(0), Millis(0), UTC) is None


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("22:00-07:00", (1320, 420)),
        (" 9:05 – 17:30 ", (545, 1050)),
        ("00:00-23:59", (0, 1439)),
        ("07:00-07:00", None),
        ("22-7", None),
        ("24:00-07:00", None),
        ("22:00:30-07:00", None),
        ("22:00", None),
        ("", None),
    ],
)
def test_hours_of_the_day_are_two_times(text: str, minutes: tuple[int, int] | None) -> None:
    assert parse_hours(text) == minutes

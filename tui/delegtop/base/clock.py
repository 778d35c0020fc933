"""Time: the only module that reads a clock, and the one place where times are parsed and written.

Every moment inside delegtop is `Millis`: UTC epoch milliseconds, exact, hashable and safe in JSON.
"""

import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple, NewType, Protocol

Millis = NewType("Millis", int)

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_STEP = MINUTE
"""Less is no step: clocks are slewed by as much."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLI = timedelta(milliseconds=1)


class Clock(Protocol):
    """Anything that knows what time it is for the reader: the wall, or a frozen moment."""

    def now(self) -> Millis: ...


class WallClock:
    """The time of this machine."""

    def now(self) -> Millis:
        return Millis(time.time_ns() // 1_000_000)


class ClockStep(NamedTuple):
    """Somebody set the clock of this machine."""

    at: Millis
    """When, by the clock as it is since then."""
    by: int
    """How far; below zero if it was set back."""


def stepped(steps: Sequence[ClockStep]) -> str:
    """How the clock was set, in all; nothing if it was not, or was set right again."""
    by = sum(step.by for step in steps)
    if abs(by) < _STEP:
        return ""
    return f"the clock was set {'forward' if by > 0 else 'back'} by {duration(round(abs(by) / SECOND) * SECOND)}"


class Slept(NamedTuple):
    """How long this machine slept, as its kernel counts."""

    span: int
    """In all, since it started; when that was nobody says."""
    booted_at: Millis


def slept() -> Slept | None:
    """What the kernel of this machine counts; None if it does not tell. Nor does it know when a machine that only looks
    like one was put on hold from outside."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return None
    awake = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    span = (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - awake) // 1_000_000
    return None if span < 0 else Slept(span, booted_at())  # of a container, whose clocks somebody has moved


class StepWatch:
    """Notices that the clock was set, by one that cannot be."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = self._offset()

    def step(self) -> ClockStep | None:
        """What happened to the clock since this was last asked; None if it only went on."""
        ahead, before = self._offset(), self._ahead
        if abs(ahead - before) < _STEP:
            return None  # it is slewed now and then: that adds up to nothing worth telling
        self._ahead = ahead
        return ClockStep(self._clock.now(), ahead - before)

    def _offset(self) -> int:
        return self._clock.now() - int(since_boot() * SECOND)


def on_present_scale(at: Millis, steps: Sequence[ClockStep], now: Millis) -> Millis:
    """A moment that was told by the clock as it was then, by the clock as it is now.

    What was told just before it was set back cannot be told from what came after; it counts as later than it was.
    """
    for step in steps:
        if at < step.at if step.by > 0 else at > now:
            at = Millis(at + step.by)
    return at


class FrozenClock:
    """A moment that stands still, for `--at` and for tests; `set` moves it by hand."""

    def __init__(self, at: Millis) -> None:
        self._at = at

    def now(self) -> Millis:
        return self._at

    def set(self, at: Millis) -> None:
        self._at = at


def clock_at(moment: Millis | None) -> Clock:
    """The clock that stands at a moment; without one, that of this machine."""
    return WallClock() if moment is None else FrozenClock(moment)


SLOWEST, FASTEST = 0.1, 1_000.0
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 100.0, 300.0, 1_000.0)
"""What the keys step through; any speed between the slowest and the fastest can be named."""


class ReplayClock:
    """A time that can be moved: it runs at any speed, stands still, and goes where it is sent, between two bounds.

    One thread moves it and others read it; what they read is replaced whole and never half changed.
    """

    def __init__(self, start: Millis, speed: float = 1.0, *, paused: bool = False) -> None:
        self.bounds: tuple[Millis, Millis] | None = None
        """The first and the last moment there is; None while that is not known."""
        self.leaps = 0
        """How often it was sent elsewhere."""
        self._from = (monotonic(), start, _speed(speed), paused)

    def now(self) -> Millis:
        began, start, speed, paused = self._from
        return self._within(start if paused else Millis(start + int((monotonic() - began) * speed * SECOND)))

    @property
    def speed(self) -> float:
        return self._from[2]

    @property
    def playing(self) -> bool:
        """Does it move? At the end there is nowhere to go."""
        return not self._from[3] and (self.bounds is None or self.now() < self.bounds[1])

    def play(self) -> None:
        """Go on from here; from the end, once more from the beginning."""
        now = self.now()
        if self.bounds is not None and now >= self.bounds[1]:
            now = self.bounds[0]
            self.leaps += 1
        self._set(now, self.speed, paused=False)

    def pause(self) -> None:
        self._set(self.now(), self.speed, paused=True)

    def go_at(self, speed: float) -> None:
        """Another speed, from this moment on."""
        self._set(self.now(), _speed(speed), paused=self._from[3])

    def faster(self) -> None:
        self.go_at(next((speed for speed in SPEEDS if speed > self.speed), FASTEST))

    def slower(self) -> None:
        self.go_at(next((speed for speed in reversed(SPEEDS) if speed < self.speed), SLOWEST))

    def seek(self, at: Millis) -> None:
        """Be at that moment now, moving or standing still as before."""
        self._set(self._within(at), self.speed, paused=self._from[3])
        self.leaps += 1

    def _set(self, at: Millis, speed: float, *, paused: bool) -> None:
        self._from = (monotonic(), at, speed, paused)

    def _within(self, at: Millis) -> Millis:
        return at if self.bounds is None else max(self.bounds[0], min(at, self.bounds[1]))


def _speed(speed: float) -> float:
    return min(max(speed, SLOWEST), FASTEST)


def monotonic() -> float:
    """Seconds that never step back, for intervals and frame budgets."""
    return time.monotonic()


def since_boot() -> float:
    """Seconds that go on while the machine sleeps and that nobody can set."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def spent() -> float:
    """Seconds of the processor that this thread has used."""
    return time.thread_time()


def booted_at() -> Millis:
    """When this machine started, by the clock that the kernel dates processes with."""
    return Millis((time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)) // 1_000_000)


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def parse_time(text: str, zone: tzinfo = UTC) -> Millis | None:
    """Read an ISO 8601 time; one without a zone is taken to be in `zone`. None if it is no time."""
    if len(text) < 10:  # "20251226" alone would parse as a day; a bare number is not a time
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone)
        return (moment - _EPOCH) // _MILLI  # type: ignore[return-value]  # as below, without the call: asked of each line
    except (ValueError, OverflowError):
        return parse_time(text[:-1] + "Z", zone) if text[-1] == "z" else None  # so it may be written, too


def millis(moment: datetime) -> Millis:
    """A moment that knows its zone, as epoch milliseconds; whole numbers all the way, so nothing is rounded."""
    return (moment - _EPOCH) // _MILLI  # type: ignore[return-value]  # calling Millis costs half as much again


def lacks_zone(text: str) -> bool:
    """True for a time that parses but does not say its zone."""
    try:
        return len(text) >= 10 and datetime.fromisoformat(text).tzinfo is None
    except ValueError:
        return False


def iso(at: Millis) -> str:
    """The moment as `2025-12-26T10:00:00.000Z`; out-of-range moments keep their number."""
    try:
        return datetime.fromtimestamp(at / 1_000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1_000:03d}Z"
    except (ValueError, OverflowError, OSError):
        return f"{at}ms"


def wall(at: Millis, zone: tzinfo | None = None) -> str:
    """The time of day an operator reads, `12:04:31`, in `zone` or the zone of this machine."""
    try:
        return datetime.fromtimestamp(at / 1_000, zone).strftime("%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return "–"


def moment(at: Millis, zone: tzinfo | None = None) -> str:
    """The day and the time of day an operator reads, `2025-12-26 12:04:31`, in `zone` or the zone of this machine."""
    try:
        return datetime.fromtimestamp(at / 1_000, zone).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return "–"


class LocalZone(tzinfo):
    """The zone of this machine, summer time included."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return moment.replace(tzinfo=None).astimezone().utcoffset() if moment else None

    def dst(self, _moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        return moment.replace(tzinfo=None).astimezone().tzname() if moment else None

    def fromutc(self, moment: datetime) -> datetime:
        """The way back; that of the base class needs to know what of the offset is summer time."""
        return moment.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)


_SPAN_UNITS = {"ms": 1, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}
_SPAN_PART = r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(ms|s|m|h|d)"
_SECONDS = r"[0-9]{1,12}(?:\.[0-9]{1,6})?"


def parse_span(text: str) -> int | None:
    """Milliseconds of a span people write: `90s`, `5m`, `1h30m`, `2d`, a bare number of seconds. None if it is none."""
    if re.fullmatch(_SECONDS, text):
        return round(float(text) * SECOND)
    if not re.fullmatch(f"(?:{_SPAN_PART})+", text):
        return None
    return sum(round(float(number) * _SPAN_UNITS[unit]) for number, unit in re.findall(_SPAN_PART, text))


def minute_of_day(at: Millis) -> int:
    """How many minutes of the day have passed then, in the zone of this machine."""
    local = datetime.fromtimestamp(at / 1_000)
    return 60 * local.hour + local.minute


def parse_hours(text: str) -> tuple[int, int] | None:
    """The first minute of the day and the one after the last, of `22:00-07:00`. None if it is no such thing."""
    times = re.fullmatch(rf"{_TIME_OF_DAY}\s*[-–]\s*{_TIME_OF_DAY}", text.strip())
    if times is None or times[3] or times[6]:
        return None
    begin, end = (60 * int(times[at]) + int(times[at + 1]) for at in (1, 4))
    return (begin, end) if begin != end else None


_TIME_OF_DAY = r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?"


def parse_place(text: str, now: Millis, first: Millis, zone: tzinfo) -> Millis | None:
    """Where in a recording people mean: an ISO time; `10:41`, on the day of `now`; `-5m` and `+30s` from now on;
    `1h20m` from the beginning. None if it is no place."""
    text = text.strip()
    if (day := re.fullmatch(_TIME_OF_DAY, text)) is not None:
        hour, minute, second = (int(part or 0) for part in day.groups())
        today = datetime.fromtimestamp(now / 1_000, zone)
        return millis(today.replace(hour=hour, minute=minute, second=second, microsecond=0))
    if (at := parse_time(text, zone)) is not None:
        return at
    span = parse_span(text.lstrip("+-")) if text.count("+") + text.count("-") <= 1 else None
    if span is None:
        return None
    return Millis(first + span if text[0] not in "+-" else now - span if text[0] == "-" else now + span)


def duration(span: int) -> str:
    """A span of milliseconds as `0:03`, `14:02`, `1:02:11` or `3d04h`."""
    if span >= DAY:
        return _days(span)
    seconds = max(span, 0) // SECOND
    hours, minutes, seconds = seconds // 3600, seconds % 3600 // 60, seconds % 60
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def _days(span: int) -> str:
    """From a day on every span is told alike, in six signs at most: `3d04h`, and `258d` where hours tell nothing."""
    days = span // DAY
    return f"{days}d{span % DAY // HOUR:02d}h" if days < 100 else f"{days}d"


def age(span: int) -> str:
    """A span for people who only want to know about how long: `40s`, `16m`, `3h`, `3d04h`."""
    if span >= DAY:
        return _days(span)
    for unit, size in (("h", HOUR), ("m", MINUTE)):
        if span >= size:
            return f"{span // size}{unit}"
    return f"{max(span, 0) // SECOND}s"


def countdown(left: int) -> str:
    """Time left: coarse while there is plenty (`3d04h`, `1h05m`, `12m`), exact in the ten minutes on both sides of the
    deadline.

    Over it is `+2:11`, later `+12m`: a screen full of overdue rows must not be painted anew every second.
    """
    sign, span = ("+", -left) if left < 0 else ("", left)
    if span < 10 * MINUTE:
        return sign + duration(span)
    if span >= DAY:
        return sign + _days(span)
    minutes = span // MINUTE
    return f"{sign}{minutes}m" if minutes < 60 else f"{sign}{minutes // 60}h{minutes % 60:02d}m"

"""All the ways that are wanted, and when they keep quiet."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from delegtop.base.clock import Clock, Millis, WallClock, minute_of_day, monotonic, parse_hours
from delegtop.diagnosis.alerts import PROBLEMS, Alert, Cause
from delegtop.notify import Say
from delegtop.notify.notification import RESOLVED, Notification, in_words, summary
from delegtop.notify.outbox import Outbox
from delegtop.notify.programs import Desktop, NotifyCommand, desktop_program, runnable
from delegtop.setting_tables import Notifications

_WALL = WallClock()
LAST_TRY = 4.0
"""Seconds that the end of the program waits for messages under way, at most; less than a signal to end leaves."""


class Way(Protocol):
    """One way of telling."""

    sends_away: bool
    """Whether what it tells leaves this machine: then secrets are masked whatever the settings say."""

    def tell(self, notices: Sequence[Notification]) -> None: ...

    def tend(self) -> None: ...

    def hurry(self, seconds: float) -> None:
        """All is over in so many seconds."""

    def close(self, seconds: float) -> None: ...

    def try_out(self, notice: Notification) -> tuple[bool, str]: ...


class Bell:
    """Rings once, however much there is to tell; not for what is over, of which it could not say so."""

    sends_away = False

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring

    def tell(self, notices: Sequence[Notification]) -> None:
        if any(each.event != RESOLVED for each in notices):
            self._ring()

    def tend(self) -> None: ...

    def hurry(self, seconds: float) -> None: ...

    def close(self, seconds: float) -> None: ...

    def try_out(self, notice: Notification) -> tuple[bool, str]:
        self.tell((notice,))
        return True, "it was rung; whether it can be heard is up to the terminal"


class QuietHours:
    """From one time of the day to another, by the clock on the wall here."""

    def __init__(self, hours: str) -> None:
        self.hours = hours
        self._bounds = parse_hours(hours)

    def hold(self, at: Millis) -> bool:
        """Whether it is quiet then."""
        if self._bounds is None:
            return False
        begin, end = self._bounds
        minute = minute_of_day(at)
        return begin <= minute < end if begin < end else not end <= minute < begin


class Notifier:
    """All ways. In quiet hours nothing is told, whatever it is; what was held back is summed up in one message then."""

    def __init__(
        self,
        ways: Sequence[Way],
        *,
        masked: bool = True,
        quiet: QuietHours | None = None,
        clock: Clock = _WALL,
    ) -> None:
        self.ways = ways
        self._masked, self._quiet, self._clock = masked, quiet, clock
        self._held: list[Alert] = []
        self._known: set[str] = set()
        """The ids of problems that there was reason to tell of, and that are not over."""

    def tell(self, alerts: Sequence[Alert]) -> None:
        """Tell of these, if there are any, and look after what was told before."""
        at = self._clock.now()
        alerts = [alert for alert in alerts if self._is_meant(alert)]
        if self._quiet is not None and self._quiet.hold(at):
            self._held += alerts
            held, alerts = [], []
        else:
            held, self._held = self._held, []
        for way in self.ways:
            words = partial(in_words, masked=self._masked or way.sends_away)
            told = [*map(words, alerts)]
            if held and self._quiet is not None:
                told.insert(0, summary(map(words, held), self._quiet.hours, at))
            if told:
                way.tell(told)
            else:
                way.tend()

    def _is_meant(self, alert: Alert) -> bool:
        """Whether to tell it: that something is over, only if it was to be told that it was so."""
        if alert.cause is not Cause.RESOLVED:
            self._known |= {alert.id} if alert.cause in PROBLEMS else set()
            return True
        known = alert.id in self._known
        self._known.discard(alert.id)
        return known

    def close(self, seconds: float = LAST_TRY) -> None:
        """Try what is under way once more, all ways at the same time."""
        until = monotonic() + seconds
        for way in self.ways:
            way.hurry(seconds)
        for way in self.ways:
            way.close(max(until - monotonic(), 0.0))


def notifier(
    ways: Sequence[str],
    command: Sequence[str],
    settings: Notifications,
    *,
    ring: Callable[[], None],
    say: Say,
    masked: bool = True,
) -> Notifier:
    """The wanted ways, by name; NotifyError if one cannot work."""
    names = sorted(dict.fromkeys(ways), key=lambda name: name != "bell")  # it rings at once, whatever the others take
    made = [way(name, command, settings, ring=ring, say=say) for name in names]
    quiet = QuietHours(settings.quiet_hours) if settings.quiet_hours else None
    return Notifier(made, masked=masked, quiet=quiet)


def way(name: str, command: Sequence[str], settings: Notifications, *, ring: Callable[[], None], say: Say) -> Way:
    """One way, by its name."""
    outbox = Outbox(settings.per_minute)
    if name == "bell":
        return Bell(ring)
    if name == "desktop":
        return Desktop(desktop_program(), say, outbox)
    if name == "command":
        how = "set notify_command, or give --notify-command"
        return NotifyCommand(runnable(command, "notify command", how), say, outbox)
    from delegtop.notify.web_ways import courier  # whoever sends nothing away loads nothing that does

    return courier(name, settings, say, outbox, os.environ)


class Hook:
    """A command of the user's own that is run for each problem, and when it is over; for programs, so never quiet."""

    def __init__(self, command: Sequence[str], say: Say, *, masked: bool = True) -> None:
        self._masked = masked
        self._way = NotifyCommand(runnable(command, "command of --exec", "name one"), say, what="the command of --exec")

    def tell(self, alerts: Sequence[Alert]) -> None:
        told = [each for each in alerts if each.cause in PROBLEMS or each.cause is Cause.RESOLVED]
        self._way.tell([in_words(alert, masked=self._masked) for alert in told])

    def close(self) -> None:
        self._way.close(0.0)

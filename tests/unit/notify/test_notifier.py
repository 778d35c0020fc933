"""In quiet hours nobody is told anything, and one message sums it up; what leaves the machine is masked, always."""

from collections.abc import Sequence
from datetime import datetime

import pytest

from delegtop.base.clock import FrozenClock, Millis, millis
from delegtop.diagnosis.alerts import Alert, Cause
from delegtop.model.states import State
from delegtop.notify.notification import Notification
from delegtop.notify.notifier import Bell, Notifier, QuietHours


def local(time: str) -> Millis:
    """A time of one day here, in whatever zone that is."""
    return millis(datetime.fromisoformat(f"2026-11-17T{time}").astimezone())


def alert(cause: Cause = Cause.HUNG, id: str = "a", message: str = "It hangs.") -> Alert:
    return Alert(cause, 0, id, f"worker {id}", None, State.SILENT, message, Millis(0))


class Ear:
    """A way that keeps what it is told."""

    def __init__(self, *, sends_away: bool = False) -> None:
        self.sends_away = sends_away
        self.told: list[Notification] = []

    def tell(self, notices: Sequence[Notification]) -> None:
        self.told += notices

    def tend(self) -> None: ...

    def hurry(self, seconds: float) -> None: ...

    def close(self, seconds: float) -> None: ...

    def try_out(self, notice: Notification) -> tuple[bool, str]:
        raise NotImplementedError


class Night:
    def __init__(self, time: str, hours: str = "22:00-07:00") -> None:
        self.ear, self.clock = Ear(), FrozenClock(local(time))
        self.notifier = Notifier([self.ear], quiet=QuietHours(hours), clock=self.clock)

    def tell(self, time: str, *alerts: Alert) -> list[Notification]:
        """What is heard then."""
        self.clock.set(local(time))
        self.ear.told.clear()
        self.notifier.tell(alerts)
        return list(self.ear.told)


@pytest.mark.parametrize(
    ("hours", "time", "quiet"),
    [
        ("22:00-07:00", "21:59:59", False),
        ("22:00-07:00", "22:00:00", True),
        ("22:00-07:00", "03:00:00", True),
        ("22:00-07:00", "06:59:59", True),
        ("22:00-07:00", "07:00:00", False),
        ("12:30-13:00", "12:45:00", True),
        ("12:30-13:00", "13:00:00", False),
        ("9:00 – 17:30", "17:29:00", True),
        ("00:00-23:59", "23:59:30", False),
    ],
)
def test_the_hours_are_those_of_the_clock_on_the_wall(hours: str, time: str, quiet: bool) -> None:
    assert QuietHours(hours).hold(local(time)) is quiet


def test_quiet_is_quiet_whatever_it_is_and_then_one_message_sums_it_up() -> None:
    night = Night("21:00:00")
    assert [each.event for each in night.tell("21:30:00", alert(id="early"))] == ["hung"]
    assert night.tell("22:30:00", alert(id="a"), alert(Cause.PERSON, "b"), alert(Cause.FAILED, "c")) == []
    assert night.tell("23:00:00", alert(Cause.RESOLVED, "b"), alert(Cause.RESOLVED, "early")) == []
    assert night.tell("06:00:00", alert(Cause.DONE, "root")) == []
    (told,) = night.tell("07:00:00")
    assert (told.event, told.headline) == ("summary", "2 still stuck after quiet hours")
    assert told.sentence == (
        "In the quiet hours 22:00-07:00: 3 problems, 2 resolved, 1 tree done. "
        "Still so: worker a is hung, worker c failed."
    )
    assert told.open == ("a", "c")
    assert night.tell("07:01:00") == []


def test_what_the_summary_told_of_is_told_when_it_is_over() -> None:
    night = Night("23:00:00")
    night.tell("23:00:00", alert())
    night.tell("08:00:00")
    assert [each.event for each in night.tell("08:01:00", alert(Cause.RESOLVED))] == ["resolved"]


def test_a_night_in_which_all_came_right_says_so_and_one_without_news_says_nothing() -> None:
    night = Night("23:00:00")
    night.tell("23:00:00", alert())
    night.tell("23:30:00", alert(Cause.RESOLVED))
    (told,) = night.tell("08:00:00")
    assert (told.headline, told.is_urgent) == ("all is well after quiet hours", False)
    night.tell("23:00:00")
    assert night.tell("09:00:00") == []


def test_the_same_problem_twice_in_a_night_is_one() -> None:
    night = Night("23:00:00")
    night.tell("23:00:00", alert(Cause.OVERDUE), alert(Cause.HUNG))
    (told,) = night.tell("08:00:00")
    assert "1 problem. Still so: worker a is hung." in told.sentence


def test_a_long_list_is_cut() -> None:
    night = Night("23:00:00")
    night.tell("23:00:00", *(alert(id=str(number)) for number in range(20)))
    (told,) = night.tell("08:00:00")
    assert told.sentence.endswith("worker 4 is hung, and 15 more.")
    assert len(told.open) == 20


def test_that_something_is_over_that_was_not_meant_is_not_told() -> None:
    ear = Ear()
    Notifier([ear]).tell([alert(Cause.RESOLVED)])
    assert ear.told == []


def test_what_leaves_the_machine_is_masked_whatever_the_settings_say() -> None:
    here, away = Ear(), Ear(sends_away=True)
    Notifier([here, away], masked=False).tell([alert(message="password=hunter2hunter2")])
    assert "hunter2" in here.told[0].sentence
    assert "hunter2" not in away.told[0].sentence


def test_the_bell_does_not_ring_for_what_is_over() -> None:
    rung: list[int] = []
    told = Notifier([Bell(lambda: rung.append(1))])
    told.tell([alert()])
    told.tell([alert(Cause.RESOLVED)])
    assert rung == [1]

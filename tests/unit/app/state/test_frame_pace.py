"""A change shows at once; only a stream of changes is held to the frame rate."""

import random
from collections.abc import Callable

import pytest

from delegtop.app.state import frame_pace
from delegtop.app.state.frame_pace import BURST, LOADING, STREAM, STREAMING, UNTOUCHED, UNWATCHED, Frames, pace


class Screen:
    """Draws when asked to, in a time that only the test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rate: float = 10) -> None:
        self.now = 100.0
        self.drawn: list[float] = []
        self.timers: list[tuple[float, Callable[[], object]]] = []
        monkeypatch.setattr(frame_pace, "monotonic", lambda: self.now)
        self.frames = Frames(rate, lambda: self.drawn.append(self.now), self.after)

    def after(self, delay: float, callback: Callable[[], object]) -> object:
        self.timers.append((self.now + delay, callback))
        return None

    def pass_time(self, seconds: float) -> None:
        end = self.now + seconds
        while self.timers and min(self.timers)[0] <= end:
            due = min(self.timers, key=lambda timer: timer[0])
            self.timers.remove(due)
            self.now = due[0]
            due[1]()
        self.now = end


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    return Screen(monkeypatch)


def test_a_single_change_is_drawn_at_once(screen: Screen) -> None:
    screen.frames.request()
    assert screen.drawn == [100.0]


def test_changes_now_and_then_wait_for_no_frame_rate(screen: Screen) -> None:
    for _ in range(5):
        screen.pass_time(0.3)
        screen.frames.request()
        screen.pass_time(0.001)
        screen.frames.request()
        screen.pass_time(0.05)
    gaps = [after - before for before, after in zip(screen.drawn, screen.drawn[1:], strict=False)]
    assert min(gaps[:2]) < 0.02


def test_of_lines_that_come_now_and_then_one_in_a_hundred_waits_for_more_than_a_tick(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is drawn twice, with its row and with what is judged of it, and the clock is drawn every second."""
    screen, dice, waits = Screen(monkeypatch, rate=15), random.Random(7), []
    line = screen.now
    changes = sorted(
        [
            (at + delay, not delay)
            for _ in range(500)
            if (at := (line := line + dice.uniform(0.1, 0.6)))
            for delay in (0, 0.02)
        ]
        + [(float(second), False) for second in range(100, 280)]
    )
    for at, is_line in changes:
        screen.pass_time(max(at - screen.now, 0))
        screen.frames.request()
        if is_line:
            waits.append(max((due for due, _ in screen.timers), default=screen.now) - at)
    assert sorted(waits)[int(len(waits) * 0.99)] <= 0.02


def test_a_stream_of_changes_is_held_to_the_rate(screen: Screen) -> None:
    for _ in range(2_000):
        screen.frames.request()
        screen.pass_time(0.001)
    assert 18 <= len(screen.drawn) <= 20 + BURST


def test_nothing_is_drawn_when_nothing_changed(screen: Screen) -> None:
    screen.frames.request()
    screen.pass_time(5)
    assert len(screen.drawn) == 1


def test_a_change_while_a_frame_is_coming_is_drawn_with_it(screen: Screen) -> None:
    for _ in range(4):
        screen.frames.request()
    assert len(screen.timers) == 1
    screen.pass_time(1)
    assert len(screen.drawn) == 2


def test_it_is_known_that_a_frame_is_coming(screen: Screen) -> None:
    for _ in range(20):
        screen.frames.request()
    assert screen.frames.coming
    screen.pass_time(0.2)
    assert not screen.frames.coming


def test_a_rate_below_two_a_second_is_held_to_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch, rate=1)
    for _ in range(5_000):
        screen.frames.request()
        screen.pass_time(0.001)
    assert len(screen.drawn) <= BURST + 5


def test_a_frame_for_which_all_is_there_comes_before_its_turn(screen: Screen) -> None:
    for _ in range(2 * BURST):
        screen.frames.request()
        screen.pass_time(0.1)
    last = screen.drawn[-1]
    screen.pass_time(0.06 - (screen.now - last))
    screen.frames.hasten()
    assert screen.drawn[-1] == screen.now == pytest.approx(last + 0.06)


def test_however_soon_all_is_there_frames_keep_a_distance(screen: Screen) -> None:
    for _ in range(2_000):
        screen.frames.hasten()
        screen.pass_time(0.001)
    gaps = [after - before for before, after in zip(screen.drawn[BURST:], screen.drawn[BURST + 1 :], strict=False)]
    assert min(gaps) > 0.049


def test_a_frame_that_is_coming_is_not_drawn_twice(screen: Screen) -> None:
    for _ in range(2 * BURST):
        screen.frames.request()
    assert screen.frames.coming
    drawn = len(screen.drawn)
    screen.now += 0.09
    screen.frames.hasten()
    assert len(screen.drawn) == drawn


class TestPace:
    def test_a_stream_that_nobody_touches_is_drawn_seldom(self) -> None:
        assert pace(15, loading=False, arriving=STREAM, untouched=UNTOUCHED) == STREAMING

    def test_whoever_has_just_pressed_a_key_sees_all_frames(self) -> None:
        assert pace(15, loading=False, arriving=10_000, untouched=UNTOUCHED - 0.1) == 15

    def test_what_comes_now_and_then_is_shown_as_it_comes(self) -> None:
        assert pace(15, loading=False, arriving=STREAM - 1, untouched=3_600) == 15

    def test_no_more_frames_than_were_asked_for(self) -> None:
        assert pace(2, loading=False, arriving=10_000, untouched=3_600) == 2

    def test_a_big_log_that_loads_comes_before_frames(self) -> None:
        assert pace(15, loading=True, arriving=0, untouched=0) == LOADING
        assert pace(15, loading=True, arriving=0, untouched=UNTOUCHED) == UNWATCHED < LOADING

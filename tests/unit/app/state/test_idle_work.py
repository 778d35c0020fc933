"""Work between frames waits for its turn once, however often it is asked for."""

from collections.abc import Callable
from typing import Any

import pytest

from delegtop.app.state import idle_work
from delegtop.app.state.idle_work import IdleWork


class Pump:
    """Takes what is to be done later, and does it when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.later: list[tuple[float, Callable[[], Any]]] = []
        monkeypatch.setattr(idle_work, "after", lambda _pump, gap, turn: self.later.append((gap, turn)))

    def call_next(self, callback: Callable[[], Any]) -> None:
        raise AssertionError(f"only `after` calls {callback}")

    def turn(self) -> float:
        gap, work = self.later.pop(0)
        work()
        return gap


@pytest.fixture
def pump(monkeypatch: pytest.MonkeyPatch) -> Pump:
    return Pump(monkeypatch)


def test_asked_for_often_it_is_done_once_and_not_at_once(pump: Pump) -> None:
    done: list[int] = []
    work = IdleWork(pump, lambda: done.append(1))
    work.ask()
    work.ask()
    assert (done, work.waits) == ([], True)
    pump.turn()
    assert (done, work.waits, pump.later) == ([1], False, [])


def test_a_slice_that_leaves_more_to_do_asks_for_the_next(pump: Pump) -> None:
    left = [3, 2, 1]

    def slice_of_it() -> None:
        left.pop()
        if left:
            work.ask()

    work = IdleWork(pump, slice_of_it)
    work.ask()
    while pump.later:
        pump.turn()
    assert (left, work.waits) == ([], False)


def test_the_gap_before_it_is_its_own_unless_another_is_asked_for(pump: Pump) -> None:
    work = IdleWork(pump, lambda: None, gap=0.5)
    work.ask()
    assert pump.turn() == 0.5
    work.ask(2.0)
    assert pump.turn() == 2.0

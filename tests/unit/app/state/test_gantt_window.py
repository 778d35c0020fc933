"""The window of time the operator looks through, and the critical paths behind it."""

from tests.telling import forest_at

from delegtop.app.state.critical_paths import CriticalPaths
from delegtop.app.state.gantt_window import GanttWindow
from delegtop.base.clock import HOUR, MINUTE, SECOND, Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Event, Outcome, Started
from delegtop.model.forest import Forest
from delegtop.model.history.time_window import TimeWindow

NOW = Millis(1_772_532_000_000)


def forest_of(*events: Event) -> Forest:
    return forest_at(NOW, events)


def started(id: str, ago: int, parent: str | None = None) -> Started:
    return Started(id, Millis(NOW - ago), Origin("run.jsonl", 1, 0), agent=id, parent=parent)


def ended(id: str, ago: int) -> Ended:
    return Ended(id, Millis(NOW - ago), Origin("run.jsonl", 2, 0), Outcome.COMPLETED, Ending.RETURN)


def later(forest: Forest, by: int) -> None:
    forest.advance(Millis(forest.shown_at + by))


def test_it_fits_the_tree_with_some_air() -> None:
    lens = GanttWindow(forest_of(started("a", HOUR)))
    lens.fit()
    lens.settle(0, TimeWindow(NOW - HOUR, NOW))
    assert lens.window.start < NOW - HOUR
    assert NOW < lens.window.end < NOW + 10 * MINUTE


def test_it_does_not_move_with_every_second_but_only_when_it_is_full() -> None:
    forest = forest_of(started("a", HOUR))
    lens = GanttWindow(forest)
    lens.fit()
    lens.settle(0, TimeWindow(NOW - HOUR, NOW))
    fitted = lens.window
    later(forest, MINUTE)
    lens.settle(0, TimeWindow(NOW - HOUR, forest.shown_at))
    assert lens.window == fitted
    later(forest, 10 * MINUTE)
    lens.settle(0, TimeWindow(NOW - HOUR, forest.shown_at))
    assert lens.window.end > fitted.end


def test_another_tree_is_fitted_at_once() -> None:
    lens = GanttWindow(forest_of(started("a", HOUR)))
    lens.fit()
    lens.settle(0, TimeWindow(NOW - HOUR, NOW))
    lens.settle(1, TimeWindow(NOW - HOUR, NOW - HOUR // 2))
    assert lens.window.end < NOW - HOUR // 3


def test_what_took_no_time_is_seen_with_its_surroundings() -> None:
    lens = GanttWindow(forest_of(started("a", HOUR)))
    lens.settle(0, TimeWindow(NOW, NOW))
    assert lens.window.span >= 10_000


def test_the_operators_window_goes_along_with_time_while_now_is_in_it() -> None:
    forest = forest_of(started("a", HOUR))
    lens = GanttWindow(forest)
    lens.settle(0, TimeWindow(NOW - HOUR, NOW))
    lens.zoom(0.5, NOW)
    before = lens.window
    later(forest, MINUTE)
    lens.settle(0, TimeWindow(NOW - HOUR, forest.shown_at))
    assert lens.window == before.shifted(MINUTE)
    lens.shift(-2 * HOUR)
    before = lens.window
    later(forest, MINUTE)
    lens.settle(0, TimeWindow(NOW - HOUR, forest.shown_at))
    assert lens.window == before


def test_what_is_open_is_in_view_however_late_the_bars_are_first_shown() -> None:
    for waited in (MINUTE, 5 * HOUR, 20 * HOUR):
        forest = forest_of(started("a", HOUR))
        lens = GanttWindow(forest)
        later(forest, waited)
        lens.show_open()
        lens.settle(0, None)
        assert lens.window.start <= NOW - HOUR
        assert 0.85 < lens.window.cell(forest.shown_at, 1) <= 1


def test_what_is_open_stays_in_view_as_time_passes_forwards_and_back() -> None:
    forest = forest_of(started("a", HOUR))
    lens = GanttWindow(forest)
    lens.show_open()
    windows = []
    for by in (1, MINUTE, 10 * MINUTE, HOUR, 5 * HOUR, -6 * HOUR):
        later(forest, by)
        lens.settle(0, None)
        windows.append(lens.window)
        assert lens.window.start <= NOW - HOUR
        assert 0.7 <= lens.window.cell(forest.shown_at, 1) <= 1
    assert windows[0] == windows[1], "it does not move with every second"


def test_where_nothing_is_open_any_more_the_tree_under_the_cursor_is_shown() -> None:
    forest = forest_of(started("a", HOUR))
    lens = GanttWindow(forest)
    lens.show_open()
    forest.apply([ended("a", 0)])
    later(forest, HOUR)
    lens.settle(0, TimeWindow(NOW - HOUR, NOW))
    assert lens.fits
    assert 0.7 <= lens.window.cell(NOW, 1) <= 1


def test_now_is_where_it_was_asked_for_though_time_has_passed_since_the_last_look() -> None:
    forest = forest_of(started("a", HOUR))
    lens = GanttWindow(forest)
    lens.zoom(0.5, NOW)
    later(forest, HOUR)
    lens.go_to_now()
    gone_to = lens.window
    assert gone_to.holds(forest.shown_at)
    lens.settle(0, None)
    assert lens.window == gone_to


def test_what_the_operator_does_between_two_looks_does_not_hold_now_back() -> None:
    forest = forest_of(started("a", HOUR))
    lens = GanttWindow(forest)
    lens.zoom(0.5, NOW)
    before = lens.window
    later(forest, MINUTE)
    lens.shift(-SECOND)
    lens.settle(0, None)
    assert lens.window == before.shifted(MINUTE - SECOND)


def test_it_comes_back_to_now_and_to_the_tree() -> None:
    forest = forest_of(started("a", HOUR))
    lens = GanttWindow(forest)
    lens.fit()
    lens.settle(0, TimeWindow(NOW - HOUR, NOW))
    fitted = lens.window
    lens.shift(-10 * HOUR)
    lens.go_to_now()
    assert lens.window.holds(NOW)
    assert lens.follows
    lens.fit()
    lens.settle(0, TimeWindow(NOW - HOUR, NOW))
    assert lens.window == fitted


def test_paths_are_followed_a_little_at_a_time() -> None:
    children = [started(f"n{number}", MINUTE, "a") for number in range(3_000)]
    forest = forest_of(started("a", HOUR), *children)
    paths = CriticalPaths(forest)
    assert not paths.follow([0], 0)
    assert not paths.pieces(0, 0)
    for _ in range(1_000):
        if paths.follow([0], 0.001):
            break
    assert paths.pieces(0, 0)
    assert paths.extent(0) == (NOW - HOUR, NOW)


def test_paths_of_another_moment_are_forgotten() -> None:
    forest = forest_of(started("a", HOUR), started("b", MINUTE, "a"))
    paths = CriticalPaths(forest)
    assert paths.follow([0], 1)
    assert paths.pieces(0, 1)
    forest.become(forest_of(started("other", HOUR), ended("other", MINUTE)))
    assert paths.follow([0], 1)
    assert not paths.pieces(0, 1)
    assert paths.extent(0) == (NOW - HOUR, NOW - MINUTE)

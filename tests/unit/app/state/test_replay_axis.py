"""The axis of a timeline: every moment has a cell, and a long silence takes only one."""

from hypothesis import given
from hypothesis import strategies as st

from delegtop.app.state.replay_axis import Cell, ReplayAxis
from delegtop.app.widgets.replay_bar import drawn
from delegtop.base.clock import HOUR, MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis.appearances import Appearances
from delegtop.model.events import Heard, Started
from delegtop.model.history.timeline import Timeline


def recording(*moments: int) -> Timeline:
    return Timeline([Heard("sess_a", Millis(at), Origin("log", line, 0)) for line, at in enumerate(moments, 1)])


@given(st.lists(st.integers(0, 10**10), min_size=1, max_size=40), st.integers(1, 200))
def test_every_moment_has_a_cell_and_cells_follow_each_other(moments: list[int], width: int) -> None:
    timeline = recording(*moments)
    axis = ReplayAxis(timeline.first, timeline.last, timeline, width)
    assert len(axis.edges) == width + 1
    assert axis.edges == sorted(axis.edges)
    assert axis.edges[0] == timeline.first
    assert all(axis.edges[axis.cell_of(Millis(at))] <= at < axis.edges[axis.cell_of(Millis(at)) + 1] for at in moments)
    assert sum(cell.events for cell in axis.cells(timeline)) == len(moments)
    assert timeline.first <= axis.moment(0) <= axis.moment(width - 1)


def test_time_runs_evenly_where_nobody_is_silent_for_long() -> None:
    timeline = recording(*range(0, 100 * MINUTE + 1, MINUTE))
    axis = ReplayAxis(timeline.first, timeline.last, timeline, 100)
    assert [axis.cell_of(Millis(minute * MINUTE + 1)) for minute in (0, 25, 50, 99)] == [0, 25, 50, 99]
    assert not any(cell.silent for cell in axis.cells(timeline))


def test_a_night_takes_one_cell() -> None:
    day = range(0, HOUR, MINUTE)
    timeline = recording(*day, *(at + 12 * HOUR for at in day))
    axis = ReplayAxis(timeline.first, timeline.last, timeline, 101)
    cells = axis.cells(timeline)
    assert sum(cell.silent for cell in cells) == 1
    assert cells[50].silent
    assert axis.cell_of(Millis(6 * HOUR)) == 50
    assert 40 < axis.cell_of(Millis(50 * MINUTE)) < 50 < axis.cell_of(Millis(12 * HOUR + MINUTE)) < 60


def test_the_timeline_is_drawn_with_bars_silences_problems_and_the_moment() -> None:
    day = range(0, HOUR, 5 * MINUTE)
    timeline = Timeline([
        Started("sess_a", Millis(0), Origin("log", 1, 0), timeout=40 * MINUTE),
        *(Heard("sess_a", Millis(at), Origin("log", line, 0)) for line, at in enumerate(day, 2)),
        Heard("sess_a", Millis(12 * HOUR), Origin("log", 99, 0)),
    ], observe=Appearances)  # fmt: skip
    timeline.study(5)
    axis = ReplayAxis(timeline.first, timeline.last, timeline, 24)
    picture = drawn(axis.cells(timeline), axis.cell_of(Millis(10 * MINUTE)), plain=True)
    assert picture.plain.count("!") == 1
    assert picture.plain.count("|") == 1
    assert "~" in picture.plain
    assert picture.plain.isascii()
    assert drawn(axis.cells(timeline), 23, plain=False).cell_length == 24


def test_where_nearly_every_cell_has_problems_only_the_worst_are_marked() -> None:
    cells = [Cell(events=5, problems=1 + number % 5, silent=False) for number in range(30)]
    picture = drawn(cells, 0, plain=True).plain
    assert 0 < picture.count("!") <= 10
    assert {cells[number].problems for number, text in enumerate(picture) if text == "!"} == {5}
    few = [Cell(events=5, problems=number == 7, silent=False) for number in range(30)]
    assert drawn(few, 0, plain=True).plain.index("!") == 7

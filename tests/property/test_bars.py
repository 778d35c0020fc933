"""Whatever times the logs tell and wherever the operator looks, a line of the chart is as wide as the chart."""

from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st
from tests.telling import forest_at

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Started
from delegtop.model.history.critical_path import critical_path
from delegtop.model.history.extent import tree_extent
from delegtop.model.history.time_window import LEAST, TimeWindow, around
from delegtop.report.bars import ASCII, UNICODE, Chart

moments = st.one_of(st.none(), st.integers(0, 10**6), st.integers(-(10**16), 10**16))
lives = st.tuples(moments, moments, moments, st.booleans(), st.one_of(st.none(), st.integers(1, 10**9)))
PLACE = Origin("run.jsonl", 1, 0)


def at(moment: int | None) -> Millis | None:
    return None if moment is None else Millis(moment)


def events_of(told: list[tuple[int | None, int | None, int | None, bool, int | None]]) -> list[Event]:
    events: list[Event] = []
    for number, (start, heard, end, is_over, timeout) in enumerate(told):
        id, parent = f"d{number}", f"d{number // 2}" if number else None
        events.append(Started(id, at(start), PLACE, agent=id, parent=parent, timeout=timeout))
        if heard is not None:
            events.append(Heard(id, Millis(heard), PLACE, "work"))
        if is_over:
            events.append(Ended(id, at(end), PLACE, Outcome.COMPLETED, Ending.RETURN))
    return events


@given(
    st.lists(lives, min_size=1, max_size=6),
    st.integers(0, 10**7),
    st.integers(0, 120),
    st.one_of(st.none(), st.tuples(st.integers(-(10**16), 10**16), st.integers(LEAST, 10**13))),
    st.sampled_from([UNICODE, ASCII]),
)
def test_every_line_is_as_wide_as_the_chart(told, now, width, place, ink) -> None:  # type: ignore[no-untyped-def]  # the strategies say it
    forest = forest_at(now, events_of(told))
    whole = tree_extent(forest, 0) or TimeWindow(0, LEAST)
    window = around(whole) if place is None else TimeWindow(place[0], place[0] + place[1])
    chart = Chart(forest, window, width, ink=ink, zone=UTC)
    pieces = critical_path(forest, 0).by_delegation()
    assert len("".join(run.text for run in chart.axis())) == width
    for handle in range(len(forest)):
        runs = chart.row(handle, forest.delegation(handle), pieces.get(handle, ()))
        assert len("".join(run.text for run in runs)) == width

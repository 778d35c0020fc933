"""What a subtree used: every delegation counted once, whoever asks and in whatever order they came."""

from hypothesis import given
from hypothesis import strategies as st
from tests.telling import forest_at

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Event, Heard, Started
from delegtop.model.forest import Forest
from delegtop.model.tree.rollup import Totals, total, totals

PLACE = Origin("x", 1, 0)


def started(id: int, parent: int | None) -> Started:
    above = None if parent is None else f"s{parent}"
    return Started(f"s{id}", Millis(1_000 + id), PLACE, agent="a", parent=above)


def heard(id: int, tokens: int | None, cost: float | None = None) -> Heard:
    return Heard(f"s{id}", Millis(2_000), PLACE, tokens=tokens, cost=cost)


def grown(*events: Event) -> Forest:
    return forest_at(3_000, events)


def test_a_node_counts_itself_and_all_below_it_once() -> None:
    forest = grown(
        started(0, None), started(1, 0), started(2, 1), started(3, 0),
        heard(0, 100, 1.0), heard(1, 20), heard(2, 3, 0.5),
    )  # fmt: skip
    assert total(forest, 0) == Totals(123, 1.5, 4)
    assert total(forest, 1) == Totals(23, 0.5, 2)


def test_running_totals_told_twice_are_not_added() -> None:
    forest = grown(started(0, None), heard(0, 100, 1.0), heard(0, 150, 1.5), heard(0, 100, 1.0))
    assert total(forest, 0) == Totals(150, 1.5, 1)


def test_what_nobody_tells_is_not_known_rather_than_nothing() -> None:
    forest = grown(started(0, None), started(1, 0))
    assert total(forest, 0) == Totals(None, None, 2)


ids = st.integers(0, 12)
events = st.builds(started, ids, st.none() | ids) | st.builds(heard, ids, st.integers(0, 99))


@given(st.lists(events, max_size=40))
def test_all_sums_at_once_are_the_sums_of_each(told: list[Event]) -> None:
    forest = grown(*told)
    assert totals(forest) == [total(forest, handle) for handle in range(len(forest))]

"""What a subtree used: every delegation counted once, whoever asks and in whatever order they came."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.telling import forest_at

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Event, Heard, Started
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy
from delegtop.model.prices import PriceBook, Rates
from delegtop.model.tree.rollup import Totals, covered, shares, total, totals
from delegtop.model.usage import Usage

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
    assert total(forest, 0) == Totals(123, 1.5, 4, is_estimate=True), "one used tokens, and nobody says what they cost"
    assert total(forest, 2) == Totals(3, 0.5, 1)


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


SESSION: dict[str, Any] = {"product": "claude-code", "depth": 0}


def priced(id: str, parent: str | None, cost: float, *, whole: bool = False, **facts: Any) -> list[Event]:
    """One that cost so much by list prices, or, of a whole session, as it was told."""
    begun = Started(id, Millis(1_000), PLACE, agent="a", parent=parent, **({"product": "claude-code"} | facts))
    used = None if whole else (Usage("m", int(cost * 1_000_000)),)
    return [begun, Heard(id, Millis(2_000), PLACE, tokens=1, cost=cost if whole else None, used=used, whole=whole)]


def family(*told: list[Event]) -> Forest:
    prices = PriceBook({"m": Rates(1, 1, 1, 1, 1)})
    return forest_at(3_000, [event for events in told for event in events], Policy(prices=prices))


def test_what_is_told_of_a_session_with_all_its_agents_is_not_added_to_what_these_are_estimated_at() -> None:
    forest = family(
        priced("s", None, 10.0, whole=True, **SESSION), priced("a", "s", 3.0, depth=1), priced("b", "a", 1.0, depth=2)
    )
    assert total(forest, 0) == Totals(3, 10.0, 3)
    assert total(forest, 1) == Totals(2, 4.0, 2, is_estimate=True)
    assert totals(forest) == [total(forest, handle) for handle in range(3)]
    assert [each.cost for each in shares(forest)] == [6.0, 3.0, 1.0]
    assert [each.is_estimate for each in shares(forest)] == [True, True, True]
    assert covered(forest) == {1, 2}
    assert forest.growth(0, 10, Millis(0)).cost == 10.0
    assert forest.growth(0, 10, Millis(0)).is_estimate is False


def test_a_session_of_its_own_below_one_is_no_part_of_what_that_tells() -> None:
    forest = family(
        priced("s", None, 10.0, whole=True, **SESSION), priced("a", "s", 3.0, depth=1), priced("t", "a", 2.0, **SESSION)
    )
    assert total(forest, 0) == Totals(3, 12.0, 3, is_estimate=True)
    assert totals(forest) == [total(forest, handle) for handle in range(3)]
    assert [each.cost for each in shares(forest)] == [7.0, 3.0, 2.0]
    assert covered(forest) == {1}
    assert forest.growth(0, 10, Millis(0)).cost == 12.0


def test_told_and_estimated_dollars_add_up_to_an_estimate() -> None:
    forest = family(priced("s", None, 1.0, **SESSION), priced("a", "s", 3.0, depth=1))
    told = [Heard("a", Millis(2_500), PLACE, cost=2.0)]
    forest.apply(told)
    assert total(forest, 0) == Totals(2, 3.0, 2, is_estimate=True)
    assert total(forest, 1) == Totals(1, 2.0, 1)

"""The same events in any order, in any batches and any number of times give the same forest."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.histories import distinct, events, moment

from delegtop.base.clock import Millis
from delegtop.model.delegation import Link
from delegtop.model.events import Event
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE

NOW = moment(22)


def picture(forest: Forest) -> dict[Any, Any]:
    def name(handle: int | None) -> tuple[str, str] | None:
        return None if handle is None else (forest.host_of(handle), forest.delegation(handle).id)

    return {
        name(h): (
            forest.delegation(h),
            forest.state(h),
            forest.reason(h),
            forest.deadline(h),
            name(forest.parent(h)),
            forest.link(h),
            tuple(map(name, forest.candidates(h))),
            tuple(map(name, forest.children(h))),
        )
        for h in forest.walk()
    }


def grown(batches: list[list[Event]], looks: bool = False) -> Forest:
    forest = Forest()
    for number, batch in enumerate(batches):
        forest.apply(batch)
        if looks:
            forest.advance(Millis(number))
    forest.advance(NOW)
    return forest


@settings(max_examples=150)
@given(st.lists(events, max_size=14), st.randoms(use_true_random=False), st.booleans())
def test_order_batches_and_repetition_do_not_matter(batch: list[Event], random: Any, looks: bool) -> None:
    batch = distinct(batch)
    expected = picture(grown([batch]))
    again = batch + random.sample(batch, k=len(batch) // 2)
    random.shuffle(again)
    batches: list[list[Event]] = [[]]
    for event in again:
        if random.random() < 0.4:
            batches.append([])
        batches[-1].append(event)
    assert picture(grown(batches, looks)) == expected


@settings(max_examples=120)
@given(st.lists(events, max_size=14))
def test_the_forest_is_a_forest_and_its_counts_are_true(batch: list[Event]) -> None:
    forest = grown([batch], looks=True)
    walked = list(forest.walk())
    assert sorted(walked) == list(range(len(forest))), "every delegation is reached exactly once: no circle, no loss"
    for state, count in forest.counts.items():
        assert count == sum(1 for h in walked if forest.state(h) is state)
    for handle in walked:
        waits = any(forest.state(child) in ACTIVE for child in forest.children(handle))
        if forest.state(handle) == "waiting":
            assert waits
        if forest.link(handle) is Link.AMBIGUOUS:
            assert len(forest.candidates(handle)) > 1


@settings(max_examples=100)
@given(st.lists(events, max_size=12), st.lists(st.integers(0, 200_000_000), min_size=1, max_size=6))
def test_states_at_a_moment_do_not_depend_on_the_moments_looked_at_before(batch: list[Event], looks: list[int]) -> None:
    forest, fresh = grown([batch]), grown([batch])
    for look in looks:
        forest.advance(Millis(look))
    fresh.advance(Millis(looks[-1]))
    assert picture(forest) == picture(fresh)
    assert forest.counts == fresh.counts

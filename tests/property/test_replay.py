"""Going back is exact: at any moment a recording shows what folding everything up to that moment would show."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.histories import STEP, distinct, events, moment, origins, signs
from tests.telling import forest_at

from delegtop.base.clock import Millis
from delegtop.model.events import Event, Heard, HostBeat, HostMet, Surveyed
from delegtop.model.forest import Forest
from delegtop.model.history.timeline import Timeline, telling

few_signs = st.builds(
    Heard,
    id=st.just("sess_a"),
    at=st.sampled_from([0, 1, 1, 2, 10, 20, 20]).map(moment),
    origin=origins,
    tokens=st.sampled_from([None, 1, 2]),
    cost=st.sampled_from([None, 0.0, 0.5]),
)
"""Of one delegation, mostly in one minute: most of them leave no trace."""


def picture(forest: Forest) -> dict[str, Any]:
    return {
        "rows": {
            handle: (
                forest.delegation(handle),
                forest.state(handle),
                forest.reason(handle),
                forest.deadline(handle),
                forest.usual(handle),
                forest.parent(handle),
                forest.link(handle),
                forest.candidates(handle),
                forest.children(handle),
                forest.blocker(handle),
                forest.needs_review(handle),
                forest.used(handle),
                forest.find(forest.delegation(handle).id),
            )
            for handle in forest.walk()
        },
        "roots": forest.roots(),
        "counts": dict(forest.counts),
        "sleeps": list(forest.sleeps(Millis(0))),
        "now": forest.shown_at,
    }


def fold(timeline: Timeline, at: Millis) -> dict[str, Any]:
    """Everything up to that moment, folded afresh."""
    forest = forest_at(at, timeline.events[: timeline.position(at)])
    return picture(forest)


@settings(max_examples=120)
@given(
    st.lists(events, max_size=40),
    st.lists(st.tuples(st.integers(-1, 40), st.sampled_from([0, 0, -1, STEP // 2])), min_size=1, max_size=6),
    st.integers(1, 6),
)
def test_the_forest_at_a_moment_is_a_fresh_fold_of_all_up_to_it(
    batch: list[Event], moments: list[tuple[int, int]], spacing: int
) -> None:
    timeline = Timeline(distinct(batch), spacing=spacing)
    timeline.study(60)
    for number, shift in moments:  # in any order: forwards and back
        at = Millis(moment(number) + shift)
        assert picture(timeline.forest(at)) == fold(timeline, at)


@settings(max_examples=80)
@given(st.lists(events, max_size=40), st.lists(st.integers(0, 40), min_size=2, max_size=6), st.integers(1, 6))
def test_going_on_from_a_moment_leads_where_a_fresh_fold_does_and_changes_no_other_moment(
    batch: list[Event], moments: list[int], spacing: int
) -> None:
    timeline = Timeline(distinct(batch), spacing=spacing)
    timeline.study(60)
    at, *later = map(moment, sorted(moments))
    forest = timeline.forest(at)
    begun = at
    for after in later:
        forest.apply(timeline.events[timeline.position(at) : timeline.position(after)])
        forest.advance(after)
        at = after
        assert picture(forest) == fold(timeline, at)
    assert picture(timeline.forest(begun)) == fold(timeline, begun)


@settings(max_examples=80)
@given(st.one_of(st.lists(few_signs, min_size=3, max_size=10), st.lists(st.one_of(events, signs), max_size=30)))
def test_what_is_left_out_of_a_slice_leaves_no_trace(batch: list[Event]) -> None:
    timeline = Timeline(distinct(batch))
    whole, short = Forest(), Forest()
    whole.apply(timeline.events)
    short.apply(telling(timeline.events))
    whole.advance(timeline.last)
    short.advance(timeline.last)
    assert picture(short) == picture(whole)


@settings(max_examples=80)
@given(st.lists(events, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_a_recording_does_not_depend_on_the_order_of_reading(batch: list[Event], random: Any) -> None:
    batch = distinct(batch)
    expected = Timeline(batch)
    random.shuffle(batch)
    assert [
        (e.origin, type(e)) for e in Timeline(batch).events if not isinstance(e, Surveyed | HostMet | HostBeat)
    ] == [(e.origin, type(e)) for e in expected.events if not isinstance(e, Surveyed | HostMet | HostBeat)]
    assert list(Timeline(batch).times) == list(expected.times)

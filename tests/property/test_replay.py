"""Going back is exact: at any moment a recording shows what folding everything up to that moment would show."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from delegtop.clock import Millis
from delegtop.model.events import (
    Awaited,
    Described,
    Deviation,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Phase,
    Report,
    Resumed,
    Sighted,
    Started,
    Surveyed,
)
from delegtop.model.forest import Forest
from delegtop.model.timeline import Timeline, telling
from delegtop.origin import Origin

STEP = 20_000
PAUSE = 25 * 60_000


def moment(number: int) -> Millis:
    """Three bursts of work with a sleep between them."""
    return Millis(1_000_000 + number % 10 * STEP + number // 10 * PAUSE)


some_moment = st.integers(0, 29).map(moment)
moments = st.one_of(st.none(), some_moment, some_moment, some_moment)
origins = st.builds(Origin, st.sampled_from(["log", "other.log"]), st.integers(1, 60), st.just(0))
ids = st.sampled_from(["sess_a", "sess_b", "sess_c", "sess_d", "sess_e", "sess_f"])
words = st.sampled_from([None, "one", "other"])
PATHS = [None, ("main",), ("main", "implement"), ("main", "implement", "executor"), ("main", "implement", "tester")]

signs = st.builds(
    Heard,
    id=ids,
    at=moments,
    origin=origins,
    doing=st.sampled_from([None, "x", "y"]),
    tool=words,
    tokens=st.one_of(st.none(), st.integers(0, 5)),
    cost=st.sampled_from([None, 0.0, 0.5]),
    phase=st.sampled_from([None, Phase.TOOL, Phase.IDLE]),
)
few_signs = st.builds(
    Heard,
    id=st.just("sess_a"),
    at=st.sampled_from([0, 1, 1, 2, 10, 20, 20]).map(moment),
    origin=origins,
    tokens=st.sampled_from([None, 1, 2]),
    cost=st.sampled_from([None, 0.0, 0.5]),
)
"""Of one delegation, mostly in one minute: most of them leave no trace."""
events: st.SearchStrategy[Event] = st.one_of(
    signs,
    st.builds(
        Started,
        id=ids,
        at=moments,
        origin=origins,
        agent=st.sampled_from([None, "executor", "tester"]),
        path=st.sampled_from(PATHS),
        depth=st.sampled_from([None, 0]),
        task=st.sampled_from([None, "7"]),
        timeout=st.sampled_from([None, 3 * STEP]),
        deadline=st.one_of(st.none(), some_moment),
        parent=st.one_of(st.none(), st.none(), ids, st.just("sess_never_seen")),
        pid=st.sampled_from([None, 12]),
        refs=st.sampled_from([(), (("thread_id", "t1"),)]),
        listed=st.booleans(),
        product=st.sampled_from([None, "codex"]),
        guessed=st.booleans(),
    ),
    st.builds(Described, id=ids, at=moments, origin=origins, title=words, model=words, cwd=words),
    st.builds(Noted, id=ids, at=moments, origin=origins, kind=st.just("review"), text=st.sampled_from(["", "a", "b"])),
    st.builds(Awaited, id=ids, at=moments, origin=origins, until=some_moment, by=st.just("somebody")),
    st.builds(Sighted, id=ids, at=moments, origin=origins, phase=st.sampled_from([None, Phase.PERMISSION])),
    st.builds(Resumed, id=ids, at=some_moment, origin=origins),
    st.builds(Erred, id=ids, at=moments, origin=origins, fault=st.builds(Fault, recoverable=st.booleans())),
    st.builds(
        Ended,
        id=ids,
        at=moments,
        origin=origins,
        outcome=st.sampled_from([Outcome.COMPLETED, Outcome.COMPLETED, Outcome.FAILED]),
        by=st.sampled_from([Ending.TIMEOUT, Ending.RETURN, Ending.REGISTRY, Ending.GONE]),
        report=st.builds(Report, summary=st.sampled_from([None, "done", "half"])),
    ),
    st.builds(
        Surveyed,
        at=some_moment,
        origin=st.sampled_from([Origin("registry.json", 1, 0), Origin("old.json", 1, 0)]),
        ids=st.sets(ids, max_size=3).map(lambda s: tuple(sorted(s))),
    ),
    st.builds(Deviation, origin=origins, kind=st.just("unknown key"), detail=st.just("colour")),
)


def distinct(batch: list[Event]) -> list[Event]:
    """No two records stand at one place; only surveys, one file rewritten, may."""
    placed: dict[Any, Event] = {}
    for event in batch:
        key = (event.origin, event.at) if isinstance(event, Surveyed) else (event.origin, None)
        placed.setdefault(key, event)
    return list(placed.values())


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
        "now": forest.now,
    }


def fold(timeline: Timeline, at: Millis) -> dict[str, Any]:
    """Everything up to that moment, folded afresh."""
    forest = Forest()
    forest.apply(timeline.events[: timeline.position(at)])
    forest.advance(at)
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
    assert [(e.origin, type(e)) for e in Timeline(batch).events if not isinstance(e, Surveyed)] == [
        (e.origin, type(e)) for e in expected.events if not isinstance(e, Surveyed)
    ]
    assert list(Timeline(batch).times) == list(expected.times)

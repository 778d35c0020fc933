"""The same events in any order, in any batches and any number of times give the same forest."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from delegtop.clock import Millis
from delegtop.model.delegation import Link
from delegtop.model.events import (
    Awaited,
    Described,
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
from delegtop.model.states import ACTIVE
from delegtop.origin import Origin

IDS = ["sess_a", "sess_b", "sess_c", "sess_d", "sess_e"]
PATHS = [
    None,
    ("orchestrator",),
    ("orchestrator", "implement"),
    ("orchestrator", "implement", "executor"),
    ("orchestrator", "implement", "executor", "implementer"),
]
moments = st.one_of(st.none(), st.integers(0, 12).map(lambda n: Millis(n * 1000)))
some_moment = st.integers(0, 12).map(lambda n: Millis(n * 1000))
words = st.sampled_from([None, "one", "other"])
origins = st.builds(Origin, st.sampled_from(["log", "other.log"]), st.integers(1, 40), st.just(0))
ids = st.sampled_from(IDS)

events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        Started,
        id=ids,
        at=moments,
        origin=origins,
        agent=st.sampled_from([None, "executor", "implementer"]),
        path=st.sampled_from(PATHS),
        depth=st.sampled_from([None, 0]),
        task=st.sampled_from([None, "191"]),
        timeout=st.sampled_from([None, 3000]),
        deadline=moments,
        parent=st.one_of(st.none(), st.none(), ids, st.just("sess_never_seen")),
        listed=st.booleans(),
        product=st.sampled_from([None, None, "codex"]),
    ),
    st.builds(
        Heard,
        id=ids,
        at=moments,
        origin=origins,
        doing=st.sampled_from([None, "x", "y"]),
        tokens=st.integers(0, 5),
        phase=st.sampled_from([None, Phase.TOOL, Phase.IDLE]),
    ),
    st.builds(Described, id=ids, at=moments, origin=origins, title=words, model=words),
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
        outcome=st.sampled_from(Outcome),
        by=st.sampled_from([Ending.TIMEOUT, Ending.RETURN, Ending.REGISTRY, Ending.GONE]),
        report=st.builds(Report, summary=st.sampled_from([None, "done", "half"])),
    ),
    st.builds(
        Surveyed,
        at=some_moment,
        origin=st.just(Origin("registry.json", 1, 0)),
        ids=st.sets(ids, max_size=3).map(lambda s: tuple(sorted(s))),
    ),
)
NOW = Millis(9_000)


def distinct_origins(batch: list[Event]) -> list[Event]:
    """No two records stand at one place; only surveys, one file rewritten, may."""
    placed: dict[Any, Event] = {}
    for event in batch:
        key = (event.origin, event.at) if isinstance(event, Surveyed) else (event.origin, None)
        placed.setdefault(key, event)
    return list(placed.values())


def picture(forest: Forest) -> dict[str, Any]:
    def name(handle: int | None) -> str | None:
        return None if handle is None else forest.delegation(handle).id

    return {
        forest.delegation(h).id: (
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


@settings(max_examples=250)
@given(st.lists(events, max_size=14), st.randoms(use_true_random=False), st.booleans())
def test_order_batches_and_repetition_do_not_matter(batch: list[Event], random: Any, looks: bool) -> None:
    batch = distinct_origins(batch)
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

"""Looking again and again at a family that changes shows what one look at all that happened would."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.telling import forest_at

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.delegation import Basis
from delegtop.model.events import (
    Awaited,
    Described,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Outcome,
    Phase,
    Resumed,
    Sighted,
    Started,
    Surveyed,
)
from delegtop.model.forest import Forest
from delegtop.model.policy import AgentLimits, OperatorTimeout, Policy
from delegtop.model.states import ACTIVE

SECOND = 1000
IDS = ("session", "agent", "below", "deep", "other")
BORN = [
    Started(
        id,
        Millis(number * SECOND),
        Origin("born", number, 0),
        agent="main" if id == "session" else "worker",
        depth=0 if id == "session" else number,
        parent=IDS[number - 1] if 0 < number < 4 else None,
        product="codex",
    )
    for number, id in enumerate(IDS)
]
"""A session, three agents each below the other, and one that stands alone."""

ids = st.sampled_from(IDS)
moment = st.integers(0, 20).map(lambda number: Millis(number * SECOND))
unplaced: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        Started,
        id=ids,
        at=moment,
        origin=st.just(Origin("log", 0, 0)),
        agent=st.sampled_from([None, "main", "boss", "worker"]),
        depth=st.sampled_from([None, 0, 1]),
        timeout=st.sampled_from([None, None, 5 * SECOND]),
        parent=st.sampled_from([None, *IDS]),
        listed=st.booleans(),
        product=st.sampled_from([None, "codex"]),
        task=st.sampled_from([None, "", "7"]),
        refs=st.sampled_from([(), (("b", "1"), ("a", "2"))]),
        guessed=st.booleans(),
    ),
    st.builds(Heard, ids, moment, st.just(Origin("log", 0, 0)), phase=st.sampled_from([None, Phase.IDLE])),
    st.builds(Sighted, ids, moment, st.just(Origin("log", 0, 0)), st.sampled_from([None, Phase.IDLE])),
    st.builds(Described, ids, moment, st.just(Origin("log", 0, 0)), cwd=st.sampled_from(["/work/slow", "/work/p"])),
    st.builds(Awaited, ids, moment, st.just(Origin("log", 0, 0)), moment, st.just("somebody")),
    st.builds(Resumed, ids, moment, st.just(Origin("log", 0, 0))),
    st.builds(Erred, ids, moment, st.just(Origin("log", 0, 0)), st.builds(Fault, recoverable=st.booleans())),
    st.builds(
        Ended,
        ids,
        moment,
        st.just(Origin("log", 0, 0)),
        st.sampled_from([Outcome.COMPLETED, Outcome.LOST]),
        st.sampled_from([Ending.GONE, Ending.GONE, Ending.RETURN, Ending.REGISTRY]),
    ),
    st.builds(
        Surveyed,
        moment,
        st.just(Origin("registry", 0, 0)),
        st.sets(ids, max_size=3).map(lambda found: tuple(sorted(found))),
    ),
)
steps = st.lists(st.tuples(st.lists(unplaced, max_size=3), st.integers(0, 8)), min_size=1, max_size=5)


def policy() -> Policy:
    limits = {"boss": AgentLimits("boss.md", child_timeout=6 * SECOND, project="/work/p")}
    slow = OperatorTimeout("/work/slow*", 9 * SECOND)
    return Policy(timeouts=(slow,), agents=limits, silent_after=4 * SECOND, lost_after=15 * SECOND)


def placed(event: Event, line: int) -> Event:
    """No two records stand at one place."""
    fields: dict[str, Any] = {field: getattr(event, field) for field in event.__struct_fields__}
    return type(event)(**fields | {"origin": Origin(event.origin.source, line, 0)})


def picture(forest: Forest) -> dict[str, Any]:
    return {
        forest.id(handle): (
            forest.delegation(handle),
            forest.state(handle),
            forest.reason(handle),
            forest.deadline(handle),
            forest.parent(handle) is not None and forest.id(forest.parent(handle) or 0),
            forest.link(handle),
        )
        for handle in range(len(forest))
    }


@settings(max_examples=150)
@given(steps, st.randoms(use_true_random=False))
def test_every_look_shows_what_a_fresh_look_at_everything_would(
    steps: list[tuple[list[Event], int]], random: Any
) -> None:
    forest, now = Forest(policy()), 5 * SECOND
    told: list[Event] = [*BORN]
    forest.apply(told)
    forest.advance(Millis(now))
    for batch, later in steps:
        batch = [placed(event, len(told) + number) for number, event in enumerate(batch)]
        told += batch
        now += later * SECOND + 1
        forest.apply(batch)
        forest.advance(Millis(now))
        random.shuffle(told)
        fresh = forest_at(now, told, policy())
        assert picture(forest) == picture(fresh)
        assert forest.counts == fresh.counts


@settings(max_examples=50)
@given(steps, st.integers(1, 60))
def test_what_is_usual_changes_no_state(steps: list[tuple[list[Event], int]], usual: int) -> None:
    told = [*BORN, *(placed(event, line) for line, event in enumerate(e for batch, _ in steps for e in batch))]
    forest = forest_at(15 * SECOND, told, policy())
    before = [forest.state(handle) for handle in range(len(forest))]
    forest.reconsider({("codex", "worker"): (Millis(usual * SECOND), 9)})
    fresh = Forest(forest.policy)
    fresh.apply(told)
    assert not forest.advance(Millis(15 * SECOND))
    fresh.advance(Millis(15 * SECOND))
    assert [fresh.state(handle) for handle in range(len(fresh))] == before
    limits = [
        limit for handle in range(len(fresh)) if (limit := fresh.deadline(handle)) and fresh.state(handle) in ACTIVE
    ]
    soft = [limit for limit in limits if not limit.is_firm and limit.basis is not Basis.WAIT]
    assert all(limit.note.endswith("9 on this machine") for limit in soft)

"""What is kept of assessments is what a fresh look finds, whatever happens in whatever order, and every place that asks
gives the same answer."""

from collections import Counter
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.telling import forest_at

from delegtop.base.clock import MINUTE, Millis
from delegtop.base.origin import Origin, of_host
from delegtop.diagnosis.assessment import Assessment, Key, assess
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.pressing import Pressing
from delegtop.model.events import (
    LOCALHOST,
    Awaited,
    Described,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    HostBeat,
    HostMet,
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
from delegtop.model.policy import AgentLimits, OperatorTimeout, Policy
from delegtop.model.store.ledger import Handle

T0 = 1_700_000_000_000
IDS = tuple(f"s{number}" for number in range(7))
ids = st.sampled_from(IDS)
FAR = "far"
PLACE = st.sampled_from([Origin("log", 0, 0), Origin("log", 0, 0), Origin("log", 0, 0, FAR)])
REGISTRY = st.sampled_from([Origin("registry", 0, 0), Origin("registry", 0, 0, FAR)])

ago = st.one_of(
    st.sampled_from([0, 0, 1, 2, 4, 9, 11, 29, 31, 61, 200, 1500]),
    st.integers(-3, 90),
).map(lambda minutes: Millis(-minutes * MINUTE))
"""When something happened, from the moment in which it is read; now and then a clock is ahead of ours."""
maybe_ago = st.one_of(ago, ago, ago, st.none())
messages = st.sampled_from([None, "no memory", "no network"])
faults = st.builds(Fault, message=messages, recoverable=st.sampled_from([None, True, False]))
PATHS = (None, None, ("o", "a"), ("o", "a", "b"), ("o", "a", "b", "c"))

starts = st.builds(
    Started,
    ids,
    maybe_ago,
    PLACE,
    agent=st.sampled_from([None, "worker", "worker", "planner", "boss"]),
    command=st.sampled_from([None, None, "implement"]),
    task=st.sampled_from([None, None, "7"]),
    path=st.sampled_from(PATHS),
    depth=st.sampled_from([None, 0, 0, 1]),
    timeout=st.sampled_from([None, None, MINUTE, 30 * MINUTE]),
    deadline=st.none() | ago,
    parent=st.one_of(ids, ids, ids, st.none(), st.just("unseen")),
    pid=st.sampled_from([None, 7]),
    host=st.sampled_from([None, LOCALHOST, "far"]),
    listed=st.sampled_from([False, False, False, True]),
    product=st.sampled_from([None, "codex", "codex", "claude-code"]),
    guessed=st.sampled_from([False, False, True]),
)
beats = st.builds(
    Heard,
    ids,
    maybe_ago,
    PLACE,
    doing=st.sampled_from([None, "lake build"]),
    tool=st.sampled_from([None, "bash"]),
    phase=st.none() | st.sampled_from(Phase),
    since=st.sampled_from([None, None, 2 * MINUTE]),
)
ends = st.builds(
    Ended,
    ids,
    maybe_ago,
    PLACE,
    st.sampled_from([*Outcome, Outcome.FAILED, Outcome.INTERRUPTED, Outcome.COMPLETED]),
    st.sampled_from([*Ending, Ending.GONE, Ending.RETURN]),
    st.builds(Report, errors=st.lists(faults, max_size=2).map(tuple)),
)
notes = st.builds(
    Noted,
    ids,
    maybe_ago,
    PLACE,
    st.sampled_from(["review", "loop", "salvage", "copied", "progress"]),
    st.sampled_from(["", "x", "y"]),
)
events: st.SearchStrategy[Event] = st.one_of(
    starts,
    starts,
    beats,
    beats,
    ends,
    ends,
    notes,
    st.builds(Sighted, ids, ago, PLACE, st.none() | st.sampled_from(Phase)),
    st.builds(Described, ids, ago, PLACE, prompt=st.sampled_from([None, "go", "stop"]), cwd=st.just("/work/slow")),
    st.builds(Awaited, ids, ago, PLACE, ago, st.sampled_from(["wait_agent 30 s", "somebody"])),
    st.builds(Resumed, ids, ago, PLACE),
    st.builds(Erred, ids, ago, PLACE, faults),
    st.builds(HostMet, ago, st.just(of_host(FAR)), st.booleans()),
    st.builds(HostBeat, ago, st.just(of_host(FAR)), st.just(7_500), st.sampled_from([0, 0, 10 * MINUTE, -MINUTE])),
    st.builds(Surveyed, ago, REGISTRY, st.sets(ids, max_size=4).map(lambda s: (*sorted(s),))),
)  # fmt: skip

PAUSES = (0, 0, 1, 1_000, *(minutes * MINUTE for minutes in (-40, -2, 1, 2, 4, 8, 11, 31, 61, 300, 1500)))
"""How much time passes; now and then the clock is set back."""


class Step(msgspec.Struct):
    """Events that come in batches, then time that passes, then somebody who asks before all is judged."""

    batches: list[list[Event]]
    pause: int
    asked: list[int]
    usual: int | None = None
    """So long, in minutes, a worker is now known to take. What is learned counts within a minute."""


steps = st.lists(
    st.builds(
        Step,
        st.lists(st.lists(events, max_size=5), max_size=2),
        st.sampled_from(PAUSES),
        st.lists(st.integers(0, len(IDS) - 1), max_size=2),
        st.sampled_from([None, None, None, 5, 20, 100]),
    ),
    min_size=1,
    max_size=6,
)


def policy() -> Policy:
    limits = {"boss": AgentLimits("boss.md", child_timeout=20 * MINUTE)}
    return Policy(timeouts=(OperatorTimeout("/work/slow*", 45 * MINUTE),), agents=limits)


def placed(event: Event, line: int, now: int) -> Event:
    """The event at its own place, its moments counted from now."""
    moved: dict[str, Any] = {"origin": Origin(event.origin.source, line, 0, event.origin.host)}
    for field in ("at", "until", "deadline", "since"):
        if getattr(event, field, None) is not None:
            moved[field] = Millis(now + getattr(event, field))
    return msgspec.structs.replace(event, **moved)


class Watched:
    """A forest that is watched as commands and the dashboard watch one: applied, advanced, told, judged."""

    def __init__(self) -> None:
        self.policy, self.told, self.now = policy(), list[Event](), T0
        self.forest = Forest(self.policy)
        self.forest.advance(Millis(self.now))
        self.assessments = Assessments(self.forest)
        self.pressing = Pressing(self.assessments)

    def take(self, step: Step) -> None:
        touched: set[Handle] = set()
        lives: set[Handle] = set()
        moved = False
        for batch in step.batches:
            batch = [placed(event, len(self.told) + number, self.now) for number, event in enumerate(batch, 1)]
            self.told += batch
            change = self.forest.apply(batch)
            touched |= change.touched
            lives.update(change.lives, change.added)
            moved |= bool(change.moved)
        self.now += step.pause if step.usual is None else max(step.pause, MINUTE)
        if step.usual is not None:
            self.forest.reconsider({("codex", "worker"): (Millis(step.usual * MINUTE), 9)})
        lives |= self.forest.advance(Millis(self.now))
        self.assessments.touch(touched, lives)
        for handle in step.asked:
            if handle < len(self.forest):
                self.assessments.of(handle)
        self.pressing.update(self.assessments.update(), moved=moved)

    def fresh(self) -> Forest:
        """The same forest as somebody sees it who comes now."""
        return forest_at(self.now, self.told, self.policy)


def plain(found: Assessment) -> Assessment:
    """Without the moment at which it is to be looked at again: that may be any before it changes."""
    return msgspec.structs.replace(found, turns=None)


def presses(found: dict[Handle, Assessment], forest: Forest) -> dict[Handle, tuple[Key, int]]:
    """What presses most at or below each, and how many problems of this moment are below it, by asking everybody."""
    told = {handle: (each.key, 0) for handle, each in found.items()}
    for each in found.values():
        above = forest.parent(each.handle)
        while above is not None:
            key, count = told[above]
            told[above] = (min(key, each.key) if each.problem else key), count + each.is_now
            above = forest.parent(above)
    return told


def check(watched: Watched, *, asks: bool) -> None:
    """All is as a fresh look finds it; only who `asks` has those assessed that were glanced at."""
    kept, fresh = watched.assessments, watched.fresh()
    found = {handle: plain(assess(Case(fresh, handle))) for handle in range(len(fresh))}
    problems = sorted((each for each in found.values() if each.problem), key=lambda each: each.key)
    assert kept.waiting == 0
    assert kept.in_order(earlier=True) == [each.handle for each in problems]
    assert kept.in_order() == [each.handle for each in problems if each.is_now]
    assert +Counter(kept.earlier()) == Counter(each.kind for each in problems if not each.is_now)
    pressing = watched.pressing
    assert {handle: (pressing.key(handle), pressing.below(handle)) for handle in found} == presses(found, fresh)
    if not asks:
        return
    assert [plain(each) for each in kept.problems()] == problems
    assert [plain(each) for each in kept.now()] == [each for each in problems if each.is_now]
    assert {handle: plain(kept.of(handle)) for handle in found} == found
    assert kept.waiting == 0, "asking what is up to date leaves nothing to judge"
    assert kept.ranked() == sorted(found, key=lambda handle: (found[handle].key[:3], fresh.name(handle)))


@settings(max_examples=150, deadline=None)
@given(steps)
def test_what_is_kept_is_what_a_fresh_look_finds(steps: list[Step]) -> None:
    watched = Watched()
    for step in steps:
        watched.take(step)
        check(watched, asks=bool(step.asked) or step is steps[-1])

"""Histories of a few delegations: three bursts of work with a sleep between them, and all that may be told of one."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin, of_host
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

STEP = 20_000
PAUSE = 25 * 60_000


def moment(number: int) -> Millis:
    """Ten to a burst."""
    return Millis(1_000_000 + number % 10 * STEP + number // 10 * PAUSE)


some_moment = st.integers(0, 29).map(moment)
moments = st.one_of(st.none(), some_moment, some_moment, some_moment)
hosts = st.sampled_from(["", "", "dev"])
origins = st.builds(Origin, st.sampled_from(["log", "other.log"]), st.integers(1, 60), st.just(0), hosts)
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
    since=st.one_of(st.none(), some_moment),
)
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
        outcome=st.sampled_from([Outcome.COMPLETED, *Outcome]),
        by=st.sampled_from([Ending.TIMEOUT, Ending.RETURN, Ending.REGISTRY, Ending.GONE]),
        report=st.builds(Report, summary=st.sampled_from([None, "done", "half"])),
    ),
    st.builds(
        Ended,
        id=ids,
        at=some_moment,
        origin=st.builds(Origin, st.just("sessions.json"), st.integers(1, 2), st.just(0), hosts),
        outcome=st.sampled_from([Outcome.LOST, Outcome.UNKNOWN]),
        by=st.just(Ending.GONE),
    ),
    st.builds(
        Surveyed,
        at=some_moment,
        origin=st.builds(Origin, st.sampled_from(["registry.json", "old.json"]), st.just(1), st.just(0), hosts),
        ids=st.sets(ids, max_size=3).map(lambda s: tuple(sorted(s))),
    ),
    st.builds(HostMet, at=some_moment, origin=st.just(of_host("dev")), beats=st.booleans()),
    st.builds(
        HostBeat,
        at=some_moment,
        origin=st.just(of_host("dev")),
        lasts=st.just(STEP),
        offset=st.sampled_from([0, 0, 3 * STEP, -STEP]),
    ),
    st.builds(Deviation, origin=origins, kind=st.just("unknown key"), detail=st.just("colour")),
)


def here(batch: Iterable[Event]) -> list[Event]:
    """The same, all of it on this machine."""
    told = (event for event in batch if not isinstance(event, HostMet | HostBeat))
    return [replace(event, origin=replace(event.origin, host="")) for event in told]


def distinct(batch: list[Event]) -> list[Event]:
    """No two records stand at one place; only surveys, one file rewritten, and findings that a process is gone may."""
    placed: dict[Any, Event] = {}
    for event in batch:
        repeats = isinstance(event, Surveyed | HostMet | HostBeat)
        repeats = repeats or (isinstance(event, Ended) and event.origin.source == "sessions.json")
        key = (event.origin, type(event) if repeats else None, getattr(event, "at", None) if repeats else None)
        placed.setdefault(key, event)
    return list(placed.values())

"""A log that is folded in runs is known as if each of its lines was told alone."""

import json
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from delegtop.base.clock import FrozenClock, Millis, WallClock
from delegtop.base.origin import Origin
from delegtop.feed import live_feed
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.live_feed import Feed
from delegtop.feed.log_index import LogGathering
from delegtop.feed.open_sessions import OpenSessions
from delegtop.model.event_runs import EventRun, EventRuns, parts_of
from delegtop.model.events import Ended, Event, Heard, Started
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy
from delegtop.model.store.column_store import ColumnStore
from delegtop.model.store.ledger import Ledger
from delegtop.sources import lines

IDS = st.sampled_from([*(f"sess_177010920{number}_abc{number}" for number in range(5)), "odd", "sess_20269999_x"])
TIMES = st.builds("2026-02-03T09:{:02d}:{:02d}{}".format, st.integers(0, 2), st.integers(0, 2), st.sampled_from("Zz"))
AT = st.one_of(TIMES, TIMES, TIMES, st.just("2026-02-03T10:00:00.5+01:00"), st.just("yesterday"), st.just(None))
NAMES = st.sampled_from(["planner", "writer", ""])
BEAT = st.fixed_dictionaries(
    {"event": st.just("heartbeat"), "at": AT, "session_id": IDS},
    optional={
        "activity": st.sampled_from(["reads", "writes", "half \ud83d", "long " * 1_000]),
        "tool": st.sampled_from(["bash", "edit", None]),
        "tokens": st.sampled_from([0, 7, 2**63 - 1, 2**64, -1]),
        "cost": st.sampled_from([0, 0.5, 1e13]),
    },
)
BEGIN = st.fixed_dictionaries(
    {
        "event": st.just("register"),
        "at": AT,
        "session_id": IDS,
        "delegation_depth": st.integers(0, 2),
        "delegation_path": st.sampled_from([["orchestrator"], ["orchestrator", "planner"], []]),
    },
    optional={
        "parent_session_id": IDS,
        "subagent": NAMES,
        "caller": NAMES,
        "command": NAMES,
        "timeout": st.sampled_from([60, 0.5, -1, None]),
        "deadline": st.sampled_from(["2026-02-03T09:01:00Z", "2026-02-03T11:00:00Z", "soon", None]),
        "task_number": st.sampled_from([7, "8", "", 1.5]),
        "task_context": st.sampled_from([{"task_number": 9, "title": "x"}, {}, 5]),
        "pid": st.sampled_from([4_000_001, -1, None]),
        "host": st.sampled_from(["gpu1", "localhost"]),
    },
)
GIVEN = st.fixed_dictionaries(
    {"status": st.sampled_from(["completed", "failed", "done"]), "summary": st.sampled_from(["Done.", ""])},
    optional={
        "artifacts": st.sampled_from([[], [{"path": "a.md"}], ["a.md"]]),
        "metadata": st.fixed_dictionaries(
            {}, optional={"session_id": IDS | st.just(""), "duration_seconds": st.just(3), "agent_type": NAMES}
        ),
        "errors": st.just([{"message": "no", "recoverable": False}]),
        "next_steps": st.just("Go on."),
        "session_id": IDS,
        "more": st.just(1),
    },
)
END = st.fixed_dictionaries({"event": st.just("return"), "at": AT, "session_id": IDS, "return": GIVEN})
RARE = st.fixed_dictionaries(
    {"event": st.sampled_from(["timeout", "cancel", "error", "else"]), "at": AT, "session_id": IDS},
    optional={"error": st.just({"message": "no", "recoverable": False}), "reason": st.just("enough")},
)


def written(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry).encode()


PLAIN = st.one_of(BEAT, BEGIN, END).map(written)
RAW = st.one_of(
    *[PLAIN] * 8,
    RARE.map(written),
    st.builds(lambda one, other: one + other, PLAIN, PLAIN),  # glued
    st.builds(lambda raw, at: raw[:at], PLAIN, st.integers(0, 80)),  # torn
    st.builds(lambda raw, number: b"\0" * number + raw, PLAIN, st.integers(1, 9)),
    st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"")),
)
ALIVE = b'{"event": "heartbeat", "at": "2026-02-03T09:00:00Z", "session_id": "sess_1770109200_abc0"}'
LOG = st.lists(RAW, max_size=30).flatmap(
    lambda raws: st.lists(st.sampled_from(raws or [b""]), max_size=4).map(lambda again: [*raws, *again])
)


def seen(value: Any) -> Any:
    """A part of a store, to be compared: what stands in columns, in order."""
    if isinstance(value, ColumnStore):
        return {name: seen(part) for name, part in value.parts()}
    if isinstance(value, array):
        return value.tolist()
    if isinstance(value, dict):
        return {key: seen(part) for key, part in value.items()}
    return list(value.things) if hasattr(value, "things") else value


def columns(ledger: Ledger) -> dict[str, Any]:
    """All of a ledger, but what was said last by those who ended: with the end, or beside it if it came later."""
    found: dict[str, Any] = seen(ledger)
    del found["ends"]["_archive"], found["pulse"], found["registries"]
    for name in ("doing", "accounts", "_words"):  # the latter say themselves whether they are equal to others
        del found["signs"][name]
    whole: dict[str, Any] = {"minutes": [*ledger.pulse.minutes], "rows": [ledger.delegation(row) for row in ledger]}
    return found | whole


def folded(parts: Sequence[Event | EventRun]) -> tuple[Ledger, list[set[int]]]:
    ledger, changes = Ledger(), [set[int]() for _ in range(4)]
    ledger.apply(parts, *changes)
    return ledger, changes


def one_by_one(events: Sequence[Event]) -> tuple[Ledger, list[set[int]]]:
    ledger, changes = Ledger(), [set[int]() for _ in range(4)]
    for event in events:
        ledger.apply([event], *changes)
    return ledger, changes


def read(path: Path, **how: Any) -> tuple[list[Event], list[Event | EventRun], list[SourceStatus]]:
    """What a feed tells of it: as events, in parts, and how the file is said to stand."""
    events, parts = list[Event](), list[Event | EventRun]()
    how.setdefault("clock", WallClock())
    feed = Feed([str(path)], format="session-log", **how)
    for batch in feed.read_all():
        told = [event for event in batch.events if not event.origin.is_kernel]
        events += told
        parts += parts_of(batch.events) if len(told) == len(batch.events) else told
    statuses = [*feed.statuses()]
    feed.close()
    return events, parts, statuses


@pytest.fixture(autouse=True)
def _nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("delegtop.feed.session_processes.process_source.can_tell", lambda: False)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(LOG, st.sampled_from([64, 300, 900, 64 * 1024]), st.sampled_from([1, 3, 256]), st.booleans())
def test_whatever_stands_in_it(
    tmp_path_factory: pytest.TempPathFactory, raws: list[bytes], chunk: int, batch: int, ended: bool
) -> None:
    path = tmp_path_factory.mktemp("log") / "run.jsonl"
    path.write_bytes(b"\n".join(raws) + b"\n" * ended)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CHUNK", chunk)
        patch.setattr(live_feed, "BATCH", batch)
        patch.setattr(live_feed, "IN_RUNS", batch)
        events, parts, statuses = read(path)
    heard: list[Any] = []
    alone, plain, alone_statuses = read(path, witness=lambda _line, told: heard.extend(told))
    assert events == alone
    assert statuses == alone_statuses
    assert not any(isinstance(part, EventRun) for part in plain)
    late, _, _ = read(path, clock=FrozenClock(Millis(2_000_000_000_000)))
    assert sorted(map(repr, late)) == sorted(map(repr, alone))
    in_runs, single = folded(parts), one_by_one(alone)
    assert columns(in_runs[0]) == columns(single[0])
    assert in_runs[1] == single[1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(LOG, st.integers(0, 40), st.integers(0, 40), st.sampled_from(["", "gpu1"]))
@example([ALIVE, ALIVE], 1, 1, "")  # nothing, out of the middle of a run
def test_for_those_who_take_events(
    tmp_path_factory: pytest.TempPathFactory, raws: list[bytes], first: int, end: int, host: str
) -> None:
    """A piece of them is that piece, trees of several hosts and what is kept of a log know the same."""
    path = tmp_path_factory.mktemp("log") / "run.jsonl"
    path.write_bytes(b"\n".join(raws) + b"\n")
    events, parts, _ = read(path)
    runs = EventRuns(parts)
    assert [*runs] == events == [runs[at] for at in range(len(runs))]
    assert [*runs[first:end]] == events[first:end]
    assert columns(folded(runs[first:end].parts)[0]) == columns(one_by_one(events[first:end])[0])

    met = Started("sess_1770109200_abc0", Millis(1), Origin("x", 1, 0, host), "planner")
    trees = [Forest(Policy()), Forest(Policy())]
    for forest, told in zip(trees, (runs, events), strict=True):
        forest.apply([met])
        forest.apply(told)
        forest.advance(Millis(1_770_200_000_000))
    one, other = ([(f.full_id(row), f.state(row), f.parent(row), f.delegation(row)) for row in f.walk()] for f in trees)
    assert one == other
    assert trees[0].counts == trees[1].counts

    gathered, kept = LogGathering(), LogGathering()
    gathered.take(parts)
    for event in events:
        kept.take([event])
    assert columns(gathered.ledger) == columns(kept.ledger)
    assert [*gathered.running] == [*kept.running]


def plain_run(line: int) -> EventRun:
    """A start, a sign of life and an end, in this order."""
    id, at = f"sess_1770109200_abc{line}", Millis(1_770_109_200_000 + line)
    return EventRun(
        Origin("run.jsonl", line, 10 * line),
        [id] * 3,
        [(id, at, line + 1, 10 * line + 1, "reads", None, 5, None, None)],
        [(id, at, line, 10 * line, "planner", None, None, None, None, 1, None, None, None, None, None)],
        [],
    )


def test_many_plain_lines_are_few_runs(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    entries: list[dict[str, Any]] = [
        {"event": "register", "delegation_depth": 1, "delegation_path": ["orchestrator"]},
        {"event": "heartbeat", "activity": "reads"},
        {"event": "return", "return": {"status": "completed", "summary": "", "artifacts": [], "metadata": {}}},
    ]
    about = {"at": "2026-02-03T09:00:00Z", "session_id": "sess_1770109200_abc"}
    path.write_bytes(b"".join(written(entry | about) + b"\n" for entry in entries * 100))
    events, parts, (status,) = read(path)
    assert [len(part) for part in parts if isinstance(part, EventRun)] == [300]
    assert [type(event) for event in events[:3]] == [Started, Heard, Ended]
    assert status.records == 300


def test_who_looks_for_sessions_hears_of_all_that_runs_tell_of_them() -> None:
    session = Started("sess_1770109200_abc1", Millis(1), Origin("a", 1, 0), depth=0, product="claude-code")

    def open_ones(told: Sequence[Event | EventRun]) -> list[Any]:
        sessions = OpenSessions(lambda _origin: True)
        sessions.take([session])
        sessions.take(told)
        return [*sessions.at_work()]

    run = plain_run(1)[:2]
    assert open_ones([run]) == open_ones([*run]) != open_ones([])

"""Lines that are read together tell what they tell one by one."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.test_dialects_never_crash import EVENTS, NESTED

from delegtop.base.clock import WallClock
from delegtop.feed.live_feed import Feed
from delegtop.model.events import Event
from delegtop.protocols.standard.dialects.session_log import SessionLog
from delegtop.sources.records import Line, LineBlock

SAMPLES = sorted(path for path in (Path(__file__).parents[2] / "sample_logs").iterdir() if path.is_dir())
PLAIN = st.fixed_dictionaries(
    {
        "at": st.sampled_from(["2026-02-03T09:00:00Z", "2026-02-03T09:00:01.5+01:00"]),
        "session_id": st.sampled_from(["sess_20260203_abc123", "sess_1770109200_abc123_7", "odd"]),
        "event": EVENTS,
    },
    optional={
        "activity": st.text(max_size=12) | st.just("long " * 1_000),
        "tokens": st.integers(-1, 2**70),
        "delegation_depth": st.just(1),
        "delegation_path": st.just(["orchestrator", "plan"]),
        "return": st.fixed_dictionaries(
            {
                "status": st.sampled_from(["completed", "done"]),
                "summary": st.just("Planned."),
                "artifacts": st.just([]),
                "metadata": st.fixed_dictionaries(
                    {
                        "session_id": st.sampled_from(["sess_20260203_abc123", "other"]),
                        "duration_seconds": st.just(3),
                        "agent_type": st.just("plan"),
                        "delegation_depth": st.just(1),
                        "delegation_path": st.just(["orchestrator", "plan"]),
                    }
                ),
            }
        ),
    },
)
RAWS = st.lists(
    st.one_of(
        PLAIN.map(lambda entry: json.dumps(entry).encode()),
        NESTED.map(lambda entry: json.dumps(entry).encode()),
        st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")),
    ).map(lambda raw: raw + b"\n"),
    max_size=12,
)


@given(RAWS)
def test_in_the_session_log(raws: list[bytes]) -> None:
    one_by_one = [list(SessionLog().read(line)) for line in LineBlock("run.jsonl", 7, 99, list(raws)).lines()]
    together: list[list[Any]] = []
    for told in SessionLog().read_block(LineBlock("run.jsonl", 7, 99, list(raws)), 4_096):
        together.append(list(SessionLog().read(told)) if isinstance(told, Line) else [told])
    assert together == one_by_one


@given(RAWS, st.data())
def test_what_is_reached_is_what_was_taken(raws: list[bytes], data: st.DataObject) -> None:
    block, taken = LineBlock("run.jsonl", 7, 99, raws), data.draw(st.integers(0, len(raws)))
    lines = block.lines()
    for _ in range(taken):
        next(lines)
    assert block.reached == (99 + sum(map(len, raws[:taken])), 6 + taken)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_in_every_sample(sample: Path) -> None:
    """Whoever listens to every line is told them one by one."""
    told: list[list[Event]] = []
    for witness in (None, lambda _line, _told: None):
        feed = Feed([str(sample)], clock=WallClock(), witness=witness)
        told.append([event for batch in feed.read_all() for event in batch.events if not event.origin.is_kernel])
        feed.close()
    assert told[0]
    assert told[0] == told[1]

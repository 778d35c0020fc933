"""Lines that are read together tell what they tell one by one."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.test_dialects_never_crash import EVENTS, NESTED

from delegtop.agents.claude_code.transcript_dialect import ClaudeCode
from delegtop.agents.claude_code.wire import WireUsage
from delegtop.base.clock import WallClock
from delegtop.dialects.kit.tokens import Tokens, charge_of
from delegtop.feed.live_feed import Feed
from delegtop.model.call_durations import CallCounts
from delegtop.model.event_runs import EventRun
from delegtop.model.events import Described, Event, Heard, Phase
from delegtop.model.store.ledger import Ledger
from delegtop.protocols.standard.dialects.session_log import SessionLog
from delegtop.sources.records import Line, LineBlock, Unreadable

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


SESSION = "0a0b0c0d-0000-4000-8000-000000000001"
USED = st.fixed_dictionaries({"input_tokens": st.integers(-1, 300_000), "output_tokens": st.just(7)})
USES = st.fixed_dictionaries({"input_tokens": st.sampled_from([1, 2]), "output_tokens": st.just(7)})
CALLS = st.sampled_from(["t1", "t2", "t3"])
BLOCK = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": st.sampled_from(["Done.", "word " * 1_000])}),
    st.fixed_dictionaries(
        {
            "type": st.just("tool_use"),
            "id": CALLS,
            "name": st.sampled_from(["Read", "Bash", "Agent", "AskUserQuestion", "TaskOutput"]),
            "input": st.sampled_from([{"file_path": "/a"}, {"command": "make", "timeout": 9}, {"task_id": "a1"}, 5]),
        }
    ),
    st.fixed_dictionaries({"type": st.just("tool_result"), "tool_use_id": CALLS, "content": st.just("ok")}),
)
SAID = st.fixed_dictionaries(
    {"content": st.just("Look") | st.lists(BLOCK, max_size=3)},
    optional={
        "id": st.sampled_from(["m1", "m2"]),
        "model": st.sampled_from(["claude-opus-5-5", "<synthetic>"]),
        "stop_reason": st.sampled_from(["tool_use", "end_turn"]),
        "usage": USED,
    },
)
WHEN = st.builds("2026-02-03T09:{:02d}:{:02d}Z".format, st.integers(0, 3), st.sampled_from([0, 30, 59]))
SPOKEN = st.fixed_dictionaries(
    {"sessionId": st.just(SESSION), "type": st.sampled_from(["user", "assistant"]), "timestamp": WHEN, "message": SAID}
)
NOW_AND_THEN = st.fixed_dictionaries(
    {"sessionId": st.just(SESSION), "type": st.sampled_from(["user", "assistant", "system", "ai-title", "mode"])},
    optional={
        "timestamp": WHEN,
        "message": SAID,
        "permissionMode": st.sampled_from(["plan", "default"]),
        "isMeta": st.booleans(),
        "isSidechain": st.just(True),
        "uuid": st.sampled_from(["u1", "u2"]),
        "parentUuid": st.sampled_from(["u1", "u2"]),
        "agentId": st.sampled_from(["a1", "acompact-1"]),
        "isApiErrorMessage": st.just(True),
        "subtype": st.sampled_from(["api_error", "turn_duration"]),
        "aiTitle": st.just("Look"),
    },
)
MODE = st.fixed_dictionaries(
    {"sessionId": st.just(SESSION), "type": st.sampled_from(["mode", "user"]), "permissionMode": st.just("plan")}
)
OVER = "<task-id>a1</task-id><tool-use-id>t1</tool-use-id><status>completed</status>"
OVER = f"<task-notification>{OVER}</task-notification>"
WITHIN = {"type": "assistant", "timestamp": "2026-02-03T09:02:10Z", "message": {"id": "m7", "content": []}}
PROGRESS = st.fixed_dictionaries(
    {
        "type": st.just("progress"),
        "parentToolUseID": CALLS,
        "data": st.sampled_from(
            [
                {"type": "hook_progress"},
                {"type": "bash_progress"},
                {"type": "agent_progress", "agentId": "a1", "message": WITHIN},
                {"type": "agent_progress", "message": 5},
            ]
        ),
    }
)
ASIDE = st.builds(
    lambda told, at: {"sessionId": SESSION, "timestamp": at, **told},
    PROGRESS
    | st.sampled_from(
        [
            {"type": "attachment", "attachment": {"type": "hook"}},
            {"type": "attachment", "attachment": {"type": "queued_command", "prompt": OVER}},
            {"type": "queue-operation", "operation": "enqueue", "content": OVER},
            {"type": "cost-state", "totalCostUSD": 1.5},
            {"type": "api-request", "querySource": "sdk"},
            {"type": "file-history-snapshot"},
        ]
    ),
    WHEN | st.none(),
)
"""Records that are no sign of life, or one besides."""
WRITTEN = st.one_of(SPOKEN, SPOKEN, SPOKEN, NOW_AND_THEN, MODE, ASIDE)
SPACED = st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :")])
TRANSCRIPT = st.lists(
    st.one_of(
        *4 * [st.builds(lambda entry, signs: json.dumps(entry, separators=signs).encode(), WRITTEN, SPACED)],
        NESTED.map(lambda entry: json.dumps(entry).encode()),
        st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")),
    ).map(lambda raw: raw + b"\n"),
    max_size=16,
)
BEGUN = json.dumps(
    {"type": "user", "sessionId": SESSION, "timestamp": "2026-02-03T09:00:00Z", "message": {"content": "Go"}}
).encode()
BEGUN += b"\n"
CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a"}}
PATH = f"/home/me/.claude/projects/-srv-work/{SESSION}.jsonl"


@given(TRANSCRIPT)
def test_in_a_transcript(raws: list[bytes]) -> None:
    alone, together = ClaudeCode(), ClaudeCode()
    one_by_one = [list(alone.read(line)) for line in LineBlock(PATH, 1, 0, list(raws)).lines()]
    found = together.read_block(LineBlock(PATH, 1, 0, list(raws)), 4_096)
    assert [list(told) if isinstance(told, tuple) else [told] for told in found] == one_by_one
    longer = [told for told, raw in zip(found, raws, strict=True) if len(raw) > 4_097]
    assert all(isinstance(told, tuple) for told in longer)


@settings(max_examples=150)
@given(TRANSCRIPT, st.integers(0, 16))
def test_signs_of_life_that_are_left_out_are_outdone(raws: list[bytes], half: int) -> None:
    """All that is known is the same, and so many lines told something."""
    raws = [BEGUN, *raws]
    whole, brief = _Known(is_brief=False), _Known(is_brief=True)
    for known in (whole, brief):
        known.read(raws[:half], 1, 0)
        known.read(raws[half:], 1 + len(raws[:half]), sum(map(len, raws[:half])))
    assert brief.told <= whole.told
    assert [*brief.ledger.pulse.minutes] == [*whole.ledger.pulse.minutes]
    assert brief.all() == whole.all()
    assert brief.records == whole.records


@settings(max_examples=300)
@given(TRANSCRIPT, st.lists(st.integers(0, 17), max_size=6))
def test_where_blocks_end_changes_nothing(raws: list[bytes], ends: list[int]) -> None:
    """Whether every sign of life is told or only the last."""
    raws = [BEGUN, *raws]
    whole, brief = _Known(is_brief=False), _Known(is_brief=True)
    whole.read(raws, 1, 0)
    for begin, end in pairwise([0, *sorted(ends), len(raws)]):
        brief.read(raws[begin:end], 1 + begin, sum(map(len, raws[:begin])))
    assert brief.all() == whole.all()
    assert [*brief.ledger.pulse.minutes] == [*whole.ledger.pulse.minutes]
    assert brief.records == whole.records


def test_of_a_sign_of_life_that_one_of_another_minute_outdoes_only_its_time_is_told() -> None:
    used = {"id": "m1", "model": "claude-opus-5-5", "usage": {"input_tokens": 5}, "content": [CALL]}
    said = {"type": "assistant", "sessionId": SESSION, "message": used}
    times = ("09:00:01", "09:00:02", "09:01:00")
    raws = [json.dumps({**said, "timestamp": f"2026-02-03T{time}Z"}).encode() + b"\n" for time in times]
    known = _Known(is_brief=True)
    known.read([BEGUN, raws[0]], 1, 0)
    first, second, third = known.dialect.read_block(LineBlock(PATH, 3, 900, [raws[1], raws[1], raws[2]]), 4_096)
    assert first is None
    assert isinstance(second, Heard)
    assert isinstance(third, Heard)
    assert (second.at, second.tool, second.tokens, second.phase) == (1_770_109_202_000, None, None, None)
    assert (third.tool, third.tokens, third.phase) == ("Read", 5, Phase.TOOL)


@given(
    st.lists(st.tuples(st.sampled_from(["m1", "m2"]), st.none() | USES, st.sampled_from(["a", "b", None])), max_size=8)
)
def test_an_answer_that_is_told_again_is_counted_as_if_nobody_knew(
    told: list[tuple[str, dict[str, int] | None, str | None]],
) -> None:
    """What it used is looked at only where it is not what the record before it said."""
    tokens, known = Tokens(), _Known(is_brief=True)
    raws = [BEGUN]
    for id, usage, model in told:
        message: dict[str, Any] = {"id": id, "usage": usage, "model": model, "content": []}
        entry = {"type": "assistant", "sessionId": SESSION, "timestamp": "2026-02-03T09:00:01Z", "message": message}
        raws.append(json.dumps(entry).encode() + b"\n")
        if usage is not None:
            new, counts = WireUsage(usage["input_tokens"], output_tokens=usage["output_tokens"]).spent()
            tokens.add(id, new, charge_of(model, counts))
    known.read(raws, 1, 0)
    (session,) = known.all().values()
    assert (session.tokens, {*session.usage}) == (tokens.total or None, {*(tokens.used or ())})


@settings(max_examples=300)
@given(TRANSCRIPT, st.integers(0, 16))
def test_calls_are_counted_alike_whether_or_not_each_sign_of_life_is_told(raws: list[bytes], half: int) -> None:
    raws = [BEGUN, *raws]
    heeded, whole, brief = CallCounts(), CallCounts(), CallCounts()
    for counts, is_brief in ((None, False), (whole, False), (brief, True)):
        known = _Known(is_brief=is_brief, calls=counts, heeds=heeded if counts is None else None)
        known.read(raws[:half], 1, 0)
        known.read(raws[half:], 1 + len(raws[:half]), sum(map(len, raws[:half])))
    assert _counted(brief) == _counted(whole) == _counted(heeded)


@pytest.mark.parametrize(
    ("tool", "counted"), [("Bash", {("Bash", "make"): 1}), ("Read", {("Read", ""): 1}), ("AskUserQuestion", {})]
)
def test_a_call_counts_also_if_no_sign_of_it_is_told(tool: str, counted: dict[tuple[str | None, str], int]) -> None:
    """By its command, which is read for that alone; and not if it waits for a person."""
    use = {"type": "tool_use", "id": "t1", "name": tool, "input": {"command": "make all"}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    written = [
        {"type": "assistant", "timestamp": "2026-02-03T09:01:10Z", "message": {"id": "m1", "content": [use]}},
        {"type": "user", "timestamp": "2026-02-03T09:01:40Z", "message": {"content": [back]}},
        {"type": "user", "timestamp": "2026-02-03T09:01:50Z", "message": {"content": "Go on"}},
    ]
    raws = [BEGUN, *(json.dumps({"sessionId": SESSION, **each}).encode() + b"\n" for each in written)]
    counts = CallCounts()
    known = _Known(is_brief=True, calls=counts)
    known.read(raws, 1, 0)
    assert known.told == 4  # the start, the prompt, and of each minute one sign
    spreads = {(each.tool, each.program): sum(each.counts) for one in counts.all() for each in one.spreads}
    assert spreads == counted | {(None, ""): 2}


def _counted(counts: CallCounts) -> dict[tuple[str, str | None, str], tuple[int, ...]]:
    return {(one.id, each.tool, each.program): each.counts for one in counts.all() for each in one.spreads}


@pytest.mark.parametrize(
    "then",
    [
        {"type": "mode", "permissionMode": "plan"},
        {"type": "ai-title", "aiTitle": "Look", "timestamp": "2026-02-03T09:00:20Z"},
        {"type": "user", "isSidechain": True, "uuid": "u", "timestamp": "2026-02-03T09:00:20Z", "message": {}},
        {"type": "user", "timestamp": "2026-02-03T09:02:00Z", "message": {}},
        {"type": "progress", "timestamp": "2026-02-03T09:02:00Z", "data": {"type": "bash_progress"}},
        {"type": "progress", "timestamp": "2026-02-03T09:02:00Z", "data": {"type": "hook_progress"}},
        {"type": "system", "subtype": "api_error", "retryAttempt": 2, "timestamp": "2026-02-03T09:02:00Z"},
        {"type": "api-request", "querySource": "sdk"},
    ],
    ids=[
        "another mode",
        "a title",
        "another writer",
        "another minute",
        "a command that goes on",
        "a hook",
        "an error",
        "a request",
    ],
)
def test_a_sign_of_life_is_told_as_it_was_before(then: dict[str, Any]) -> None:
    """What comes after it changes nothing of it, unless it outdoes it."""
    heard = {"type": "user", "timestamp": "2026-02-03T09:01:10Z", "message": {"content": "Go on"}}
    raws = [BEGUN, *(json.dumps({"sessionId": SESSION, **each}).encode() + b"\n" for each in (heard, then))]
    whole, brief = _Known(is_brief=False), _Known(is_brief=True)
    for known in (whole, brief):
        known.read(raws, 1, 0)
    assert brief.all() == whole.all()
    assert [*brief.ledger.pulse.minutes] == [*whole.ledger.pulse.minutes]


class _Known:
    """What is known after blocks of one transcript."""

    def __init__(self, *, is_brief: bool, calls: CallCounts | None = None, heeds: CallCounts | None = None) -> None:
        self.ledger = Ledger()
        self.records = self.told = 0
        self.dialect = ClaudeCode()
        self.dialect.is_brief, self.dialect.calls = is_brief, calls
        self._heeds = heeds

    def read(self, raws: list[bytes], line: int, offset: int) -> None:
        for told in self.dialect.read_block(LineBlock(PATH, line, offset, list(raws)), 4_096):
            assert not isinstance(told, Line | EventRun)
            events = [
                each for each in (told if isinstance(told, tuple) else (told,)) if not isinstance(each, Unreadable)
            ]
            self.records += bool(events)
            self.told += len(kept := [event for event in events if event is not None])
            self.ledger.apply(kept, set(), set(), set(), set())
            if self._heeds is not None:
                self._heeds.heed(kept)

    def all(self) -> dict[str, Any]:
        return {self.ledger.ids[handle]: self.ledger.delegation(handle) for handle in self.ledger}


def test_signs_of_life_of_one_minute_are_told_once() -> None:
    asked = {"type": "user", "sessionId": SESSION, "message": {"content": "Go on"}}
    times = ("09:00:01", "09:00:02", "09:00:59", "09:01:00", "09:01:30")
    raws = [json.dumps({**asked, "timestamp": f"2026-02-03T{time}Z"}).encode() + b"\n" for time in times]
    dialect = ClaudeCode()
    dialect.is_brief = True
    began, *told = dialect.read_block(LineBlock(PATH, 1, 0, raws), 4_096)
    assert isinstance(began, tuple)
    assert [each and each.origin.line for each in told if not isinstance(each, Line | tuple)] == [None, 3, None, 5]


def test_a_sign_of_life_waits_while_others_are_told_of() -> None:
    """What is no sign of it, or goes on, or tells more besides, has it told no sooner."""
    used = {"id": "m1", "model": "claude-opus-5-5", "content": [CALL]}
    aside: tuple[dict[str, Any], ...] = (
        {"type": "assistant", "message": used},
        {"type": "progress", "data": {"type": "hook_progress"}},
        {"type": "attachment", "attachment": {"type": "hook"}},
        {"type": "ai-title", "aiTitle": "Look"},
        {"type": "progress", "data": {"type": "bash_progress"}},
    )
    raws = [
        json.dumps({"sessionId": SESSION, "timestamp": f"2026-02-03T09:00:{second:02d}Z", **each}).encode() + b"\n"
        for second, each in enumerate(aside, 1)
    ]
    known = _Known(is_brief=True)
    known.read([BEGUN], 1, 0)
    told = known.dialect.read_block(LineBlock(PATH, 2, 900, raws), 4_096)
    model, hook, attachment, title, going_on = told
    assert (hook, attachment) == ((), ())
    assert [type(each) for each in (model, title, going_on)] == [Described, Described, Heard]


@given(RAWS)
def test_in_the_session_log(raws: list[bytes]) -> None:
    one_by_one = [list(SessionLog().read(line)) for line in LineBlock("run.jsonl", 7, 99, list(raws)).lines()]
    together: list[list[Any]] = []
    for told in SessionLog().read_block(LineBlock("run.jsonl", 7, 99, list(raws)), 4_096):
        if isinstance(told, EventRun):
            together += [[event] for event in told]
        else:
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

"""Qwen Code: transcripts for what goes on, sidecars for who is whose and how it stands."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.telling import forest_at, handle_of

from delegtop.agents.claude_code.transcript_dialect import ClaudeCode
from delegtop.agents.qwen.qwen_transcripts import Qwen
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Sample, Unit, recognise
from delegtop.dialects.format_table import FORMATS
from delegtop.model.delegation import Delegation
from delegtop.model.events import Deviation, Phase, Resumed, Started
from delegtop.model.states import State
from delegtop.model.usage import Usage
from delegtop.sources.records import Line, Unreadable

REAL = os.environ.get("DELEGTOP_REAL_LOGS", "")
NOW = Millis(1_770_109_260_000)
SESSION = "s-1"
META = {
    "agentId": "a1",
    "agentType": "explore",
    "description": "Look around",
    "parentSessionId": SESSION,
    "toolUseId": "call-1",
    "createdAt": "2026-02-03T09:00:10Z",
    "lastUpdatedAt": "2026-02-03T09:00:40Z",
    "status": "running",
    "isBackgrounded": False,
    "model": "coder",
}


def line(second: int, kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    told = {
        "uuid": f"u{second}",
        "parentUuid": None,
        "sessionId": SESSION,
        "type": kind,
        "cwd": "/w",
        "version": "0.21",
    }
    stamp = f"2026-02-03T09:00:{second:02d}Z"
    return {**told, "timestamp": stamp, "message": {"role": "user", "parts": list(parts)}, **more}


def read(*values: dict[str, Any], path: str = f"/q/chats/{SESSION}.jsonl") -> list[Any]:
    dialect = Qwen()
    made = [Line(Origin(path, n, n * 100), json.dumps(value).encode(), NOW) for n, value in enumerate(values, 1)]
    return [event for each in made for event in dialect.read(each)]


def row(id: str, *events: Any) -> tuple[Delegation, State]:
    made = forest_at(NOW, events)
    handle = handle_of(made, id)
    return made.delegation(handle), made.state(handle)


ASKED = line(1, "user", {"text": "context"}, systemPayload={"displayText": "Fix the build"})
CALLS = line(2, "assistant", {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}}})
RESULT = line(3, "tool_result", {"functionResponse": {"id": "c1", "name": "run_shell_command"}})
ANSWER = line(
    4, "assistant", {"text": "hm", "thought": True}, {"text": "Fixed."}, usageMetadata={"totalTokenCount": 50}
)


def test_a_session_is_a_root_row() -> None:
    found, state = row(SESSION, *read(ASKED, CALLS, RESULT, ANSWER))
    assert (found.agent, found.depth, found.cwd, found.version) == ("qwen", 0, "/w", "0.21")
    assert (found.title, found.doing, found.tokens, state) == ("Fix the build", "Fixed.", 50, State.IDLE)


@pytest.mark.parametrize(
    ("told", "phase", "doing"),
    [([ASKED], Phase.MODEL, None), ([ASKED, CALLS], Phase.TOOL, "make"), ([ASKED, CALLS, RESULT], Phase.MODEL, None)],
)
def test_what_it_is_in_the_middle_of(told: list[dict[str, Any]], phase: Phase, doing: str | None) -> None:
    found, _ = row(SESSION, *read(*told))
    assert (found.phase, found.doing) == (phase, doing)


def test_waiting_for_an_agent_is_waiting_for_a_child() -> None:
    spawn = line(2, "assistant", {"functionCall": {"id": "c1", "name": "agent", "args": {"description": "Look"}}})
    assert row(SESSION, *read(ASKED, spawn))[0].phase is Phase.CHILD


def test_a_sidecar_names_the_agent_its_parent_and_its_call() -> None:
    found, state = row(f"{SESSION}/a1", *read(META))
    assert (found.agent, found.title, found.model, found.depth, found.parent) == (
        "explore",
        "Look around",
        "coder",
        1,
        SESSION,
    )
    assert dict(found.refs) == {"agent_id": "a1", "session_id": SESSION, "tool_use_id": "call-1"}
    assert state is State.RUNNING


def test_an_agent_of_an_agent_hangs_under_it() -> None:
    (started,) = [each for each in read({**META, "agentId": "a2", "parentAgentId": "a1"}) if isinstance(each, Started)]
    assert (started.id, started.parent, started.depth) == (f"{SESSION}/a2", f"{SESSION}/a1", None)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("completed", State.COMPLETED),
        ("failed", State.FAILED),
        ("cancelled", State.INTERRUPTED),
        ("paused", State.IDLE),
        ("running", State.RUNNING),
    ],
)
def test_the_sidecar_says_how_it_stands(status: str, state: State) -> None:
    found, told = row(f"{SESSION}/a1", *read({**META, "status": status, "lastError": "no quota"}))
    assert told is state
    assert [fault.message for fault in found.report.errors] == (["no quota"] if status == "failed" else [])


def test_an_unknown_status_deviates() -> None:
    assert [each.kind for each in read({**META, "status": "dreaming"}) if isinstance(each, Deviation)] == [
        "unknown status"
    ]


def test_a_resumed_agent_runs_again() -> None:
    over = {**META, "status": "completed", "lastUpdatedAt": "2026-02-03T09:00:20Z"}
    events = [*read(over), *read({**META, "resumeCount": 1})]
    assert [each for each in events if isinstance(each, Resumed)]
    assert row(f"{SESSION}/a1", *events)[1] is State.RUNNING


def test_the_transcript_of_an_agent_tells_of_the_row_that_its_sidecar_started() -> None:
    folder = f"/q/subagents/{SESSION}"
    inner = read(ASKED, CALLS, path=f"{folder}/agent-a1.jsonl")
    assert {each.id for each in inner} == {f"{SESSION}/a1"}
    found, _ = row(f"{SESSION}/a1", *read(META, path=f"{folder}/agent-a1.meta.json"), *inner)
    assert (found.agent, found.prompt, found.phase, found.tool) == (
        "explore",
        "Fix the build",
        Phase.TOOL,
        "run_shell_command",
    )


def test_the_title_of_an_agent_is_what_its_sidecar_says_and_its_prompt_only_without_one() -> None:
    folder = f"/q/subagents/{SESSION}"
    meta = read({**META, "createdAt": "2026-02-03T09:00:50Z"}, path=f"{folder}/agent-a1.meta.json")
    inner = read(ASKED, path=f"{folder}/agent-a1.jsonl")
    assert row(f"{SESSION}/a1", *meta, *inner)[0].title == "Look around"
    nameless = read({**META, "description": ""}, path=f"{folder}/agent-a1.meta.json")
    assert row(f"{SESSION}/a1", *nameless, *inner)[0].title == "Fix the build"


def test_transcripts_and_sidecars_are_told_apart_and_from_claude_code() -> None:
    log = Sample("x.jsonl", json.dumps(ASKED).encode() + b"\n", True)
    sidecar = Sample("x.meta.json", json.dumps(META, indent=1).encode(), True)
    assert (Qwen.sniff(log), Qwen.unit_of(log)) == (95, Unit.LINES)
    assert (Qwen.sniff(sidecar), Qwen.unit_of(sidecar)) == (95, Unit.DOCUMENT)
    claude = {**ASKED, "message": {"role": "user", "content": "hi"}}
    del claude["systemPayload"]
    assert Qwen.sniff(Sample("x.jsonl", json.dumps(claude).encode(), True)) == 0
    assert Qwen.sniff(Sample("agent-a.meta.json", b'{"agentType":"explore","toolUseId":"t"}', True)) == 0


def test_of_records_in_the_envelope_of_claude_code_the_first_tells_whose_the_log_is() -> None:
    own = json.dumps({"parentUuid": None, **ASKED}, separators=(",", ":")).encode() + b"\n"
    claude = own.replace(b'"parts":', b'"content":').replace(b"systemPayload", b"payload")
    queued = json.dumps({"type": "queue-operation", "sessionId": SESSION}).encode() + b"\n"
    assert recognise(Sample("x.jsonl", own + claude, True), FORMATS) is Qwen
    for log in (claude + own, queued + claude + own):
        assert recognise(Sample("x.jsonl", log, True), FORMATS) is ClaudeCode


def test_of_a_transcript_that_is_plainly_one_of_claude_code_nobody_else_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def sniff(sample: Sample) -> int:
        asked.append(sample.path)
        return 0

    monkeypatch.setattr(Qwen, "sniff", sniff)
    said = {**ASKED, "message": {"role": "user", "content": "hi"}}
    log = json.dumps(said).encode() + b"\n" + json.dumps(ASKED).encode() + b"\n"
    assert recognise(Sample("claude.jsonl", log, True), [Qwen, ClaudeCode]) is ClaudeCode
    assert recognise(Sample("qwen.jsonl", json.dumps(ASKED).encode(), True), [Qwen, ClaudeCode]) is ClaudeCode
    assert asked == ["qwen.jsonl"]


def test_a_transcript_of_which_only_a_part_of_the_first_line_is_seen_is_known_by_its_place() -> None:
    cut = json.dumps({**ASKED, "isSidechain": True})[:200].encode()
    for path, score in (
        (f"/q/subagents/{SESSION}/agent-a1.jsonl", 95),
        (f"/q/chats/{SESSION}.jsonl", 95),
        (f"/q/{SESSION}/subagents/agent-a1.jsonl", 0),
    ):
        assert Qwen.sniff(Sample(path, cut, False)) == score
    claude = b'{"parentUuid":null,"isSidechain":true,"uuid":"u'
    assert Qwen.sniff(Sample(f"/q/subagents/{SESSION}/agent-a1.jsonl", claude, False)) == 0


@pytest.mark.parametrize("value", [{"type": []}, {"message": 3}, {"message": {"parts": [1, {"functionCall": 2}]}}])
def test_records_of_any_shape_hurt_nobody(value: dict[str, Any]) -> None:
    assert not [each for each in read({**CALLS, **value}) if isinstance(each, Unreadable)]


@pytest.mark.skipif(not REAL, reason="DELEGTOP_REAL_LOGS is not set")
def test_every_fixture_is_recognised_and_is_one_session() -> None:
    folder = Path(REAL) / "agents" / "other_agents" / "agent_sessions_stage0" / "qwen"
    rows = []
    for path in sorted(folder.iterdir()):
        assert Qwen.sniff(Sample(str(path), path.read_bytes(), True)) == 95
        dialect = Qwen()
        data = path.read_bytes().splitlines()
        events = [e for n, d in enumerate(data) for e in dialect.read(Line(Origin(str(path), n, n), d))]
        rows += [event.id for event in events if isinstance(event, Started)]
    assert len(rows) == len(set(rows)) == 6


def test_kinds_of_tokens_are_charged_to_the_model_of_the_answer() -> None:
    kinds = {"promptTokenCount": 100, "candidatesTokenCount": 5, "cachedContentTokenCount": 60, "totalTokenCount": 120}
    answer = {**ANSWER, "model": "q", "usageMetadata": kinds}
    assert row(SESSION, *read(ASKED, answer))[0].usage == (Usage("q", 40, 20, 60),)

"""Gemini CLI: chats as lines, and as the documents of older versions."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.telling import forest_at, handle_of

from delegtop.agents.gemini.chats import Gemini
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Sample, Unit
from delegtop.model.delegation import Delegation, Link
from delegtop.model.events import Heard, Phase
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.model.usage import Usage
from delegtop.sources.records import Line, Unreadable

REAL = os.environ.get("DELEGTOP_REAL_LOGS", "")
NOW = Millis(1_770_109_230_000)
HEADER = {"sessionId": "main-1", "projectHash": "ab", "startTime": "2026-02-03T09:00:00Z", "kind": "main"}
CHILD = {**HEADER, "sessionId": "sub-1", "kind": "subagent"}
ASKED = {"id": "m1", "timestamp": "2026-02-03T09:00:01Z", "type": "user", "content": [{"text": "Tidy up"}]}


def said(text: str, id: str = "m2", total: int = 10, **more: Any) -> dict[str, Any]:
    told = {"id": id, "timestamp": "2026-02-03T09:00:05Z", "type": "gemini", "content": text, "model": "gemini-3"}
    return {**told, "tokens": {"total": total}, **more}


def read(*records: dict[str, Any], path: str = "/g/tmp/p/chats/session-x.jsonl") -> list[Any]:
    dialect = Gemini()
    made = [Line(Origin(path, n, n * 100), json.dumps(value).encode(), NOW) for n, value in enumerate(records, 1)]
    return [event for line in made for event in dialect.read(line)]


def forest(*events: Any) -> Forest:
    return forest_at(NOW, events)


def row(id: str, *events: Any) -> tuple[Delegation, State]:
    made = forest(*events)
    handle = handle_of(made, id)
    return made.delegation(handle), made.state(handle)


def test_a_chat_is_a_root_row_that_idles_after_its_answer() -> None:
    found, state = row("main-1", *read(HEADER, ASKED, {"$set": {"lastUpdated": "x"}}, said("Done.")))
    assert (found.agent, found.depth, found.title, found.model, found.tokens) == (
        "gemini",
        0,
        "Tidy up",
        "gemini-3",
        10,
    )
    assert (state, found.phase, found.doing) == (State.IDLE, Phase.IDLE, "Done.")


def test_its_folder_is_what_it_tells_its_model_first_or_what_the_header_of_a_subagent_says() -> None:
    context = (
        "<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - /home/ada/mill\n- **More:**\n"
    )
    told = {"$set": {"messages": [{"id": "c", "type": "user", "content": [{"text": context}]}]}}
    found, _ = row("main-1", *read(HEADER, told, ASKED))
    assert (found.cwd, found.title) == ("/home/ada/mill", "Tidy up")
    assert row("sub-1", *read({**CHILD, "directories": ["/home/ada/mill"]}))[0].cwd == "/home/ada/mill"
    assert row("main-1", *read(HEADER, {"$set": {"messages": [3, "x"]}}))[0].cwd is None


def test_a_message_that_gained_a_result_is_counted_once() -> None:
    found, _ = row("main-1", *read(HEADER, said("", total=30), said("", total=30), said("x", "m3", 5)))
    assert found.tokens == 35


def test_kinds_of_tokens_are_charged_once_for_a_message_that_is_written_again() -> None:
    kinds = {"input": 100, "output": 5, "cached": 60, "thoughts": 20, "tool": 3, "total": 128}
    told = [said("", tokens=kinds), said("x", tokens=kinds)]
    assert row("main-1", *read(HEADER, *told))[0].usage == (Usage("gemini-3", 43, 25, 60),)


@pytest.mark.parametrize(
    ("status", "phase"), [("success", Phase.MODEL), ("executing", Phase.TOOL), ("awaiting_approval", Phase.PERMISSION)]
)
def test_what_it_is_in_the_middle_of(status: str, phase: Phase) -> None:
    call = {"id": "c", "name": "run_shell_command", "args": {"command": "ls"}, "status": status}
    found, _ = row("main-1", *read(HEADER, ASKED, said("", toolCalls=[call])))
    assert found.phase is phase


def test_an_answer_of_no_words_called_what_is_written_only_once_it_has_come_back() -> None:
    found, state = row("main-1", *read(HEADER, ASKED, said("")))
    assert (state, found.phase, found.tool) == (State.RUNNING, Phase.TOOL, None)


def test_a_subagent_hangs_under_the_session_its_folder_names_and_says_that_this_is_a_guess() -> None:
    events = [*read(HEADER), *read(CHILD, ASKED, path="/g/tmp/p/chats/main-1/sub-1.jsonl")]
    made = forest(*events)
    handle = handle_of(made, "sub-1")
    assert made.parent(handle) == made.find("main-1")
    assert made.link(handle) is Link.INFERRED
    assert [note.kind for note in made.delegation(handle).notes] == ["inferred"]


def called(status: str, output: str, name: str = "invoke_agent", **args: str) -> dict[str, Any]:
    """The message of a session whose call of a sub-agent has come back."""
    response = {"functionResponse": {"id": "c", "name": name, "response": {"output": output}}}
    call = {"id": "c", "name": name, "args": args, "status": status, "result": [response], "agentId": "sub-1"}
    return said("", toolCalls=[{**call, "timestamp": "2026-02-03T09:00:09Z"}])


@pytest.mark.parametrize(
    ("status", "reason", "state"),
    [
        ("success", "GOAL", State.COMPLETED),
        ("success", "MAX_TURNS", State.FAILED),
        ("success", "ERROR_NO_COMPLETE_TASK_CALL", State.FAILED),
        ("success", "TIMEOUT", State.TIMEOUT),
        ("success", "ABORTED", State.INTERRUPTED),
        ("error", "GOAL", State.FAILED),
        ("cancelled", "GOAL", State.INTERRUPTED),
    ],
)
def test_a_call_that_came_back_names_the_subagent_and_its_end(status: str, reason: str, state: State) -> None:
    output = f"Subagent 'scout' finished.\nTermination Reason: {reason}\nResult:\nNine files."
    caller = read(HEADER, ASKED, called(status, output, agent_name="scout"))
    events = [*read(CHILD, ASKED, path="/g/tmp/p/chats/main-1/sub-1.jsonl"), *caller]
    found, told = row("sub-1", *events)
    made = forest(*events)
    handle = handle_of(made, "sub-1")
    assert (told, found.agent, found.report.summary) == (state, "scout", "Nine files.")
    assert (made.link(handle), found.claims) == (Link.EXPLICIT, ())


def test_a_call_of_an_older_version_is_called_after_the_agent() -> None:
    found, told = row("sub-1", *read(HEADER, called("success", "Nine files.", "scout", objective="Count")))
    assert (found.agent, told, found.report.summary) == ("scout", State.COMPLETED, "Nine files.")


def test_a_call_that_has_not_come_back_ends_nothing() -> None:
    caller = read(HEADER, called("executing", "", agent_name="scout"))
    child = read(CHILD, ASKED, path="/g/tmp/p/chats/main-1/sub-1.jsonl")
    assert row("sub-1", *child, *caller)[1] is State.RUNNING


def test_a_subagent_that_gets_a_summary_has_reached_its_goal_and_a_session_has_not() -> None:
    summary = {"$set": {"summary": "Nine files."}}
    found, told = row("sub-1", *read(CHILD, ASKED, said(""), summary, path="/g/tmp/p/chats/main-1/sub-1.jsonl"))
    assert (told, found.report.summary, found.ended_at) == (State.COMPLETED, "Nine files.", 1_770_109_205_000)
    assert row("main-1", *read(HEADER, ASKED, summary))[0].outcome is None


def test_an_older_document_tells_the_same() -> None:
    whole = {**HEADER, "kind": "chat", "messages": [ASKED, said("Done."), {"type": "error", "content": "quota"}]}
    found, state = row("main-1", *read(whole, path="/g/chats/session-x.json"))
    assert (state, found.title, found.tokens) == (State.IDLE, "Tidy up", 10)
    assert [fault.message for fault in found.faults] == ["quota"]


def test_lines_and_documents_are_told_apart() -> None:
    text = json.dumps(HEADER).encode() + b"\n" + json.dumps(ASKED).encode() + b"\n"
    whole = json.dumps({**HEADER, "messages": []}, indent=1).encode()
    compact = json.dumps({**HEADER, "messages": []}).encode()
    cut = json.dumps({**HEADER, "messages": [ASKED] * 50}, indent=1).encode()[:900]
    for head, is_whole, score, unit in (
        (text, True, 95, Unit.LINES),
        (whole, True, 95, Unit.DOCUMENT),
        (compact, True, 95, Unit.DOCUMENT),
        (cut, False, 80, Unit.DOCUMENT),
    ):
        sample = Sample("x", head, is_whole)
        assert (Gemini.sniff(sample), Gemini.unit_of(sample)) == (score, unit)
    assert Gemini.sniff(Sample("x", b'{"history":[],"lastUpdated":"x"}', True)) == 0


@pytest.mark.parametrize(
    "value", [{"type": []}, {"type": "gemini", "toolCalls": 3, "tokens": []}, {"messages": [1, None]}]
)
def test_records_of_any_shape_hurt_nobody(value: dict[str, Any]) -> None:
    assert not [event for event in read(HEADER, value) if isinstance(event, Unreadable)]


@pytest.mark.skipif(not REAL, reason="DELEGTOP_REAL_LOGS is not set")
def test_the_fixtures_have_one_session_each() -> None:
    folder = Path(REAL) / "agents" / "other_agents" / "agent_sessions_stage0" / "gemini"
    rows = set()
    for path in sorted(folder.iterdir()):
        sample = Sample(str(path), path.read_bytes(), True)
        if not Gemini.sniff(sample):
            assert path.name == "schema_drift.json"
            continue
        dialect = Gemini()
        data = [sample.head] if Gemini.unit_of(sample) is Unit.DOCUMENT else sample.head.splitlines()
        events = [e for n, d in enumerate(data) for e in dialect.read(Line(Origin(str(path), n, n), d, NOW))]
        rows |= {event.id for event in events if isinstance(event, Heard)}
    assert len(rows) == 3

"""Cursor CLI: transcripts without ids and times, told by the names of their files."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.telling import forest_at, handle_of

from delegtop import dialects
from delegtop.agents.cursor.cursor_transcripts import Cursor
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Sample, recognise
from delegtop.model.delegation import Delegation, Link
from delegtop.model.events import Phase
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.sources.records import Line, Unreadable

REAL = os.environ.get("DELEGTOP_REAL_LOGS", "")
WRITTEN = Millis(1_770_109_200_000)
ID, SUB = "11111111-2222-3333-4444-555555555555", "66666666-2222-3333-4444-555555555555"
TOP = f"/c/projects/x/agent-transcripts/{ID}/{ID}.jsonl"
BELOW = f"/c/projects/x/agent-transcripts/{ID}/subagents/{SUB}.jsonl"


def said(role: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(content)}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


ASKED = said("user", text("<user_query>\nList files\n</user_query>"))
ANSWER = said("assistant", text("a.txt"))
ENDED = {"type": "turn_ended", "status": "success"}
CALL = {"type": "tool_use", "name": "Agent", "input": {"prompt": "List files", "subagent_type": "explore"}}


def read(*files: tuple[str, list[dict[str, Any]]], tail: bytes = b"") -> list[Any]:
    dialect = Cursor()
    found: list[Any] = []
    for path, values in files:
        whole = b"".join(json.dumps(value).encode() + b"\n" for value in values) + tail
        found += dialect.read(Line(Origin(path, 1, 0), whole, WRITTEN))
    return found


def forest(*events: Any) -> Forest:
    return forest_at(WRITTEN + 1_000, events)


def row(id: str, *events: Any) -> tuple[Delegation, State]:
    made = forest(*events)
    handle = handle_of(made, id)
    return made.delegation(handle), made.state(handle)


def test_a_transcript_is_a_row_heard_of_when_its_file_was_written() -> None:
    found, state = row(ID, *read((TOP, [ASKED, ANSWER, ENDED])))
    assert (found.agent, found.depth, found.prompt, state) == ("cursor", 0, "List files", State.IDLE)
    assert (found.started_at, found.heard_at) == (None, WRITTEN)
    assert [note.kind for note in found.notes] == ["inferred"]


@pytest.mark.parametrize(
    ("last", "phase", "tool"),
    [
        (ASKED, Phase.MODEL, None),
        (said("assistant", {"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}), Phase.TOOL, "Shell"),
        (said("assistant", CALL), Phase.CHILD, "Agent"),
        (ANSWER, Phase.IDLE, None),
    ],
)
def test_what_it_is_in_the_middle_of(last: dict[str, Any], phase: Phase, tool: str | None) -> None:
    found, _ = row(ID, *read((TOP, [ASKED, last])))
    assert (found.phase, found.tool) == (phase, tool)


def test_a_subagent_hangs_under_the_session_its_folder_is_called_after() -> None:
    made = forest(*read((BELOW, [ASKED, ANSWER, ENDED])), *read((TOP, [said("assistant", CALL)])))
    handle = handle_of(made, SUB)
    assert made.parent(handle) == made.find(ID)
    assert (made.link(handle), made.state(handle)) == (Link.EXPLICIT, State.COMPLETED)
    assert made.delegation(handle).report.summary == "a.txt"


def test_elsewhere_the_prompt_tells_who_spawned_it_and_as_what_but_that_is_a_guess() -> None:
    child = ("/x/run/subagents/child.jsonl", [said("user", text("List files")), ANSWER])
    parent = ("/x/run/parent.jsonl", [ASKED, said("assistant", CALL)])
    for events in (read(child, parent), read(parent, child)):
        made = forest(*events)
        handle = handle_of(made, "subagents/child")
        assert made.parent(handle) == made.find("run/parent")
        assert (made.link(handle), made.delegation(handle).agent) == (Link.INFERRED, "explore")


def test_a_session_and_its_subagents_are_read_by_one_instance() -> None:
    assert Cursor.family(TOP) == Cursor.family(BELOW)


def test_a_half_written_last_line_waits_and_a_broken_one_is_named() -> None:
    found = read((TOP, [ASKED]), tail=b'{"role": "assist')
    assert not [each for each in found if isinstance(each, Unreadable)]
    found = read((TOP, [ASKED]), tail=b'{"role": "assist\n')
    assert [each.origin.line for each in found if isinstance(each, Unreadable)] == [2]


@pytest.mark.parametrize(
    "value", [said("user", *[{"type": 3}]), {"role": "assistant", "message": []}, {"type": "turn_ended"}]
)
def test_records_of_any_shape_hurt_nobody(value: dict[str, Any]) -> None:
    assert not [each for each in read((TOP, [ASKED, value])) if isinstance(each, Unreadable)]


@pytest.mark.parametrize(
    "value",
    [
        {"role": "user", "content": "hi"},
        {"role": "user", "message": {"content": []}, "timestamp": "x"},
        {"type": "user", "message": {"role": "user", "content": []}},
        {"type": "turn_ended", "status": "success"},
    ],
)
def test_lines_of_others_are_not_cursors(value: dict[str, Any]) -> None:
    assert Cursor.sniff(Sample("x.jsonl", json.dumps(value).encode(), True)) == 0


CLAIMS = {
    "claude": "claude-code",
    "codex": "codex",
    "copilot": "copilot",
    "cursor": "cursor",
    "droid": "droid",
    "gemini": "gemini",
    "kimi": "kimi",
    "qwen": "qwen",
    "grok": "grok",
}
STRANGERS = {"antigravity", "hermes", "openclaw", "pi"}


@pytest.mark.skipif(not REAL, reason="DELEGTOP_REAL_LOGS is not set")
def test_no_file_of_one_agent_is_taken_for_anothers() -> None:
    known = [dialects.load(name) for name in dialects.names()]
    folder = Path(REAL) / "agents" / "other_agents" / "agent_sessions_stage0"
    unclaimed = []
    for path in sorted(path for path in folder.rglob("*.json*") if path.is_file()):
        agent = path.relative_to(folder).parts[0]
        chosen = recognise(Sample(str(path), path.read_bytes(), True), known)
        if agent in STRANGERS:
            assert chosen is None, path
        elif agent in CLAIMS and chosen is None:
            unclaimed.append(f"{agent}/{path.name}")
        elif agent in CLAIMS:
            assert chosen is not None
            assert chosen.name == CLAIMS[agent], path
    assert unclaimed == [
        "codex/schema_drift.jsonl",
        "gemini/schema_drift.json",
        "grok/chat_history.jsonl",
        "grok/chat_history.jsonl",
    ]

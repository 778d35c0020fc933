"""Cline CLI: the rows of its database and the messages beside it."""

import json
from typing import Any

import pytest
from tests.telling import forest_at, handle_of

from delegtop.agents.cline.cline_database import Cline
from delegtop.agents.cline.cline_messages import ClineMessages
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect, Sample, load, names, recognise
from delegtop.model.delegation import Delegation
from delegtop.model.events import LOCALHOST, Deviation, Phase, Started
from delegtop.model.states import State
from delegtop.model.usage import Usage
from delegtop.sources.records import Line

T = 1_773_568_800_000
NOW = Millis(T + 60_000)
ROOT, A, B = "1773568800000_abcde", "agent_1_a", "agent_2_b"


def iso(second: int) -> str:
    return f"2026-03-15T10:00:{second:02d}.000Z"


def row(second: int = 0, status: str = "running", agent: str | None = None, **more: Any) -> dict[str, Any]:
    id = f"{ROOT}__{agent}" if agent else ROOT
    whose = {"parent_session_id": ROOT, "agent_id": agent, "parent_agent_id": "agent_0_root"} if agent else {}
    told = {"session_id": id, "pid": 4711, "started_at": iso(second), "updated_at": iso(second), "status": status}
    return {"table": "sessions", "interactive": 0, "cwd": "/w", "prompt": "Mend it", **told, **whose, **more}


def rows(*values: dict[str, Any], dialect: Dialect | None = None) -> list[Any]:
    """What the rows tell; one with a `nested` is of the query for those that a sub-agent spawned."""
    dialect = dialect or Cline()
    found: list[Any] = []
    for number, value in enumerate(values, 1):
        origin = Origin("/h/.cline/data/db/sessions.db", number, int(value.pop("nested", False)))
        found += dialect.read(Line(origin, json.dumps(value).encode()))
    return found


def said(second: int, role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": f"m{second}", "role": role, "content": list(parts), "ts": T + second * 1000, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def messages(*told: dict[str, Any], agent: str | None = None) -> list[Any]:
    id = f"{ROOT}__{agent}" if agent else ROOT
    origin = {"sessionId": id} | ({"parentThreadId": ROOT, "subagent": agent} if agent else {})
    value = {"version": 1, "sessionId": id, "agent": "lead", "origin": origin, "messages": list(told)}
    return list(ClineMessages().read(Line(Origin(f"/h/sessions/{id}.json", 1, 0), json.dumps(value).encode(), NOW)))


def shown(id: str, events: list[Any]) -> tuple[Delegation, State]:
    made = forest_at(NOW, events)
    handle = handle_of(made, id)
    return made.delegation(handle), made.state(handle)


def test_a_session_at_work_is_a_root_with_its_process() -> None:
    more = json.dumps({"git": {"branch": "main"}, "usage": {"inputTokens": 9, "totalCost": 0.5}})
    found, state = shown(ROOT, rows(row(metadata_json=more)))
    assert (found.agent, found.depth, found.pid, found.host, state) == ("cline", 0, 4711, LOCALHOST, State.RUNNING)
    assert (found.cwd, found.branch, found.tokens, found.cost) == ("/w", "main", 9, 0.5)


def test_what_is_over_names_no_process_for_the_number_may_be_anothers_by_now() -> None:
    found, _ = shown(ROOT, rows(row(status="completed", ended_at=iso(9))))
    assert (found.pid, found.host) == (None, None)


def test_a_session_that_goes_on_in_another_process_is_noted_there_when_that_was_first_seen() -> None:
    later = [{**row(), "pid": 4712, "updated_at": iso(second)} for second in (30, 40)]
    events = rows(row(), *later)
    assert [(event.pid, event.at) for event in events if isinstance(event, Started) and event.listed] == [
        (4711, T),
        (4712, T + 30_000),
        (4712, T + 30_000),
    ]
    found, _ = shown(ROOT, events)
    assert (found.pid, found.started_at, found.claims) == (4712, T, ())


def test_an_agent_stands_below_the_session_or_below_the_agent_that_spawned_it() -> None:
    events = rows(row(), row(1, agent=A), row(2, agent=B, parent_agent_id=A, nested=True))
    assert shown(f"{ROOT}__{A}", events)[0].parent == ROOT
    assert shown(f"{ROOT}__{B}", events)[0].parent == f"{ROOT}__{A}"


@pytest.mark.parametrize(
    ("status", "state"),
    [("completed", State.COMPLETED), ("failed", State.FAILED), ("cancelled", State.INTERRUPTED), ("idle", State.IDLE)],
)
def test_the_status_of_a_row_is_its_state(status: str, state: State) -> None:
    assert shown(ROOT, rows(row(status=status, exit_code=1)))[1] is state


def test_an_unknown_status_is_told_and_a_row_without_an_id_too() -> None:
    told = [event.kind for event in rows(row(status="odd"), {"table": "sessions"}) if isinstance(event, Deviation)]
    assert told == ["unknown status", "missing session_id"]


def test_a_session_that_is_taken_up_again_runs_again() -> None:
    dialect = Cline()
    over = rows(row(status="completed", ended_at=iso(9)), dialect=dialect)
    assert shown(ROOT, [*over, *rows({**row(), "updated_at": iso(20)}, dialect=dialect)])[1] is State.RUNNING


def test_an_error_of_the_model_fails_an_agent_that_the_database_calls_completed() -> None:
    error = said(5, "assistant", text("400 bad request"), metadata={"displayRole": "error"})
    told = messages(said(1, "user", text("Mend it")), error, agent=A)
    found, state = shown(f"{ROOT}__{A}", [*rows(row(1, "completed", A, ended_at=iso(6))), *told])
    assert (state, found.report.summary) == (State.FAILED, "400 bad request")
    assert [claim.value for claim in found.claims if claim.field == "outcome"] == ["failed", "completed"]


def test_an_agent_comes_back_with_its_last_words() -> None:
    told = messages(said(1, "user", text("Mend it")), said(5, "assistant", text("Mended.")), agent=A)
    found, state = shown(f"{ROOT}__{A}", [*rows(row(1, "completed", A, ended_at=iso(6))), *told])
    assert (state, found.report.summary, found.claims) == (State.COMPLETED, "Mended.", ())


def test_a_session_waits_inside_the_call_that_spawned_an_agent() -> None:
    asked = said(1, "user", text('<user_input mode="act">Mend it</user_input>'))
    call = {"type": "tool_use", "id": "c", "name": "spawn_agent", "input": {"task": "Look"}}
    found, _ = shown(ROOT, messages(asked, said(3, "assistant", call, metrics={"inputTokens": 7, "outputTokens": 2})))
    assert (found.phase, found.tool, found.title, found.tokens) == (Phase.CHILD, "spawn_agent", "Mend it", 9)
    kinds = {"inputTokens": 7, "outputTokens": 2, "cacheReadTokens": 5, "cacheWriteTokens": 1}
    answer = said(3, "assistant", call, metrics=kinds, modelInfo={"id": "m"})
    assert shown(ROOT, messages(asked, answer))[0].usage == (Usage("m", 7, 2, 5, 1),)
    back = said(6, "user", {"type": "tool_result", "tool_use_id": "c", "content": "{}"})
    assert shown(ROOT, messages(asked, said(3, "assistant", call), back))[0].phase is Phase.MODEL
    over = messages(asked, said(3, "assistant", call), back, said(7, "assistant", text("Done.")))
    assert shown(ROOT, over)[1] is State.IDLE


def test_an_error_of_the_session_itself_does_not_end_it() -> None:
    error = said(5, "assistant", text("503"), metadata={"displayRole": "error"})
    found, state = shown(ROOT, messages(said(1, "user", text("Mend it")), error))
    assert (state, [fault.message for fault in found.errors]) == (State.IDLE, ["503"])


def test_a_document_that_says_what_the_row_says_is_read_like_it() -> None:
    value = {**row(), "workspace_root": "/w", "metadata": {"title": "Mend the mill"}}
    sample = Sample("/h/x.json", json.dumps(value).encode(), True)
    assert recognise(sample, map(load, names())) is ClineMessages
    told = ClineMessages().read(Line(Origin("/h/x.json", 1, 0), sample.head, NOW))
    assert shown(ROOT, list(told))[0].title == "Mend the mill"


@pytest.mark.parametrize(
    "value", [{"messages": []}, {"sessionId": "x", "messages": {}}, {"session_id": "x", "pid": "1"}]
)
def test_documents_of_others_are_left_alone(value: dict[str, Any]) -> None:
    assert ClineMessages.sniff(Sample("x.json", json.dumps(value).encode(), True)) == 0


def test_long_messages_are_told_by_how_they_begin() -> None:
    told = [said(1, "user", text("x" * 9000))]
    value = {"version": 1, "sessionId": ROOT, "origin": {"sessionId": ROOT}, "messages": told}
    head = json.dumps(value, indent=1).encode()[:5000]
    assert recognise(Sample("/h/x.messages.json", head, False), map(load, names())) is ClineMessages


@pytest.mark.parametrize("odd", [{"content": 3}, {"role": "user", "content": [1, None]}, {"role": "assistant"}])
def test_messages_of_any_shape_hurt_nobody(odd: dict[str, Any]) -> None:
    assert shown(ROOT, messages(said(1, "user", text("Mend it")), odd))[0].title == "Mend it"

"""A session that is being written: every file that grows, appears or is replaced changes the tree at the next look."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.samples import observed
from tests.telling import handle_of

from delegtop.base.clock import FrozenClock, Millis, parse_time
from delegtop.feed import rounds
from delegtop.model.delegation import Delegation
from delegtop.model.events import Phase
from delegtop.model.forest import Forest
from delegtop.model.states import State

SESSION = "0a1b2c3d-0000-4000-8000-00000000000a"
NOW = parse_time("2026-11-02T10:01:30Z") or Millis(0)
Look = Callable[[], Forest]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "projects" / "-lantern" / SESSION / "subagents").mkdir(parents=True)
    return tmp_path / "projects" / "-lantern"


@pytest.fixture
def look(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Look]:
    """Reads what is new and gives the tree as it is then."""
    monkeypatch.setattr(rounds, "RESCAN_SECONDS", 0.0)
    with observed(project, clock=FrozenClock(NOW)) as seen:

        def looked() -> Forest:
            for _ in range(2):  # a file is found, then read
                seen.look()
            return seen.forest

        yield looked


def append(path: Path, type: str, second: int, content: Any, agent: str | None = None, **more: Any) -> None:
    record: dict[str, Any] = {"type": type, "sessionId": SESSION, "parentUuid": None, "isSidechain": agent is not None}
    record["timestamp"] = f"2026-11-02T10:01:{second:02d}.000Z"
    record |= {"uuid": f"{agent}{second}", "message": {"content": content}, **more}
    with path.open("a") as file:
        file.write(json.dumps(record | ({"agentId": agent} if agent else {})) + "\n")


def tool(id: str, tool: str, **given: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": id, "name": tool, "input": given}]


def seen(forest: Forest, id: str) -> tuple[Delegation, State]:
    handle = handle_of(forest, id)
    return forest.delegation(handle), forest.state(handle)


def test_a_session_is_followed_from_its_start_to_the_end_of_its_agent(project: Path, look: Look) -> None:
    trunk = project / f"{SESSION}.jsonl"
    child = project / SESSION / "subagents" / "agent-a1.jsonl"
    meta = project / SESSION / "subagents" / "agent-a1.meta.json"

    append(trunk, "user", 0, "do it")
    session, state = seen(look(), SESSION)
    assert (session.phase, state) == (Phase.MODEL, State.RUNNING)

    append(child, "user", 2, "look", "a1")
    append(trunk, "assistant", 1, tool("c", "Agent", prompt="other words", subagent_type="Explore"))
    agent, state = seen(look(), "c")
    assert (agent.heard_at, state) == (agent.started_at, State.RUNNING)
    assert seen(look(), SESSION)[1] is State.WAITING

    meta.write_text(json.dumps({"agentType": "Explore", "toolUseId": "c"}))
    append(child, "assistant", 3, tool("t", "Bash", command="make"), "a1")
    agent, _ = seen(look(), "c")
    assert (agent.tool, agent.doing, agent.phase) == ("Bash", "make", Phase.TOOL)

    append(child, "user", 9, [{"type": "tool_result", "tool_use_id": "t", "content": "built"}], "a1")
    assert seen(look(), "c")[0].phase is Phase.MODEL

    append(trunk, "user", 12, [{"type": "tool_result", "tool_use_id": "c", "content": "all built"}])
    agent, state = seen(look(), "c")
    assert (agent.report.summary, state) == ("all built", State.COMPLETED)


def test_a_sidecar_that_is_replaced_is_read_again(project: Path, look: Look) -> None:
    folder = project / SESSION / "subagents"
    append(project / f"{SESSION}.jsonl", "assistant", 1, tool("c", "Agent", prompt="x"))
    append(folder / "agent-a1.jsonl", "user", 2, "x", "a1")
    done = {"content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn"}
    append(folder / "agent-a1.jsonl", "assistant", 3, [], "a1", message=done)
    meta = folder / "agent-a1.meta.json"
    meta.write_text(json.dumps({"agentType": "Explore", "toolUseId": "c"}))
    assert seen(look(), "c")[0].outcome is None
    fresh = folder / "agent-a1.meta.json.tmp.0011aabb"
    fresh.write_text(json.dumps({"agentType": "Explore", "toolUseId": "c", "finished": True}))
    fresh.replace(meta)
    assert seen(look(), "c")[1] is State.COMPLETED

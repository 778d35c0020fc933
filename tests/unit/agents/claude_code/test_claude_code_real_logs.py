"""Real transcripts of Claude Code, if there are any here (DELEGTOP_REAL_LOGS names the folder of real logs).

Beside them lies a list of the delegations in them, made by another reader: every one of it must be found, with the same
parent, depth and state, and nothing else.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import delegtop
from delegtop.base.clock import Millis, iso, millis
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.model.states import State

LOGS = os.environ.get("DELEGTOP_REAL_LOGS", "")


def find(name: str) -> Path | None:
    """The list or the folder of that name, in the folder of real logs or one below it."""
    return next((path for place in ("", "agents") if LOGS and (path := Path(LOGS, place, name)).exists()), None)


FOLDER, LIST = find("claude_code"), find("EXPECTED_claude_code.jsonl")
pytestmark = pytest.mark.skipif(FOLDER is None or LIST is None, reason="DELEGTOP_REAL_LOGS names no Claude Code logs")

OTHER_FORMATS = {"hooks", "stream_json", "sessions_registry"}
FOLDERS = sorted(path.name for path in FOLDER.iterdir() if path.name not in OTHER_FORMATS) if FOLDER else []
UNFINISHED = {"running", "waiting", "silent", "overdue", "lost"}

BEYOND_THE_LIST = {
    "fixture_chitragupt": {"toolu_task1", "toolu_team1"},
    "fixture_tail_claude": {"taskA", "taskB", "task-1", "task-2", "task-3", "toolu_01", "toolu_02"},
    "fixture_workflow": {
        "toolu_wf01",
        *(f"11110000-0000-4000-8000-000000000001/ag00000{number}" for number in (1, 2, 3)),
    },
}
"""Delegations that the list leaves out: it covers `projects` folders only, and only agents started one by one.

Each is a use of the tool Task (line 2 or 4 or 6 of its file: subagent_main, subagent_team_main, ongoing_pending_task,
not_ongoing_interrupted_pending, team-parent, parent-session), of the tool Workflow (line 2), or an agent that the
workflow's journal names.
"""


def listed() -> dict[str, list[dict[str, Any]]]:
    """The list by the folder it is about."""
    by_folder: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in LIST.read_text().splitlines() if LIST else ():
        told = json.loads(line)
        by_folder[Path(told["file"]).parts[1]].append(told)
    return by_folder


EXPECTED = listed()
_SAMPLED = 6


def tree(folder: str, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    assert FOLDER is not None
    assert main(["tree", str(FOLDER / folder), "--json"]) in (Exit.OK, Exit.UNREADABLE)
    return {row["id"]: row for row in json.loads(capsys.readouterr().out)["delegations"]}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_delegation_of_a_real_session_is_found_and_none_is_invented(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, wanted = tree(folder, capsys), EXPECTED[folder]
    by_agent = {(told["session"], told["agent"]): told["tool_use_id"] for told in wanted}
    for told in wanted:
        row = rows[told["tool_use_id"]]
        parent = by_agent[told["session"], told["parent"]] if told["parent"] else told["session"]
        assert (row["parent"], row["depth"], row["link"]) == (parent, told["depth"], "explicit"), told
        states = UNFINISHED if told["status"] == "running_or_lost" else {told["status"]}
        assert row["state"] in states, told
        assert row["agent"] == told["type"], told
    started = {id for id, row in rows.items() if row["depth"]}
    assert started - {told["tool_use_id"] for told in wanted} == BEYOND_THE_LIST.get(folder, set())


def test_the_list_is_not_empty() -> None:
    assert sum(map(len, EXPECTED.values())) > 100
    assert set(EXPECTED) <= set(FOLDERS)


def middles(path: Path) -> Iterator[tuple[str, Millis]]:
    """Sessions, and a second before each part of an answer that follows a text of the same answer by two or more."""
    told = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
    told = [each for each in told if each.get("type") in ("user", "assistant", "system") and "timestamp" in each]
    for before, after in pairwise(told):
        said, next_said = before.get("message") or {}, after.get("message") or {}
        parts = [part["type"] for part in said.get("content") or () if isinstance(part, dict)]
        is_open = before["type"] == after["type"] == "assistant" and said.get("stop_reason") is None
        if is_open and parts == ["text"] and said.get("id") == next_said.get("id") and not before.get("isSidechain"):
            begin, end = (millis(datetime.fromisoformat(each["timestamp"])) for each in (before, after))
            if end - begin >= 2_000:
                yield before["sessionId"], Millis(end - 1_000)


@pytest.mark.parametrize("folder", ["1.0.98-1.0.108_inline", "2.1.39_spotter"])
def test_in_the_middle_of_an_answer_no_turn_is_over(folder: str) -> None:
    assert FOLDER is not None
    found = [(path, *each) for path in (FOLDER / folder).rglob("*.jsonl") for each in middles(path)]
    assert len(found) > _SAMPLED
    for path, session, at in found[:: len(found) // _SAMPLED]:
        with delegtop.open(path, at=iso(at)) as seen:
            handle = seen.forest.find(session)
            assert handle is not None
            assert seen.forest.state(handle) is not State.IDLE, (path, iso(at))

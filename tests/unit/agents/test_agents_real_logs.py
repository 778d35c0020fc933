"""Logs of real agents, if there are any here (DELEGTOP_REAL_LOGS names their folder): exactly the delegations that are
there are found. How many there are is counted here by other means: by files, by rows, by the calls that spawn."""

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

LOGS = os.environ.get("DELEGTOP_REAL_LOGS", "")
FOLDER = next(
    (path for place in ("agents", "") if LOGS and (path := Path(LOGS, place, "codex")).is_dir()), Path("/-")
).parent
pytestmark = pytest.mark.skipif(not (FOLDER / "codex").is_dir(), reason="DELEGTOP_REAL_LOGS names no logs of agents")
STAGED = "other_agents/agent_sessions_stage0"


class Counted(NamedTuple):
    sessions: int
    agents: int


def records(folder: Path, pattern: str = "*.jsonl") -> Iterator[dict[str, Any]]:
    for path in sorted(folder.rglob(pattern)):
        for line in path.read_text(errors="replace").splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def uses(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The tools that a message of Claude Code's kind uses."""
    content = (record.get("message") or {}).get("content")
    yield from (
        block for block in content or () if isinstance(block, dict) and block.get("type") in ("tool_use", "toolCall")
    )


def hooks(folder: Path) -> Counted:
    asked = {
        record["tool_use_id"]
        for record in records(folder)
        if record["hook_event_name"] == "PreToolUse" and record.get("tool_name") in ("Agent", "Task")
    }
    return Counted(len({record["session_id"] for record in records(folder)}), len(asked))


def stream_json(folder: Path) -> Counted:
    spawned = {use["id"] for record in records(folder) for use in uses(record) if use["name"] in ("Agent", "Task")}
    return Counted(len({r["session_id"] for r in records(folder) if r.get("subtype") == "init"}), len(spawned))


def processes(folder: Path) -> Counted:
    return Counted(sum(1 for path in folder.rglob("*.json") if path.stem.isdecimal()), 0)


def rollouts(folder: Path) -> Counted:
    """One file a thread, and its first line says whether another spawned it."""
    heads = [json.loads(path.read_text().split("\n", 1)[0]) for path in folder.rglob("rollout-*.jsonl")]
    spawned = sum(isinstance(head["payload"].get("source"), dict) for head in heads)
    return Counted(len(heads) - spawned, spawned)


def copilot(folder: Path) -> Counted:
    kinds = [record.get("type") for record in records(folder)]
    return Counted(kinds.count("session.start"), kinds.count("subagent.started"))


def opencode(folder: Path) -> Counted:
    with closing(sqlite3.connect(f"file:{next(folder.rglob('opencode.db'))}?mode=ro&immutable=1", uri=True)) as store:
        parents = [parent for (parent,) in store.execute("SELECT parent_id FROM session")]
    return Counted(parents.count(None), len(parents) - parents.count(None))


def same_runs(folder: Path) -> Counted:  # noqa: ARG001 - the other folder tells
    """The same three runs were also recorded by hooks, which are called for every spawn."""
    return hooks(FOLDER / "claude_code" / "hooks")


def by_ids(*keys: str) -> Callable[[Path], Counted]:
    """As many sessions as there are ids under these keys, in lines and whole files."""

    def counted(folder: Path) -> Counted:
        text = "\n".join(path.read_text(errors="replace") for path in folder.rglob("*.json*"))
        return Counted(len(set(re.findall(rf'"(?:{"|".join(keys)})":\s*"([^"]+)"', text))), 0)

    return counted


def droid(folder: Path) -> Counted:
    stored = {record["id"] for record in records(folder) if record.get("type") == "session_start"}
    return Counted(len(stored | {record["session_id"] for record in records(folder) if "session_id" in record}), 0)


def by_files(folder: Path) -> Counted:
    files = list(folder.rglob("*.jsonl"))
    below = sum("subagents" in path.parts for path in files)
    return Counted(len(files) - below, below)


def storage(folder: Path) -> Counted:
    parents = [json.loads(path.read_text()).get("parentID") for path in folder.rglob("session/*/*.json")]
    return Counted(parents.count(None), len(parents) - parents.count(None))


def unknown(folder: Path) -> Counted:  # noqa: ARG001 - nothing of it is known
    return Counted(0, 0)


COUNTS: dict[str, Callable[[Path], Counted]] = {
    "claude_code/hooks": hooks,
    "claude_code/stream_json": same_runs,
    "claude_code/sessions_registry": processes,
    "codex/EntityProcess+agentv": rollouts,
    "codex/self_0.166.0": rollouts,
    "copilot/EntityProcess+agentv": copilot,
    "opencode/self_1.18.34": opencode,
    "otel/claude_code_2.1.325": same_runs,
    f"{STAGED}/antigravity": unknown,
    f"{STAGED}/copilot": copilot,
    f"{STAGED}/cursor": by_files,
    f"{STAGED}/droid": droid,
    f"{STAGED}/hermes": unknown,
    f"{STAGED}/openclaw": unknown,
    f"{STAGED}/opencode": storage,
    f"{STAGED}/pi": unknown,
    f"{STAGED}/qwen": by_ids("sessionId"),
    # One thread tells of a spawn, with the id of the child cut out; the third file is of no version of Codex.
    f"{STAGED}/codex": lambda _: Counted(2, 1),
    # The third file is of no version of Gemini CLI.
    f"{STAGED}/gemini": lambda _: Counted(3, 0),
    # Two summaries that were taken out of their folders, one of an agent; what links it is not there.
    f"{STAGED}/grok": lambda _: Counted(2, 0),
    # An agent lies beside a session, but the call has no id and its sidecar names no call: nothing links it.
    f"{STAGED}/claude": lambda _: Counted(4, 0),
    # Wires and state documents that were taken out of their folders: no file tells to which session it belongs.
    f"{STAGED}/kimi": lambda _: Counted(5, 2),
}


def sessions_of(folder: Path) -> set[str]:
    """The sessions of Claude Code that wrote something themselves: a line of their own that is said or asked."""
    found = set()
    for path in folder.rglob("*.jsonl"):
        if path.name.startswith("agent-") or "subagents" in path.parts:
            continue
        told = list(records(path.parent, path.name))
        if any(record.get("teamName") and record.get("agentName") for record in told):
            continue  # a mate of a team, which another session started
        for record in told:
            own = not record.get("isSidechain") and not record.get("agentId")
            if own and record.get("type") in ("user", "assistant"):
                found.add(record.get("sessionId") or path.stem)
    return found


CLAUDE = sorted(
    path.name
    for path in (FOLDER / "claude_code").glob("*")
    if path.name not in ("hooks", "stream_json", "sessions_registry")
)


@pytest.mark.parametrize("folder", CLAUDE)
def test_each_session_of_claude_code_is_one_root(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = found(FOLDER / "claude_code" / folder, capsys)
    assert {row["id"] for row in rows if row["depth"] == 0} == sessions_of(FOLDER / "claude_code" / folder)


def test_no_folder_is_forgotten() -> None:
    folders = {f"{path.parent.name}/{path.name}" for path in FOLDER.glob("*/*") if path.is_dir()}
    counted = {"/".join(Path(name).parts[:2]) for name in COUNTS} | {f"claude_code/{name}" for name in CLAUDE}
    assert folders == counted
    assert {path.name for path in (FOLDER / STAGED).glob("*")} == {Path(name).name for name in COUNTS if STAGED in name}


def found(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["tree", str(folder), "--json"]) in (Exit.OK, Exit.UNREADABLE)
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["delegations"]
    return rows


@pytest.mark.parametrize("folder", COUNTS)
def test_exactly_the_delegations_that_are_there_are_found(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = found(FOLDER / folder, capsys)
    roots = sum(1 for row in rows if row["depth"] == 0)
    assert Counted(roots, len(rows) - roots) == COUNTS[folder](FOLDER / folder)

"""Inputs that keep to the documents: each row of the protocols breaks one of them.

An input is some files, of which the first is the one that is judged unless the command names a folder. A file is an
object (written as JSON over several lines), a list of objects (one a line, as logs are) or a text.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Content = dict[str, Any] | list[Any] | str
AT = "2026-02-03T09:30:00Z"
"""When logs are judged: half an hour after work was handed out, and before it is due."""


@dataclass(frozen=True)
class GoodInput:
    """Some files, and how a user has them judged."""

    files: dict[str, Content]
    command: str = "check"
    options: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    """The files that the command is given; the first alone if none is said."""
    mentions: frozenset[str] = field(default=frozenset())
    """What is said of it though it breaks nothing: that it did not succeed, and how to go on."""

    @property
    def named(self) -> tuple[str, ...]:
        return self.judged or tuple(self.files)[:1]


SESSION, CHILD = "sess_20260203_k3x9qa", "sess_20260203_p0m2dd"
PATH = ["orchestrator", "implement", "task-executor"]
REPORT = "specs/204_parser/reports/research-001.md"
PAGE = "# Two parsers\n\nThe numbers.\n"
ERROR: dict[str, Any] = {
    "type": "execution",
    "message": "Three types do not fit",
    "code": "BUILD_ERROR",
    "recoverable": True,
    "recommendation": "Fix the types and run /implement 204 again",
}
RETURN: dict[str, Any] = {
    "status": "completed",
    "summary": "Compared two parsers on the sample files. The second reads all of them.",
    "artifacts": [{"type": "research", "path": REPORT, "summary": "The numbers of both"}],
    "metadata": {
        "session_id": SESSION,
        "duration_seconds": 840,
        "agent_type": "researcher",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "research", "researcher"],
    },
    "errors": [],
    "next_steps": "Plan the change to the second parser.",
}
FAILED: dict[str, Any] = {
    **RETURN,
    "status": "failed",
    "summary": "The build broke on the new parser. Nothing of it can be used.",
    "artifacts": [],
    "errors": [ERROR],
    "next_steps": "Run /implement 204 again.",
}
CONTEXT: dict[str, Any] = {
    "session_id": SESSION,
    "delegation_depth": 1,
    "delegation_path": PATH,
    "timeout": 3600,
    "caller": "implement",
    "task_context": {"task_number": 204, "language": "lean", "complexity": "high"},
}
ENTRY: dict[str, Any] = {
    "command": "implement",
    "subagent": "task-executor",
    "task_number": 204,
    "start_time": "2026-02-03T09:00:00Z",
    "timeout": 3600,
    "deadline": "2026-02-03T10:00:00Z",
    "status": "running",
    "delegation_depth": 1,
    "delegation_path": PATH,
}


def line(event: str, minute: int, session: str = SESSION, **more: Any) -> dict[str, Any]:
    return {"event": event, "at": f"2026-02-03T09:{minute:02}:00Z", "session_id": session, **more}


def return_line(minute: int, told: dict[str, Any]) -> dict[str, Any]:
    return {**line("return", minute, told["metadata"]["session_id"]), "return": told}


def returned(status: str, session: str = SESSION, agent: str = PATH[-1], **more: Any) -> dict[str, Any]:
    path = PATH if session == SESSION else [*PATH, agent]
    metadata = {
        "session_id": session,
        "duration_seconds": 600,
        "agent_type": agent,
        "delegation_depth": len(path) - 2,
        "delegation_path": path,
    }
    told = {"status": status, "summary": "Built the parser. Its tests pass.", "artifacts": [], "metadata": metadata}
    return {**told, "errors": [], **more}


REGISTER = line(
    "register",
    0,
    delegation_depth=1,
    delegation_path=PATH,
    command="implement",
    subagent="task-executor",
    caller="implement",
    task_number=204,
    timeout=7200,
    deadline="2026-02-03T11:00:00Z",
)
CHILD_REGISTER = line(
    "register",
    5,
    CHILD,
    delegation_depth=2,
    delegation_path=[*PATH, "implementer"],
    parent_session_id=SESSION,
    command="implement",
    subagent="implementer",
    caller="task-executor",
    task_number=204,
    timeout=3600,
)
FULL_REGISTER = {
    "schema_version": 1,
    **CHILD_REGISTER,
    "task_context": {"task_number": 204, "language": "lean"},
    "pid": 4711,
    "host": "elsewhere",
}
"""With all that a register may have, and so without a deadline: it has a parent."""
HEARTBEAT = line("heartbeat", 29, activity="writes the parser", tool="edit", tokens=1200, cost=0.25)
CHILD_HEARTBEAT = line("heartbeat", 29, CHILD, activity="proves a lemma")
LOG = [
    REGISTER,
    CHILD_REGISTER,
    return_line(15, returned("completed", CHILD, "implementer")),
    return_line(20, returned("completed")),
]
FAILED_LOG = [
    REGISTER,
    CHILD_REGISTER,
    return_line(15, returned("failed", CHILD, "implementer", errors=[ERROR])),
    return_line(20, returned("failed", errors=[ERROR])),
]
PROJECT_LOG = [
    REGISTER,
    return_line(20, returned("completed", artifacts=[{"type": "research", "path": f".opencode/{REPORT}"}])),
]
RETURNED_ENTRY = {**ENTRY, "status": "completed", "return": returned("completed")}
LISTED = {**ENTRY, "timeout": REGISTER["timeout"], "deadline": REGISTER["deadline"]}
STRICT = "[protocol]\nmax_depth = 2\nsession_id_random = 6\n"
ENDED_LOG = [
    REGISTER,
    line("error", 10, error=ERROR),
    line("timeout", 15, artifacts=[{"type": "plan", "path": REPORT, "summary": "What was left"}]),
    CHILD_REGISTER,
    line("cancel", 16, CHILD, reason="Nobody needs it any more"),
]
FINDINGS = ["Two caches overlap.", "The outer one is never hit.", "Its size is not bounded."]
MANIFEST_ENTRY: dict[str, Any] = {
    "id": "cache-layers-2026-02-03",
    "file": "2026-02-03_cache-layers.md",
    "title": "Cache layers",
    "date": "2026-02-03",
    "status": "complete",
    "topics": ["cache"],
    "key_findings": FINDINGS,
    "actionable": True,
    "needs_followup": [],
    "linked_tasks": ["T200", "T201"],
}
OUTPUTS = "claudedocs/agent-outputs"
OUTPUT = """# Cache layers

## Summary

Two caches do the same. One of them can go.

## Findings

### Size

It grows without a bound.

## Recommendations

- Drop the outer one.

## Sources

- `cache.py`

## Linked Tasks

- Epic: T200
- Task: T201
"""
HEAD = "ref: refs/heads/main\n"
BESIDE: dict[str, Content] = {f"{OUTPUTS}/2026-02-03_cache-layers.md": OUTPUT, ".git/HEAD": HEAD}
BLOCKED_ENTRY = {**MANIFEST_ENTRY, "status": "blocked", "needs_followup": ["Nobody may read the cache of production."]}
RESPONSE = "Research complete. See MANIFEST.jsonl for summary.\n"
STOP: dict[str, Any] = {
    "timestamp": "2026-02-01T06:13:19Z",
    "source_id": "a03fa91",
    "source_type": "subagent",
    "compliance": {"compliance_pass_rate": 1.0, "violation_count": 0, "violation_severity": "none", "violations": []},
    "efficiency": {"input_tokens": 0, "output_tokens": 0},
    "_context": {"agent_type": "Explore"},
}
ANSWER: dict[str, Any] = {
    "meta": {"agent_name": "parser-scout", "status": "complete", "execution_time_ms": 9000},
    "artifacts": [
        {
            "type": "data",
            "path": "projects/parser/numbers.json",
            "summary": "How long each parser took on the samples",
            "key_points": ["The second reads all files", "It is slower", "Both keep comments"],
        }
    ],
    "next_steps": ["Choose the second parser"],
}
FAILED_ANSWER: dict[str, Any] = {
    "meta": {**ANSWER["meta"], "status": "error"},
    "artifacts": [],
    "next_steps": ["Check the network"],
    "error": {"code": "NO_CONNECTION", "message": "The server did not answer", "details": "after 3000 ms"},
}
AGENT_FILE = Path(__file__).parents[1] / "agent_files" / "agent" / "subagents" / "release-planner.md"
COMMAND_FILE = AGENT_FILE.parents[2] / "command" / "release.md"

HOW_IT_ENDED = frozenset({"END-001", "RET-100", "RET-101"})
LOOK = ("--at", AT)
GOOD: dict[str, GoodInput] = {
    "return": GoodInput({"return.json": RETURN, REPORT: PAGE}),
    "return in a project": GoodInput({"return.json": RETURN, REPORT: PAGE, ".git/HEAD": HEAD}),
    "log in a project": GoodInput({".opencode/logs/run.jsonl": PROJECT_LOG, f".opencode/{REPORT}": PAGE}, options=LOOK),
    "answer": GoodInput({"answer.txt": json.dumps(RETURN, indent=2), REPORT: PAGE}, options=("--format", "return")),
    "return with two ids": GoodInput({"return.json": {**RETURN, "session_id": SESSION}, REPORT: PAGE}),
    "failed return": GoodInput({"return.json": FAILED}, mentions=HOW_IT_ENDED),
    "artifact": GoodInput({"artifact.json": RETURN["artifacts"][0], REPORT: PAGE}),
    "error": GoodInput({"error.json": ERROR}),
    "context": GoodInput({"context.json": CONTEXT}, options=LOOK),
    "registry": GoodInput({"registry.json": {SESSION: ENTRY}}, options=LOOK),
    "returned entry": GoodInput({"registry.json": {SESSION: RETURNED_ENTRY}}, options=LOOK),
    "strict context": GoodInput({"context.json": CONTEXT, "delegtop.toml": STRICT}, options=LOOK),
    "log and registry": GoodInput(
        {"run.jsonl": [REGISTER, HEARTBEAT], "registry.json": {SESSION: LISTED}},
        options=LOOK,
        judged=("run.jsonl", "registry.json"),
    ),
    "running log": GoodInput({"run.jsonl": [REGISTER, HEARTBEAT]}, options=LOOK),
    "full log": GoodInput({"run.jsonl": [REGISTER, FULL_REGISTER, HEARTBEAT, CHILD_HEARTBEAT]}, options=LOOK),
    "log": GoodInput({"run.jsonl": LOG}, options=LOOK),
    "failed log": GoodInput({"run.jsonl": FAILED_LOG}, options=LOOK, mentions=HOW_IT_ENDED),
    "ended log": GoodInput({"run.jsonl": ENDED_LOG, REPORT: PAGE}, options=LOOK, mentions=HOW_IT_ENDED),
    "agent file": GoodInput({"agent/release-planner.md": AGENT_FILE.read_text("utf-8")}, "lint"),
    "agent files": GoodInput(
        {
            "agent/commit-checker.md": AGENT_FILE.read_text("utf-8").replace("release-planner", "commit-checker"),
            "agent/release-planner.md": AGENT_FILE.read_text("utf-8").replace("commit-keeper", "commit-checker"),
        },
        "lint",
        judged=("agent",),
    ),
    "command file": GoodInput({"command/release.md": COMMAND_FILE.read_text("utf-8")}, "lint"),
    "hyper output": GoodInput({"answer.md": ANSWER, "projects/parser/numbers.json": "[]\n"}),
    "failed answer": GoodInput({"answer.md": FAILED_ANSWER}, mentions=frozenset({"END-001", "HYP-014"})),
    "manifest": GoodInput({f"{OUTPUTS}/MANIFEST.jsonl": [MANIFEST_ENTRY], **BESIDE}),
    "blocked manifest": GoodInput(
        {f"{OUTPUTS}/MANIFEST.jsonl": [BLOCKED_ENTRY], **BESIDE}, mentions=frozenset({"END-001", "OUT-131"})
    ),
    "manifest and response": GoodInput(
        {f"{OUTPUTS}/MANIFEST.jsonl": [MANIFEST_ENTRY], **BESIDE, "response.txt": RESPONSE},
        judged=(f"{OUTPUTS}/MANIFEST.jsonl", "response.txt"),
    ),
    "response": GoodInput({"response.txt": RESPONSE}, options=("--format", "cleo-response")),
    "compliance": GoodInput({"COMPLIANCE.jsonl": [STOP]}),
}
"""By the name that rows call them by."""

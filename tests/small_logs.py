"""A small log of each format that has no sample, and of other forms of those that have one."""

import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import Any

from tests.samples import SAMPLES

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

T = 1_773_568_800_000
ZULU = "2026-03-15T10:00:{:02d}Z"


def lines(path: Path, *records: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def document(path: Path, value: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1))


def database(path: Path, schema: str, rows: list[tuple[str, dict[str, Any]]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("PRAGMA synchronous = OFF")  # what the machine loses when it falls over is no matter here
        store.executescript(schema)
        store.execute("BEGIN")
        for table, row in rows:
            marks = ", ".join("?" * len(row))
            sql = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608 - our own names
            store.execute(sql, list(row.values()))
        store.execute("COMMIT")


def copilot(folder: Path) -> None:
    def told(second: int, kind: str, agent: str | None = None, **data: Any) -> dict[str, Any]:
        whose = {"agentId": agent} if agent else {}
        stamp = ZULU.format(second)
        return {"type": kind, "data": data, "id": f"e{second}", "timestamp": stamp, "parentId": None, **whose}

    given = {"agent_type": "explore", "description": "Look for the leak", "prompt": "Look in src"}
    lines(
        folder / "session-state" / "c0-1" / "events.jsonl",
        told(0, "session.start", sessionId="c0-1", copilotVersion="1.0.64", startTime=ZULU.format(0), context={}),
        told(1, "user.message", content="Find the leak"),
        told(2, "tool.execution_start", toolCallId="t1", toolName="task", arguments=given),
        told(3, "subagent.started", "a1", toolCallId="t1", agentName="explore", agentDisplayName="Scout"),
        told(4, "tool.execution_start", "a1", toolCallId="t2", toolName="bash", arguments={"command": "make"}),
        told(5, "tool.execution_complete", "a1", toolCallId="t2", success=True, result={"content": "ok"}),
        told(6, "subagent.completed", "a1", toolCallId="t1", agentName="explore", totalTokens=900),
        told(7, "tool.execution_complete", toolCallId="t1", success=True, result={"content": "In the cache."}),
        told(8, "assistant.message", content="Found it.", toolRequests=[]),
        told(9, "assistant.turn_end"),
    )


def gemini(folder: Path) -> None:
    header = {"sessionId": "main-1", "projectHash": "ab", "startTime": ZULU.format(0), "kind": "main"}
    asked = {"id": "m1", "timestamp": ZULU.format(1), "type": "user", "content": [{"text": "Tidy up"}]}
    said = {"id": "m2", "timestamp": ZULU.format(5), "type": "gemini", "content": "Done.", "model": "gemini-3"}
    call = {"id": "c", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success"}
    calls = {**said, "id": "m3", "timestamp": ZULU.format(3), "content": "", "toolCalls": [call]}
    chats = folder / "tmp" / "p" / "chats"
    lines(chats / "session-main-1.jsonl", header, asked, calls, {**said, "tokens": {"total": 10}})
    lines(chats / "main-1" / "sub-1.jsonl", {**header, "sessionId": "sub-1", "kind": "subagent"}, asked, said)
    document(chats / "session-old.json", {**header, "sessionId": "old", "kind": "chat", "messages": [asked, said]})


def qwen(folder: Path) -> None:
    def told(second: int, kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        whose = {"uuid": f"u{second}", "parentUuid": None, "sessionId": "s-1", "cwd": "/w", "version": "0.21"}
        message = {"role": "user", "parts": list(parts)}
        return {**whose, "type": kind, "timestamp": ZULU.format(second), "message": message, **more}

    def call(id: str, name: str, **given: Any) -> dict[str, Any]:
        return {"functionCall": {"id": id, "name": name, "args": given}}

    asked = told(1, "user", {"text": "context"}, systemPayload={"displayText": "Fix the build"})
    back = told(9, "tool_result", {"functionResponse": {"id": "c1", "name": "agent"}})
    answer = told(10, "assistant", {"text": "Fixed."}, usageMetadata={"totalTokenCount": 50})
    spawn = told(2, "assistant", call("c1", "agent", description="Look around"))
    project = folder / "projects" / "-w"
    lines(project / "chats" / "s-1.jsonl", asked, spawn, back, answer)
    inside = told(4, "assistant", call("c2", "run_shell_command", command="make"))
    lines(project / "subagents" / "s-1" / "agent-a1.jsonl", told(3, "user", {"text": "Look around"}), inside)
    about = {"agentId": "a1", "agentType": "explore", "description": "Look around", "parentSessionId": "s-1"}
    times = {"createdAt": ZULU.format(3), "lastUpdatedAt": ZULU.format(8), "status": "completed"}
    document(project / "subagents" / "s-1" / "agent-a1.meta.json", {**about, "toolUseId": "c1", **times})


SORTING = {"taskId": "agent-xy", "kind": "agent", "agentId": "agent-1", "detached": True, "status": "completed"}


def kimi(folder: Path) -> None:
    def wire(second: int, kind: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "time": T + second * 1000, **more}

    def loop(second: int, kind: str, **event: Any) -> dict[str, Any]:
        return wire(second, "context.append_loop_event", event={"type": kind, **event})

    home = folder / "sessions" / "wd_x" / "session_1"
    begin = {"type": "metadata", "protocol_version": "1.4", "created_at": T}
    given = {"description": "Count", "subagent_type": "explore", "prompt": "Count them all"}
    output = "agent_id: agent-0\nactual_subagent_type: explore\nstatus: completed\n\n[summary]\nThere are nine."
    lines(
        home / "agents" / "main" / "wire.jsonl",
        begin,
        wire(1, "turn.prompt", input=[{"type": "text", "text": "Count the files"}]),
        loop(3, "tool.call", toolCallId="Agent_1", name="Agent", args=given),
        loop(9, "tool.result", toolCallId="Agent_1", result={"output": output}),
        wire(9, "subagent.spawned", subagentId="agent-1", subagentName="coder", description="Sort"),
        loop(10, "step.end", finishReason="end_turn"),
        wire(11, "task.terminated", info={**SORTING, "endedAt": T + 11_000}, outputTail="Sorted."),
    )
    document(home / "agents" / "main" / "tasks" / "agent-xy.json", {**SORTING, "endedAt": T + 11_000})
    lines(home / "agents" / "agent-1" / "wire.jsonl", begin, wire(5, "turn.step.retrying", nextAttempt=2))
    lines(home / "agents" / "agent-0" / "wire.jsonl", begin, wire(4, "config.update", profileName="explore"))
    agents = {
        "main": {"homedir": f"{home}/agents/main", "type": "main", "parentAgentId": None},
        "agent-0": {"homedir": f"{home}/agents/agent-0", "type": "sub", "parentAgentId": "main"},
    }
    about = {"createdAt": ZULU.format(0), "title": "Count the files", "workDir": "/w"}
    document(home / "state.json", {**about, "agents": agents})


def cursor(folder: Path) -> None:
    def said(role: str, *content: dict[str, Any]) -> dict[str, Any]:
        return {"role": role, "message": {"content": list(content)}}

    top, below = "11111111-2222-4333-8444-555555555555", "66666666-2222-4333-8444-555555555555"
    home = folder / "projects" / "x" / "agent-transcripts" / top
    asked = said("user", {"type": "text", "text": "<user_query>\nList files\n</user_query>"})
    call = {"type": "tool_use", "name": "Agent", "input": {"prompt": "List files", "subagent_type": "explore"}}
    answer, ended = said("assistant", {"type": "text", "text": "a.txt"}), {"type": "turn_ended", "status": "success"}
    lines(home / f"{top}.jsonl", asked, said("assistant", call))
    lines(home / "subagents" / f"{below}.jsonl", asked, answer, ended)


def droid(folder: Path) -> None:
    def message(second: int, role: str, content: dict[str, Any]) -> dict[str, Any]:
        told = {"role": role, "content": [content]}
        return {"type": "message", "id": f"m{second}", "timestamp": ZULU.format(second), "message": told}

    root = {"type": "session_start", "id": "main", "title": "Ship it", "cwd": "/w", "owner": "ann", "version": "0.81"}
    child = {**root, "id": "sub", "title": "Test it", "callingSessionId": "main", "callingToolUseId": "t1"}
    spawn = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"description": "Test it"}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": "All green.", "is_error": False}
    asked = message(4, "user", {"type": "text", "text": "Test it"})
    lines(folder / "sessions" / "main.jsonl", root, message(2, "assistant", spawn), message(9, "user", back))
    lines(folder / "sessions" / "sub.jsonl", child, asked)


def crush(folder: Path) -> None:
    def message(
        id: str, owner: str, role: str, at: int, *parts: tuple[str, dict[str, Any]]
    ) -> tuple[str, dict[str, Any]]:
        told = json.dumps([{"type": kind, "data": data} for kind, data in parts])
        times = {"created_at": T // 1000 + at, "updated_at": T // 1000 + at}
        return "messages", {"id": id, "session_id": owner, "role": role, "parts": told, "model": "grist-2", **times}

    def session(id: str, title: str, cost: float, at: int, parent: str | None = None) -> tuple[str, dict[str, Any]]:
        times = {"created_at": T // 1000 + at, "updated_at": T // 1000 + at}
        return "sessions", {"id": id, "parent_session_id": parent, "title": title, "cost": cost, **times}

    call = ("tool_call", {"id": "k1", "name": "agent", "input": '{"prompt": "Look."}', "finished": True})
    fine = ("text", {"text": "The wheel is fine."})
    database(
        folder / ".crush" / "crush.db",
        """CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, message_count INTEGER,
        prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL, updated_at INTEGER, created_at INTEGER);
        CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT,
        created_at INTEGER, updated_at INTEGER, finished_at INTEGER, is_summary_message INTEGER DEFAULT 0);""",
        [
            session("m2$$k1", "New Agent Session", 0.02, 4, "root"),
            session("root", "Mend the mill", 0.05, 0),  # written last, when it had paid for the other
            message("m1", "root", "user", 1, ("text", {"text": "Mend it."})),
            message("m2", "root", "assistant", 2, call, ("finish", {"reason": "tool_use", "time": T // 1000 + 3})),
            message("c1", "m2$$k1", "user", 4, ("text", {"text": "Look."})),
            message("c2", "m2$$k1", "assistant", 9, fine, ("finish", {"reason": "end_turn", "time": T // 1000 + 9})),
            message("m3", "root", "tool", 10, ("tool_result", {"tool_call_id": "k1", "content": "The wheel is fine."})),
        ],
    )


def goose(folder: Path) -> None:
    def session(id: str, kind: str) -> tuple[str, dict[str, Any]]:
        times = {"created_at": "2026-03-15 10:00:00", "updated_at": "2026-03-15 10:00:00"}
        about = {"working_dir": "/mill", "accumulated_total_tokens": 70, "model_config_json": '{"model_name": "g"}'}
        return "sessions", {"id": id, "name": f"Work of {id}", "session_type": kind, **about, **times}

    def said(role: str, at: int, content: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        told = {"content_json": json.dumps([content]), "created_timestamp": T // 1000 + at}
        return "messages", {"id": at, "session_id": "g1", "role": role, **told}

    asked = {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "make"}}}
    database(
        folder / "goose" / "sessions" / "sessions.db",
        """CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type TEXT,
        working_dir TEXT, created_at TIMESTAMP, updated_at TIMESTAMP, accumulated_total_tokens INTEGER,
        model_config_json TEXT); CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT,
        session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);""",
        [
            session("g1", "user"),
            session("g2", "sub_agent"),
            said("user", 1, {"type": "text", "text": "Mend it."}),
            said("assistant", 2, {"type": "toolRequest", "id": "k", "toolCall": asked}),
            said("user", 4, {"type": "toolResponse", "id": "k", "toolResult": {"status": "success"}}),
            said("assistant", 6, {"type": "text", "text": "Mended."}),
        ],
    )


def opencode(folder: Path) -> None:
    def session(id: str, at: int, parent: str | None, title: str, agent: str) -> tuple[str, dict[str, Any]]:
        about = {"directory": "/mill", "title": title, "version": "1.18.0", "agent": agent}
        return "session", {"id": id, "parent_id": parent, **about, "time_created": T + at, "time_updated": T + at}

    def message(id: str, owner: str, at: int, **data: Any) -> tuple[str, dict[str, Any]]:
        value = json.dumps({"role": "assistant", "time": {"created": T + at}, **data})
        return "message", {"id": id, "session_id": owner, "time_created": T + at, "time_updated": T + at, "data": value}

    def part(id: str, owner: str, session: str, at: int, **data: Any) -> tuple[str, dict[str, Any]]:
        times = {"time_created": T + at, "time_updated": T + at}
        return "part", {"id": id, "message_id": owner, "session_id": session, **times, "data": json.dumps(data)}

    given = {"description": "Look at the wheel", "prompt": "Look at the wheel.", "subagent_type": "scout"}
    done = {"status": "completed", "input": given, "output": "Fine.", "time": {"start": T + 1000, "end": T + 3000}}
    task = {"type": "tool", "tool": "task", "callID": "k1", "state": {**done, "metadata": {"sessionId": "child"}}}
    over = {"time": {"created": T + 1200, "completed": T + 3000}, "finish": "stop"}
    database(
        folder / "opencode" / "opencode.db",
        """CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
        agent TEXT, time_created INTEGER, time_updated INTEGER); CREATE TABLE message (id TEXT PRIMARY KEY,
        session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT); CREATE TABLE part (id TEXT PRIMARY KEY,
        message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);""",
        [
            session("root", 0, None, "Mend the mill", "build"),
            session("child", 1000, "root", "Look at the wheel (@scout subagent)", "scout"),
            message("m1", "root", 100, role="user"),
            part("p1", "m1", "root", 101, type="text", text="Mend the mill, please."),
            message("m2", "root", 200, modelID="grist-2"),
            part("p2", "m2", "root", 3001, **task),
            message("c1", "child", 1100, role="user"),
            part("q1", "c1", "child", 1101, type="text", text="Look at the wheel."),
            message("c2", "child", 3000, **over, tokens={"input": 7, "output": 2}, cost=0.5),
            part("q2", "c2", "child", 2000, type="text", text="Fine."),
        ],
    )


def opencode_export(folder: Path) -> None:
    def message(id: str, role: str, at: int, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        info = {"id": id, "sessionID": "ses_a", "role": role, "time": {"created": T + at}, **more}
        return {"info": info, "parts": [{"messageID": id, "sessionID": "ses_a", **part} for part in parts]}

    state = {"status": "completed", "input": {"subagent_type": "scout"}, "metadata": {"sessionId": "ses_b"}}
    task = {"id": "p2", "type": "tool", "tool": "task", "callID": "k", "state": {**state, "time": {"start": T + 3}}}
    info = {"id": "ses_a", "directory": "/m", "title": "Count", "version": "1.18.0", "time": {"created": T}}
    asked = message("m1", "user", 1, {"id": "p1", "type": "text", "text": "Count"})
    document(folder / "export.json", {"info": info, "messages": [asked, message("m2", "assistant", 2, task)]})


def opencode_stream(folder: Path) -> None:
    def told(at: int, kind: str, **part: Any) -> dict[str, Any]:
        part |= {"id": f"p{at}", "messageID": "m1", "sessionID": "ses_a"}
        return {"type": kind, "timestamp": T + at, "sessionID": "ses_a", "part": part}

    state = {"status": "completed", "input": {"subagent_type": "scout", "description": "Look"}, "output": "Fine."}
    state |= {"metadata": {"sessionId": "ses_b"}, "time": {"start": T + 2, "end": T + 9}}
    lines(
        folder / "run.jsonl",
        told(1, "step_start", type="step-start"),
        told(9, "tool_use", type="tool", tool="task", callID="k", state=state),
        told(20, "text", type="text", text="It is fine.", time={"start": T + 19, "end": T + 20}),
        told(21, "step_finish", type="step-finish", reason="stop", tokens={"input": 5, "output": 2}, cost=0.5),
    )


def codex_state(folder: Path) -> None:
    def thread(id: str, source: str) -> tuple[str, dict[str, Any]]:
        about = {"title": "Measure", "cwd": "/w", "tokens_used": 77, "cli_version": "0.166.0", "archived": 0}
        return "threads", {"id": id, "source": source, "created_at_ms": T, "updated_at_ms": T + 130_000, **about}

    spawn = {"parent_thread_id": "th-1", "depth": 1, "agent_role": "explorer", "agent_nickname": "Ada"}
    database(
        folder / "state_5.sqlite",
        """CREATE TABLE threads (id TEXT PRIMARY KEY, source TEXT, created_at_ms INTEGER, updated_at_ms INTEGER,
        title TEXT, cwd TEXT, tokens_used INTEGER, cli_version TEXT, archived INTEGER);
        CREATE TABLE thread_spawn_edges (parent_thread_id TEXT, child_thread_id TEXT, status TEXT);""",
        [
            thread("th-1", "cli"),
            thread("th-2", json.dumps({"subagent": {"thread_spawn": spawn}})),
            ("thread_spawn_edges", {"parent_thread_id": "th-1", "child_thread_id": "th-2", "status": "closed"}),
        ],
    )


def cleo_tasks(folder: Path) -> None:
    def agent(id: str, parent: str | None, status: str, stopped: str | None) -> tuple[str, dict[str, Any]]:
        about = {"agent_type": "executor", "session_id": "ses_1", "task_id": "T5", "parent_agent_id": parent}
        times = {"started_at": "2026-04-20 10:00:00", "last_heartbeat": "2026-04-20 10:04:30", "stopped_at": stopped}
        return "agent_instances", {"id": id, "status": status, **about, **times}

    kept = {"title": "Of wheels", "key_findings": ["They turn."], "linked_tasks": ["T5"], "needs_followup": []}
    entry = {"id": "wheels", "task_id": "T5", "epic_id": "T1", "type": "research", "content": "They turn."}
    entry |= {"metadata_json": json.dumps(kept), "status": "active", "created_at": "2026-04-20 10:05:30"}
    error = {"id": 1, "agent_id": "agt_1", "error_type": "retriable", "message": "no disk", "resolved": 0}
    database(
        folder / ".cleo" / "tasks.db",
        """CREATE TABLE agent_instances (id TEXT PRIMARY KEY, agent_type TEXT, status TEXT, session_id TEXT,
        task_id TEXT, started_at TEXT, last_heartbeat TEXT, stopped_at TEXT, parent_agent_id TEXT);
        CREATE TABLE agent_error_log (id INTEGER, agent_id TEXT, error_type TEXT, message TEXT, occurred_at TEXT,
        resolved INTEGER); CREATE TABLE pipeline_manifest (id TEXT PRIMARY KEY, session_id TEXT, task_id TEXT,
        epic_id TEXT, type TEXT, content TEXT, status TEXT, source_file TEXT, metadata_json TEXT, created_at TEXT);""",
        [
            agent("agt_0", None, "active", None),
            agent("agt_1", "agt_0", "stopped", "2026-04-20 10:06:00"),
            ("agent_error_log", {**error, "occurred_at": "2026-04-20 10:05:00"}),
            ("pipeline_manifest", entry),
        ],
    )


def cleo_sessions(folder: Path) -> None:
    times = {"start_timestamp": "2026-01-23T09:14:26Z", "end_timestamp": "2026-01-23T09:14:38Z"}
    more = {"tokens": {"start": 0, "end": 5, "consumed": 5, "max": 200_000}, "stats": {"tasks_completed": 0}}
    names = ("session_20260123_011426_fe31d5", "session_20260123_011430_0a0a0a")
    lines(folder / "SESSIONS.jsonl", *({"session_id": name, **times, **more} for name in names))


def claude_sessions(folder: Path) -> None:
    process = {"pid": 4711, "sessionId": "5e550010-0000-4000-8000-000000000001", "cwd": "/home/ada/lantern"}
    about = {"startedAt": T, "procStart": "8812", "version": "2.1.325", "kind": "interactive", "entrypoint": "cli"}
    status = {"name": "lantern", "status": "busy", "updatedAt": T + 900, "statusUpdatedAt": T + 500}
    document(folder / "sessions" / "4711.json", {**process, **about, **status})


def claude_hooks(folder: Path) -> None:
    def hook(second: int, event: str, agent: str | None = None, **fields: Any) -> dict[str, Any]:
        where = {"agent_id": agent, "agent_type": "Plan"} if agent else {}
        common = {"session_id": "s", "cwd": "/srv/garden", "hook_event_name": event, "timestamp": ZULU.format(second)}
        return {**common, **where, **fields}

    given = {"description": "Plan the beds", "prompt": "please", "subagent_type": "Plan"}
    answer = {"status": "completed", "agentId": "a1", "content": [{"type": "text", "text": "fine"}]}
    lines(
        folder / "hooks.jsonl",
        hook(0, "SessionStart", source="startup"),
        hook(1, "PreToolUse", tool_name="Agent", tool_input=given, tool_use_id="c1"),
        hook(2, "SubagentStart", "a1"),
        hook(3, "PreToolUse", "a1", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="c2"),
        hook(4, "PostToolUse", "a1", tool_name="Bash", tool_response={}, tool_use_id="c2"),
        hook(5, "SubagentStop", "a1", last_assistant_message="fine"),
        hook(6, "PostToolUse", tool_name="Agent", tool_response=answer, tool_use_id="c1"),
        hook(7, "SessionEnd", reason="exit"),
    )


def copilot_locks(folder: Path) -> None:
    lock = folder / "session-state" / "c0-1" / "inuse.4711.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("4711")


def hyper_activity(folder: Path) -> None:
    def entry(second: int, actor: str, action: str) -> str:
        return f'  - timestamp: "{ZULU.format(second)}"\n    actor: {actor}\n    action: {action}\n'

    own, person = "{type: session, id: ses-7, parent_id: ses-1}", "{type: user, id: kim}"
    text = f"---\nid: task-1\ntitle: Trim\nactivity:\n{entry(1, own, 'created')}{entry(2, person, 'read')}---\n\nBody\n"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task-1.mdx").write_text(text)


def delegation_context(folder: Path) -> None:
    path = ["orchestrator", "implement", "executor"]
    context = {"session_id": "sess_1773568800_abc123", "delegation_depth": 1, "delegation_path": path, "timeout": 60}
    document(folder / "context.json", {**context, "task_context": {"task_number": 7}})


def recording(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    sources = [str(SAMPLES / name) for name in ("02_hang", "claude-code")]
    with redirect_stdout(io.StringIO()):
        assert main(["record", "--once", "-o", str(folder / "run.delegtop"), *sources]) == Exit.OK


BUILT: dict[str, Callable[[Path], None]] = {
    build.__name__.replace("_", "-"): build
    for build in (
        copilot,
        copilot_locks,
        gemini,
        qwen,
        kimi,
        cursor,
        droid,
        crush,
        goose,
        opencode,
        opencode_export,
        opencode_stream,
        codex_state,
        cleo_tasks,
        cleo_sessions,
        claude_sessions,
        claude_hooks,
        hyper_activity,
        delegation_context,
        recording,
    )
}

"""A coding agent as its log shows it: `actor.py claude|codex|opencode HOME` does what standard input says, by steps.

After each step it answers `done`, so that whoever watches knows from when on a change can be seen. It needs nothing but
the standard library, and it is a process of its own, as a real agent is.
"""

import json
import sqlite3
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def millis() -> int:
    return time.time_ns() // 1_000_000


def append(path: Path, *records: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


class Claude:
    """Claude Code 2.1: a transcript for each session, one for each sub-agent in a folder beside it."""

    def __init__(self, home: Path) -> None:
        self.projects = home / "claude" / "projects"
        self.session_id, self.agent_id = "4f1f6f0e-0d1c-4b57-9a53-1f0a7c3b9e01", "a5e1c0ffee5e1c0ff"
        self.project = self.projects / "-srv-orchard"
        self.count = 0

    def session(self) -> None:
        prompt = {"role": "user", "content": "Count the apples in the orchard"}
        append(self.main, self.record(type="user", message=prompt))

    def spawn(self) -> None:
        given = {"description": "count-the-trees", "prompt": "Count the trees", "subagent_type": "tree-counter"}
        append(self.main, self.assistant({"type": "tool_use", "id": "toolu_1", "name": "Agent", "input": given}))
        about = {"agentType": "tree-counter", "description": "count-the-trees", "toolUseId": "toolu_1", "spawnDepth": 1}
        self.child.parent.mkdir(parents=True, exist_ok=True)
        self.child.with_suffix(".meta.json").write_text(json.dumps(about))
        append(self.child, self.inside(type="user", message={"role": "user", "content": "Count the trees"}))

    def tool(self) -> None:
        call = {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "ls apple-trees"}}
        append(self.child, self.inside(**self.assistant(call)))

    def end(self) -> None:
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "12 trees"}]}
        answer = {"status": "completed", "agentId": self.agent_id, "totalDurationMs": 900, "totalTokens": 77}
        back = {"type": "tool_result", "tool_use_id": "toolu_2", "content": "a b c"}
        append(self.child, self.inside(type="user", message={"role": "user", "content": [back]}))
        append(self.child, self.inside(**self.assistant({"type": "text", "text": "12 trees"}, stop="end_turn")))
        done = {"message": {"role": "user", "content": [result]}, "toolUseResult": answer}
        append(self.main, self.record(type="user", **done))

    def elsewhere(self) -> None:
        """A session of a project that nobody has worked in before."""
        self.project = self.projects / "-srv-vineyard"
        self.session_id = "4f1f6f0e-0d1c-4b57-9a53-1f0a7c3b9e02"
        append(self.main, self.record(type="user", message={"role": "user", "content": "Prune the vines"}))

    @property
    def main(self) -> Path:
        return self.project / f"{self.session_id}.jsonl"

    @property
    def child(self) -> Path:
        return self.project / self.session_id / "subagents" / f"agent-{self.agent_id}.jsonl"

    def record(self, **more: Any) -> dict[str, Any]:
        self.count += 1
        common = {"isSidechain": False, "parentUuid": None, "uuid": f"{self.count:08d}-0000-4000-8000-000000000000"}
        place = {"cwd": "/srv/orchard", "sessionId": self.session_id, "version": "2.1.331", "timestamp": stamp()}
        return {**common, **place, "userType": "external", **more}

    def inside(self, **more: Any) -> dict[str, Any]:
        return {**self.record(), **more, "isSidechain": True, "agentId": self.agent_id}

    def assistant(self, content: dict[str, Any], stop: str = "tool_use") -> dict[str, Any]:
        usage = {"input_tokens": 3, "output_tokens": 5}
        message = {"id": f"msg_{self.count}", "type": "message", "role": "assistant", "model": "claude-opus-5-5"}
        return self.record(
            type="assistant", message={**message, "content": [content], "stop_reason": stop, "usage": usage}
        )


class Codex:
    """Codex CLI: one rollout for each thread, in a folder for each day."""

    def __init__(self, home: Path) -> None:
        self.sessions = home / "codex" / "sessions"
        self.root, self.child = "019c2001-4b00-7001-8a00-0000000000a1", "019c2001-4b00-7001-8a00-0000000000a2"
        self.day = "2026/02/03"

    def session(self) -> None:
        self.begin(self.root, "Paint the mill", source="cli", thread_source="user")

    def spawn(self) -> None:
        given = json.dumps({"message": "Paint the wheel", "agent_type": "wheel-painter"})
        call = {"type": "function_call", "name": "spawn_agent", "namespace": "multi_agent_v1", "call_id": "call_1"}
        self.tell(self.root, "response_item", **call, arguments=given)
        by = {"parent_thread_id": self.root, "depth": 1, "agent_role": "wheel-painter", "agent_nickname": "Ada"}
        source = {"subagent": {"thread_spawn": by}}
        self.begin(self.child, "Paint the wheel", source=source, thread_source="subagent", parent_thread_id=self.root)
        answer = json.dumps({"agent_id": self.child, "nickname": "Ada"})
        self.tell(self.root, "response_item", type="function_call_output", call_id="call_1", output=answer)

    def tool(self) -> None:
        call = {"type": "function_call", "name": "exec_command", "call_id": "call_2"}
        self.tell(self.child, "response_item", **call, arguments=json.dumps({"cmd": "mix blue-paint"}))

    def end(self) -> None:
        self.tell(self.child, "response_item", type="function_call_output", call_id="call_2", output="mixed")
        self.tell(self.child, "event_msg", type="task_complete", turn_id="turn", last_agent_message="The wheel is blue")

    def elsewhere(self) -> None:
        """A session on a new day."""
        self.day, self.root = "2026/02/04", "019c2001-4b00-7001-8a00-0000000000a3"
        self.begin(self.root, "Oil the gate", source="cli", thread_source="user")

    def begin(self, thread: str, prompt: str, **meta: Any) -> None:
        about = {
            "session_id": self.root,
            "id": thread,
            "timestamp": stamp(),
            "cwd": "/srv/mill",
            "cli_version": "0.166.0",
        }
        self.tell(thread, "session_meta", **about, originator="codex-tui", **meta)
        self.tell(thread, "event_msg", type="task_started", turn_id="turn")
        said = {"type": "UserMessage", "content": [{"type": "text", "text": prompt}]}
        self.tell(thread, "event_msg", type="item_completed", item=said)

    def tell(self, thread: str, kind: str, **payload: Any) -> None:
        path = self.sessions / self.day / f"rollout-{self.day.replace('/', '-')}T09-00-00-{thread}.jsonl"
        append(path, {"timestamp": stamp(), "type": kind, "payload": payload})


class OpenCode:
    """OpenCode 1.x: one database in WAL mode that stays open while it works."""

    def __init__(self, home: Path) -> None:
        self.path = home / "data" / "opencode" / "opencode.db"
        self.database: sqlite3.Connection | None = None

    def session(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.database = sqlite3.connect(self.path, isolation_level=None)
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.executescript(
            "CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,"
            " version TEXT, agent TEXT, time_created INTEGER, time_updated INTEGER);"
            "CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,"
            " time_updated INTEGER, data TEXT);"
            "CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,"
            " time_created INTEGER, time_updated INTEGER, data TEXT);"
        )
        self.open("ses_quarry", None, "Cut the stone", "build")

    def spawn(self) -> None:
        self.open("ses_cart", "ses_quarry", "Mend the cart (@cart-mender subagent)", "cart-mender")
        self.part("prt_1", "ses_quarry", self.task("running"))

    def tool(self) -> None:
        state = {"status": "running", "input": {"command": "hammer oak-plank"}, "time": {"start": millis()}}
        self.part("prt_2", "ses_cart", {"type": "tool", "tool": "bash", "callID": "call_2", "state": state})

    def end(self) -> None:
        now = millis()
        state = {"status": "completed", "input": {}, "output": "", "time": {"start": now, "end": now}}
        self.part("prt_2", "ses_cart", {"type": "tool", "tool": "bash", "callID": "call_2", "state": state})
        data = {"role": "assistant", "time": {"created": now, "completed": now}, "finish": "stop"}
        self.write("message", id="msg_ses_cart", session_id="ses_cart", data=json.dumps(data))
        self.part("prt_1", "ses_quarry", self.task("completed", output="mended"))

    def elsewhere(self) -> None:
        """A session in another folder."""
        self.open("ses_pond", None, "Clean the pond", "build")

    def open(self, id: str, parent: str | None, title: str, agent: str) -> None:
        about = {"parent_id": parent, "directory": "/srv/quarry", "title": title, "version": "1.18.0", "agent": agent}
        self.write("session", id=id, **about)
        data = {"role": "assistant", "time": {"created": millis()}}
        self.write("message", id=f"msg_{id}", session_id=id, data=json.dumps(data))

    def task(self, status: str, **more: Any) -> dict[str, Any]:
        now = millis()
        given = {"description": "Mend the cart", "prompt": "Mend the cart", "subagent_type": "cart-mender"}
        time = {"start": now, "end": now} if status == "completed" else {"start": now}
        state = {"status": status, "input": given, "metadata": {"sessionId": "ses_cart"}, "time": time, **more}
        return {"type": "tool", "tool": "task", "callID": "call_1", "state": state}

    def part(self, id: str, session: str, data: dict[str, Any]) -> None:
        self.write("part", id=id, message_id=f"msg_{session}", session_id=session, data=json.dumps(data))

    def write(self, table: str, **row: Any) -> None:
        if self.database is None:
            raise RuntimeError("the first step is `session`")
        row |= {"time_created": millis(), "time_updated": millis()}
        marks = ", ".join("?" * len(row))
        sql = f"REPLACE INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608 - our own names
        self.database.execute(sql, list(row.values()))


def main() -> None:
    kinds: dict[str, Callable[[Path], Any]] = {"claude": Claude, "codex": Codex, "opencode": OpenCode}
    actor = kinds[sys.argv[1]](Path(sys.argv[2]))
    for line in sys.stdin:
        getattr(actor, line.strip())()
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

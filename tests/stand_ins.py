"""Processes that look like those of agent programs, and logs as these programs write them: a session at work, now.

A stand-in is a shell that reads from a pipe nobody writes to, under the name of the program: it has its command line,
its folder and the files it keeps open, and it dies of every signal as the program does.
"""

import json
import os
import pty
import signal
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from delegtop.base.clock import WallClock

SHELL = "/bin/bash"
CLAUDE_ID = "55061391-9c10-4d23-b53b-5bcf255777e9"
CODEX_ID = "01a1e86d-491b-7f92-9846-08ee112ab379"
OPENCODE_ID = "ses_e178f81f9ffe56Au8638Aa7py9"
QWEN_ID = "f1470cd9-de51-4d35-9259-b13ad963672d"
COPILOT_ID = "a0abe576-5725-46b6-a58f-247ff3b224ae"
GEMINI_ID = "20b742c0-72c4-46d4-9805-f189d63ec633"
CLINE_ID = "1794922489480_fus59"
KIMI_ID = "session_4318cfcf-0c67-472a-b694-a19755f6e003"


class StandIn:
    """The process of a program, in a folder, with files open."""

    def __init__(
        self, words: Sequence[str], folder: Path, holds: Sequence[Path] = (), *, terminal: bool = False, pane: str = ""
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._terminal = pty.openpty() if terminal else ()
        its = self._terminal[-1] if self._terminal else None
        tmux = {"TMUX": "/tmp/tmux-0/default,1,0", "TMUX_PANE": pane} if pane else {}  # a name, no file
        with ExitStack() as opened:
            files = [opened.enter_context(path.open("r+b")) for path in holds]
            self._process = subprocess.Popen(
                [words[0], "-c", "read -r line", *words[1:]],
                executable=SHELL,
                cwd=folder,
                env={**os.environ, "PWD": str(folder), **tmux},
                stdin=subprocess.PIPE if its is None else its,
                stdout=its,
                pass_fds=[file.fileno() for file in files],
            )
        self.pid = self._process.pid

    def die(self, by: signal.Signals = signal.SIGKILL) -> None:
        if self._process.poll() is None:
            self._process.send_signal(by)
            self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        for end in self._terminal:
            os.close(end)
        self._terminal = ()


@contextmanager
def running(
    *words: str, folder: Path, holds: Sequence[Path] = (), terminal: bool = False, pane: str = ""
) -> Iterator[StandIn]:
    it = StandIn(words, folder, holds, terminal=terminal, pane=pane)
    try:
        yield it
    finally:
        it.die()


def moment(ago: float = 0.0) -> str:
    """So many seconds ago, as logs write it."""
    at = WallClock().now() / 1000 - ago
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def millis(ago: float = 0.0) -> int:
    return round(WallClock().now() - ago * 1000)


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return path


# -- logs of a session that has asked its model and waits ------------------------------------------------------------


def claude(home: Path, cwd: Path, ago: float = 0.0, version: str = "2.1.325", id: str = CLAUDE_ID) -> Path:
    common = {"parentUuid": None, "isSidechain": False, "cwd": str(cwd), "sessionId": id, "version": version}
    asked = {"type": "user", "uuid": f"{id[:-2]}01", "message": {"role": "user", "content": "Do the work"}}
    (home / ".claude" / "sessions").mkdir(parents=True, exist_ok=True)
    slug = "".join(c if c.isalnum() else "-" for c in str(cwd))
    return write(home / ".claude/projects" / slug / f"{id}.jsonl", {**common, **asked, "timestamp": moment(ago)})


def claude_done(log: Path, cwd: Path, id: str = CLAUDE_ID) -> None:
    common = {"parentUuid": None, "isSidechain": False, "cwd": str(cwd), "sessionId": id, "version": "2.1.325"}
    said = {"role": "assistant", "model": "m", "stop_reason": "end_turn", "usage": {}}
    message = {**said, "content": [{"type": "text", "text": "Done."}]}
    about = {"type": "assistant", "uuid": f"{id[:-2]}02", "timestamp": moment()}
    write(log, {**common, **about, "message": message})


def claude_entry(home: Path, cwd: Path, pid: int, id: str = CLAUDE_ID, **more: object) -> Path:
    entry: dict[str, object] = {"pid": pid, "sessionId": id, "cwd": str(cwd), "version": "2.1.325"}
    entry |= {"kind": "interactive"}
    place = home / ".claude/sessions" / f"{pid}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    entry |= {"startedAt": millis(), "status": "busy", "updatedAt": millis(), **more}
    place.write_text(json.dumps(entry))
    return place


def claude_asking(home: Path, cwd: Path, pid: int, **how: str) -> None:
    """A session that wants to be allowed to run something; `how` it was started, as its registry has it."""
    claude(home, cwd, ago=60)
    claude_entry(home, cwd, pid, status="waiting", waitingFor="permission to use Bash", statusUpdatedAt=millis(), **how)


def codex(home: Path, cwd: Path, ago: float = 0.0, id: str = CODEX_ID, parent: str | None = None) -> Path:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1, "agent_role": "worker"}}}
    meta: dict[str, Any] = {
        "id": id,
        "timestamp": moment(ago),
        "cwd": str(cwd),
        "originator": "codex_exec",
        "cli_version": "0.166.0",
    }
    meta |= {"source": spawn if parent else "exec"}
    state = home / ".codex/state_5.sqlite"
    state.parent.mkdir(parents=True, exist_ok=True)
    state.touch()
    return write(
        home / ".codex/sessions/2026/11/17" / f"rollout-2026-11-17T07-33-58-{id}.jsonl",
        {"timestamp": moment(ago), "type": "session_meta", "payload": meta},
        {"timestamp": moment(ago), "type": "event_msg", "payload": {"type": "task_started", "turn_id": "t1"}},
        {"timestamp": moment(ago), "type": "event_msg", "payload": {"type": "user_message", "message": "Do the work"}},
    )


def codex_done(log: Path) -> None:
    payload = {"type": "task_complete", "turn_id": "t1", "last_agent_message": "Done."}
    write(log, {"timestamp": moment(), "type": "event_msg", "payload": payload})


def qwen(home: Path, cwd: Path, ago: float = 0.0, id: str = QWEN_ID) -> Path:
    asked: dict[str, Any] = {
        "uuid": f"{id[:-2]}01",
        "parentUuid": None,
        "sessionId": id,
        "timestamp": moment(ago),
        "type": "user",
    }
    asked |= {"cwd": str(cwd), "version": "0.24.4", "message": {"role": "user", "parts": [{"text": "Do the work"}]}}
    return write(home / ".qwen/projects/-proj/chats" / f"{id}.jsonl", asked)


def gemini(home: Path, cwd: Path, ago: float = 0.0, id: str = GEMINI_ID) -> Path:  # noqa: ARG001 # its log does not say
    begun = {"sessionId": id, "projectHash": "dfd05c38", "startTime": moment(ago), "lastUpdated": moment(ago)}
    asked = {"id": f"{id[:-2]}01", "timestamp": moment(ago), "type": "user", "content": [{"text": "Do the work"}]}
    place = home / ".gemini/tmp/proj/chats" / f"session-2026-11-17T07-38-{id[:8]}.jsonl"
    return write(place, {**begun, "kind": "main"}, asked)


def copilot(home: Path, cwd: Path, ago: float = 0.0, id: str = COPILOT_ID) -> Path:
    begun: dict[str, Any] = {"sessionId": id, "version": 1, "copilotVersion": "1.0.102", "startTime": moment(ago)}
    begun |= {"context": {"cwd": str(cwd)}}
    return write(
        home / ".copilot/session-state" / id / "events.jsonl",
        {"type": "session.start", "data": begun, "id": f"{id[:-2]}01", "timestamp": moment(ago), "parentId": None},
        {"type": "user.message", "data": {"content": "Do the work"}, "id": f"{id[:-2]}02", "timestamp": moment(ago)},
        {"type": "assistant.turn_start", "data": {"turnId": "0"}, "id": f"{id[:-2]}03", "timestamp": moment(ago)},
    )


def kimi(home: Path, cwd: Path, ago: float = 0.0, id: str = KIMI_ID) -> Path:
    session, at = home / ".kimi-code/sessions/wd_proj" / id, millis(ago)
    session.mkdir(parents=True)
    (session / "state.json").write_text(json.dumps({"id": id, "version": 2, "cwd": str(cwd), "createdAt": at}))
    step = {"type": "step.begin", "uuid": "fc0ce7ef", "turnId": "0", "step": 1}
    return write(
        session / "agents/main/wire.jsonl",
        {"type": "metadata", "protocol_version": "1.5", "created_at": at},
        {"type": "turn.prompt", "agentId": "main", "input": [{"type": "text", "text": "Do the work"}], "time": at},
        {"type": "context.append_loop_event", "agentId": "main", "event": step, "time": at},
    )


def cline(home: Path, cwd: Path, ago: float = 0.0, id: str = CLINE_ID) -> Path:
    """What it writes beside its database, of a session and of an agent that has not said anything."""
    told = {"version": 1, "session_id": id, "pid": 1, "status": "running", "started_at": moment(ago)}
    agent = f"{id}__agent_1"
    origin = {"sessionId": agent, "parentThreadId": id, "subagent": "agent_1", "version": "3.0.65"}
    folder = home / ".cline/data/sessions" / id
    folder.mkdir(parents=True)
    (folder / f"{id}.json").write_text(json.dumps({**told, "cwd": str(cwd), "workspace_root": str(cwd)}))
    silent = {"version": 1, "sessionId": agent, "origin": origin, "messages": []}
    (folder / "agent_1.messages.json").write_text(json.dumps(silent))
    return folder


_TABLES = """
create table session (id text primary key, project_id text not null, parent_id text, slug text not null,
  directory text not null, title text not null, version text not null, agent text,
  time_created integer not null, time_updated integer not null);
create table message (id text primary key, session_id text not null, time_created integer not null,
  time_updated integer not null, data text not null);
create table part (id text primary key, message_id text not null, session_id text not null,
  time_created integer not null, time_updated integer not null, data text not null);
"""


def opencode(
    home: Path, cwd: Path, ago: float = 0.0, id: str = OPENCODE_ID, parent: str | None = None, *, done: bool = False
) -> Path:
    place = home / ".local/share/opencode/opencode.db"
    place.parent.mkdir(parents=True, exist_ok=True)
    new, at = not place.exists(), millis(ago)
    with sqlite3.connect(place) as database:
        if new:
            database.executescript(_TABLES)
        row = (id, "global", parent, "gentle-star", str(cwd), "The work", "1.18.34", "build", at, at)
        database.execute("insert or replace into session values (?,?,?,?,?,?,?,?,?,?)", row)
        asked = {"role": "user", "time": {"created": at}, "agent": "build"}
        answer: dict[str, Any] = {"parentID": f"msg_1{id[4:]}", "role": "assistant", "mode": "build", "agent": "build"}
        answer |= {"time": {"created": at, "completed": at}, "finish": "stop"} if done else {"time": {"created": at}}
        for name, data in ((f"msg_1{id[4:]}", asked), (f"msg_2{id[4:]}", answer)):
            database.execute("insert or replace into message values (?,?,?,?,?)", (name, id, at, at, json.dumps(data)))
    database.close()
    return place


def opencode_task(database: Path, session: str, child: str, ago: float) -> None:
    """The call of an agent that has not come back."""
    state = {"status": "running", "input": {"description": "Look", "subagent_type": "general"}}
    state |= {"metadata": {"sessionId": child}, "time": {"start": millis(ago)}}
    part = {"type": "tool", "tool": "task", "callID": "c1", "state": state}
    row = (f"prt_{child}", f"msg_2{session[4:]}", session, millis(ago), millis(ago), json.dumps(part))
    with sqlite3.connect(database) as opened:
        opened.execute("insert into part values (?,?,?,?,?,?)", row)
    opened.close()


def opencode_answer(database: Path, session: str, ago: float) -> None:
    """Another answer, from its beginning to its end."""
    at = millis(ago)
    said = {"role": "assistant", "agent": "build", "time": {"created": at, "completed": at}, "finish": "stop"}
    with sqlite3.connect(database) as opened:
        opened.execute("insert into message values (?,?,?,?,?)", (f"msg_9{session}", session, at, at, json.dumps(said)))
    opened.close()

"""The ordinary afternoon of somebody who runs agents: a home full of old sessions of Claude Code, three that are over,
two of them with an agent that failed, and one whose agent hangs now."""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from delegtop.sources import processes

MINUTE = 60_000
_VERSION = "2.1.325"


class Transcript:
    """The file of one session, or of one of its agents."""

    def __init__(self, session: str, cwd: str, agent: str | None = None) -> None:
        self.session, self.cwd, self.agent = session, cwd, agent
        self.lines: list[str] = []
        self.last = 0

    def _write(self, at: int, **more: Any) -> None:
        self.last = at
        number = len(self.lines)
        uuid = f"{number:08x}-{self.session[:4]}-4000-8000-{(self.agent or self.session)[-12:]:>012}"
        moment = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        common = {"parentUuid": None, "isSidechain": self.agent is not None, "uuid": uuid, "timestamp": moment}
        common |= {"cwd": self.cwd, "sessionId": self.session, "version": _VERSION, "userType": "external"}
        common |= {"agentId": self.agent} if self.agent else {}
        self.lines.append(json.dumps({**common, **more}) + "\n")

    def asked(self, at: int, text: str, **more: Any) -> None:
        self._write(at, type="user", message={"role": "user", "content": text}, **more)

    def said(self, at: int, content: dict[str, Any], stop: str | None) -> None:
        usage = {"input_tokens": 800, "output_tokens": 90}
        about = {"id": f"msg_{at}", "type": "message", "role": "assistant", "model": "claude-opus-5"}
        self._write(at, type="assistant", message={**about, "content": [content], "stop_reason": stop, "usage": usage})

    def done(self, at: int, text: str) -> None:
        self.said(at, {"type": "text", "text": text}, "end_turn")

    def called(self, at: int, call: str, tool: str, **given: Any) -> None:
        self.said(at, {"type": "tool_use", "id": call, "name": tool, "input": given}, "tool_use")

    def spawned(self, at: int, call: str, kind: str, title: str) -> None:
        self.called(at, call, "Agent", description=title, prompt=f"{title}, and report", subagent_type=kind)

    def came_back(self, at: int, call: str, text: str, *, failed: bool = False, **told: Any) -> None:
        result: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": [{"type": "text", "text": text}],
        }
        result |= {"is_error": True} if failed else {}
        more = {"toolUseResult": told} if told else {}
        self._write(at, type="user", message={"role": "user", "content": [result]}, **more)

    def keep(self, path: Path, written: int | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(self.lines), "utf-8")
        moment = (self.last if written is None else written) / 1000
        os.utime(path, (moment, moment))


def operators_home(home: Path, now: int, *, old: int = 100, hang: int = 31 * MINUTE, stuck: str = "model") -> str:
    """Fill `home`; what is stuck was last heard of `hang` milliseconds before `now`: an agent that waits for the model,
    or hangs in a `tool`, a session that asks for a `permission`, or a delegation past its `deadline`. Returns the id of
    the session, or of the delegation."""
    for number in range(old):
        _over(home, number, now - 9 * 60 * MINUTE - number * 7 * MINUTE)
    _failed(home, 1, "/home/ann/alpha", "Parallel run", now - 23 * MINUTE, now - 20 * MINUTE)
    _failed(home, 2, "/home/ann/beta", "Errors run", now - 110 * MINUTE, now - 106 * MINUTE)
    _nested(home, now - 90 * MINUTE)
    if stuck == "permission":
        return _asking(home, "/home/ann/webapp", now - hang)
    if stuck == "deadline":
        return _overdue(home, now - hang)
    return _hung(home, "/home/ann/webapp", now - hang, answered=stuck == "model")


WORKS = ("Deploy to staging", "Write release notes", "Check the payment gateway", "Check the payment forms")


def parallel_home(home: Path, now: int) -> None:
    """Two sessions in two projects that do the same with four agents of one kind each, of which three have waited for
    the model for half an hour, while another session is at work."""
    for number, cwd in enumerate(("/home/ann/shop", "/home/ann/webapp"), 1):
        main, at = Transcript(_id("b", number), cwd), now - 32 * MINUTE - number
        main.asked(at, "Release the shop", permissionMode="bypassPermissions")
        calls = [(f"toolu_{number}{letter}", work) for letter, work in zip("abcd", WORKS, strict=True)]
        for place, (call, work) in enumerate(calls):
            main.spawned(at + 1_000 + place, call, "general-purpose", work)
        main.keep(_place(home, cwd) / f"{main.session}.jsonl")
        for call, work in calls:
            agent = _agent(home, main, call, work, [(at + 2_000, "ls -l")])
            if work == WORKS[1]:
                agent.called(now - 1_000, f"{call}_last", "Bash", command="make notes")
            _keep_agent(home, agent)
    awake = Transcript(_id("c", 1), "/home/ann/garden")
    for minute in range(60):
        awake.asked(now - (60 - minute) * MINUTE, f"Plant row {minute}")
        awake.done(now - (60 - minute) * MINUTE + 9_000, "Planted.")
    awake.keep(_place(home, awake.cwd) / f"{awake.session}.jsonl")


def _place(home: Path, cwd: str) -> Path:
    slug = "".join(c if c.isalnum() else "-" for c in cwd)
    return home / ".claude" / "projects" / slug


def _id(kind: str, number: int) -> str:
    return f"{kind}{number:07x}-0000-4000-8000-{number:012x}"


def _agent(home: Path, main: Transcript, call: str, title: str, steps: Sequence[tuple[int, str]]) -> Transcript:
    """An agent's own file, with what it did; its side file says which call it is of."""
    agent = Transcript(main.session, main.cwd, f"a{call[-16:]:>016}".replace(" ", "0"))
    agent.asked(steps[0][0], f"{title}, and report")
    for number, (at, command) in enumerate(steps, 1):
        agent.called(at, f"{call}_{number}", "Bash", command=command)
        agent.came_back(at + 400, f"{call}_{number}", "ok")
    folder = _place(home, main.cwd) / main.session / "subagents"
    about = {"agentType": "general-purpose", "description": title, "toolUseId": call, "spawnDepth": 1}
    folder.mkdir(parents=True, exist_ok=True)
    side = folder / f"agent-{agent.agent}.meta.json"
    side.write_text(json.dumps(about), "utf-8")
    os.utime(side, (steps[0][0] / 1000,) * 2)
    return agent


def _keep_agent(home: Path, agent: Transcript) -> None:
    agent.keep(_place(home, agent.cwd) / agent.session / "subagents" / f"agent-{agent.agent}.jsonl")


def _over(home: Path, number: int, at: int) -> None:
    main = Transcript(_id("0", number), f"/home/ann/old{number % 9}")
    main.asked(at, f"Look at part {number} and mend it")
    main.done(at + 30_000, "Mended.")
    main.keep(_place(home, main.cwd) / f"{main.session}.jsonl")


def _failed(home: Path, number: int, cwd: str, title: str, at: int, ended: int) -> None:
    """A session that is over; of its two agents one failed, and it went on."""
    main, calls = Transcript(_id("f", number), cwd), (f"toolu_bad{number}", f"toolu_good{number}")
    main.asked(at, title)
    main.spawned(at + 1_000, calls[0], "general-purpose", "Agent that meets an API error")
    main.spawned(at + 1_100, calls[1], "general-purpose", "Fast agent")
    main.came_back(at + 3_000, calls[1], "fast finished: OK", status="completed", agentId=f"agood{number}")
    main.came_back(ended, calls[0], "API Error: 529 Overloaded", failed=True)
    main.done(ended + 2_000, "One of two did it.")
    main.keep(_place(home, cwd) / f"{main.session}.jsonl")


def _nested(home: Path, at: int) -> None:
    main = Transcript(_id("e", 1), "/home/ann/gamma")
    main.asked(at, "Nested run")
    main.spawned(at + 1_000, "toolu_lead", "general-purpose", "Level one lead")
    main.came_back(at + 9_000, "toolu_lead", "L1 done", status="completed", agentId="alead")
    main.done(at + 11_000, "Done.")
    main.keep(_place(home, main.cwd) / f"{main.session}.jsonl")


def _hung(home: Path, cwd: str, heard: int, *, answered: bool) -> str:
    """A session whose agent asked the model and never had an answer; or never had one from its tool."""
    main = Transcript(_id("a", 1), cwd)
    main.asked(heard - 60_000, "Make the login faster", permissionMode="bypassPermissions")  # so nobody is asked
    main.spawned(heard - 55_000, "toolu_hung", "general-purpose", "Profile the login")
    main.keep(_place(home, cwd) / f"{main.session}.jsonl")
    agent = _agent(home, main, "toolu_hung", "Profile the login", [(heard - 50_000, "pytest -q tests/login")])
    agent.called(heard - 30_000 if answered else heard, "toolu_last", "Bash", command="python -m cProfile login.py")
    if answered:
        agent.came_back(heard, "toolu_last", "finished in 3.2 s")
    _keep_agent(home, agent)
    return main.session


def _asking(home: Path, cwd: str, heard: int) -> str:
    """A session that wants to be allowed to run something; its process is this one."""
    main = Transcript(_id("a", 1), cwd)
    main.asked(heard - 60_000, "Make the login faster")
    main.called(heard, "toolu_asks", "Bash", command="rm -r build")
    main.keep(_place(home, cwd) / f"{main.session}.jsonl")
    entry = {"pid": os.getpid(), "sessionId": main.session, "cwd": cwd, "version": _VERSION, "kind": "interactive"}
    entry |= {"entrypoint": "cli", "tmux": "work:@1.%3"}
    entry |= {"startedAt": heard - 61_000, "procStart": str(processes.start_ticks(os.getpid()))}
    entry |= {"status": "busy", "waitingFor": "permission to use Bash"}
    entry |= {"statusUpdatedAt": heard + 400, "updatedAt": heard + 400}
    place = home / ".claude" / "sessions" / f"{os.getpid()}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(entry), "utf-8")
    os.utime(place, (heard / 1000,) * 2)
    return main.session


def _overdue(home: Path, heard: int) -> str:
    """A delegation of the delegation protocol, in its own log: it said what it did last and is past its time."""
    session, above = "sess_1790000000_late01", "sess_1790000000_root01"
    path = ["orchestrator", "implement", "implementer"]
    lines: list[dict[str, Any]] = [
        {"event": "register", "session_id": above, "command": "implement", "task_number": 7, "timeout": 86_400}
        | {"delegation_depth": 0, "delegation_path": path[:2]},
        {"event": "register", "session_id": session, "subagent": "implementer", "timeout": 600}
        | {"delegation_depth": 1, "delegation_path": path, "parent_session_id": above},
        {"event": "heartbeat", "session_id": session, "activity": "lake build", "tool": "bash"},
    ]
    file = home / "runs" / "session.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    moments = (heard - 4_000, heard - 3_000, heard)
    told = (
        {"schema_version": 1, "at": datetime.fromtimestamp(at / 1000, UTC).isoformat().replace("+00:00", "Z"), **line}
        for at, line in zip(moments, lines, strict=True)
    )
    file.write_text("".join(json.dumps(line) + "\n" for line in told), "utf-8")
    os.utime(file, (heard / 1000,) * 2)
    return session

"""Writes the logs of a labelled case: short scripts, a line an event, become the files that the programs would write.

A line is the minute, a verb and the rest: `5 beat impl tool=bash lake build`. `40x0.02 5 register c{n}` is forty of
them from minute 5 on, one every 0.02 minutes.
"""

import json
import os
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.samples import forest_of, observed

from delegtop.base.clock import MINUTE, FrozenClock, Millis, iso, parse_time
from delegtop.base.origin import Origin
from delegtop.feed.recorder import Recorder
from delegtop.model.events import Outlook, ProcessSeen, WaitsFor
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy

T0 = Millis(1_775_034_000_000)
"""2026-04-01T09:00:00Z: minute 0 of every case."""
_PROJECT = Path(".claude/projects/-srv-garden")
_SESSION = "5e551011-0000-4000-8000-00000000{:04d}"
_THREAD = "019d4756-0000-7000-8000-0000{:08x}"

Step = tuple[float, str, list[str]]


def at(minute: float) -> Millis:
    return Millis(int(T0 + minute * MINUTE))


def steps(script: str, until: float) -> Iterator[Step]:
    """The lines of a script up to that minute."""
    for line in script.strip().splitlines():
        for minute, verb, *rest in _repeated(line):
            if float(minute) <= until:
                yield float(minute), verb, rest


def _repeated(line: str) -> Iterator[list[str]]:
    often, _, rest = line.partition(" ")
    times, _, every = often.partition("x")
    if not every:
        yield line.split()
        return
    minute, _, words = rest.partition(" ")
    for n in range(int(times)):
        yield [
            str(float(minute) + n * float(every)),
            *words.replace("{n}", str(n)).replace("{n-1}", str(n - 1)).split(),
        ]


def grown(files: dict[str, Any], minute: float, folder: Path, policy: Policy | None = None) -> Forest:
    """Everything the files of a case tell by that minute, read as the program reads them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    snapshots: tuple[Step | None, ...] = tuple(steps(files.get("registry", ""), minute))
    _write(files, minute, folder)
    with observed(folder, clock=FrozenClock(at(minute)), policy=policy) as seen:
        for taken in snapshots or (None,):
            if taken is not None:
                _registry(taken, folder)
            seen.read()
        return seen.forest


def sampled(folder: Path, moment: str) -> Forest:
    """A run as it was at a moment."""
    return forest_of(folder, parse_time(moment) or T0)


def _write(files: dict[str, Any], minute: float, folder: Path) -> None:
    if "session-log" in files:
        _lines(folder / "session.jsonl", _session_log(files["session-log"], minute))
    if "kernel" in files:
        _kernel(files["kernel"], minute, folder)
    if "hooks" in files:
        _lines(folder / "hooks.jsonl", _hooks(files["hooks"], minute))
    for name, script in files.get("claude-code", {}).items():
        _claude(folder, name, script, minute)
    for name, script in files.get("codex", {}).items():
        stem = f"rollout-2026-04-01T09-00-00-{thread(name)}.jsonl"
        _lines(folder / ".codex/sessions/2026/04/01" / stem, _codex(name, script, minute))
    if "events" in files:
        _lines(folder / "specs/events.jsonl", _events(files["events"], minute))
    for path, told in files.get("proofchecker", {}).items():
        _return_meta(folder / "specs" / path / ".return-meta.json", told, minute)


def _kernel(script: str, until: float, folder: Path) -> None:
    """A recording of what the kernel showed: once a minute, from each line on until the next."""
    clock = FrozenClock(T0)
    recorder = Recorder(clock, "delegtop of a case")
    told = [*steps(script, until), (until + 1, "", [])]
    written = recorder.header()
    for (minute, _, (who, *words)), (following, _, _) in pairwise(told):
        facts, rest = _facts(words)
        for again in range(int(min(following, until + 0.5) - minute) + 1):
            pid, since = int(facts.get("pid", "4711")), facts.get("still")
            event = ProcessSeen(
                session(who),
                at(minute + again),
                Origin(f"kernel:{pid}", 0, 0),
                pid,
                WaitsFor(facts["waits_for"]),
                on=rest or None,
                outlook=Outlook(facts.get("outlook", "open").replace("_", " ")),
                still_since=at(float(since) if since else minute),
                until=at(float(facts["until"])) if "until" in facts else None,
                name=facts.get("name", "make"),
                fits=("descendant", "started", "command")[: int(facts.get("fits", "3"))],
                share=float(facts.get("share", "0")),
                flow=int(facts.get("flow", "0")),
            )
            written += recorder.record(None, (event,))
    (folder / "kernel.delegtop").write_bytes(written)


def _facts(words: list[str]) -> tuple[dict[str, str], str]:
    facts = dict(word.split("=", 1) for word in words if "=" in word)
    return facts, " ".join(word for word in words if "=" not in word)


def _lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


# -- the session log and the registry ------------------------------------------------------------------------------


def session(name: str) -> str:
    return f"sess_1775034000_{name[:6]:0<6}"


def _session_log(script: str, until: float) -> list[dict[str, Any]]:
    records = []
    for minute, verb, (name, *rest) in steps(script, until):
        record: dict[str, Any] = {"event": verb, "at": iso(at(minute)), "session_id": session(name)}
        given = dict(word.split("=", 1) for word in rest if "=" in word)
        words = " ".join(word for word in rest if "=" not in word)
        match verb:
            case "register":
                record |= _registered(given)
            case "beat":
                record |= {"event": "heartbeat", "activity": words}
                record |= {key: int(value) if value.isdecimal() else value for key, value in given.items()}
            case "return":
                record["return"] = _return(name, words, given)
            case "error":
                fault = {"type": "execution", "message": words, "code": "BUILD_ERROR", "recoverable": True}
                record["error"] = fault | {"recommendation": "Look at the build log"}
        records.append(record)
    return records


def _registered(given: dict[str, str]) -> dict[str, Any]:
    path = ["orchestrator", given.get("command", "implement"), given.get("agent", "worker")]
    record: dict[str, Any] = {"subagent": given.get("agent"), "delegation_depth": 1, "delegation_path": path}
    if "command" in given:
        record["command"] = given["command"]
    if "timeout" in given:
        record["timeout"] = float(given["timeout"]) * 60
    if "task" in given:
        record["task_number"] = int(given["task"])
    if "parent" in given:
        record["parent_session_id"] = session(given["parent"])
    return {key: value for key, value in record.items() if value is not None}


def _return(name: str, status: str, given: dict[str, str]) -> dict[str, Any]:
    return {
        "status": status or "completed",
        "summary": "It is done as far as it goes.",
        "artifacts": [],
        "metadata": {
            "session_id": session(name),
            "duration_seconds": 60,
            "agent_type": given.get("agent", "worker"),
            "delegation_depth": 1,
            "delegation_path": ["orchestrator", "implement"],
        },
        "errors": [],
        "next_steps": "",
    }


def _registry(taken: Step, folder: Path) -> None:
    minute, _, names = taken
    entries = {
        session(name): {
            "command": "implement",
            "subagent": "worker",
            "task_number": 7,
            "start_time": iso(T0),
            "timeout": 36_000,
            "deadline": iso(at(600)),
            "status": "running",
            "delegation_depth": 1,
            "delegation_path": ["orchestrator", "implement", "worker"],
        }
        for name in names
    }
    path = folder / "registry.json"
    path.write_text(json.dumps(entries), "utf-8")
    os.utime(path, ns=(at(minute) * 1_000_000,) * 2)


# -- Claude Code ---------------------------------------------------------------------------------------------------


def _claude(folder: Path, name: str, script: str, until: float) -> None:
    """`main…` is a session; `KIND of MAIN` or `KIND of AGENT in MAIN` an agent, started by `task KIND`."""
    kind, _, above = name.partition(" of ")
    above, _, inside = above.partition(" in ")
    main = inside or above or name
    place = folder / _PROJECT / claude(main)
    records = _transcript(name, kind if above else None, claude(main), script, until)
    if not above:
        _lines(place.with_suffix(".jsonl"), records)
    elif records:
        _lines(place / "subagents" / f"agent-a{kind}.jsonl", records)
        meta = {"agentType": kind, "toolUseId": f"toolu_{kind}", "spawnDepth": 2 if inside else 1}
        (place / "subagents" / f"agent-a{kind}.meta.json").write_text(json.dumps(meta), "utf-8")


def claude(name: str) -> str:
    """The id of a session."""
    return _SESSION.format(sum(name.encode()))


def _transcript(name: str, agent: str | None, session: str, script: str, until: float) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    call = ""
    for number, (minute, verb, rest) in enumerate(steps(script, until)):
        base: dict[str, Any] = {
            "uuid": f"{name}-{number}",
            "parentUuid": f"{name}-{number - 1}" if number else None,
            "isSidechain": agent is not None,
            "sessionId": session,
            "timestamp": iso(at(minute)),
            "cwd": "/srv/garden",
            "version": "2.1.331",
        } | ({"agentId": f"a{agent}"} if agent else {})
        words = " ".join(rest)
        match verb:
            case "prompt":
                records.append(base | {"type": "user", "message": {"role": "user", "content": words}})
            case "tool":
                call = f"toolu_{name}_{number}".replace(" ", "_")
                used = {"type": "tool_use", "id": call, "name": rest[0], "input": _input(rest)}
                records.append(base | _said(number, [used], "tool_use"))
            case "task":
                given = {"subagent_type": rest[0], "description": " ".join(rest[1:]), "prompt": " ".join(rest[1:])}
                used = {"type": "tool_use", "id": f"toolu_{rest[0]}", "name": "Task", "input": given}
                records.append(base | _said(number, [used], "tool_use"))
            case "result" | "done":
                id = call if verb == "result" else f"toolu_{rest[0]}"
                block = {"type": "tool_result", "tool_use_id": id, "content": words or "ok"}
                record = base | {"type": "user", "message": {"role": "user", "content": [block]}}
                if verb == "done":
                    record["toolUseResult"] = {"status": "completed", "agentId": f"a{rest[0]}", "content": []}
                records.append(record)
            case "say":
                records.append(base | _said(number, [{"type": "text", "text": words}], "end_turn"))
            case "mode":
                records.append({"type": "permission-mode", "permissionMode": rest[0], "sessionId": session})
            case "ask":
                records.append(base | {"type": "api-request", "querySource": "sdk"})
            case "progress":
                told = {"parentToolUseID": call, "data": {"type": "bash_progress", "output": words}}
                records.append(base | {"type": "progress", **told})
    return records


def _input(rest: list[str]) -> dict[str, Any]:
    words = " ".join(rest[1:])
    if rest[0] == "AskUserQuestion":
        return {"questions": [{"question": words}]}
    if rest[0] == "Bash":
        given, _, timeout = words.partition(" timeout=")
        return {"command": given} | ({"timeout": int(timeout) * 1000} if timeout else {})
    return {"file_path": words}


def _said(number: int, content: list[dict[str, Any]], reason: str) -> dict[str, Any]:
    message = {"id": f"msg_{number}", "role": "assistant", "model": "claude-opus-5-5", "content": content}
    return {"type": "assistant", "message": message | {"stop_reason": reason}}


def _hooks(script: str, until: float) -> list[dict[str, Any]]:
    """Hook payloads of one session: `EVENT tool=NAME words`."""
    records = []
    for minute, event, rest in steps(script, until):
        tool = next((word.removeprefix("tool=") for word in rest if word.startswith("tool=")), None)
        words = " ".join(word for word in rest if not word.startswith("tool="))
        record: dict[str, Any] = {
            "session_id": claude("main"),
            "cwd": "/srv/garden",
            "hook_event_name": event,
            "timestamp": iso(at(minute)),
        }
        if tool:
            record |= {"tool_name": tool, "tool_input": {"command": words}, "tool_use_id": "toolu_1"}
        elif event == "Notification":
            record |= {"message": words, "notification_type": "permission_prompt"}
        else:
            record["prompt"] = words
        records.append(record)
    return records


# -- Codex ---------------------------------------------------------------------------------------------------------


def thread(name: str) -> str:
    """The id of a thread; one that was spawned has a later one."""
    return _THREAD.format(sum(ord(char) << (index % 3 * 8) for index, char in enumerate(name)))


def _codex(name: str, script: str, until: float) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    turn = ""
    for number, (minute, verb, rest) in enumerate(steps(script, until)):
        if not records:
            records.append(_record(minute, "session_meta", _meta(name, minute, verb, rest)))
        words = " ".join(rest)
        match verb:
            case "turn":
                turn = f"019d4757-0000-7000-8000-{number:012x}"
                records.append(_record(minute, "event_msg", {"type": "task_started", "turn_id": turn}))
                message = {"type": "user_message", "message": words}
                records.append(_record(minute, "event_msg", message))
            case "done":
                over = {"type": "task_complete", "turn_id": turn, "last_agent_message": words}
                records.append(_record(minute, "event_msg", over))
            case "abort":
                records.append(_record(minute, "event_msg", {"type": "turn_aborted", "reason": "interrupted"}))
            case "call" | "spawn" | "wait":
                records.append(_record(minute, "response_item", _call(verb, rest)))
            case "out":
                output = (
                    {"agent_id": thread(rest[1]), "nickname": "Ada"} if rest[:1] == ["spawned"] else {"output": words}
                )
                told = {"type": "function_call_output", "call_id": "call", "output": json.dumps(output)}
                records.append(_record(minute, "response_item", told))
            case "say":
                content = [{"type": "output_text", "text": words}]
                spoken = {"type": "message", "role": "assistant", "content": content}
                records.append(_record(minute, "response_item", spoken))
            case "event":
                records.append(_record(minute, "event_msg", {"type": rest[0], "message": " ".join(rest[1:])}))
    return records


def _record(minute: float, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": iso(at(minute)), "type": kind, "payload": payload}


def _meta(name: str, minute: float, verb: str, rest: list[str]) -> dict[str, Any]:
    meta: dict[str, Any] = {"id": thread(name), "timestamp": iso(at(minute)), "cwd": "/srv/garden", "source": "cli"}
    if verb == "child-of":
        above = thread(rest[0])
        spawn = {"parent_thread_id": above, "depth": 1, "agent_role": rest[1]}
        meta |= {"parent_thread_id": above, "source": {"subagent": {"thread_spawn": spawn}}}
    return meta | {"cli_version": "0.166.0"}


def _call(verb: str, rest: list[str]) -> dict[str, Any]:
    name, given = rest[0], dict[str, Any](command=" ".join(rest[1:]))
    if verb == "spawn":
        name, given = "spawn_agent", {"message": " ".join(rest[1:]), "agent_type": rest[0]}
    elif verb == "wait":
        name, given = "wait_agent", {"targets": [thread(rest[0])], "timeout_ms": int(float(rest[1]) * 60_000)}
    return {"type": "function_call", "name": name, "arguments": json.dumps(given), "call_id": "call"}


# -- return files --------------------------------------------------------------------------------------------------


def _events(script: str, until: float) -> list[dict[str, Any]]:
    """What the hooks of that system write down: `pre OPERATION`, `post OPERATION STATUS`."""
    said = {"pre": "Preflight stage completed for {}", "post": "Postflight stage completed for {} (status: {})"}
    return [
        {
            "event_id": f"evt_{number:06d}",
            "event_type": "lifecycle_stage",
            "category": "milestone",
            "timestamp": iso(at(minute)),
            "session_id": session("hooks"),
            "task": 7,
            "checkpoint": None,
            "message": said[verb].format(*rest),
            "detail": {},
            "error_ref": None,
        }
        for number, (minute, verb, rest) in enumerate(steps(script, until))
    ]


def _return_meta(path: Path, told: dict[str, Any], until: float) -> None:
    """The file an agent keeps while it works; `at` is the minute it was last written."""
    if told["at"] > until:
        return
    value = {
        "status": told.get("status", "in_progress"),
        "artifacts": [{"type": "plan", "path": each, "summary": "Written"} for each in told.get("artifacts", [])],
        "metadata": {
            "session_id": session(told.get("session", "meta")),
            "agent_type": told.get("agent", "general-implementation-agent"),
            "delegation_depth": 1,
            "delegation_path": ["orchestrator", "implement", "general-implementation-agent"],
        },
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
    os.utime(path, ns=(at(told["at"]) * 1_000_000,) * 2)

"""A session of an agent program as it is seen from outside: its entry in the live registry, its transcript with open
calls, the agents below it, and the tools as its descendants. No model and no agent program is needed.

    stand_in_session.py PLAN      JSON, as `Stage` makes it: home, cwd, session, and each call

A call with an `agent` is one of a sub-agent with a transcript of its own. It writes `started.json` into its folder when
all have begun.
"""

import ctypes
import json
import os
import pty
import selectors
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

VERSION = "2.1.325"
_SET_NAME = 15
_TYPING = 2.0
"""Seconds between two lines that are typed."""


class Log:
    """A transcript: that of the session, or of an agent below it."""

    def __init__(self, path: Path, session: str, cwd: str, agent: str | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        self._common: dict[str, Any] = {"isSidechain": agent is not None, "userType": "external", "cwd": cwd}
        self._common |= {"sessionId": session, "version": VERSION, "gitBranch": "main", "entrypoint": "cli"}
        self._common |= {"agentId": agent} if agent else {}
        self._above: str | None = None
        self._written = 0
        self._stem = (agent or session).replace("-", "")[:12]

    def _write(self, **record: Any) -> None:
        self._written += 1
        uuid = f"{self._written:08x}-0000-4000-8000-{self._stem:0>12}"
        moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        whole = {"parentUuid": self._above, **self._common, **record, "uuid": uuid, "timestamp": moment}
        self._file.write(json.dumps(whole, separators=(",", ":")) + "\n")
        self._file.flush()
        self._above = uuid

    def asked(self, text: str) -> None:
        self._write(type="user", message={"role": "user", "content": text})

    def called(self, call: str, tool: str, **given: Any) -> None:
        content = [{"type": "tool_use", "id": call, "name": tool, "input": given}]
        message: dict[str, Any] = {
            "id": f"msg_{call}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
        }
        message |= {"content": content, "stop_reason": "tool_use", "stop_sequence": None}
        message |= {"usage": {"input_tokens": 1200, "output_tokens": 80}}
        self._write(type="assistant", message=message)

    def came_back(self, call: str, text: str, *, failed: bool) -> None:
        result = {"tool_use_id": call, "type": "tool_result", "content": text, "is_error": failed}
        self._write(type="user", message={"role": "user", "content": [result]})


class Session:
    """One process with its registry entry, its transcripts and its tools."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        claude = Path(plan["home"], ".claude")
        slug = "".join(c if c.isalnum() else "-" for c in plan["cwd"])
        self.entry = claude / "sessions" / f"{os.getpid()}.json"
        self.place = claude / "projects" / slug
        self.log = Log(self.place / f"{plan['session']}.jsonl", plan["session"], plan["cwd"])
        self.selector = selectors.DefaultSelector()
        self.calls = [Call(self, each) for each in plan["calls"]]
        self._kept: list[subprocess.Popen[bytes]] = []

    def register(self) -> None:
        now = time.time_ns() // 1_000_000
        began = Path("/proc/self/stat").read_text("utf-8").rpartition(")")[2].split()[19]
        entry = {"pid": os.getpid(), "sessionId": self.plan["session"], "cwd": self.plan["cwd"], "startedAt": now}
        entry |= {"procStart": began, "version": VERSION, "peerProtocol": 1, "kind": "interactive", "entrypoint": "cli"}
        entry |= {"pidDomain": _pid_domain(), "name": "stand-in", "nameSource": "derived", "nameSince": now}
        entry |= {"status": "busy", "updatedAt": now, "statusUpdatedAt": now}
        self.entry.parent.mkdir(parents=True, exist_ok=True)
        self.entry.write_text(json.dumps(entry, separators=(",", ":")), "utf-8")

    def run(self) -> None:
        self.register()
        self.log.asked("Run them and tell me how they ended")
        self._begin_companions()
        for call in self.calls:
            call.begin()
        told = {call.plan["call"]: call.process and call.process.pid for call in self.calls}
        there = Path(self.plan["cwd"], "started.json")
        there.with_suffix(".new").write_text(json.dumps(told), "utf-8")
        there.with_suffix(".new").rename(there)
        while True:
            for key, _ in self.selector.select(0.5):
                key.data()
            for call in self.calls:
                call.look()

    def _begin_companions(self) -> None:
        """What runs below most sessions and is no tool that anybody waits for: a server of tools that listens on its
        standard input, and a command that was sent to the background, with its result."""
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        self._kept.append(subprocess.Popen(["cat", "-u"], stdin=pipe, stdout=pipe, stderr=quiet))
        call, command = f"toolu_{self.plan['session'][:8]}", "tail -F server.log"
        self.log.called(call, "Bash", command=command, description="follow the log", run_in_background=True)
        shell = ["/bin/bash", "-c", f"eval '{command}' \\< /dev/null && pwd -P >| /dev/null"]
        self._kept.append(subprocess.Popen(shell, cwd=self.plan["cwd"], stdin=quiet, stdout=quiet, stderr=quiet))
        self.log.came_back(call, "Command running in background with ID: b1", failed=False)

    def leave(self) -> None:
        self.entry.unlink(missing_ok=True)


class Call:
    """One call of the shell tool, by the session itself or by an agent below it."""

    process: "subprocess.Popen[bytes] | None" = None

    def __init__(self, session: Session, plan: dict[str, Any]) -> None:
        self.session, self.plan = session, plan
        self.log = session.log
        self.open_ends: set[int] = set()
        """What its output is still awaited from."""
        self.keyboard: int | None = None
        self.typed = cycle(plan["typed"])
        self.typed_at = time.monotonic()
        self.hook: subprocess.Popen[bytes] | None = None
        self.number = 0
        self.over = False

    def begin(self) -> None:
        if self.plan["agent"]:
            self._begin_agent(self.plan["agent"])
        self._call()

    @property
    def id(self) -> str:
        return f"{self.plan['call']}{self.number or ''}"

    def _call(self) -> None:
        if self.plan["launch"] != "no call":
            self.log.called(self.id, "Bash", command=self.plan["command"], description="run it")
        if self.plan["launch"] not in ("no call", "not started"):
            getattr(self, "_" + self.plan["launch"].replace(" ", "_"))()

    def _begin_agent(self, agent: str) -> None:
        title, call = f"Run {self.plan['name']}", self.plan["spawned_by"]
        self.session.log.called(call, "Agent", description=title, prompt=title, subagent_type="general-purpose")
        folder = self.session.place / self.session.plan["session"] / "subagents"
        folder.mkdir(parents=True, exist_ok=True)
        about = {"agentType": "general-purpose", "description": title, "toolUseId": call, "spawnDepth": 1}
        (folder / f"agent-{agent}.meta.json").write_text(json.dumps(about), "utf-8")
        where = self.session.plan
        self.log = Log(folder / f"agent-{agent}.jsonl", where["session"], where["cwd"], agent)
        self.log.asked(title)

    # -- the ways that agent programs start a command ----------------------------------------------------------------

    def _shell(self) -> None:
        command = self.plan["command"]
        around = "source {0}/snapshot.sh 2>/dev/null || true && eval {1} && pwd -P >| {0}/cwd.txt"
        given = shlex.quote(command)
        if "|" not in command:  # the last of a pipeline reads the pipe
            given += " \\< /dev/null"
        line = around.format(shlex.quote(self.session.plan["cwd"]), given)
        with Path(self.plan["cwd"], "output.txt").open("wb") as output:
            self._start(["/bin/bash", "-c", line], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    def _replaced(self) -> None:
        self._piped(subprocess.DEVNULL)

    def _open_input(self) -> None:
        self._piped(subprocess.PIPE)

    def _piped(self, stdin: int) -> None:
        out, err = subprocess.PIPE, subprocess.PIPE
        started = self._start(["/bin/bash", "-lc", self.plan["command"]], stdin=stdin, stdout=out, stderr=err)
        for file in (started.stdout, started.stderr):
            assert file
            self._read(file.fileno())

    def _terminal(self) -> None:
        self.keyboard, screen = pty.openpty()

        def own() -> None:
            os.setsid()
            os.close(os.open(os.ttyname(screen), os.O_RDWR))  # the first terminal that is opened is the controlling one

        command = ["/bin/bash", "-lc", self.plan["command"]]
        self._start(command, stdin=screen, stdout=screen, stderr=screen, preexec_fn=own, start_new_session=False)
        os.close(screen)
        self._read(self.keyboard)

    def _start(self, command: list[str], *, start_new_session: bool = True, **how: Any) -> "subprocess.Popen[bytes]":
        # A login shell is ended in the middle of its profile now and then: it must not be that of whoever runs this.
        environ = os.environ | {"HOME": self.session.plan["home"], "TERM": "xterm", "PAGER": "less", "LESS": ""}
        where = self.plan["cwd"]
        self.process = subprocess.Popen(command, cwd=where, env=environ, start_new_session=start_new_session, **how)
        return self.process

    # -- what comes of it --------------------------------------------------------------------------------------------

    def _read(self, end: int) -> None:
        def heard() -> None:
            try:
                more = os.read(end, 65536)
            except OSError:  # the last who had the terminal is gone
                more = b""
            if not more:
                self.session.selector.unregister(end)
                self.open_ends.discard(end)

        self.open_ends.add(end)
        self.session.selector.register(end, selectors.EVENT_READ, heard)

    def look(self) -> None:
        """Type the next line; or write down the result, once the tool has ended and all of its output is read."""
        if self.plan["typed"] and self.keyboard is not None and time.monotonic() - self.typed_at > _TYPING:
            self.typed_at = time.monotonic()
            with suppress(OSError):
                os.write(self.keyboard, next(self.typed).encode() + b"\n")
        ended = self.process.poll() if self.process else None
        if ended is None or self.over or self.open_ends or self._runs_a_hook():
            return
        self.over = not self.plan["again"]
        if self.plan["returns"]:
            self.log.came_back(self.id, f"Exit code {ended}", failed=ended != 0)
        if self.plan["again"]:
            self.number += 1
            self._call()

    def _runs_a_hook(self) -> bool:
        if self.hook is None and self.plan["hook"]:
            quiet = subprocess.DEVNULL
            command = ["/bin/sh", "-c", self.plan["hook"]]
            self.hook = subprocess.Popen(command, cwd=self.plan["cwd"], stdin=quiet, stdout=quiet, stderr=quiet)
        return self.hook is not None and self.hook.poll() is None


def _pid_domain() -> str:
    with suppress(OSError):
        machine = Path("/etc/machine-id").read_text("utf-8").strip()
        return f"linux:{machine}:{Path('/proc/self/ns/pid').readlink()}"
    return ""


def main() -> None:
    ctypes.CDLL(None).prctl(_SET_NAME, b"claude", 0, 0, 0)
    session = Session(json.loads(sys.argv[1]))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))
    try:
        session.run()
    finally:
        session.leave()


if __name__ == "__main__":
    main()

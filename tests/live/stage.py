"""Puts cases on: a home with sessions whose tools they are, alive until the stage is left."""

import json
import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.live.live_case import Case

KEEPER = Path(__file__).parent / "keeper.py"


class Stage:
    """Cases that run: each third as a call of a session itself, the others of agents, several below one session."""

    def __init__(self, root: Path, cases: Sequence[Case], *, together: int = 6) -> None:
        self.root, self.home = root, root / "home"
        self.cases = list(cases)
        self.ids: dict[str, str] = {}
        """Of each case, the delegation that its call is of."""
        self.beside: dict[str, int] = {}
        self.tools: dict[str, int | None] = {}
        """The process that the session started, by case."""
        self.sessions: dict[str, int] = {}
        self._groups = _grouped(self.cases, together)
        self._keeper: subprocess.Popen[str] | None = None

    @property
    def keeper(self) -> int:
        """The process that ends all of them."""
        assert self._keeper
        return self._keeper.pid

    def folder(self, case: Case) -> Path:
        return self.root / "work" / case.name

    def __enter__(self) -> "Stage":
        for case in self.cases:
            self._furnish(case)
        plan: dict[str, Any] = {
            "prepare": [[str(self.folder(each)), each.prepare] for each in self.cases if each.prepare],
            "beside": [[str(self.folder(each)), each.beside] for each in self.cases if each.beside],
            "undo": [[str(self.folder(each)), each.undo] for each in self.cases if each.undo],
            "sessions": [self._session(number, group) for number, group in enumerate(self._groups)],
        }
        path = self.root / "plan.json"
        path.write_text(json.dumps(plan), "utf-8")
        command = [sys.executable, str(KEEPER), str(path)]
        pipe = subprocess.PIPE
        self._keeper = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)
        assert self._keeper.stdout
        line = self._keeper.stdout.readline()
        assert line, "the cases did not begin"
        self._know(json.loads(line), plan["sessions"])
        return self

    def _know(self, begun: dict[str, list[int]], sessions: list[dict[str, Any]]) -> None:
        beside = [case.name for case in self.cases if case.beside]
        self.beside = dict(zip(beside, begun["beside"], strict=True))
        for plan, pid in zip(sessions, begun["sessions"], strict=True):
            started = json.loads(Path(plan["cwd"], "started.json").read_text("utf-8"))
            for call in plan["calls"]:
                self.tools[call["name"]] = started[call["call"]]
                self.sessions[call["name"]] = pid

    def _furnish(self, case: Case) -> None:
        folder = self.folder(case)
        folder.mkdir(parents=True)
        for name, content in case.files.items():
            (folder / name).write_text(content, "utf-8")

    def _session(self, number: int, group: Sequence[Case]) -> dict[str, Any]:
        cwd = self.root / f"project{number}"
        cwd.mkdir()
        session = str(uuid.uuid5(uuid.NAMESPACE_OID, str(cwd)))
        calls = [self._call(session, case, of_agent=len(group) > 1) for case in group]
        begins = [str(self.folder(case) / case.begins) for case in group if case.begins]
        return {"home": str(self.home), "cwd": str(cwd), "session": session, "calls": calls, "begins": begins}

    def _call(self, session: str, case: Case, *, of_agent: bool) -> dict[str, Any]:
        key = uuid.uuid5(uuid.NAMESPACE_OID, session + case.name).hex
        agent = f"a{key[:16]}" if of_agent else None
        spawned_by = f"toolu_{key[8:]}"
        self.ids[case.name] = spawned_by if of_agent else session
        return {
            "name": case.name,
            "call": f"toolu_{key[:24]}",
            "agent": agent,
            "spawned_by": spawned_by,
            "command": case.command,
            "cwd": str(self.folder(case)),
            "launch": case.launch.value,
            "typed": list(case.typed),
            "returns": case.returns,
            "hook": case.hook,
            "again": case.again,
        }

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._keeper is None:
            return
        assert self._keeper.stdin
        assert self._keeper.stdout
        self._keeper.stdin.close()
        self._keeper.wait()
        self._keeper.stdout.close()


def _grouped(cases: Sequence[Case], together: int) -> list[list[Case]]:
    """No command twice in one session: of two that began at once nobody could tell which is whose. Those that take
    long to start come first, so that nobody else has to wait for them."""
    is_own = [case.alone or bool(case.begins) or at % 3 == 0 for at, case in enumerate(cases)]
    own = sorted(
        ([case] for case, alone in zip(cases, is_own, strict=True) if alone), key=lambda one: not one[0].begins
    )
    shared: list[list[Case]] = []
    for case, alone in zip(cases, is_own, strict=True):
        if alone:
            continue
        for group in shared:
            if len(group) < together and case.command not in {each.command for each in group}:
                group.append(case)
                break
        else:
            shared.append([case])
    return own + shared


@cache
def _works(command: str) -> bool:
    return subprocess.run(["bash", "-c", command], check=False, capture_output=True).returncode == 0


def cannot_run(case: Case) -> str:
    """Why a case cannot be put on here; nothing if it can."""
    missing = [name for name in case.needs if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} is not here"
    return f"`{case.if_works}` fails here" if case.if_works and not _works(case.if_works) else ""

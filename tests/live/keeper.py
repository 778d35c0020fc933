"""Starts what a case needs, and ends every process that came of it as soon as its own standard input ends.

A process that is stopped, has a session of its own or has lost its parent is found all the same: whoever loses its
parent below becomes a child of this one. So nothing is left behind, however the test ends.

    keeper.py PLAN      a JSON file: {"prepare": [[folder, command]], "beside": [[folder, command]], "sessions": [plan],
                         "undo": [[folder, command]]}

It prints one line when all of it has begun: {"beside": [pid], "sessions": [pid]}.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

_SUBREAPER = 36
_PATIENCE = 60.0
SESSION = Path(__file__).parent / "stand_in_session.py"


def begin(plan: dict[str, Any]) -> dict[str, list[int]]:
    for folder, command in plan["prepare"]:
        subprocess.run(
            ["bash", "-c", command], cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
    beside = [_start(folder, ["bash", "-c", command]) for folder, command in plan["beside"]]
    for folder, _ in plan["beside"]:
        _until_there(Path(folder) / "ready")
    sessions: list[int] = []
    for each in plan["sessions"]:
        sessions.append(_start(each["cwd"], [sys.executable, _named(each), json.dumps(each)]))
        for made in each["begins"]:
            _until_there(Path(made))
    for each in plan["sessions"]:
        _until_there(Path(each["cwd"]) / "started.json")
    return {"beside": beside, "sessions": sessions}


def _named(session: dict[str, Any]) -> str:
    """The stand-in under the name of its program: a process is known by that."""
    place = Path(session["cwd"], ".bin", "claude")
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(SESSION)
    return str(place)


def _start(folder: str, command: list[str]) -> int:
    quiet = subprocess.DEVNULL
    log = Path(folder, "errors.txt").open("ab")  # noqa: SIM115 -- the child's, until it ends
    return subprocess.Popen(command, cwd=folder, stdin=quiet, stdout=quiet, stderr=log, start_new_session=True).pid


def _until_there(path: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while not path.exists():
        if time.monotonic() > end:
            raise SystemExit(f"{path} never came")
        time.sleep(0.02)


def end_all() -> None:
    """Until nobody is left: what a dying process left behind is a child of this one."""
    while True:
        for pid in below(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.02)


def below(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                above = int((entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
                children.setdefault(above, []).append(int(entry.name))
    found, left = [], list(children.get(root, ()))
    while left:
        found.append(left.pop())
        left += children.get(found[-1], ())
    return found


def main() -> None:
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    plan = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    try:
        begun = begin(plan)
        sys.stdout.write(json.dumps(begun) + "\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        end_all()
        for folder, command in plan["undo"]:
            subprocess.run(["bash", "-c", command], cwd=folder, check=False, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()

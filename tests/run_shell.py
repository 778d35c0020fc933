"""Shell scripts as delegations: what the tests of `delegtop run` start, and what it has written."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE

DELEGTOP = f"{sys.executable} -m delegtop"
PATIENT = f"""#!{sys.executable}
import sys
from delegtop.cli import main
from delegtop.delegate import supervise
supervise.GRACE = {PATIENCE * 10}
sys.exit(main(sys.argv[1:]))
"""
"""The same, but whoever was asked to end has all the time it needs for it."""


class Shell:
    """Runs shell scripts as delegations that are logged in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "run.jsonl"
        self.program = [sys.executable, "-m", "delegtop"]

    def arguments(self, script: str, *options: str) -> list[str]:
        return [*self.program, "run", "--log", str(self.log), *options, "--", "sh", "-c", script]

    def run(self, script: str, *options: str, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        arguments = self.arguments(script, *options)
        return subprocess.run(
            arguments, capture_output=True, cwd=self.folder, timeout=PATIENCE, check=False, input=input
        )

    def run_out_of_time(self, script: str, *options: str) -> subprocess.CompletedProcess[bytes]:
        """Run what prints something and goes on. It has more time if that was over before it had printed it."""
        for seconds in ("0.4", "2", "10", "50"):
            self.log.unlink(missing_ok=True)
            ended = self.run(script, "--timeout", seconds, *options)
            if ended.stdout:
                return ended
        raise AssertionError("it did not even begin")

    def start(self, script: str, *options: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.arguments(script, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder
        )

    def events(self, *names: str) -> list[dict[str, Any]]:
        events = [json.loads(line) for line in self.log.read_bytes().splitlines()] if self.log.exists() else []
        return [event for event in events if not names or event["event"] in names]

    def told(self) -> list[str]:
        return [event["event"] for event in self.events()]


GIVE_RETURN = 'eval "$RETURN_GOOD"'
"""Prints the return that $GOOD holds, under its own session id."""


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return b") Z" not in Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False

"""The sample that the example orchestrator of the documentation writes: made anew by running it, and compared."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from delegtop.base.clock import SECOND, Millis, iso, parse_time

START = "2026-03-23T09:00:00.000Z"
STEP = 4 * SECOND
"""Between two lines of the sample: what the example does in no time shall be seen as it goes on."""
SAMPLE = Path("sample_logs") / "18_orchestrated" / "session.jsonl"
_ID = re.compile(r"sess_[0-9]+_[a-z0-9]{6}")
_FRAMES = re.compile(r'\n  File "[^"]*/delegtop/[^"]*", line.*?(?=\n  File "|\n\w)', re.DOTALL)


def written_by(program: Path, folder: Path) -> list[dict[str, Any]]:
    subprocess.run(
        [sys.executable, "-W", "error", str(program), str(folder)],
        check=True,
        capture_output=True,
        timeout=PATIENCE,
        cwd=folder,
    )
    lines = [json.loads(line) for line in (folder / "session.jsonl").read_bytes().splitlines()]
    # On a busy machine a command takes so long that it is heard.
    return [line for line in lines if line.get("activity") != "no complaints"]


def told(lines: list[dict[str, Any]]) -> str:
    """The lines as on another day and machine: the same story with times, ids and durations that do not change."""
    start = parse_time(START)
    assert start is not None
    begun: dict[str, Millis] = {}
    ids: dict[str, str] = {}
    shown = []
    for number, line in enumerate(lines):
        at = Millis(start + number * STEP)
        line["at"] = iso(at)
        begun.setdefault(line["session_id"], at)
        ids.setdefault(line["session_id"], f"sess_{begun[line['session_id']] // SECOND}_{len(ids):02}orch")
        line.pop("pid", None)  # a real number would be looked for on the reader's machine
        if "host" in line:
            line["host"] = "forge-2"
        if "deadline" in line:
            line["deadline"] = iso(Millis(at + int(line["timeout"] * SECOND)))
        if "return" in line:
            line["return"]["metadata"]["duration_seconds"] = (at - begun[line["session_id"]]) / SECOND
        if "stack_trace" in line:
            trace = _FRAMES.sub("", line["stack_trace"])
            line["stack_trace"] = re.sub(r'File "[^"]*/', 'File "docs/', trace)
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        shown.append(_ID.sub(lambda found: ids.get(found[0], found[0]), text))
    return "".join(f"{line}\n" for line in shown)


def test_the_sample_is_what_the_example_writes(project: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    made = told(written_by(project / "docs" / "orchestrator.py", tmp_path))
    if request.config.getoption("--update-golden"):
        (project / SAMPLE).parent.mkdir(exist_ok=True)
        (project / SAMPLE).write_text(made, encoding="utf-8")
    assert (project / SAMPLE).read_text("utf-8") == made


def test_the_example_shows_what_it_is_for(project: Path) -> None:
    lines = [json.loads(line) for line in (project / SAMPLE).read_text("utf-8").splitlines()]
    codes = {line["error"]["code"] for line in lines if line["event"] == "error"}
    assert codes == {"TIMEOUT", "VALIDATION_FAILED", "UNKNOWN_ERROR", "CYCLE_DETECTED", "MAX_DEPTH_EXCEEDED"}
    assert max(line["delegation_depth"] for line in lines if line["event"] == "register") == 3
    program = (project / "docs" / "orchestrator.py").read_text("utf-8").splitlines()
    assert sum(1 for line in program if line.strip()) <= 60

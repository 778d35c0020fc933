"""A line of twenty megabytes still says which call it ends, and one of any length costs no memory."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.recorded_feed import session_lines

from delegtop.cli import main

BIG = 20 << 20
SESSION = "11111111-2222-4333-8444-555555555555"


class Transcript:
    """Of a session that is at work now."""

    def __init__(self, home: Path) -> None:
        self._path = home / ".claude/projects/-work" / f"{SESSION}.jsonl"
        self._path.parent.mkdir(parents=True)
        self._at = datetime.now(UTC) - timedelta(minutes=5)
        self._written = 0

    def write(self, kind: str, content: Any, **more: Any) -> None:
        self._written += 1
        self._at += timedelta(seconds=2)
        moment = self._at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record: dict[str, Any] = {
            "parentUuid": None,
            "isSidechain": False,
            "sessionId": SESSION,
            "cwd": "/work",
            "version": "2.1.325",
        }
        record |= {"type": kind, "message": {"role": kind, "content": content}, "uuid": f"u{self._written}"}
        with self._path.open("a") as file:
            file.write(json.dumps({**record, "timestamp": moment, **more}) + "\n")

    def call(self, id: str, tool: str, **given: str) -> None:
        self.write("assistant", [{"type": "tool_use", "id": id, "name": tool, "input": given}])

    def result(self, id: str, text: str) -> None:
        content = [{"tool_use_id": id, "type": "tool_result", "content": text}]
        self.write("user", content, toolUseResult={"content": [{"type": "text", "text": text}], "status": "completed"})


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Transcript:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    log = Transcript(tmp_path)
    log.write("user", "Find out, and tell me")
    return log


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    main(["tree", "--json"])
    return {each["id"]: each for each in json.loads(capsys.readouterr().out)["delegations"]}


def test_an_agent_whose_result_is_too_long_to_read_has_ended(
    log: Transcript, capsys: pytest.CaptureFixture[str]
) -> None:
    log.call("toolu_agent", "Agent", description="Look", prompt="Look", subagent_type="explorer")
    log.result("toolu_agent", "found \\ it\n" * (BIG // 11))
    log.call("toolu_bash", "Bash", command="make")
    seen = told(capsys)
    assert seen["toolu_agent"]["state"] == "completed"
    assert seen[SESSION]["tool"] == "Bash"


def test_a_call_whose_result_is_too_long_to_read_is_no_longer_open(
    log: Transcript, capsys: pytest.CaptureFixture[str]
) -> None:
    log.call("toolu_read", "Read", file_path="picture.png")
    assert told(capsys)[SESSION]["tool"] == "Read"
    log.result("toolu_read", "A" * BIG)
    seen = told(capsys)[SESSION]
    assert seen["phase"] == "model"


def test_that_it_was_not_read_whole_is_said_where_it_stands(
    log: Transcript, capsys: pytest.CaptureFixture[str]
) -> None:
    log.call("toolu_read", "Read", file_path="picture.png")
    log.result("toolu_read", "A" * BIG)
    main(["tree"])
    said = capsys.readouterr()
    assert ".jsonl:3: oversize:" in said.out + said.err
    assert "read without its long texts" in said.out + said.err


_MEASURED = """
import resource, sys
from delegtop.cli import main
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


@pytest.mark.parametrize("kind", ["a record", "no record"])
def test_a_line_of_any_length_is_told_and_passed_over_in_bounded_memory(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """`pytest --huge-line 1024` makes it a gigabyte."""

    def used(log: Path) -> tuple[int, str]:
        command = [sys.executable, "-c", _MEASURED, "tree", "--json", "--sources", str(log)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(done.stderr.split()[-1]), done.stdout

    megabytes = request.config.getoption("--huge-line")
    short, long = tmp_path / "short.jsonl", tmp_path / "long.jsonl"
    short.write_text(session_lines("aaa111", "bbb222"))
    with long.open("wb") as file:
        file.write(session_lines("aaa111").encode())
        file.write(b'{"event": "note", "text": "' if kind == "a record" else b"")
        for _ in range(megabytes):
            file.write(b"y" * (1 << 20))
        file.write(b'"}\n' if kind == "a record" else b"\n")
        file.write(session_lines("bbb222").encode())
    (little, _), (much, told) = used(short), used(long)
    long.unlink()
    assert much - little < 64 << 10
    assert sorted(each["id"][-6:] for each in json.loads(told)["delegations"]) == ["aaa111", "bbb222"]

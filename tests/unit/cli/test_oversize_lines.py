"""A line of twenty megabytes still says which call it ends."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

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

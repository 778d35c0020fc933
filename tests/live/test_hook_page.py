"""The hook of docs/orchestrator-hook.md, run as Claude Code runs it, on an agent that really hangs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.homes import operators_home
from tests.live.stage import Stage
from tests.live.tables import EVERY

from delegtop.base.clock import WallClock
from delegtop.cli import main
from delegtop.report.status import status_file

pytestmark = pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at")

PAGE = Path(__file__).parents[2] / "docs" / "orchestrator-hook.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def told_to_a_hook(session: str, call: str, cwd: Path) -> str:
    """What a PreToolUse hook finds on its standard input."""
    given = {"description": "Run it", "prompt": 'say "tool_use_id":"toolu_wrong"', "subagent_type": "general-purpose"}
    told: dict[str, Any] = {
        "session_id": session,
        "transcript_path": f"{cwd}/x.jsonl",
        "cwd": str(cwd),
        "permission_mode": "default",
    }
    told |= {"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": given, "tool_use_id": call}
    return json.dumps(told, separators=(",", ":"))


def hook(tmp_path: Path, home: Path, told: str) -> "subprocess.CompletedProcess[str]":
    (tmp_path / "bin").mkdir(exist_ok=True)
    script, program = tmp_path / "hook.sh", tmp_path / "bin" / "delegtop"
    script.write_text(blocks("sh")[0])
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m delegtop "$@"\n')
    for each in (script, program):
        each.chmod(0o755)
    environ = os.environ | {"HOME": str(home), "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run([str(script)], input=told, env=environ, cwd=home, capture_output=True, text=True, check=False)


def test_it_wakes_a_parent_whose_child_hangs_with_which_why_and_what_to_do(tmp_path: Path) -> None:
    names = ("sleep_450", "fifo_without_a_writer", "poll_loop")
    cases = sorted((case for case in EVERY if case.name in names), key=lambda case: names.index(case.name))
    with Stage(tmp_path, cases) as stage:
        call = stage.ids["fifo_without_a_writer"]
        assert call.startswith("toolu_")
        told = hook(tmp_path, stage.home, told_to_a_hook("any", call, tmp_path))
    assert (told.returncode, told.stdout) == (2, "")
    first, *rest = told.stderr.splitlines()
    assert first.startswith("An agent of yours is stuck.")
    (line,) = (line for line in rest if f" {call}: " in line)
    assert "waits for somebody to open the other end of the FIFO queue" in line
    assert "What to do: " in line


def test_it_says_nothing_where_there_is_no_call(tmp_path: Path) -> None:
    told = hook(tmp_path, tmp_path, '{"session_id":"x","hook_event_name":"PreToolUse"}')
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


def test_the_settings_are_those_that_claude_code_reads() -> None:
    wakes, prompts = (json.loads(block)["hooks"] for block in blocks("json"))
    (entry,) = wakes["PreToolUse"]
    (command,) = entry["hooks"]
    assert (command["type"], command["asyncRewake"], command["timeout"]) == ("command", True, 4 * 3600)
    assert re.fullmatch(entry["matcher"], "Agent")
    assert "--timeout 4h" in blocks("sh")[0]
    assert prompts["UserPromptSubmit"][0]["hooks"][0]["type"] == "command"


def test_what_is_said_with_a_prompt_is_said_only_if_something_is_wrong(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import shlex

    operators_home(Path.home(), WallClock().now())
    main(["status", "--read"])
    capfd.readouterr()
    words = shlex.split(json.loads(blocks("json")[1])["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"])
    known = json.loads(status_file.place().read_text())["sessions"]
    for session in known:
        told = json.dumps({"session_id": session["id"], "cwd": "/", "hook_event_name": "UserPromptSubmit"})
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(told.encode())))
        main(words[1:])
        said = capfd.readouterr().out.strip()
        assert said.startswith("From the logs of your agents") == bool(session["tally"]["problems"])
        assert bool(said) == bool(session["tally"]["problems"])
    assert {bool(session["tally"]["problems"]) for session in known} == {True, False}

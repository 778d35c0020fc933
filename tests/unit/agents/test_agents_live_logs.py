"""Logs that real agent programs wrote for the purpose, if there are any here (DELEGTOP_REAL_LOGS names their folder):
each run lies as in the home of a user. What really was so is known, because a script answered in place of the model."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

RUNS = Path(os.environ.get("DELEGTOP_REAL_LOGS", "/-"), "agents_live")
pytestmark = pytest.mark.skipif(not RUNS.is_dir(), reason="DELEGTOP_REAL_LOGS names no logs made for the purpose")
NOW = "2026-11-16T16:30:00Z"

SHOWN = {
    ("kimi-code-2.1.0/ok_bad_resumed", NOW): """
        0 kimi idle
        1 explore Side completed
        1 coder Bad failed 400 mock bad request
        1 coder Lead completed""",
    ("kimi-code-2.1.0/hang_bg", "2026-11-16T15:32:00Z"): """
        0 kimi waiting
        1 explore Side completed
        1 coder Bg side completed
        1 coder Lead hung silent""",
    ("kimi-code-2.1.0/hang_bg", NOW): """
        0 kimi idle
        1 explore Side completed
        1 coder Bg side completed
        1 coder Lead hung interrupted""",
    ("cline-3.0.65/ok_bad", NOW): """
        0 cline completed
        1 subagent Lead completed lead ok
        2 subagent Leaf completed leaf ok
        1 subagent Bad failed mock bad request""",
    ("cline-3.0.65/hang_term", "2026-11-16T15:39:30Z"): """
        0 cline waiting
        1 subagent Hung running""",
    ("grok-1.0.41/ok_bad", NOW): """
        0 grok idle
        1 general-purpose Lead completed lead ok
        1 general-purpose Bad failed API error (status 400 Bad Request): mock bad request""",
    ("kilo-7.7.9/ok", NOW): """
        0 kilo idle
        1 lead Lead completed lead ok
        2 lead Mid completed mid ok
        3 general Leaf completed leaf ok
        1 explore Side completed side ok""",
    ("copilot-1.0.102/ok_bad", NOW): """
        0 copilot completed
        1 general-purpose Lead completed lead ok
        2 general-purpose Mid completed mid ok
        3 general-purpose Leaf completed leaf ok
        1 explore Side completed side ok
        1 task Bad failed 400 mock bad request""",
    ("copilot-1.0.102/hang_killed_resumed", "2026-11-16T15:26:00Z"): """
        0 copilot waiting
        1 general-purpose Lead waiting
        2 general-purpose Leaf hung running
        1 explore Side completed
        1 task Bg side completed""",
    ("copilot-1.0.102/hang_killed_resumed", NOW): """
        0 copilot completed
        1 general-purpose Lead interrupted
        2 general-purpose Leaf hung interrupted
        1 explore Side completed
        1 task Bg side completed""",
    ("gemini-cli-0.61.0/ok", NOW): """
        0 gemini idle
        1 generalist Lead work failed Agent stopped calling tools but did not call 'complete_task'.
        1 generalist Side work failed Agent stopped calling tools but did not call 'complete_task'.""",
    ("gemini-cli-0.61.0/hang_term", "2026-11-16T15:25:00Z"): """
        0 gemini waiting
        1 None Hung work silent
        1 None Side work idle""",
    ("qwen-code-0.24.4/ok_resumed", NOW): """
        0 qwen idle
        1 general-purpose Lead completed
        2 general-purpose Mid completed
        3 general-purpose Leaf completed
        1 Explore Side completed""",
    ("qwen-code-0.24.4/hang_bad", "2026-11-16T15:24:00Z"): """
        0 qwen waiting
        1 general-purpose Lead waiting
        2 general-purpose Leaf hung silent
        1 Explore Side completed
        1 general-purpose Bad failed""",
}
"""Each run at a moment: depth, kind, what it was called, state, and what it came back with."""
PROJECTS = {
    "gemini-cli-0.61.0/hang_term": "cd /home/ann/x/y/runs/gemhang/proj && gemini --resume ebcc5bc4",
    "qwen-code-0.24.4/hang_bad": "cd /home/ann/x/y/runs/qwhang/proj && qwen --resume 69cec1a7",
    "kimi-code-2.1.0/hang_bg": "cd /home/ann/x/y/runs/kmhang/proj && kimi --session session_1a354a28",
    "grok-1.0.41/ok_bad": "cd /home/ann/x/y/runs/gkok/proj && grok --resume 01a1e50c-055c",
    "cline-3.0.65/ok_bad": "cd /home/ann/x/y/runs/clok/proj && cline --id 1794843536098_6nhxu",
    "copilot-1.0.102/ok_bad": "cd /home/ann/x/y/runs/cpok/proj && copilot --resume ca33e713",
}


def lived_in(run: str, home: Path) -> Path:
    """A home as the program left it."""
    shutil.copytree(RUNS / run, home, symlinks=True)
    for path in home.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    if (database := home / "kilo.db").exists():
        (home / ".local" / "share" / "kilo").mkdir(parents=True)
        database.rename(home / ".local" / "share" / "kilo" / "kilo.db")
    return home


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def found(run: str, *options: str) -> Any:
        home = lived_in(run, tmp_path / "home")
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        monkeypatch.chdir(tmp_path)
        assert main(["tree", "--all", "--json", *options]) == Exit.OK
        return json.loads(capsys.readouterr().out)

    return found


def told(row: dict[str, Any]) -> str:
    title = str(row["title"]).split(" @@", 1)[0] if row["depth"] else ""
    summary = row["summary"] or ""
    return " ".join(
        filter(None, [str(row["depth"]), str(row["agent"]), title, row["state"], summary.split(" xxx", 1)[0]])
    )


@pytest.mark.parametrize(("run", "at"), SHOWN, ids=lambda value: str(value))
def test_a_run_is_found_without_being_named_and_shown_as_it_was(run: str, at: str, tree: Any) -> None:
    found = tree(run, "--at", at)
    wanted = [line.strip() for line in SHOWN[run, at].strip().splitlines()]
    rows = [told(row) for row in found["delegations"]]
    assert [row if row.startswith(want) else want for row, want in zip(rows, wanted, strict=True)] == rows
    assert {source["unreadable"] + source["deviations"] for source in found["sources"]} == {0}


@pytest.mark.parametrize("run", PROJECTS)
def test_a_session_is_taken_up_again_in_its_own_folder(run: str, tree: Any) -> None:
    commands = [str(row["assessment"]) for row in tree(run, "--at", NOW)["delegations"]]
    assert any(PROJECTS[run] in command for command in commands)


def test_a_session_whose_process_is_gone_is_lost_with_its_agents(tree: Any) -> None:
    assert [row["state"] for row in tree("cline-3.0.65/hang_term")["delegations"]] == ["lost", "lost"]


def test_tokens_and_errors_of_an_agent_are_not_told_of_the_one_that_called_it_too(tree: Any) -> None:
    """Copilot's total of an agent counts those below it, and an error of its model is told as one of the session."""
    rows = tree("copilot-1.0.102/ok_bad", "--at", NOW)["delegations"]
    assert [row["tokens"] for row in rows] == [2560, 2560, 2560, 2560, 2560, 1280]
    assert [len(row["errors"]) for row in rows] == [0, 0, 0, 0, 0, 1]

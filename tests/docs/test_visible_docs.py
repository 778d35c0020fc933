"""The page "make your orchestrator visible": every example on it is run, and shows what the page says."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from delegtop.cli import main

# An agent that knows slash commands: it runs the shell blocks of the command's page, and answers any other prompt.
CLAUDE = r"""#!{python}
import pathlib, re, subprocess, sys
prompt = sys.argv[2]
if not prompt.startswith("/"):
    print("working on: " + prompt)
    sys.exit()
name, _, words = prompt[1:].partition(" ")
page = pathlib.Path(".claude/commands", name + ".md").read_text()
for block in re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S):
    subprocess.run(["sh", "-c", block.replace("$ARGUMENTS", words)], check=True)
"""


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of every fenced block; a fence of four holds fences of three."""
    return [(match[2], match[3]) for match in re.finditer(r"^(````?)(\w*)\n(.*?)^\1$", page, re.MULTILINE | re.DOTALL)]


@pytest.fixture(scope="module")
def examples(project: Path) -> list[tuple[str, str]]:
    return blocks((project / "docs" / "make-your-orchestrator-visible.md").read_text("utf-8"))


class Place:
    """An empty folder with delegtop and an agent on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        (programs / "delegtop").write_text(f'#!/bin/sh\nexec {sys.executable} -m delegtop "$@"\n')
        (programs / "claude").write_text(CLAUDE.replace("{python}", sys.executable))
        for program in programs.iterdir():
            program.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DELEGTOP_")}
        self.environ = {**kept, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}

    def run(self, *line: str) -> str:
        ended = subprocess.run(
            line, cwd=self.folder, env=self.environ, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        return ended.stdout

    def events(self, log: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / log).read_text().splitlines()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_page_has_the_examples_this_file_runs(examples: list[tuple[str, str]]) -> None:
    assert [language for language, _ in examples] == ["sh", "", "sh", "python", "markdown", "sh"]


def test_the_shell_example_makes_the_tree_on_the_page(examples: list[tuple[str, str]], place: Place) -> None:
    shown = place.run("sh", "-c", examples[0][1])
    names = [line.partition(" ✔ completed ")[0].rstrip() for line in shown.splitlines() if " completed " in line]
    assert names == examples[1][1].splitlines()
    assert (place.folder / "plan.md").exists()


def test_the_return_example_gives_a_valid_return(examples: list[tuple[str, str]], place: Place) -> None:
    place.run("sh", "-c", examples[2][1])
    [returned] = [event["return"] for event in place.events("research.jsonl") if event["event"] == "return"]
    assert returned["metadata"]["agent_type"] == "researcher"
    assert not [event for event in place.events("research.jsonl") if event["event"] == "error"]


def test_the_python_example_does_what_its_comments_say(examples: list[tuple[str, str]], place: Place) -> None:
    (place.folder / "example.py").write_text(examples[3][1], encoding="utf-8")
    told = place.run(sys.executable, "-W", "error", "example.py").splitlines()
    assert told == []
    returned = {event["session_id"]: event["return"] for event in place.events("python.jsonl") if "return" in event}
    assert [each["status"] for each in returned.values()] == ["completed", "failed", "partial"]
    assert [*returned.values()][-1]["summary"] == "The plan is completed. The check failed."


def test_the_slash_command_makes_a_tree(
    examples: list[tuple[str, str]], place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    command = place.folder / ".claude" / "commands" / "implement.md"
    command.parent.mkdir(parents=True)
    command.write_text(examples[4][1], encoding="utf-8")
    assert place.run("sh", "-c", examples[5][1]).splitlines() == [
        "working on: Plan task 191",
        "working on: Carry out the plan of task 191",
    ]
    capfd.readouterr()
    assert main(["tree", str(place.folder / "slash.jsonl"), "--json"]) == 0
    tree = json.loads(capfd.readouterr().out)
    assert [(each["depth"], each["task"]) for each in tree["delegations"]] == [(0, "191"), (1, "191"), (1, "191")]

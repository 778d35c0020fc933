"""The page on reading from Python: its examples run as they stand, and it speaks of all that is public."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from tests.watching import line, register, returned

import delegtop

EXAMPLES = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return (project / "docs" / "api.md").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run with one agent that came back and one that writes nothing more."""
    (tmp_path / "logs").mkdir()
    told = [
        register("aaaaaa", timeout=600),
        register("bbbbbb", "implementer", timeout=60),
        line("heartbeat", "bbbbbb", "10:00:30", activity="lake build", tool="bash"),
    ]
    (tmp_path / "logs" / "session.jsonl").write_text("".join(told))
    return tmp_path


def run(code: str, folder: Path) -> str:
    environ, command = {**os.environ, "HOME": str(folder)}, [sys.executable, "-c", code]
    ended = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


WRITES_LATER = """
import delegtop
opened = delegtop.open

def open_and_write(*sources):
    observation = opened(*sources)
    with open({log!r}, "a") as log:
        log.write({added!r})
    return observation

delegtop.open = open_and_write
"""


def test_the_problems_of_a_moment_are_printed_with_what_to_type(page: str, folder: Path) -> None:
    told = run(EXAMPLES.findall(page)[0].replace("10:00:00Z", "10:40:00Z"), folder)
    assert "implementer - It has been inside bash: lake build for 39:30" in told
    assert "  to type:" in told


def test_what_changes_is_told_as_it_happens(page: str, folder: Path) -> None:
    added = returned("aaaaaa") + returned("bbbbbb")
    before = WRITES_LATER.format(log="logs/session.jsonl", added=added)
    told = run(before + EXAMPLES.findall(page)[1], folder)
    assert "completed implementer" in told


def test_each_moment_of_a_recording_has_its_own_problems(page: str, folder: Path) -> None:
    lines = run(EXAMPLES.findall(page)[2], folder).splitlines()
    assert lines[0] == "10:00 []"
    assert lines[1].startswith("10:01 [")
    assert "implementer: " in lines[2]


def test_the_page_names_everything_that_is_public(page: str) -> None:
    assert [name for name in delegtop.__all__ if name not in page and name != "__version__"] == []

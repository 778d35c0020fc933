"""What cannot be read is said, with what follows from it, by every command and with the same exit code."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.homes import MINUTE, Transcript, operators_home
from tests.unprivileged import closed, delegtop, needs_closed_folders

from delegtop.base.clock import WallClock
from delegtop.cli.exit_codes import Exit

pytestmark = needs_closed_folders
CONSEQUENCE = "cannot be read (permission denied), so agents it tells of may be missing or seem silent"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("unread") / "home"
    now = WallClock().now()
    operators_home(home, now, old=1, hang=45 * MINUTE, stuck="tool")
    steady = Transcript("d0000001-0000-4000-8000-000000000001", "/home/ann/steady")
    for ago in range(50, 0, -5):  # else all logs were silent at once, as where a machine sleeps
        steady.asked(now - ago * MINUTE, "Go on")
        steady.done(now - ago * MINUTE + 1_000, "Done.")
    steady.keep(home / ".claude/projects/-home-ann-steady" / f"{steady.session}.jsonl")
    return home


def places(home: Path) -> dict[str, Path]:
    """What may be closed: the folder of a live session's agents, one of their logs, and all folders above."""
    projects = home / ".claude/projects"
    [agents] = (projects / "-home-ann-webapp").glob("*/subagents")
    [log] = agents.glob("*.jsonl")
    return {
        "its log": log,
        "subagents": agents,
        "project": agents.parents[1],
        "projects": projects,
        ".claude": home / ".claude",
    }


@pytest.mark.parametrize("place", ["its log", "subagents", "project", "projects", ".claude"])
def test_every_command_says_which_place_cannot_be_read_and_what_follows(home: Path, place: str) -> None:
    path = places(home)[place]
    with closed(path):
        for command in (["tree"], ["tree", "--exit-code"], ["check"], ["sources"], ["stats"]):
            done = delegtop(command, home)
            assert done.returncode == Exit.UNREADABLE, command
            assert f"{path} {CONSEQUENCE}" in done.stderr, command
        for command in (["status", "--read"], ["status"]):
            done = delegtop(command, home)
            assert done.returncode == Exit.OK
            assert f"{path} cannot be read (permission denied), so agents may be missing or seem silent" in done.stdout
            assert delegtop([*command, "--exit-code"], home).returncode == Exit.UNREADABLE
    assert delegtop(["tree"], home).returncode == Exit.OK
    assert "cannot be read" not in delegtop(["status", "--read"], home).stdout


@pytest.mark.parametrize("place", ["its log", "subagents"])
def test_no_verdict_rests_on_a_log_that_cannot_be_read(home: Path, place: str) -> None:
    path = places(home)[place]

    def assessed() -> dict[str, Any]:
        tree = json.loads(delegtop(["tree", "--json"], home).stdout)
        [told] = [each["assessment"] for each in tree["delegations"] if each["state"] == "silent"]
        return dict(told)

    assert "inside Bash" in assessed()["sentence"]
    with closed(path):
        told = assessed()
        assert f"what could tell more cannot be read: {path}" in told["sentence"]
        assert "no log of its own" not in told["sentence"]
        assert told["certainty"] == "possible"


def test_a_folder_that_was_named_is_told_where_it_lies_behind_a_closed_one(home: Path) -> None:
    with closed(home / ".claude"):
        done = delegtop(["tree", str(home / ".claude/projects/x")], home)
        assert (done.returncode, f"{home}/.claude {CONSEQUENCE}" in done.stderr) == (Exit.UNREADABLE, True)

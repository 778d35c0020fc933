"""Real files of the ProofChecker family, if there are any here (DELEGTOP_REAL_LOGS names their folder)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

FOLDER = os.environ.get("DELEGTOP_REAL_LOGS", "")
SYSTEMS = Path(FOLDER) / "seed_systems"
pytestmark = pytest.mark.skipif(not FOLDER or not SYSTEMS.is_dir(), reason="DELEGTOP_REAL_LOGS is not set")
PROJECTS = ("proofchecker", "modelchecker", "cslib")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--json"]) in set(Exit)
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def rows(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in told["delegations"]}


@pytest.mark.parametrize("project", PROJECTS)
def test_every_file_but_the_agents_own_is_read(capsys: pytest.CaptureFixture[str], project: str) -> None:
    told = printed(capsys, "tree", str(SYSTEMS / project))
    sources = {source["path"]: source for source in told["sources"]}
    files = {str(path) for path in (SYSTEMS / project).rglob("*") if path.is_file() and path.suffix != ".yaml"}
    assert files <= sources.keys()
    assert {sources[path]["dialect"] for path in files} == {"proofchecker"}
    unread = [path for path in files if sources[path]["status"] == "unreadable"]
    assert all("malformed" in path for path in unread)
    assert not [path for path in files - set(unread) if sources[path]["unreadable"]]


@pytest.mark.parametrize("project", PROJECTS)
def test_no_format_fails_and_every_row_is_of_the_family(capsys: pytest.CaptureFixture[str], project: str) -> None:
    told = printed(capsys, "tree", str(SYSTEMS / project))
    assert not [reason for source in told["sources"] for reason in source["reasons"] if "failed" in reason]
    assert {row["product"] for row in told["delegations"]} == {"proofchecker"}


def test_every_child_session_of_the_log_hangs_below_its_batch(capsys: pytest.CaptureFixture[str]) -> None:
    told = rows(printed(capsys, "tree", str(SYSTEMS / "modelchecker")))
    children = [id for id in told if "/" not in id and id.count("_") == 3]
    assert len(children) > 20
    assert all(told[id]["parent"] == id.rpartition("_")[0] for id in children)
    assert all(told[id]["parent"] == id.partition("/")[0] for id in told if "/" in id)


def test_every_operation_that_the_log_closes_is_completed(capsys: pytest.CaptureFixture[str]) -> None:
    log = SYSTEMS / "modelchecker" / "specs" / "events.jsonl"
    last: dict[tuple[str, str, str], str] = {}
    for line in map(json.loads, log.read_text().splitlines()):
        if line["event_type"] == "lifecycle_stage":
            stage, *_, operation = line["message"].split()[:5]
            last[line["session_id"], str(line["task"]), operation] = stage
    closed = {each for each, stage in last.items() if stage == "Postflight"}
    assert len(closed) > 50
    told = rows(printed(capsys, "tree", str(SYSTEMS / "modelchecker")))
    states = {(id.split("/")[0], row["task"], id.split("/")[-1]): row["state"] for id, row in told.items() if "/" in id}
    assert {states[each] for each in closed} == {"completed"}
    assert {states[each] for each in last.keys() - closed} <= {"completed", "partial", "lost"}


def test_no_two_sources_contradict_each_other_on_a_start(capsys: pytest.CaptureFixture[str]) -> None:
    told = rows(printed(capsys, "tree", str(SYSTEMS / "modelchecker")))
    assert not [claim for row in told.values() for claim in row["claims"] if claim["field"] == "started_at"]


def test_what_needs_a_person_and_what_the_system_found_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    findings = [
        finding
        for project in PROJECTS
        for finding in printed(capsys, "check", str(SYSTEMS / project))["findings"]
        if finding["rule"].startswith("FAM-")
    ]
    told = {finding["rule"] for finding in findings}
    assert {"FAM-001", "FAM-010", "FAM-012", "FAM-013", "FAM-015", "FAM-020", "FAM-021", "FAM-022", "FAM-030"} <= told
    assert all(finding["evidence"] for finding in findings)
    reviews = [finding for finding in findings if finding["rule"] == "FAM-001"]
    assert len(reviews) == 4
    assert all(finding["by"] == "agent" for finding in reviews)

"""Returns like those in the protocol documents are judged as the documents would; the documents' own too, if at hand.

Set DELEGTOP_PROTOCOLS to a folder of protocol documents to have every example return in them judged.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from delegtop.clock import Millis
from delegtop.contract.session_ids import is_well_formed
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.dialects.lenient import Notes
from delegtop.dialects.returns import OUTCOMES, repair_return, report
from delegtop.model.events import Ended, Ending, Outcome
from delegtop.model.forest import Forest
from delegtop.origin import Origin

NOW = Millis(1_770_109_200_000)


def judged(given: dict[str, Any]) -> list[Finding]:
    """What the rules on returns say of a return object."""
    origin = Origin("example.json", 1, 0)
    told = report(repair_return(given, Notes(origin), "return"))
    id = told.session_id or "sess_20260203_none00"
    forest = Forest()
    outcome = OUTCOMES.get(told.status, Outcome.UNKNOWN)
    forest.apply([Ended(id, Millis(NOW - 1), origin, outcome, Ending.RETURN, told)])
    forest.advance(NOW)
    handle = forest.find(id)
    assert handle is not None
    found = diagnose(forest, handle, NOW, lambda _path: None)
    return [each for each in found if each.rule.startswith("RET")]


def against(given: dict[str, Any]) -> dict[str, str]:
    """The rules it does not keep, and how grave that is."""
    return {each.rule: each.severity.value for each in judged(given) if each.rule < "RET-100"}


COMPLETED = {
    "status": "completed",
    "summary": "Compared two parsers on the sample files. The second reads all of them. It is 3.5 times slower.",
    "artifacts": [{"type": "research", "path": "specs/204_parser/reports/research-001.md", "summary": "The numbers"}],
    "metadata": {
        "session_id": "sess_20260203_k3x9qa",
        "duration_seconds": 840,
        "agent_type": "researcher",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "research-command", "researcher"],
    },
    "errors": [],
    "next_steps": "Plan the change to the second parser",
}
TIMED_OUT = {
    **COMPLETED,
    "status": "partial",
    "summary": "Phase 1 of task 204 is done, phase 2 ran out of time. Remaining work: update /research and /plan.",
    "metadata": {
        "session_id": "sess_20260203_p0m2dd",
        "duration_seconds": 3600,
        "agent_type": "builder",
        "delegation_depth": 2,
        "delegation_path": ["orchestrator", "implement-command", "task-executor", "builder"],
    },
    "errors": [
        {
            "type": "timeout",
            "message": "More than 3600 s",
            "code": "TIMEOUT",
            "recoverable": True,
            "recommendation": "Run /implement 204 again to go on with phase 2",
        }
    ],
    "next_steps": "Go on by running /implement 204",
}
FAILED_BRIEFLY = {
    "status": "failed",
    "summary": "The build broke",
    "artifacts": [],
    "errors": [
        {
            "type": "build_error",
            "message": "3 type errors",
            "code": "BUILD_ERROR",
            "recoverable": True,
            "recommendation": "Fix them and try again",
        }
    ],
    "metadata": {"session_id": "sess_20260203_k3x9qa", "agent_type": "builder"},
}
OWN_METADATA = {
    "status": "completed",
    "summary": "Made a plan of 4 phases, 6 hours in all",
    "artifacts": [{"type": "plan", "path": "specs/204_parser/plans/implementation-001.md", "summary": "4 phases"}],
    "metadata": {"task_number": 204, "phase_count": 4},
    "session_id": "sess_20260203_k3x9qa",
}


@pytest.mark.parametrize("given", [COMPLETED, TIMED_OUT])
def test_a_return_as_the_return_format_standard_shows_it_has_nothing_against_it(given: dict[str, Any]) -> None:
    assert against(given) == {}


def test_a_timeout_as_the_standard_shows_it_tells_how_to_go_on() -> None:
    commands = {each.command for each in judged(TIMED_OUT) if each.by == "agent"}
    assert commands == {"/implement 204"}


def test_an_error_as_the_delegation_guide_shows_it_is_no_error_of_format() -> None:
    assert against(FAILED_BRIEFLY) == {"RET-003": "warning", "RET-010": "info", "RET-032": "info"}


def test_a_return_as_the_structure_standard_shows_it_is_no_error_of_format() -> None:
    assert against(OWN_METADATA) == {"RET-003": "warning", "RET-010": "info"}


def test_the_invalid_return_of_the_delegation_guide_is_refused() -> None:
    assert {"RET-001", "RET-002", "RET-005"} <= set(against({"status": "invalid_status"}))


def test_the_examples_in_the_documents_are_judged_so_too() -> None:
    folder = os.environ.get("DELEGTOP_PROTOCOLS")
    if not folder:
        pytest.skip("DELEGTOP_PROTOCOLS is not set")
    examples = [each for path in sorted(Path(folder).iterdir()) for each in examples_in(path.read_text("utf-8"))]
    assert examples
    for example in examples:
        assert Severity.ERROR.value not in against(example).values(), example


def examples_in(document: str) -> list[dict[str, Any]]:
    """The returns in a document that are whole and real: templates have no session id that could be one."""
    blocks = re.findall(r"```json\n(.*?)```", document, re.DOTALL)
    blocks += re.findall(r"<structure>(.*?)</structure>", document, re.DOTALL)
    found = []
    for block in blocks:
        try:
            value = json.loads(block)
        except ValueError:
            continue
        if isinstance(value, dict) and isinstance(value.get("metadata"), dict):
            id = value["metadata"].get("session_id") or value.get("session_id") or ""
            found += [value] if is_well_formed(id) else []
    return found

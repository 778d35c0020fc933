"""Examples like those in the protocol documents are judged as the documents would; the documents' own too, if at hand.

Set DELEGTOP_PROTOCOLS to a folder of protocol documents to have every example in them judged.
"""

import contextlib
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests import judging
from tests.telling import handle_of

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.dialects import Dialect
from delegtop.dialects.kit.salvage import Notes
from delegtop.model.events import Deviation, Ended, Ending, Outcome, Started, Surveyed
from delegtop.model.forest import Forest
from delegtop.protocols.cleo.manifest import CleoManifest
from delegtop.protocols.cleo.response import CleoResponse
from delegtop.protocols.cleo.response_contract import MESSAGES
from delegtop.protocols.hyper.final_message import HyperOutput
from delegtop.protocols.standard.contract.session_ids import is_well_formed
from delegtop.protocols.standard.dialects.registry_snapshot import Registry
from delegtop.protocols.standard.dialects.return_reading import OUTCOMES, repair_return, report
from delegtop.sources.records import Line, Unreadable

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
    handle = handle_of(forest, id)
    found = judging.found(forest, handle)
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


# The systems with forms of their own


def told(dialect: Dialect, text: str, path: str = "answer.md") -> list[str]:
    """The rules that have something to say of what a file tells, which is at least one delegation."""
    forest = Forest()
    events = dialect.read(Line(Origin(path, 1, 0), text.encode(), NOW))
    forest.apply([event for event in events if not isinstance(event, Unreadable)])
    forest.advance(NOW)
    assert len(forest)
    return [finding.rule for finding in judging.all_found(forest)]


def marked(answer: object) -> str:
    return f"Done.\n\n<!-- AGENT_OUTPUT_START -->\n```json\n{json.dumps(answer)}\n```\n<!-- AGENT_OUTPUT_END -->\n"


WAY_ON = {"complete": [], "partial": ["END-001", "HYP-014"], "error": ["END-001", "HYP-014"]}
"""What is said of an answer that keeps the contract: only that it is not complete, and how to go on."""
ANSWER: dict[str, Any] = {
    "meta": {"agent_name": "parser-scout", "status": "complete", "execution_time_ms": 9000},
    "artifacts": [
        {
            "type": "data",
            "path": "projects/parser/resources/numbers.json",
            "summary": "How long each parser took on the samples",
            "key_points": ["The second reads all files", "It is slower", "Both keep comments"],
        }
    ],
    "next_steps": ["Choose the second parser"],
}
FAILED_ANSWER = {
    "meta": {**ANSWER["meta"], "status": "error"},
    "artifacts": [],
    "next_steps": ["Check the network"],
    "error": {"code": "NO_CONNECTION", "message": "The server did not answer", "details": "3000 ms"},
}
MANIFEST_LINE = (
    '{"id":"{{TOPIC_SLUG}}-{{DATE}}","file":"{{DATE}}_{{TOPIC_SLUG}}.md","title":"{{TITLE}}","date":"{{DATE}}",'
    '"status":"complete","topics":["parser"],"key_findings":["One is fast","The other is right","Both are small"],'
    '"actionable":true,"needs_followup":["{{NEXT_TASK_IDS}}"],"linked_tasks":["{{EPIC_ID}}","{{TASK_ID}}"]}'
)
TOKENS = {"DATE": "2026-02-03", "TOPIC_SLUG": "two-parsers", "TITLE": "Two parsers", "NEXT_TASK_IDS": "T12"}
TOKENS |= {"EPIC_ID": "T10", "TASK_ID": "T11"}
REGISTRY_ENTRY = {
    "sess_20260203_k3x9qa": {
        "command": "implement",
        "subagent": "task-executor",
        "task_number": 204,
        "start_time": "2026-02-03T09:00:00Z",
        "timeout": 3600,
        "deadline": "2026-02-03T10:00:00Z",
        "status": "running",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "implement", "task-executor"],
    }
}


def filled(template: str) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda token: TOKENS[token[1]], template)


def departures(snapshot: str) -> list[str]:
    """How a registry departs from its format; it lists one delegation that is running."""
    events = list(Registry().read(Line(Origin("registry.json", 1, 0), snapshot.encode(), NOW)))
    assert [type(event) for event in events if not isinstance(event, Deviation)] == [Started, Surveyed]
    return [event.detail for event in events if isinstance(event, Deviation)]


def test_an_answer_as_the_hyper_contract_shows_it_has_nothing_against_it() -> None:
    assert told(HyperOutput(), marked(ANSWER)) == WAY_ON["complete"]


def test_of_an_error_as_the_hyper_contract_shows_it_only_the_end_and_the_way_on_are_told() -> None:
    assert told(HyperOutput(), marked(FAILED_ANSWER)) == WAY_ON["error"]


def test_a_manifest_line_as_cleo_shows_it_only_leaves_its_follow_up_to_do() -> None:
    assert told(CleoManifest(), filled(MANIFEST_LINE), "MANIFEST.jsonl") == ["OUT-131"]


@pytest.mark.parametrize("message", MESSAGES.values())
def test_a_response_as_cleo_words_it_has_nothing_against_its_words(message: str) -> None:
    is_complete = " complete" in message
    assert told(CleoResponse(), message, "response.txt") == ([] if is_complete else ["END-001"])


def test_a_registry_as_the_delegation_guide_shows_it_fits_its_format() -> None:
    assert departures(json.dumps(REGISTRY_ENTRY)) == []


# The documents' own examples


@pytest.fixture
def documents() -> dict[str, str]:
    folder = os.environ.get("DELEGTOP_PROTOCOLS")
    if not folder:
        pytest.skip("DELEGTOP_PROTOCOLS is not set")
    return {path.name[:3]: path.read_text("utf-8") for path in sorted(Path(folder).iterdir())}


def test_the_examples_in_the_documents_are_judged_so_too(documents: dict[str, str]) -> None:
    examples = [each for text in documents.values() for each in examples_in(text)]
    assert len(examples) == 5
    for example in examples:
        assert Severity.ERROR.value not in against(example).values(), example


def test_the_return_format_standards_own_examples_have_nothing_against_them(documents: dict[str, str]) -> None:
    examples = examples_in(documents["000"])
    assert [example["status"] for example in examples] == ["completed", "partial", "failed"]
    assert [against(example) for example in examples] == [{}, {}, {}]


def test_the_hyper_contracts_own_answers_are_judged_so_too(documents: dict[str, str]) -> None:
    answers = [value for value in json_in(documents["003"]) if "meta" in value]
    assert len(answers) == 4
    for answer in answers:
        assert told(HyperOutput(), marked(answer)) == WAY_ON[answer["meta"]["status"]], answer


def test_cleos_own_line_and_messages_are_judged_so_too(documents: dict[str, str]) -> None:
    (line,) = (
        block for block in re.findall(r"```json\n(.*?)```", documents["004"], re.DOTALL) if "key_findings" in block
    )
    assert told(CleoManifest(), filled(line.strip()), "MANIFEST.jsonl") == ["OUT-131"]
    messages = set(re.findall(r'"(Research [^"\n]*\.)"', documents["004"]))
    assert messages == set(MESSAGES.values())


def test_the_delegation_guides_own_registry_fits_its_format(documents: dict[str, str]) -> None:
    (snapshot,) = re.findall(r"```javascript\n(.*?)```", documents["002"], re.DOTALL)
    assert departures(snapshot) == []


def checked(value: object, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, set[str]]:
    """The exit code of `check` on a file that holds the example, and the errors and warnings that it tells."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(value if isinstance(value, str) else json.dumps(value, indent=2), "utf-8")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = main(["check", name, "--json", "--fail-on", "never"])
    findings = json.loads(said.getvalue())["findings"]
    return code, {each["rule"] for each in findings if each["severity"] != "info"}


def test_check_says_of_every_example_in_json_what_its_document_does(
    documents: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {
        name: [sorted(checked(each, "example.json", tmp_path, monkeypatch)[1]) for each in json_in(documents[name])]
        for name in ("000", "002")
    }
    kinds, codes = ["RET-020"], ["RET-032", "RET-033"]  # a template has all words at once
    assert told["000"] == [TEMPLATE, kinds, codes, [], ["END-001"], ["END-001"]]
    assert told["002"] == [["DEL-012"], ["END-001", "RET-003"]]
    (line,) = json_in(documents["004"])
    assert checked(json.dumps(line) + "\n", "MANIFEST.jsonl", tmp_path, monkeypatch)[1] == UNFILLED
    (context,) = re.findall(r"<delegation_context>(.*?)</delegation_context>", documents["002"], re.DOTALL)
    assert checked(context, "context.json", tmp_path, monkeypatch)[1] == set()
    for status, answer in ((each["meta"]["status"], each) for each in json_in(documents["003"])):
        told_of = checked(marked(answer), "answer.md", tmp_path, monkeypatch)[1]
        assert told_of == (set() if status == "complete" else {"END-001", "HYP-014"})
    structures = re.findall(r"<structure>(.*?)</structure>", documents["001"], re.DOTALL)
    judged = [checked(each, "return.json", tmp_path, monkeypatch) for each in structures]
    assert judged == [(4, set()), (0, {"RET-003"})]  # the first is a template and no JSON


TEMPLATE = ["DEL-012", "RET-002", "RET-008", "RET-020", "RET-032", "RET-033"]
"""What is said of the template of a return: each of its enums has all words, its id and its code are none, and its path
ends with another name than that of the agent."""

UNFILLED = {"OUT-105", "OUT-106", "OUT-107", "OUT-112"}
"""What is said of the template of a manifest entry: each of its tokens, and that no date is in its names."""


def json_in(document: str) -> list[dict[str, Any]]:
    """The JSON objects in a document; what only looks like one is a template."""
    found = []
    for block in re.findall(r"```json\n(.*?)```", document, re.DOTALL):
        try:
            found.append(json.loads(block))
        except ValueError:
            continue
    return found


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

"""Old returns in the standard form: as a function, and as a command."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delegtop.cli import main
from delegtop.protocols.standard.contract.return_contract import (
    ARTIFACT_TYPES,
    ERROR_CODES,
    ERROR_TYPES,
    METADATA,
    SUMMARY_CHARACTERS,
    gaps,
    migrate,
)

STANDARD: dict[str, Any] = {
    "status": "failed",
    "summary": "The build broke in two files. Nothing was committed.",
    "artifacts": [{"type": "plan", "path": "specs/191_parser/plans/plan-001.md", "summary": "The plan"}],
    "metadata": {
        "session_id": "sess_20251226_abc123",
        "duration_seconds": 12,
        "agent_type": "builder",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "implement", "builder"],
    },
    "errors": [
        {
            "type": "execution",
            "message": "Two type errors",
            "code": "BUILD_ERROR",
            "recoverable": True,
            "recommendation": "Fix them",
        }
    ],
    "next_steps": "Run /implement 191",
}


def test_a_standard_return_stays_as_it_is() -> None:
    assert migrate(STANDARD) == STANDARD
    assert gaps(migrate(STANDARD)) == []


def test_key_findings_become_sentences_of_the_summary() -> None:
    new = migrate({"summary": "Compared the tools", "key_findings": ["REST is fastest.", "The CLI is stable"]})
    assert new["summary"] == "Compared the tools. REST is fastest. The CLI is stable."
    assert "key_findings" not in new


def test_key_findings_that_do_not_fit_are_kept_in_the_metadata() -> None:
    findings = ["a" * 150, "b" * 150, "c" * 150]
    new = migrate({"summary": "Compared.", "key_findings": findings})
    assert len(new["summary"]) <= SUMMARY_CHARACTERS
    assert new["metadata"]["key_findings"] == [findings[2]]


def test_the_project_number_is_taken_from_the_first_artifact() -> None:
    old = {"project_number": 7, "artifacts": [{"type": "plan", "path": ".opencode/specs/058_lean/plans/p.md"}]}
    assert migrate(old)["metadata"]["task_number"] == 58


def test_the_project_number_stays_if_no_artifact_tells_it() -> None:
    assert migrate({"project_number": 7, "artifacts": ["src/a.py"]})["metadata"]["task_number"] == 7


def test_fields_at_the_top_move_into_the_metadata() -> None:
    new = migrate({"session_id": "sess_20251226_abc123", "agent_type": "planner", "phase_count": 4})
    assert new["metadata"]["session_id"] == "sess_20251226_abc123"
    assert new["metadata"]["agent_type"] == "planner"
    assert new["metadata"]["phase_count"] == 4


def test_two_session_ids_that_differ_are_both_kept() -> None:
    metadata = migrate({"session_id": "top", "metadata": {"session_id": "inner"}})["metadata"]
    assert (metadata["session_id"], metadata["old_session_id"]) == ("inner", "top")


def test_what_is_not_told_is_null_and_named() -> None:
    new = migrate({"summary": "Did some."})
    assert new["status"] is None
    assert new["artifacts"] == new["errors"] == []
    assert new["metadata"] == dict.fromkeys(METADATA)
    assert gaps(new) == ["status", *(f"metadata.{field}" for field in METADATA)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("implemented", "completed"),
        ("Done", "completed"),
        ("in_progress", "partial"),
        ("FAILED", "failed"),
        ("odd", "odd"),
    ],
)
def test_a_status_in_other_words_is_translated_if_it_is_known(old: str, new: str) -> None:
    assert migrate({"status": old})["status"] == new
    assert ("status" in gaps(migrate({"status": old}))) == (new == "odd")


def test_a_return_that_is_not_completed_and_has_no_errors_has_a_gap_there() -> None:
    assert "errors" in gaps(migrate({**STANDARD, "errors": None}))


@pytest.mark.parametrize(
    ("old", "type"),
    [
        ("specs/195_x/reports/r.md", "research"),
        ("specs/195_x/plans/p.md", "plan"),
        ("specs/195_x/summaries/s.md", "summary"),
        ({"path": "docs/a.md", "type": "guide"}, "documentation"),
        ({"path": "a.md", "type": "report"}, "research"),
        ({"path": "a.py"}, "implementation"),
    ],
)
def test_an_artifact_without_a_standard_type_gets_one(old: Any, type: str) -> None:
    (artifact,) = migrate({"artifacts": [old]})["artifacts"]
    assert artifact["type"] == type


def test_an_error_in_other_words_keeps_them_in_its_message() -> None:
    first, second, third = migrate(
        {"errors": ["no luck", {"type": "proof_impossible", "message": "It is false", "line": 3}, {"type": "timeout"}]}
    )["errors"]
    assert first["message"] == "no luck"
    assert (second["type"], second["message"]) == ("execution", "proof_impossible: It is false")
    assert (second["code"], second["line"], second["recoverable"]) == ("UNKNOWN_ERROR", 3, None)
    assert third["code"] == "TIMEOUT"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "status",
    "summary",
    "artifacts",
    "metadata",
    "errors",
    "next_steps",
    "key_findings",
    "project_number",
    "session_id",
    "x",
]


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_anything_becomes_a_standard_return_and_then_stays_one(old: dict[str, Any]) -> None:
    new = migrate(old)
    assert {"status", "summary", "artifacts", "metadata", "errors"} <= set(new)
    assert all(artifact["type"] in ARTIFACT_TYPES for artifact in new["artifacts"])
    assert all(error["type"] in ERROR_TYPES for error in new["errors"])
    assert migrate(new) == new
    gaps(new)
    json.dumps(new)


def test_the_command_prints_the_standard_form_and_names_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "old.json"
    file.write_text('{"summary": "Red \\u009b[31m", "status": "done", "artifacts": []}')
    assert main(["migrate", str(file)]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["status"] == "completed"
    assert out.isascii()
    assert "metadata.session_id" in err


def test_the_command_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(STANDARD).encode())))
    assert main(["migrate", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == STANDARD
    assert err == ""


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "line 1: not JSON"),
        (b'{"a": 1,\n', "line 2: not JSON"),
        (b"[1]", "a JSON object"),
        (b"\xff\xfe", "not JSON"),
        (b'{"a": NaN}', "NaN"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"summary":' + b"[" * 600 + b"]" * 600 + b"}", "nested too deeply"),
    ],
    ids=["empty", "cut off", "a list", "not text", "no number", "deep", "deep within"],
)
def test_what_is_no_return_is_told_and_ends_with_4(
    data: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(data)
    assert main(["migrate", str(file)]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert "bad.json: " in err
    assert words in err
    assert err.count("\n") == 1


def test_a_file_that_is_not_there_ends_with_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", str(tmp_path / "none.json")]) == 4
    assert main(["migrate", str(tmp_path)]) == 4
    assert "none.json" in capsys.readouterr().err


def test_every_code_has_a_meaning_and_a_recovery() -> None:
    assert len(ERROR_CODES) == 10
    assert all(code.meaning and code.recovery for code in ERROR_CODES.values())

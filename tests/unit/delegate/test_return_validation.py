"""Returns: what is wrong with one, where in the output it is, and what is said of an error on its way up."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.patience import growth

from delegtop.delegate import (
    Return,
    ReturnArtifact,
    ReturnInvalid,
    extract_return,
    prepare_delegation,
    recovery_message,
    returns_in,
    standard_return,
    timeout_return,
    validate_return,
)

ID = "sess_1773489600_abc123"
GOOD: dict[str, Any] = {
    "status": "completed",
    "summary": "The parser is rewritten. Its tests pass.",
    "artifacts": [{"type": "implementation", "path": "src/parser.py"}],
    "metadata": {
        "session_id": ID,
        "duration_seconds": 12,
        "agent_type": "parser-writer",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "implement", "parser-writer"],
    },
}
FAULT = {"type": "execution", "message": "no", "code": "BUILD_ERROR", "recoverable": True, "recommendation": "Fix it."}


def problems(**changes: object) -> tuple[str, ...]:
    with pytest.raises(ReturnInvalid) as invalid:
        validate_return(GOOD | changes, ID)
    return invalid.value.problems


def about(**changes: object) -> dict[str, Any]:
    """Metadata that differ in something; None leaves it out."""
    return {name: value for name, value in (GOOD["metadata"] | changes).items() if value is not None}


def test_a_valid_return_is_given_back_as_a_model() -> None:
    returned = validate_return(GOOD, ID)
    assert isinstance(returned, Return)
    assert (returned.status, returned.artifacts[0].path) == ("completed", "src/parser.py")
    assert returned.metadata.delegation_path == ("orchestrator", "implement", "parser-writer")
    assert validate_return(returned, ID) is returned


def test_the_session_id_may_stand_beside_the_metadata() -> None:
    validate_return(GOOD | {"metadata": about(session_id=None), "session_id": ID}, ID)


@pytest.mark.parametrize("value", [None, "prose", [], 3])
def test_only_an_object_is_a_return(value: object) -> None:
    with pytest.raises(ReturnInvalid, match="the return must be a JSON object") as invalid:
        validate_return(value)
    assert invalid.value.returned == value


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"status": "Completed"}, 'status is "Completed", not completed, failed, partial or blocked'),
        ({"status": ["completed"]}, "status is a list, not completed, failed, partial or blocked"),
        (
            {"metadata": about(session_id="sess_1773489600_other1")},
            f"metadata.session_id is sess_1773489600_other1, not {ID}, which was handed out",
        ),
        ({"metadata": about(session_id=None)}, "metadata.session_id is missing"),
        ({"metadata": about(duration_seconds=None)}, "metadata.duration_seconds is missing"),
        ({"metadata": []}, "metadata is a list, not an object"),
        ({"metadata": about(delegation_depth=9)}, "metadata.delegation_depth is 9, not at most 3"),
        (
            {"metadata": about(delegation_path=["a", "a"], agent_type="a")},
            "metadata.delegation_path comes back to a",
        ),
        ({"summary": "  "}, "summary is empty"),
        ({"summary": "x" * 501}, "summary has 501 characters, more than 500"),
        ({"summary": None}, "summary is null, not text"),
        ({"artifacts": {}}, "artifacts is an object, not a list"),
        ({"artifacts": ["a.md"]}, "artifacts[0] is text, not an object"),
        (
            {"artifacts": [{"type": "poem", "path": "a.md"}]},
            'artifacts[0].type is "poem", not research, plan, implementation, summary, documentation or review',
        ),
        ({"artifacts": [{"type": "plan"}]}, "artifacts[0].path is missing"),
        (
            {"artifacts": [{"type": "plan", "path": "/etc/passwd"}]},
            'artifacts[0].path is "/etc/passwd", which is not relative to the root of the project',
        ),
        (
            {"artifacts": [{"type": "plan", "path": "a/../../b"}]},
            'artifacts[0].path is "a/../../b", which climbs out of the project',
        ),
        ({"status": "partial", "errors": "none"}, "errors is text, not a list"),
        ({"status": "partial", "errors": ["x"]}, "errors[0] is text, not an object"),
        ({"status": "partial"}, "errors must say why the status is partial"),
        ({"errors": [FAULT]}, "errors must be empty if the status is completed"),
        ({"next_steps": 3}, "next_steps is a number, not text"),
    ],
)
def test_each_thing_that_is_wrong_is_named(changes: dict[str, object], problem: str) -> None:
    assert problems(**changes) == (problem,)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    told = problems(
        status="partial",
        summary="",
        artifacts=[{"type": "poem"}],
        metadata={"session_id": ID, "delegation_depth": 9, "delegation_path": ["a", "a"]},
        next_steps=3,
    )
    assert [problem.split()[0] for problem in told] == [
        "summary",
        "artifacts[0].type",
        "artifacts[0].path",
        "metadata.duration_seconds",
        "metadata.agent_type",
        "metadata.delegation_depth",
        "next_steps",
        "metadata.delegation_path",
        "errors",
    ]


def test_an_empty_error_says_nothing_of_what_an_error_must_say() -> None:
    told = problems(status="failed", errors=[{}])
    assert told == tuple(
        f"errors[0].{field} is missing" for field in ("type", "message", "code", "recoverable", "recommendation")
    )


def test_with_the_root_of_the_project_its_files_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ReturnInvalid) as invalid:
        validate_return(GOOD, ID, root=tmp_path)
    assert invalid.value.problems == (f'artifacts[0].path is "src/parser.py", and there is no such file in {tmp_path}',)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "parser.py").write_text("")
    validate_return(GOOD, ID, root=tmp_path)


def test_what_another_document_allows_by_its_own_example_is_allowed() -> None:
    validate_return(GOOD | {"artifacts": [{"type": "review", "path": "a.md"}], "summary": "It is done."}, ID)
    validate_return(GOOD | {"status": "failed", "errors": [FAULT | {"type": "build_error"}]}, ID)


def test_a_summary_of_500_characters_is_not_too_long() -> None:
    validate_return(GOOD | {"summary": "x" * 500}, ID)


PRETTY = json.dumps(GOOD, indent=2)


@pytest.mark.parametrize(
    "output",
    [
        PRETTY,
        json.dumps(GOOD),
        f"I am done.\n\n{PRETTY}\nGoodbye.",
        f"Result:\n```json\n{PRETTY}\n```\n",
        f"```\n{PRETTY}\n```",
        f"```json {json.dumps(GOOD)}\n```",
        f"<!-- AGENT_OUTPUT_START -->\n```json\n{PRETTY}\n```\n<!-- AGENT_OUTPUT_END -->\n",
        f"AGENT_OUTPUT_START\n{PRETTY}\nAGENT_OUTPUT_END",
        f"---AGENT_OUTPUT_START---\n{PRETTY}\n---AGENT_OUTPUT_END---",
        f"<<<AGENT_OUTPUT_START>>>\n{PRETTY}\n<<<AGENT_OUTPUT_END>>>",
        f"<!--AGENT_OUTPUT_START-->{json.dumps(GOOD)}<!--AGENT_OUTPUT_END-->",
        f"<<<AGENT_OUTPUT_START>>>\n{PRETTY}",
        PRETTY.replace("\n", "\r\n"),
        f"AGENT_OUTPUT_START\r\n{PRETTY}\r\nAGENT_OUTPUT_END\r\n",
    ],
)
def test_a_return_is_found_however_it_is_printed(output: str) -> None:
    assert extract_return(output, ID) == validate_return(GOOD)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "just words { and braces }",
        '{"rate": 3, "status": "ok"}',
        '{"status": "completed", "summary": ',
        "Print it between AGENT_OUTPUT_START and AGENT_OUTPUT_END, please.",
        '{"status": "completed", "summary": NaN}',
        "AGENT_OUTPUT_START\nno JSON here\nAGENT_OUTPUT_END",
    ],
)
def test_other_output_is_no_return(output: str) -> None:
    assert extract_return(output) is None


def other(word: str) -> str:
    return json.dumps(GOOD | {"summary": word})


@pytest.mark.parametrize(
    "output",
    [
        f"{other('first')}\n{other('last')}",
        f"```json\n{other('first')}\n```\n```json\n{other('last')}\n```",
        f"<<<AGENT_OUTPUT_START>>>\n{other('first')}\n<<<AGENT_OUTPUT_END>>>\n{other('last')}",
        f"{other('first')}\n<<<AGENT_OUTPUT_START>>>\n{other('last')}\n<<<AGENT_OUTPUT_END>>>",
        f"AGENT_OUTPUT_START\n{other('first')}\nAGENT_OUTPUT_START\n{other('last')}\nAGENT_OUTPUT_END",
    ],
)
def test_of_several_returns_the_last_wins(output: str) -> None:
    found = extract_return(output)
    assert found is not None
    assert found.summary == "last"


def test_a_return_that_is_found_is_validated() -> None:
    with pytest.raises(ReturnInvalid, match="which was handed out"):
        extract_return(json.dumps(GOOD), "sess_1773489600_zzz999")


def test_an_object_inside_of_a_return_is_not_taken_for_it() -> None:
    inner = {"status": "completed", "summary": "inner"}
    outer = GOOD | {"steps": [inner, inner]}
    assert [*returns_in(json.dumps(outer, indent=2))] == [outer]


def test_between_markers_any_object_counts() -> None:
    text = '---AGENT_OUTPUT_START---\n{"verdict": "fine"}\n---AGENT_OUTPUT_END---'
    assert [*returns_in(text)] == [{"verdict": "fine"}]


@pytest.mark.parametrize("message", [PRETTY, f"Done.\n```json\n{PRETTY}\n```"])
def test_the_final_message_of_an_agent_cli_that_prints_json_is_looked_into(message: str) -> None:
    lines = [{"type": "system"}, {"type": "result", "subtype": "success", "result": message}]
    assert [*returns_in("\n".join(map(json.dumps, lines)))] == [GOOD]


def test_the_form_with_meta_is_found_too() -> None:
    value = {"meta": {"agent_name": "x", "status": "complete"}, "artifacts": [], "next_steps": []}
    assert [*returns_in(json.dumps(value))] == [value]


@pytest.mark.parametrize(
    ("piece", "count"),
    [
        ("{\n", 90_000),
        ('{"a":\n', 45_000),
        ('{"a":[\n', 30_000),
        ("<<<AGENT_OUTPUT_START>>>\n", 12_000),
        ('{"a":"\n', 45_000),
    ],
    ids=["braces", "nested", "lists", "markers", "strings"],
)
def test_hostile_output_costs_no_more_than_its_length(piece: str, count: int) -> None:
    assert extract_return(piece * count) is None
    assert growth(lambda times: extract_return(piece * times), count // 10) < 30


def test_a_made_return_is_valid_and_its_duration_is_measured() -> None:
    context = prepare_delegation(None, "implement", timeout=90)
    returned = standard_return(context, "completed", "It is done.")
    assert 0 <= returned.metadata.duration_seconds <= context.seconds
    assert standard_return(context, "completed", "It is done.", duration=7).metadata.duration_seconds == 7
    late = timeout_return(context, [ReturnArtifact(type="plan", path="plan.md")])
    assert late.summary == "implement timed out after 90s. 1 partial artifact found."
    assert late.errors[0].made_by == "delegtop"


def test_a_return_that_the_standard_does_not_allow_cannot_be_made() -> None:
    context = prepare_delegation(None, "implement")
    with pytest.raises(ReturnInvalid, match='status is "done", not completed, failed, partial or blocked'):
        standard_return(context, "done", "It is done.")  # type: ignore[arg-type]  # mypy refuses it as well, which is the point
    with pytest.raises(ReturnInvalid, match="errors must say why the status is failed"):
        standard_return(context, "failed", "It broke.")


LOST = FAULT | {"recoverable": False, "message": "The disk is gone"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"status": "failed", "errors": [FAULT]}, "Task failed but is recoverable. Fix it."),
        ({"status": "failed", "errors": [FAULT, LOST]}, "Task failed. Manual intervention required: The disk is gone"),
        ({"status": "partial", "errors": [FAULT]}, "Task is not finished but is recoverable. Fix it."),
        ({"status": "blocked", "errors": [LOST]}, "Task is blocked. Manual intervention required: The disk is gone"),
        ({"status": "completed", "errors": []}, None),
    ],
)
def test_the_recovery_message_says_what_to_do(changes: dict[str, Any], message: str | None) -> None:
    assert recovery_message(validate_return(GOOD | changes)) == message

"""Returns: what is wrong with one, where in the output it is, and what is said of an error on its way up."""

import json
from typing import Any

import pytest
from tests.patience import growth

from delegtop.delegate import (
    ReturnInvalid,
    extract_return,
    prepare_delegation,
    recovery_message,
    standard_return,
    timeout_return,
    validate_return,
)

ID = "sess_1773489600_abc123"
GOOD: dict[str, Any] = {
    "status": "completed",
    "summary": "The parser is rewritten. Its tests pass.",
    "artifacts": [{"type": "implementation", "path": "src/parser.py"}],
    "metadata": {"session_id": ID},
}
FAULT = {"type": "execution", "message": "no", "code": "BUILD_ERROR", "recoverable": True, "recommendation": "Fix it."}


def problems(**changes: object) -> tuple[str, ...]:
    with pytest.raises(ReturnInvalid) as invalid:
        validate_return(GOOD | changes, ID)
    return invalid.value.problems


def test_a_valid_return_is_given_back() -> None:
    assert validate_return(GOOD, ID) is GOOD


def test_the_session_id_may_stand_beside_the_metadata() -> None:
    validate_return(GOOD | {"metadata": {"agent_type": "x"}, "session_id": ID}, ID)


@pytest.mark.parametrize("value", [None, "prose", [], 3])
def test_only_an_object_is_a_return(value: object) -> None:
    with pytest.raises(ReturnInvalid, match="the return must be a JSON object"):
        validate_return(value)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"status": "Completed"}, "invalid status 'Completed': it must be one of completed, failed, partial, blocked"),
        (
            {"status": ["completed"]},
            "invalid status ['completed']: it must be one of completed, failed, partial, blocked",
        ),
        ({"metadata": {"session_id": "sess_1_x"}}, f"session id mismatch: sess_1_x is not {ID}"),
        ({"metadata": {}}, "metadata has no session_id"),
        ({"metadata": []}, "metadata must be an object"),
        ({"summary": "  "}, "summary must not be empty"),
        ({"summary": "x" * 501}, "summary is too long: 501 characters, at most 500"),
        ({"summary": None}, "summary must be text"),
        ({"artifacts": {}}, "artifacts must be a list"),
        ({"artifacts": ["a.md"]}, "artifacts[0] has no path"),
        ({"artifacts": [{"path": "/etc/passwd"}]}, "artifacts[0]: /etc/passwd must be relative to the project"),
        ({"artifacts": [{"path": "a/../../b"}]}, "artifacts[0]: a/../../b must be relative to the project"),
        ({"errors": "none"}, "errors must be a list"),
        ({"status": "partial"}, "status is partial, but no error says why"),
    ],
)
def test_each_thing_that_is_wrong_is_named(changes: dict[str, object], problem: str) -> None:
    [told] = problems(**changes)
    assert told.startswith(problem)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    assert len(problems(status="done", summary="", artifacts=[{}])) == 3


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
    assert extract_return(output) == GOOD


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
    assert (extract_return(output) or {})["summary"] == "last"


def test_an_object_inside_of_a_return_is_not_taken_for_it() -> None:
    inner = {"status": "completed", "summary": "inner"}
    outer = GOOD | {"steps": [inner, inner]}
    assert extract_return(json.dumps(outer, indent=2)) == outer


def test_between_markers_any_object_counts() -> None:
    assert extract_return('---AGENT_OUTPUT_START---\n{"verdict": "fine"}\n---AGENT_OUTPUT_END---') == {
        "verdict": "fine"
    }


@pytest.mark.parametrize("message", [PRETTY, f"Done.\n```json\n{PRETTY}\n```"])
def test_the_final_message_of_an_agent_cli_that_prints_json_is_looked_into(message: str) -> None:
    lines = [{"type": "system"}, {"type": "result", "subtype": "success", "result": message}]
    assert extract_return("\n".join(map(json.dumps, lines))) == GOOD


def test_the_form_with_meta_is_found_too() -> None:
    value = {"meta": {"agent_name": "x", "status": "complete"}, "artifacts": [], "next_steps": []}
    assert extract_return(json.dumps(value)) == value


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


def test_a_made_return_is_valid() -> None:
    context = prepare_delegation(None, "implement", timeout=90)
    validate_return(standard_return(context, "completed", "It is done."), context.session_id)
    late = timeout_return(context, [{"type": "plan", "path": "plan.md"}])
    validate_return(late, context.session_id)
    assert late["summary"] == "implement timed out after 90s. 1 partial artifact found."


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({"errors": [FAULT]}, "Task failed but is recoverable. Fix it."),
        (
            {"errors": [FAULT, FAULT | {"recoverable": False, "message": "The disk is gone"}]},
            "Task failed. Manual intervention required: The disk is gone",
        ),
        ({"errors": [{"message": "?"}]}, "Task failed. Manual intervention required: ?"),
        ({"errors": [{"recoverable": True}, FAULT]}, "Task failed but is recoverable. Fix it."),
        ({"status": "failed"}, "Task failed, and no error says why."),
        ({"status": "completed", "errors": []}, None),
        ({"errors": "broken"}, "Task ended, and no error says why."),
    ],
)
def test_the_recovery_message_says_what_to_do(returned: dict[str, Any], message: str | None) -> None:
    assert recovery_message(returned) == message

"""The JSON Schemas take the good values, and refuse what the documents do not allow."""

from functools import cache
from typing import Any

import pytest
import yaml
from pydantic import BaseModel
from tests.protocols import good_inputs as good
from tests.protocols.breaching import changed
from tests.protocols.model_breaches import mutations

from delegtop.protocols import contracts
from delegtop.protocols.standard.contract import session_log_model as lines

jsonschema = pytest.importorskip("jsonschema")

_, HEAD, _ = good.AGENT_FILE.read_text("utf-8").split("---\n", 2)
FRONTMATTER: dict[str, Any] = yaml.safe_load(HEAD)
GOOD: dict[str, list[dict[str, Any]]] = {
    "return": [good.RETURN, good.FAILED],
    "artifact": good.RETURN["artifacts"],
    "error": [good.ERROR],
    "context": [good.CONTEXT],
    "registry": [{good.SESSION: good.ENTRY}, {good.SESSION: good.RETURNED_ENTRY}, {}],
    "session-log": [*good.LOG, *good.FAILED_LOG, *good.ENDED_LOG, good.FULL_REGISTER, good.HEARTBEAT],
    "agent-file": [FRONTMATTER],
    "hyper-output": [good.ANSWER, good.FAILED_ANSWER],
    "cleo-manifest": [good.MANIFEST_ENTRY, good.BLOCKED_ENTRY],
}
BROKEN: list[tuple[str, dict[str, Any], str, Any]] = [
    # contract, good value, field, what it becomes (`...`: it is dropped)
    ("return", good.FAILED, "errors", []),
    ("return", good.FAILED, "errors", ...),
    ("return", good.FAILED, "status", "completed"),
    ("return", good.RETURN, "status", "partial"),
    ("return", good.RETURN, "status", "done"),
    ("return", good.RETURN, "artifacts[0].path", "/etc/a.md"),
    ("return", good.RETURN, "artifacts[0].path", "a/../../b.md"),
    ("return", good.RETURN, "artifacts[0].path", "https://example.org/a.md"),
    ("return", good.RETURN, "artifacts[0].type", "poem"),
    ("return", good.RETURN, "metadata.delegation_depth", 4),
    ("return", good.RETURN, "metadata.delegation_path", ["orchestrator", "a", "a"]),
    ("return", good.RETURN, "metadata.session_id", "17"),
    ("return", good.FAILED, "errors[0].code", "E42"),
    ("error", good.ERROR, "code", "E42"),
    ("error", good.ERROR, "type", "bad luck"),
    ("context", good.CONTEXT, "delegation_depth", 4),
    ("context", good.CONTEXT, "timeout", 0),
    ("registry", {good.SESSION: good.ENTRY}, f"{good.SESSION}.status", "busy"),
    ("registry", {good.SESSION: good.ENTRY}, f"{good.SESSION}.status", ...),
    ("registry", {good.SESSION: good.ENTRY}, f"{good.SESSION}.subagent", None),
    ("registry", {good.SESSION: good.ENTRY}, f"{good.SESSION}.delegation_depth", 4),
    ("registry", {good.SESSION: good.ENTRY}, f"{good.SESSION}.delegation_path", []),
    ("registry", {}, "17", good.ENTRY),
    ("registry", {good.SESSION: good.ENTRY}, f"{good.SESSION}.start_time", "yesterday"),
    ("registry", {good.SESSION: good.ENTRY}, f"{good.SESSION}.deadline", "2026-02-03T09:00:00"),
    ("session-log", good.CHILD_REGISTER, "at", "2026-02-03T09:00:00"),
    ("session-log", good.CHILD_REGISTER, "at", "17"),
    ("session-log", good.CHILD_REGISTER, "timeout", ...),
    ("session-log", good.CHILD_REGISTER, "delegation_depth", 4),
    ("session-log", good.CHILD_REGISTER, "delegation_path", ["a", "a"]),
    ("session-log", good.CHILD_REGISTER, "session_id", "17"),
    ("agent-file", FRONTMATTER, "delegation.max_depth", -1),
    ("agent-file", FRONTMATTER, "delegation.max_depth", 4),
    ("agent-file", FRONTMATTER, "context_loading.strategy", "minimal"),
    ("agent-file", FRONTMATTER, "context_loading.max_context_size", 50_001),
    ("agent-file", FRONTMATTER, "context_loading.required", []),
    ("agent-file", FRONTMATTER, "lifecycle.command", ...),
    ("agent-file", FRONTMATTER, "lifecycle.return_format", "my-subagent-return-format.md"),
    ("agent-file", FRONTMATTER, "tools", {}),
    ("hyper-output", good.FAILED_ANSWER, "error", ...),
    ("hyper-output", good.FAILED_ANSWER, "meta.status", "complete"),
    ("hyper-output", {**good.ANSWER, "meta": {**good.ANSWER["meta"], "status": "partial"}}, "next_steps", []),
    ("hyper-output", good.ANSWER, "artifacts[0].key_points", ["a", "b"]),
    ("hyper-output", good.ANSWER, "artifacts[0].path", "$HYPER_WORKSPACE_ROOT/a.json"),
    ("hyper-output", good.ANSWER, "artifacts[0].path", "../a.json"),
    ("cleo-manifest", good.BLOCKED_ENTRY, "needs_followup", []),
    ("cleo-manifest", good.MANIFEST_ENTRY, "status", "partial"),
    ("cleo-manifest", good.MANIFEST_ENTRY, "key_findings", ["One.", "Two."]),
    ("cleo-manifest", good.MANIFEST_ENTRY, "date", "03.02.2026"),
    ("cleo-manifest", good.MANIFEST_ENTRY, "linked_tasks", []),
]
MODELS: dict[str, tuple[type[BaseModel], dict[str, Any]]] = {
    **{
        name: (contracts.model(name), values[0])
        for name, values in GOOD.items()
        if name not in ("registry", "session-log")
    },
    "session-log": (lines.RegisterEntry, good.FULL_REGISTER),
}


@cache
def validator(contract: str) -> Any:
    schema = contracts.schema(contract)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def is_taken(contract: str, value: Any) -> bool:
    return bool(validator(contract).is_valid(value))


@pytest.mark.parametrize("contract", GOOD)
def test_a_schema_takes_what_is_good(contract: str) -> None:
    assert set(GOOD) == set(contracts.contracts())
    assert [value for value in GOOD[contract] if not is_taken(contract, value)] == []


@pytest.mark.parametrize(
    ("contract", "value", "field", "given"),
    BROKEN,
    ids=[f"{name} {field} {given!r}" for name, _, field, given in BROKEN],
)
def test_a_schema_refuses_what_a_document_does_not_allow(
    contract: str, value: dict[str, Any], field: str, given: Any
) -> None:
    assert not is_taken(contract, changed(value, field, given))


@pytest.mark.parametrize("contract", MODELS)
def test_a_schema_refuses_every_field_that_is_dropped_retyped_or_out_of_range(contract: str) -> None:
    model, value = MODELS[contract]
    taken = [str(each) for each in mutations(model, value) if is_taken(contract, each.on(value))]
    assert [each for each in taken if not each.endswith("out of range '  '")] == []  # a blank is no matter of a schema

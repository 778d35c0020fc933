"""Stage one: session ids, contexts through dictionaries and the environment, limits and default timeouts."""

import json
from pathlib import Path
from typing import Any

import pytest

from delegtop.base.clock import FrozenClock, Millis
from delegtop.delegate import (
    ContextInvalid,
    DelegationContext,
    DelegationRefused,
    generate_session_id,
    prepare_delegation,
)
from delegtop.protocols.standard.contract import session_ids
from delegtop.settings import load

NOON = Millis(1_773_489_600_123)


def command() -> DelegationContext:
    return prepare_delegation(None, "implement", task_context={"task_number": 191}, clock=FrozenClock(NOON))


def test_a_session_id_names_its_second_and_is_well_formed() -> None:
    id = generate_session_id(clock=FrozenClock(NOON))
    parsed = session_ids.parse(id)
    assert parsed is not None
    assert parsed.form is session_ids.Form.EPOCH
    assert parsed.at == 1_773_489_600_000
    assert len(parsed.random) == 6


def test_session_ids_of_the_same_moment_differ() -> None:
    assert len({generate_session_id(clock=FrozenClock(NOON)) for _ in range(200)}) == 200


def test_a_session_id_needs_no_clock() -> None:
    assert session_ids.is_well_formed(generate_session_id())


def test_what_the_orchestrator_calls_is_a_command_at_depth_0() -> None:
    context = command()
    assert (context.delegation_depth, context.delegation_path) == (0, ("orchestrator", "implement"))
    assert (context.parent, context.caller) == (None, None)


def test_a_delegation_goes_one_level_down_and_names_its_parent() -> None:
    parent = command()
    context = prepare_delegation(parent, "task-executor", timeout=600)
    assert context.delegation_depth == 1
    assert context.delegation_path == ("orchestrator", "implement", "task-executor")
    assert (context.parent, context.caller, context.timeout) == (parent.session_id, "implement", 600)
    assert context.task_context == {"task_number": 191}, "the task is the parent's unless another is given"
    assert context.session_id != parent.session_id


def test_the_context_has_the_guides_keys() -> None:
    context = prepare_delegation(command(), "task-executor", clock=FrozenClock(NOON))
    assert context.to_dict() == {
        "session_id": context.session_id,
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "implement", "task-executor"],
        "timeout": 3600,
        "caller": "implement",
        "task_context": {"task_number": 191},
        "parent_session_id": context.parent,
    }


def test_a_context_survives_the_environment(tmp_path: Path) -> None:
    context = prepare_delegation(command(), "task-executor")
    variables = context.to_environment(tmp_path / "run.jsonl", tmp_path / "registry.json")
    assert DelegationContext.from_environment(variables) == context
    assert variables["DELEGTOP_SESSION_ID"] == context.session_id
    assert variables["DELEGTOP_LOG"] == str(tmp_path / "run.jsonl")
    assert variables["DELEGTOP_REGISTRY"] == str(tmp_path / "registry.json")


def test_the_variables_are_no_settings(tmp_path: Path) -> None:
    load(environ=command().to_environment(tmp_path / "log", tmp_path / "registry"))


def test_outside_of_any_delegation_there_is_no_context() -> None:
    assert DelegationContext.from_environment({}) is None


GOOD = {"session_id": "s", "delegation_depth": 0, "delegation_path": ["orchestrator", "x"], "timeout": 1}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", "it must be a JSON object"),
        (json.dumps(GOOD | {"session_id": ""}), "session_id must be text"),
        (json.dumps(GOOD | {"delegation_path": []}), "delegation_path must be a list of names"),
        (json.dumps(GOOD | {"delegation_depth": True}), "delegation_depth must be a whole number from 0"),
        (json.dumps(GOOD | {"timeout": 0}), "timeout must be a number of seconds above 0"),
        (json.dumps(GOOD | {"timeout": float("inf")}), "timeout must be a number of seconds above 0"),
    ],
)
def test_a_context_that_is_none_says_why(given: str, reason: str) -> None:
    with pytest.raises(ContextInvalid, match=reason):
        DelegationContext.from_environment({"DELEGTOP_CONTEXT": given})


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "600", True])
def test_a_timeout_is_a_number_above_zero(seconds: Any) -> None:
    with pytest.raises(ValueError, match="a timeout is a number of seconds above 0, not"):
        prepare_delegation(None, "implement", timeout=seconds)


@pytest.mark.parametrize("name", ["", "  ", None, 5])
def test_who_gets_work_has_a_name(name: Any) -> None:
    with pytest.raises(ValueError, match="work is handed to somebody by name"):
        prepare_delegation(None, name)


def test_a_lower_depth_limit_can_be_asked_for() -> None:
    executor = prepare_delegation(command(), "task-executor")
    with pytest.raises(DelegationRefused, match="MAX_DEPTH_EXCEEDED: depth 2 is deeper than the limit of 1"):
        prepare_delegation(executor, "implementer", max_depth=1)


def test_a_refusal_is_an_error_object_with_a_way_on() -> None:
    with pytest.raises(DelegationRefused) as refused:
        prepare_delegation(command(), "implement")
    error = refused.value.error()
    assert error.code == "CYCLE_DETECTED"
    assert error.recommendation.startswith("Let the caller do the work itself")
    assert error.made_by == "delegtop"


@pytest.mark.parametrize(
    ("name", "seconds"),
    [("researcher", 3600), ("planner", 1800), ("implementer", 7200), ("status-sync-manager", 300), ("sh", 3600)],
)
def test_the_default_timeout_is_that_of_the_kind_of_work(name: str, seconds: int) -> None:
    assert prepare_delegation(command(), name).timeout == seconds

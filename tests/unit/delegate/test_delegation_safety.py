"""The delegation guide's own four tests of delegation safety, under their names."""

from threading import Event

import pytest

from delegtop.base.clock import SECOND, FrozenClock, Millis
from delegtop.delegate import (
    DelegationContext,
    DelegationRefused,
    DelegationRegistry,
    Return,
    ReturnInvalid,
    check_cycle,
    invoke,
    prepare_delegation,
    validate_return,
)


def at_depth(depth: int) -> DelegationContext:
    """A delegation that many levels below its command."""
    context = prepare_delegation(None, "implement")
    for level in range(1, depth + 1):
        context = prepare_delegation(context, f"agent-{level}")
    return context


def invoke_subagent(timeout: int, actual_duration: int) -> tuple[Return, int]:
    """An orchestrator that looks every minute at a subagent that takes that long, in time that is only told."""
    clock = FrozenClock(Millis(0))
    registry = DelegationRegistry(clock=clock)
    context = prepare_delegation(at_depth(0), "researcher", timeout=timeout, clock=clock)
    registry.register(context)
    for second in range(0, actual_duration, 60):
        clock.set(Millis(second * SECOND))
        for result in registry.monitor().values():
            assert context.session_id not in registry
            return result, second
    raise AssertionError("it was waited for to the end")


def test_cycle_detection() -> None:
    path = ("orchestrator", "implement", "task-executor")
    with pytest.raises(DelegationRefused) as refused:
        check_cycle(path, "task-executor")
    assert refused.value.code == "CYCLE_DETECTED"
    assert "orchestrator → implement → task-executor → task-executor" in str(refused.value)
    executor = prepare_delegation(at_depth(0), "task-executor")
    with pytest.raises(DelegationRefused, match="CYCLE_DETECTED"):
        prepare_delegation(executor, "implement")


def test_depth_limit() -> None:
    deepest = at_depth(3)
    assert deepest.delegation_depth == 3
    with pytest.raises(DelegationRefused) as refused:
        prepare_delegation(deepest, "another-agent")
    assert refused.value.code == "MAX_DEPTH_EXCEEDED"


def test_timeout() -> None:
    result, given_up_at = invoke_subagent(timeout=3600, actual_duration=7200)
    assert result.status == "partial"
    assert "timeout" in result.errors[0].type
    assert result.errors[0].recoverable is True
    assert 3600 <= given_up_at <= 3660, "it was given up soon after its hour, not at the end"


def test_timeout_of_a_subagent_that_is_really_invoked() -> None:
    never = Event()
    result = invoke(at_depth(1), lambda _: never.wait(), timeout=0.05)
    assert result.status == "partial"
    assert "timeout" in result.errors[0].type
    assert result.errors[0].recommendation == "Resume with the same command to continue"
    never.set()


def test_invalid_return() -> None:
    with pytest.raises(ReturnInvalid) as invalid:
        validate_return({"status": "invalid_status"})
    assert invalid.value.problems == (
        'status is "invalid_status", not completed, failed, partial or blocked',
        "summary is missing",
        "artifacts is missing",
        "metadata is missing",
    )

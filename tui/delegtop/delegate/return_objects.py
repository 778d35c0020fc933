"""Return objects, made: in the standard form, by an agent or by a caller that has to speak for one."""

from collections.abc import Iterable, Mapping
from typing import Any

from delegtop.delegate.prepare import DelegationContext
from delegtop.protocols.standard.contract import own_words


def standard_return(
    context: DelegationContext,
    status: str,
    summary: str,
    *,
    artifacts: Iterable[Mapping[str, Any]] = (),
    errors: Iterable[Mapping[str, Any]] = (),
    duration: float = 0,
    made_by: str | None = None,
    next_steps: str | None = None,
) -> dict[str, Any]:
    """A return of this delegation. `duration` is in seconds; `made_by` is who speaks for the agent, if it does not."""
    result: dict[str, Any] = {
        "status": status,
        "summary": summary,
        "artifacts": [dict(artifact) for artifact in artifacts],
        "metadata": {
            "session_id": context.session_id,
            "duration_seconds": duration,
            "agent_type": context.name,
            "delegation_depth": context.delegation_depth,
            "delegation_path": list(context.delegation_path),
        },
        "errors": [dict(error) for error in errors],
    }
    if made_by is not None:
        result["metadata"]["made_by"] = made_by
    if next_steps is not None:
        result["next_steps"] = next_steps
    return result


def timeout_error(context: DelegationContext) -> dict[str, Any]:
    """The error of a delegation that ran out of time. The task stays in progress: it can be resumed."""
    return {
        "type": "timeout",
        "message": f"{context.name} exceeded its timeout of {context.timeout:g}s",
        "code": "TIMEOUT",
        "recoverable": True,
        "recommendation": own_words.RESUME,
    }


def timeout_return(context: DelegationContext, artifacts: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """What a caller returns in place of an agent that did not answer in time: `partial`, with what was found."""
    found = list(artifacts)
    kept = f"{len(found)} partial artifact{'' if len(found) == 1 else 's'} found." if found else "Nothing was found."
    return standard_return(
        context,
        "partial",
        f"{context.name} timed out after {context.timeout:g}s. {kept}",
        artifacts=found,
        errors=[timeout_error(context)],
        duration=context.timeout,
    )

"""Return objects, made: in the standard form, by an agent or by a caller that has to speak for one."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from delegtop.delegate.error_objects import error_fields, typed
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.return_validation import ReturnInvalid, not_json, validate_return
from delegtop.protocols.standard.contract import own_words
from delegtop.protocols.standard.contract.return_contract import Status

if TYPE_CHECKING:
    from delegtop.protocols.standard.contract.return_model import Return, ReturnArtifact, ReturnError

ORIGINAL = "original_return"
"""Where in the metadata a failed return keeps what was given instead of a valid one."""


def standard_return(
    context: DelegationContext,
    status: Status,
    summary: str,
    *,
    artifacts: "Iterable[ReturnArtifact]" = (),
    errors: "Iterable[ReturnError]" = (),
    duration: float | None = None,
    made_by: str | None = None,
    next_steps: str | None = None,
) -> "Return":
    """A valid return of this delegation; raises ReturnInvalid for one that the standard does not allow.

    `duration` is in seconds, measured from when the context was made if it is not given; `made_by` is who speaks for
    the agent, if it does not.
    """
    from delegtop.protocols.contract_model import dumped

    fields = return_fields(
        context,
        status,
        summary,
        artifacts=map(dumped, artifacts),
        errors=map(dumped, errors),
        duration=duration,
        made_by=made_by,
        next_steps=next_steps,
    )
    return validate_return(fields, context.session_id)


def return_fields(
    context: DelegationContext,
    status: Status,
    summary: str,
    *,
    artifacts: Iterable[Mapping[str, Any]] = (),
    errors: Iterable[Mapping[str, Any]] = (),
    duration: float | None = None,
    made_by: str | None = None,
    next_steps: str | None = None,
) -> dict[str, Any]:
    """The same as JSON has it, unchecked: `delegtop run` writes it for every command and loads no model for that."""
    result: dict[str, Any] = {
        "status": status,
        "summary": summary,
        "artifacts": [dict(artifact) for artifact in artifacts],
        "metadata": {
            "session_id": context.session_id,
            "duration_seconds": context.seconds if duration is None else duration,
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


def timeout_error(context: DelegationContext, goes_on: str | None = None) -> "ReturnError":
    """The error of a delegation that ran out of time. The task stays in progress: it can be resumed. `goes_on` is what
    still works on it and cannot be ended."""
    return typed(_timeout_fields(context, goes_on))


def _timeout_fields(context: DelegationContext, goes_on: str | None) -> dict[str, Any]:
    message = f"{context.name} exceeded its timeout of {context.timeout:g}s"
    if goes_on is not None:
        message += f"; {goes_on} cannot be ended and goes on"
    return error_fields("timeout", "TIMEOUT", message, own_words.RESUME)


def timeout_return(
    context: DelegationContext, artifacts: "Iterable[ReturnArtifact]" = (), goes_on: str | None = None
) -> "Return":
    """What a caller returns in place of an agent that did not answer in time: `partial`, with what was found."""
    found = list(artifacts)
    kept = f"{len(found)} partial artifact{'' if len(found) == 1 else 's'} found." if found else "Nothing was found."
    from delegtop.protocols.contract_model import dumped

    return made_return(
        return_fields(
            context,
            "partial",
            f"{context.name} timed out after {context.timeout:g}s. {kept}",
            artifacts=map(dumped, found),
            errors=[_timeout_fields(context, goes_on)],
            duration=context.timeout,
            made_by=own_words.DELEGTOP,
        )
    )


def made_return(fields: Mapping[str, Any]) -> "Return":
    """A return that delegtop made, typed. It is not judged: whatever is odd about a context, its caller gets one."""
    from delegtop.protocols.standard.contract.return_model import Return, ReturnArtifact, ReturnError, ReturnMetadata

    metadata = {**fields["metadata"], "delegation_path": tuple(fields["metadata"]["delegation_path"])}
    inner = {
        "artifacts": tuple(ReturnArtifact.model_construct(**each) for each in fields["artifacts"]),
        "metadata": ReturnMetadata.model_construct(**metadata),
        "errors": tuple(ReturnError.model_construct(**each) for each in fields["errors"]),
    }
    return Return.model_construct(**{**fields, **inner})


def failed_fields(context: DelegationContext, summary: str, error: Mapping[str, Any]) -> dict[str, Any]:
    """A failed return that delegtop writes, for the one reason."""
    return return_fields(context, "failed", summary, errors=[error], made_by=own_words.DELEGTOP)


def refused_fields(context: DelegationContext, invalid: ReturnInvalid) -> dict[str, Any]:
    """The failed return in place of one that is not valid, which is kept in it for whoever looks for the cause."""
    summary = f"{context.name} gave no valid return, so it counts as failed. What it gave is kept in the metadata."
    fields = failed_fields(context, summary, invalid.fields())
    fields["metadata"][ORIGINAL] = as_json(invalid.returned)
    return fields


def as_json(value: object) -> object:
    """The value if JSON can hold it, else what Python shows of it; of one that is very long its beginning."""
    if not_json(value) is None:
        plain = dict(value) if isinstance(value, Mapping) else value
        text = json.dumps(plain, ensure_ascii=False)
        return plain if len(text) <= _KEPT else f"{text[:_KEPT]}…"
    try:
        return repr(value)[:_SHOWN]
    except Exception:  # noqa: BLE001  # what an object shows of itself is foreign code
        return f"<{type(value).__name__}>"


_SHOWN = 4_000
_KEPT = 100_000
"""Characters: a line of a log that is longer than a million is not read whole."""

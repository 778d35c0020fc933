"""The standard return object, as it stands in logs and registries, and the `Report` it amounts to.

What an agent writes by hand departs from the standard in many small ways. Everything that can be understood is
taken: a bare path for an artifact, one error without its list, next steps as a list.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from delegtop.dialects.kit.salvage import Notes, blank, salvage, wrong_type
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Artifact, Fault, Outcome, Report

OUTCOMES: dict[str | None, Outcome] = {
    "completed": Outcome.COMPLETED,
    "failed": Outcome.FAILED,
    "partial": Outcome.PARTIAL,
    "blocked": Outcome.BLOCKED,
}

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Seconds = Annotated[float, Meta(ge=0, le=1e10)]


class Metadata(msgspec.Struct, gc=False):
    """Which delegation returns. Agents add keys of their own here, so others than these are welcome."""

    session_id: Annotated[str | None, Meta(description="The session id the agent was given.")] = None
    duration_seconds: Annotated[Seconds | None, Meta(description="How long it took, by the agent's account.")] = None
    agent_type: Annotated[str | None, Meta(description="The name of the agent.")] = None
    delegation_depth: Annotated[Count | None, Meta(description="The depth the agent was given.")] = None
    delegation_path: Annotated[
        tuple[str, ...] | None, Meta(description="The agents from the orchestrator down to this one.")
    ] = None


class ReturnObject(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What an agent hands back."""

    status: Annotated[Literal["completed", "failed", "partial", "blocked"], Meta(description="How the work ended.")]
    summary: Annotated[str, Meta(description="The outcome in two to five sentences.")]
    artifacts: Annotated[tuple[Artifact, ...], Meta(description="Files made or changed; may be empty.")]
    metadata: Annotated[Metadata, Meta(description="Which delegation returns.")]
    errors: Annotated[tuple[Fault, ...], Meta(description="What went wrong; empty or absent if nothing did.")] = ()
    next_steps: Annotated[str | None, Meta(description="What to do next, if anything.")] = None
    session_id: Annotated[str | None, Meta(description="Read if `metadata` has none; some agents write it here.")] = (
        None
    )


def report(wire: ReturnObject) -> Report:
    """The return object in the vocabulary of the model, its words kept."""
    return report_by(wire, wire.metadata.session_id or wire.session_id)


def report_by(wire: ReturnObject, session_id: str | None) -> Report:
    """The same with another session id, or with none."""
    meta = wire.metadata
    duration = meta.duration_seconds
    is_full = wire.artifacts is not None and meta.session_id is not None
    return Report(
        wire.status,
        wire.summary,
        wire.artifacts or (),
        wire.errors,
        wire.next_steps,
        session_id,
        meta.agent_type,
        meta.delegation_depth,
        meta.delegation_path,
        None if duration is None else int(duration * 1000),
        () if is_full else _absent(wire),
        wire.session_id,
    )


NO_METADATA = Metadata()
"""Stands for metadata that are not there."""


def _absent(wire: ReturnObject) -> tuple[str, ...]:
    """The fields that are not there."""
    absent: tuple[str, ...] = () if wire.artifacts is not None else ("artifacts",)
    if wire.metadata is NO_METADATA:
        return (*absent, "metadata", "metadata.session_id")
    return absent if wire.metadata.session_id is not None else (*absent, "metadata.session_id")


def repair_return(given: Any, notes: Notes, where: str) -> ReturnObject:
    """What can be understood of a return object that does not fit; a return that is mere prose becomes its summary."""
    if isinstance(given, dict):
        wire = salvage(ReturnObject, given, notes, f"{where}.", _REPAIRS)
    else:
        wrong_type("object", given, notes, where)
        wire = blank(ReturnObject, {"summary": given} if isinstance(given, str) else {})
    if wire.metadata is None:
        wire.metadata = NO_METADATA
    return wire


def repair_artifacts(given: Any, notes: Notes, where: str) -> tuple[Artifact, ...]:
    """Artifacts, also as bare texts or as one without its list; what names no path has an empty one."""
    if not isinstance(given, list):
        wrong_type("array", given, notes, where)
        given = [given] if isinstance(given, dict | str) else []
    return tuple([_repair_artifact(each, notes, f"{where}[{index}]") for index, each in enumerate(given)])


def _repair_listed(given: Any, notes: Notes, where: str) -> tuple[Artifact, ...] | None:
    """The artifacts of a return; what names none at all is as good as missing."""
    repaired = repair_artifacts(given, notes, where)
    return repaired if isinstance(given, list) or (isinstance(given, dict | str) and given) else None


def _repair_artifact(given: Any, notes: Notes, where: str) -> Artifact:
    if isinstance(given, dict):
        wire = salvage(Artifact, given, notes, f"{where}.")
        return wire if wire.path else msgspec.structs.replace(wire, path="")
    wrong_type("object", given, notes, where)
    return Artifact(given if isinstance(given, str) else "")


def repair_fault(given: Any, notes: Notes, where: str) -> Fault | None:
    """An error as far as it can be understood; a bare text is its message."""
    if isinstance(given, dict):
        return salvage(Fault, given, notes, f"{where}.")
    wrong_type("object", given, notes, where)
    return Fault(given) if isinstance(given, str) and given else None


def _repair_errors(given: Any, notes: Notes, where: str) -> tuple[Fault, ...]:
    if not isinstance(given, list):
        wrong_type("array", given, notes, where)
        given = [given] if isinstance(given, dict | str) else []
    repaired = [repair_fault(each, notes, f"{where}[{index}]") for index, each in enumerate(given)]
    return tuple([each for each in repaired if each is not None])


def _repair_metadata(given: Any, notes: Notes, where: str) -> Metadata:
    if isinstance(given, dict):
        return salvage(Metadata, given, notes, f"{where}.")
    wrong_type("object", given, notes, where)
    return NO_METADATA


def _repair_status(given: Any, notes: Notes, where: str) -> str | None:
    notes.add(DeviationKind.UNKNOWN_STATUS, f"{where}: {given!r}")
    return given if isinstance(given, str) else None


def _repair_next_steps(given: Any, notes: Notes, where: str) -> str | None:
    wrong_type("str", given, notes, where)
    steps = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
    return "\n".join(steps) or None


_REPAIRS = {
    "status": _repair_status,
    "artifacts": _repair_listed,
    "metadata": _repair_metadata,
    "errors": _repair_errors,
    "next_steps": _repair_next_steps,
}

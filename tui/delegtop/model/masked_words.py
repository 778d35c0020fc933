"""The words that logs hold, with the secrets in them hidden. Ids, paths and times stay: they are what things are joined
and looked up by."""

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from delegtop.base.secrets import mask
from delegtop.model.events import (
    Artifact,
    Awaited,
    Described,
    Deviation,
    Ended,
    Erred,
    Event,
    Fault,
    Heard,
    Noted,
    ProcessSeen,
    Report,
    Started,
)

E = TypeVar("E", bound=Event)


def masked_text(text: str | None) -> str | None:
    return text and mask(text)


def masked_process(seen: ProcessSeen) -> ProcessSeen:
    return replace(seen, on=masked_text(seen.on), name=masked_text(seen.name), command=masked_text(seen.command))


def masked_fault(fault: Fault) -> Fault:
    return replace(fault, message=masked_text(fault.message), recommendation=masked_text(fault.recommendation))


def masked_faults(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    return tuple(map(masked_fault, faults))


def masked_report(report: Report) -> Report:
    if report == Report():
        return report
    return replace(
        report,
        summary=masked_text(report.summary),
        next_steps=masked_text(report.next_steps),
        artifacts=tuple(map(_artifact, report.artifacts)),
        errors=masked_faults(report.errors),
    )


def _artifact(artifact: Artifact) -> Artifact:
    return replace(artifact, path=mask(artifact.path), summary=masked_text(artifact.summary))


_MASKED: dict[type[Any], dict[str, Callable[[Any], Any]]] = {
    Started: dict.fromkeys(("agent", "command", "caller"), masked_text),
    Heard: {"doing": masked_text},
    Described: dict.fromkeys(("title", "name", "prompt"), masked_text),
    Noted: {"text": masked_text},
    Awaited: {"by": masked_text},
    Erred: {"fault": masked_fault},
    Ended: {"report": masked_report},
    ProcessSeen: dict.fromkeys(("on", "name", "command"), masked_text),
    Deviation: {"detail": masked_text},
}
"""What is free text in each kind of event, and how it is masked."""


def masked_event(event: E) -> E:
    """The same event; another one if it held a secret."""
    changed = {}
    for name, hide in _MASKED.get(type(event), {}).items():
        before = getattr(event, name)
        if before and (after := hide(before)) != before:
            changed[name] = after
    return replace(event, **changed) if changed else event

"""CLEO's COMPLIANCE.jsonl: one line for each subagent that stopped, with what CLEO's own check said of it.

The line tells that and when the subagent stopped, not how its work ended. `source_id` is the agent id of Claude Code
or, for a check of a task, the id of the task.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from delegtop.dialects import About, Basis, Dialect, Sample
from delegtop.dialects.kit.coerce import objects
from delegtop.dialects.kit.salvage import Notes, moment, object_at, wrong_type
from delegtop.dialects.signature import Signature
from delegtop.model import notes as kinds
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import PROMPT, Described, Ended, Ending, Event, Noted, Outcome, Report, Started
from delegtop.protocols.cleo import PRODUCT
from delegtop.protocols.cleo.violations import violation_line
from delegtop.sources.records import Record

_TASK = re.compile(r"T\d+")
_NO_TYPE = ("", "unknown")


class CleoCompliance(Dialect):
    """Reads COMPLIANCE.jsonl."""

    name: ClassVar[str] = "cleo-compliance"
    title: ClassVar[str] = "CLEO compliance log"
    product = PRODUCT
    surest: ClassVar[int] = 90
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b'"compliance":', b'"source_id":')),)
    about: ClassVar[About] = About(
        "CLEO",
        "`.cleo/metrics/COMPLIANCE.jsonl`",
        "that a sub-agent stopped, and what its output violates",
        Basis.REAL,
    )

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        value = next(objects(sample), {})
        compliance = value.get("compliance")
        if not isinstance(compliance, dict) or "source_id" not in value:
            return 0
        return 90 if "compliance_pass_rate" in compliance else 60

    def translate(self, record: Record) -> Iterator[Event]:
        value, notes = record.value, Notes(record.origin)
        source = value.get("source_id")
        if not isinstance(source, str) or not source.strip():
            notes.add(DeviationKind.MISSING_FIELD, "source_id")
            yield from notes.deviations()
            return
        at = moment(value.get("timestamp"), self.zone, notes, "timestamp")
        context = object_at(value, "_context", notes)
        agent = context.get("agent_type")
        is_task = _TASK.fullmatch(source) is not None
        yield Started(
            source,
            None,
            record.origin,
            agent=agent if isinstance(agent, str) and agent not in _NO_TYPE else None,
            task=source if is_task else None,
            refs=(("task_id" if is_task else "agent_id", source),),
            product=PRODUCT.name,
        )
        if is_task:
            yield Described(source, None, record.origin, title=source)
        yield Ended(source, at, record.origin, Outcome.UNKNOWN, Ending.REGISTRY, Report())
        told = _violations(context.get("violations"), object_at(value, "compliance", notes), notes)
        yield Noted(source, at, record.origin, kinds.VIOLATION, told[:PROMPT])
        yield from notes.deviations()


def _violations(given: object, compliance: dict[str, Any], notes: Notes) -> str:
    """What the check objected to, one a line; empty if to nothing."""
    listed: Iterable[Any] = given if isinstance(given, list) else ()
    lines = []
    for index, each in enumerate(listed):
        if isinstance(each, dict):
            told = (each.get(name) for name in ("requirement", "severity", "message", "fix"))
            lines.append(violation_line(*(text if isinstance(text, str) else "" for text in told)))
        else:
            wrong_type("object", each, notes, f"_context.violations[{index}]")
    count = compliance.get("violation_count")
    if not lines and isinstance(count, int) and count > 0:
        severity = compliance.get("violation_severity")
        many = f"{count} violation{'' if count == 1 else 's'}, which the log does not name"
        lines.append(violation_line("", severity if isinstance(severity, str) else "", many, ""))
    return "\n".join(lines)

"""CLEO's COMPLIANCE.jsonl: one line for each subagent that stopped, with what CLEO's own check said of it.

The line tells that and when the subagent stopped, not how its work ended. `source_id` is the agent id of Claude Code
or, for a check of a task, the id of the task.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from delegtop.contract.departures import Kind
from delegtop.contract.manifest import violation_line
from delegtop.dialects import About, Basis, Dialect, Sample
from delegtop.dialects.cleo import PRODUCT
from delegtop.dialects.lenient import Notes, moment, wrong_type
from delegtop.model import notes as kinds
from delegtop.model.events import PROMPT, Described, Ended, Ending, Event, Noted, Outcome, Report, Started
from delegtop.sources.record import Record, decoded

_TASK = re.compile(r"T\d+")
_NO_TYPE = ("", "unknown")


class CleoCompliance(Dialect):
    """Reads COMPLIANCE.jsonl."""

    name: ClassVar[str] = "cleo-compliance"
    title: ClassVar[str] = "CLEO compliance log"
    surest: ClassVar[int] = 90
    about: ClassVar[About] = About(
        "CLEO",
        "`.cleo/metrics/COMPLIANCE.jsonl`",
        "that a sub-agent stopped, and what its output violates",
        Basis.REAL,
    )

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        first = sample.head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
        value = decoded(first)
        compliance = value.get("compliance") if isinstance(value, dict) else None
        if not isinstance(compliance, dict) or "source_id" not in value:
            return 0
        return 90 if "compliance_pass_rate" in compliance else 60

    def translate(self, record: Record) -> Iterator[Event]:
        value, notes = record.value, Notes(record.origin)
        source = value.get("source_id")
        if not isinstance(source, str) or not source.strip():
            notes.add(Kind.MISSING_FIELD, "source_id")
            yield from notes.deviations()
            return
        at = moment(value.get("timestamp"), self.zone, notes, "timestamp")
        context = _object(value, "_context", notes)
        agent = context.get("agent_type")
        is_task = _TASK.fullmatch(source) is not None
        yield Started(
            source,
            None,
            record.origin,
            agent=agent if isinstance(agent, str) and agent not in _NO_TYPE else None,
            task=source if is_task else None,
            refs=(("task_id" if is_task else "agent_id", source),),
            product=PRODUCT,
        )
        if is_task:
            yield Described(source, None, record.origin, title=source)
        yield Ended(source, at, record.origin, Outcome.UNKNOWN, Ending.REGISTRY, Report())
        told = _violations(context.get("violations"), _object(value, "compliance", notes), notes)
        yield Noted(source, at, record.origin, kinds.VIOLATION, told[:PROMPT])
        yield from notes.deviations()


def _object(value: dict[str, Any], key: str, notes: Notes) -> dict[str, Any]:
    given = value.get(key)
    if isinstance(given, dict):
        return given
    if given is not None:
        wrong_type("object", given, notes, key)
    return {}


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

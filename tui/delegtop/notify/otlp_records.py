"""Changes of verdicts as log records of OpenTelemetry: OTLP as JSON, by the mapping of its protobuf messages.

Names are in camel case, numbers of 64 bits are texts, enumerations are numbers and ids are hexadecimal. What is foreign
in it is masked, cut and on one line: a record leaves this machine.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from socket import gethostname
from typing import Any

from delegtop import __version__
from delegtop.base import text
from delegtop.base.clock import Millis, iso
from delegtop.base.secrets import mask
from delegtop.diagnosis.assessment import PRESSING, Urgency
from delegtop.diagnosis.verdict_changes import VerdictChange

EVENT = "delegtop.verdict"
_NANOS = 1_000_000
_NAME, _SENTENCE, _ID = 80, 400, 200
INFO, WARN, ERROR = (9, "INFO"), (13, "WARN"), (17, "ERROR")
"""Severities, by their number and their word."""


def export(changes: Sequence[VerdictChange]) -> bytes:
    """The body of a request that tells of these: by their host, as a collector expects it."""
    by_host = sorted(changes, key=lambda each: each.host)
    resources = [
        {"resource": {"attributes": _attributes(_resource(host))}, "scopeLogs": [_scope(group)]}
        for host, group in groupby(by_host, key=lambda each: each.host)
    ]
    return json.dumps({"resourceLogs": resources}).encode()


def _resource(host: str) -> dict[str, Any]:
    return {
        "service.name": "delegtop",
        "service.version": __version__,
        "host.name": _safe(host or gethostname(), _NAME),
    }


def _scope(changes: Iterable[VerdictChange]) -> dict[str, Any]:
    return {"scope": {"name": "delegtop.watch", "version": __version__}, "logRecords": [*map(record, changes)]}


def record(change: VerdictChange) -> dict[str, Any]:
    """One change."""
    number, word = severity(change)
    return {
        "timeUnixNano": _nanos(change.at),
        "observedTimeUnixNano": _nanos(change.at),
        "severityNumber": number,
        "severityText": word,
        "eventName": EVENT,
        "body": {"stringValue": _safe(change.sentence)},
        "attributes": _attributes(_facts(change)),
        "traceId": _hash(change.root, 16),
        "spanId": _hash(change.id, 8),
    }


def severity(change: VerdictChange) -> tuple[int, str]:
    """An error if it stands still until somebody does something or ended badly, a warning if it is only suspicious."""
    if not change.verdict or change.urgency in (Urgency.AT_WORK, Urgency.AT_REST, Urgency.EARLIER):
        return INFO
    is_grave = change.urgency in PRESSING or change.urgency is Urgency.JUST_ENDED
    return ERROR if is_grave else WARN


def _facts(change: VerdictChange) -> dict[str, Any]:
    project = change.folder.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return {
        "delegtop.id": _safe(change.id, _ID),
        "delegtop.session": _safe(change.root, _ID),
        "delegtop.name": _safe(change.name, _NAME),
        "delegtop.title": _safe(change.title, _NAME),
        "delegtop.agent": _safe(change.agent, _NAME),
        "delegtop.product": _safe(change.product, _NAME),
        "delegtop.project": _safe(project, _NAME),
        "delegtop.state": change.state.value,
        "delegtop.verdict": change.verdict,
        "delegtop.was": change.was,
        "delegtop.certainty": change.certainty.value if change.verdict else "",
        "delegtop.urgency": int(change.urgency),
        "delegtop.rule": change.rule,
        "delegtop.since": iso(change.since) if change.since is not None and change.verdict else "",
        "delegtop.holds_up": change.holds_up,
        "delegtop.todo": _safe(change.todo),
        "delegtop.present": change.present,
    }


def _attributes(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """As the protobuf message has them; what is not known is left out."""
    return [{"key": key, "value": _value(value)} for key, value in facts.items() if value != ""]


def _value(value: str | int | bool) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def _nanos(at: Millis) -> str:
    return str(max(at, 0) * _NANOS)


def _hash(id: str, size: int) -> str:
    """An id as OpenTelemetry has them, the same for the same each time; never all zeros."""
    return hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[: 2 * size]


def _safe(foreign: str, limit: int = _SENTENCE) -> str:
    return text.line(mask(foreign[: 2 * limit]), limit)

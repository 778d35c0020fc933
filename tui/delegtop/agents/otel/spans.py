"""Spans and log events as exporters write them: OTLP as JSON, and what the OpenAI Agents SDK exports, in one shape.

Protobuf's JSON writes 64-bit numbers as text and attributes as a list of typed values; both are undone here.
"""

from collections.abc import Iterator
from contextlib import suppress
from math import isfinite
from typing import Any

import msgspec

from delegtop.base.clock import Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.dialects.kit.coerce import dollars, obj, word

_NANOS = 1_000_000
_LATEST = 253_402_300_799_000
_FAILED = (2, "STATUS_CODE_ERROR")
_TYPED = ("stringValue", "intValue", "doubleValue", "boolValue")
_OPERATIONS = {"agent": "invoke_agent", "function": "execute_tool", "generation": "chat", "response": "chat"}


class Span(msgspec.Struct, frozen=True):
    """Something that took time and is over; `end` is None if it is known only to have begun."""

    trace: str
    id: str
    parent: str | None
    name: str
    start: Millis | None
    end: Millis | None
    failed: bool
    message: str | None
    """Why it failed."""
    attributes: dict[str, Any]
    service: str | None
    version: str | None
    origin: Origin

    def text(self, key: str) -> str | None:
        return word(self.attributes.get(key))

    def number(self, key: str) -> int | None:
        return number(self.attributes.get(key))

    @property
    def operation(self) -> str | None:
        return self.text("gen_ai.operation.name")


class LogEvent(msgspec.Struct, frozen=True):
    """Something that happened at a moment."""

    name: str
    at: Millis | None
    attributes: dict[str, Any]
    service: str | None
    version: str | None
    origin: Origin

    def text(self, key: str) -> str | None:
        return word(self.attributes.get(key))

    def number(self, key: str) -> int | None:
        return number(self.attributes.get(key))


def spans(value: dict[str, Any], origin: Origin) -> Iterator[Span]:
    """All spans of one line."""
    for resource in _items(value, "resourceSpans"):
        about = attributes(obj(resource.get("resource")).get("attributes"))
        for scope in _items(resource, "scopeSpans"):
            for raw in _items(scope, "spans"):
                if span := _span(raw, about, origin):
                    yield span
    if value.get("object") in ("trace", "trace.span"):
        yield from _sdk_spans(value, origin)
    for raw in _items(value, "data"):
        yield from _sdk_spans(raw, origin)


def log_events(value: dict[str, Any], origin: Origin) -> Iterator[LogEvent]:
    """All log events of one line that have a name."""
    for resource in _items(value, "resourceLogs"):
        about = attributes(obj(resource.get("resource")).get("attributes"))
        for scope in _items(resource, "scopeLogs"):
            for raw in _items(scope, "logRecords"):
                found = attributes(raw.get("attributes"))
                name = word(raw.get("eventName")) or word(found.get("event.name"))
                at = _moment(raw.get("timeUnixNano")) or _moment(raw.get("observedTimeUnixNano"))
                if name:
                    service, version = word(about.get("service.name")), word(about.get("service.version"))
                    yield LogEvent(name.removeprefix("claude_code."), at, found, service, version, origin)


def attributes(listed: Any) -> dict[str, Any]:
    """Attributes by name."""
    return {
        item["key"]: _value(item.get("value"))
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, dict) and isinstance(item.get("key"), str)
    }


def number(value: Any) -> int | None:
    """A count, however it is written."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    if isinstance(value, float) and isfinite(value) and value >= 0:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def amount(value: Any) -> float | None:
    """A sum of money, however it is written."""
    with suppress(ValueError):
        return dollars(float(value) if isinstance(value, str) else value)
    return None


def is_true(value: Any) -> bool | None:
    """True or false, however it is written; None if it is neither."""
    return {"true": True, "false": False}.get(str(value).lower())


def _value(value: Any) -> Any:
    given = obj(value)
    found = next((given[kind] for kind in _TYPED if kind in given), None)
    if found is None and "arrayValue" in given:
        return [_value(item) for item in _items(obj(given["arrayValue"]), "values")]
    return number(found) if "intValue" in given else found


def _items(value: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = value.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _moment(nanos: Any) -> Millis | None:
    found = number(nanos)
    return None if not found or found // _NANOS > _LATEST else Millis(found // _NANOS)


def _span(raw: dict[str, Any], about: dict[str, Any], origin: Origin) -> Span | None:
    trace, id, status = word(raw.get("traceId")), word(raw.get("spanId")), obj(raw.get("status"))
    if trace is None or id is None:
        return None
    found = attributes(raw.get("attributes"))
    return Span(
        trace=trace,
        id=id,
        parent=word(raw.get("parentSpanId")),
        name=word(raw.get("name")) or id,
        start=_moment(raw.get("startTimeUnixNano")),
        end=_moment(raw.get("endTimeUnixNano")),
        failed=status.get("code") in _FAILED,
        message=word(status.get("message")) or word(found.get("error.type")),
        attributes=found,
        service=word(about.get("service.name")),
        version=word(about.get("service.version")),
        origin=origin,
    )


def _sdk_spans(raw: dict[str, Any], origin: Origin) -> Iterator[Span]:
    """A span or a trace of the OpenAI Agents SDK. The trace stands above its spans and is told when it begins."""
    id, error = word(raw.get("id")), obj(raw.get("error"))
    if id is None:
        return
    if raw.get("object") == "trace":
        about = {"gen_ai.conversation.id": raw.get("group_id")}
        name = word(raw.get("workflow_name")) or id
        yield Span(id, id, None, name, None, None, False, None, about, "openai-agents", None, origin)
        return
    trace, data = word(raw.get("trace_id")), obj(raw.get("span_data"))
    if raw.get("object") != "trace.span" or trace is None:
        return
    kind, usage = word(data.get("type")) or "", obj(data.get("usage"))
    found = {
        "gen_ai.operation.name": _OPERATIONS.get(kind),
        "gen_ai.agent.name" if kind == "agent" else "gen_ai.tool.name": data.get("name"),
        "gen_ai.request.model": data.get("model"),
        "gen_ai.usage.input_tokens": usage.get("input_tokens"),
        "gen_ai.usage.output_tokens": usage.get("output_tokens"),
    }
    yield Span(
        trace=trace,
        id=id,
        parent=word(raw.get("parent_id")) or trace,
        name=word(data.get("name")) or kind or id,
        start=parse_time(str(raw.get("started_at"))),
        end=parse_time(str(raw.get("ended_at"))),
        failed=bool(error),
        message=word(error.get("message")),
        attributes=found,
        service="openai-agents",
        version=None,
        origin=origin,
    )

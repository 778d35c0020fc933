"""OpenTelemetry: OTLP as JSON, one export a line, as the file exporter or whoever keeps the request bodies writes it.

A span is exported when it is over. What is at work, or hangs, is not in the file: so nothing here is ever called
running. Whatever has no end is unknown, and says why.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, ClassVar

from delegtop.agents.otel import PRODUCT
from delegtop.agents.otel.otlp_claude import ClaudeSpans, is_claude
from delegtop.agents.otel.otlp_genai import AgentSpans
from delegtop.agents.otel.otlp_rows import PREFIX
from delegtop.agents.otel.spans import log_events, spans
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.signature import Signature
from delegtop.model.events import Event
from delegtop.sources.records import Record

_SIGNALS = (b'"resourceSpans"', b'"resourceLogs"', b'"resourceMetrics"')
_SNIFFED = 4_096


class Otlp(Dialect):
    """Reads exports of traces and logs; metrics are recognised and tell of no delegation."""

    name: ClassVar[str] = "otlp"
    title: ClassVar[str] = "OpenTelemetry (OTLP JSON)"
    product = PRODUCT
    surest: ClassVar[int] = 95
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"resourceSpans"',)),
        Signature((b'"resourceLogs"',)),
        Signature((b'"resourceMetrics"',)),
        Signature((b'"trace.span"',)),
        Signature((b'"object"', b'"workflow_name"')),
    )
    about: ClassVar[About] = About(
        "any OpenTelemetry exporter with GenAI spans; Claude Code's own spans and events",
        "OTLP JSON lines or bodies",
        "tree, status, tool, tokens, cost; a span is written when it ends",
        Basis.MADE,
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._claude = ClaudeSpans()
        self._agents = AgentSpans()

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        head = sample.head.lstrip(b"\0\xef\xbb\xbf \t\r\n")
        if not head.startswith(b"{"):
            return 0
        start = head[:_SNIFFED]
        if any(start[1:].lstrip().startswith(signal) for signal in _SIGNALS):
            return 95
        line = head.partition(b"\n")[0]
        sdk = b'"trace.span"' in line or (b'"object"' in line and b'"workflow_name"' in line)
        return 85 if sdk and b'"object"' in line else 0

    @classmethod
    def unit_of(cls, sample: Sample) -> Unit:
        """A body that was set out for people is one document of many lines."""
        first = sample.head.lstrip(b"\0\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
        return Unit.DOCUMENT if first.strip() == b"{" else Unit.LINES

    @classmethod
    def family(cls, path: str) -> str:
        """Traces and logs of one program lie side by side, and a long file is continued in another."""
        return str(PurePath(path).parent)

    def needle(self, id: str, path: str) -> bytes:  # noqa: ARG002 # the id alone tells
        return id.removeprefix(PREFIX).encode()

    def translate(self, record: Record) -> Iterator[Event]:
        found = list(spans(record.value, record.origin))
        yield from self._claude.take_spans([span for span in found if is_claude(span)])
        yield from self._agents.take([span for span in found if not is_claude(span)])
        for event in log_events(record.value, record.origin):
            if is_claude(event):
                yield from self._claude.take_log(event)

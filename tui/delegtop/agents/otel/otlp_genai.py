"""Agents by the GenAI conventions: `invoke_agent` spans, one in another, with tool calls and other spans between them.

A span comes after the spans below it, so an agent is known before what started it. Until the way up is complete it
stands below its trace, which is inferred; then it moves to the agent that started it. The root span of a trace and the
trace are one row, so what was inferred becomes what it was.
"""

from collections.abc import Iterable, Iterator

import msgspec

from delegtop.agents.otel import PRODUCT
from delegtop.agents.otel.otlp_rows import Guesses, root_notes, row_id
from delegtop.agents.otel.spans import Span
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects.kit.coerce import refs_of
from delegtop.dialects.kit.tokens import Charge, Tokens, charge_of
from delegtop.model.events import Described, Ended, Ending, Event, Fault, Heard, Outcome, Report, Started, Trust

_AGENTS = frozenset({"invoke_agent", "invoke_workflow"})
_CALLS = frozenset({"chat", "generate_content", "text_completion"})
_TRACES = 2_000
"""So many traces are kept in mind; of an older one a late span would stand alone."""
_UNSEEN_ROOT = "the root of this trace was not seen; it is inferred from the spans that were"
_NO_AGENT = "what the agents of this trace ran in; no agent itself"
_UNSEEN_PARENT = "what started it was not seen: span {} is missing"


class _Place(msgspec.Struct, frozen=True):
    """Where a span stands."""

    parent: str | None
    is_row: bool
    is_agent: bool


class _Trace:
    """What was seen of a trace."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.places: dict[str, _Place] = {}
        self.depths: dict[str, int] = {}
        """Of the rows whose way up is known."""
        self.waiting: dict[str, list[Span]] = {}
        """Spans by the missing span above them."""
        self.root: str | None = None
        """The root span, once it was seen."""
        self.quiet_root: Span | None = None
        """A root that is no agent; of interest only once there is an agent below it."""
        self.told: set[str] = set()
        """The rows that were told of."""
        self.tokens: dict[str, int] = {}
        self.used: dict[str, Tokens] = {}
        """The same by model and kind, of the calls that are spans of their own."""
        self.counted: set[str] = set()
        """The model calls that are in these sums: a file may be read again."""

    @property
    def row(self) -> str:
        return row_id(self.id)

    def row_of(self, span: str) -> str:
        return self.row if span == self.root else row_id(span)

    def climb(self, span: Span) -> tuple[str | None, str | None]:
        """The nearest row above a span, or else the span that is missing on the way to it; neither for a root."""
        above = span.parent
        passed = {span.id}
        while above is not None and above not in passed:
            passed.add(above)
            place = self.places.get(above)
            if place is None:
                return None, above
            if place.is_row:
                return above, None
            above = place.parent
        return None, None


class AgentSpans:
    """The agents of any number of traces."""

    def __init__(self) -> None:
        self._traces: dict[str, _Trace] = {}
        self._guesses = Guesses()

    def take(self, found: Iterable[Span]) -> Iterator[Event]:
        found = list(found)
        for span in found:  # all are put in their places first: an export holds children before their parents
            self._put(span)
        for span in found:
            yield from self._resume(span)

    def _put(self, span: Span) -> None:
        trace = self._traces.get(span.trace)
        if trace is None:
            trace = self._traces[span.trace] = _Trace(span.trace)
            if len(self._traces) > _TRACES:
                self._traces.pop(next(iter(self._traces)))
        if span.parent is None and trace.root is None:
            trace.root = span.id
        is_agent = span.operation in _AGENTS
        trace.places[span.id] = _Place(span.parent, is_agent or span.id == trace.root, is_agent)

    def _resume(self, span: Span) -> Iterator[Event]:
        """Tell of a span, and of all that waited for it."""
        trace = self._traces.get(span.trace)
        if trace is None:
            return
        ready = [span]
        while ready:
            each = ready.pop()
            yield from self._tell(trace, each)
            ready += reversed(trace.waiting.pop(each.id, []))

    def _tell(self, trace: _Trace, span: Span) -> Iterator[Event]:
        if span.id == trace.root:
            if span.operation in _AGENTS or trace.row in trace.told:
                yield from self._root(trace, span)
            else:
                trace.quiet_root = span
        elif span.operation in _AGENTS:
            yield from self._agent(trace, span)
        elif span.operation in _CALLS or span.operation == "execute_tool":
            yield from self._activity(trace, span)

    # -- rows ------------------------------------------------------------------------------------------------------

    def _agent(self, trace: _Trace, span: Span) -> Iterator[Event]:
        yield from self._trace_row(trace, span)
        row = row_id(span.id)
        above, missing = trace.climb(span)
        depth = trace.depths.get(above, -1) + 1 if above else 0
        if depth:
            trace.depths[span.id] = depth
        parent = trace.row_of(above) if above else trace.row
        yield _started(row, span, parent, depth or None, guessed=above is None)
        if missing:
            trace.waiting.setdefault(missing, []).append(span)
            yield from self._guesses.guess(row, span.origin, _UNSEEN_PARENT.format(missing))
        else:
            yield from self._guesses.settle(row, span.end)
        if row not in trace.told:
            trace.told.add(row)
            yield from _described(row, span, trace)

    def _trace_row(self, trace: _Trace, span: Span) -> Iterator[Event]:
        """The row of the trace, as soon as there is an agent in it."""
        if trace.row in trace.told:
            return
        if trace.quiet_root is not None:
            yield from self._root(trace, trace.quiet_root)
            return
        trace.told.add(trace.row)
        refs = (("trace_id", trace.id),)
        # The trace began no later than this span; a better clock tells when, once the root was seen.
        yield Started(trace.row, span.start, span.origin, depth=0, refs=refs, trust=Trust.EPOCH, product=PRODUCT.name)
        yield from root_notes(trace.row, span.origin)
        yield from self._guesses.guess(trace.row, span.origin, _UNSEEN_ROOT)

    def _root(self, trace: _Trace, span: Span) -> Iterator[Event]:
        trace.told.add(trace.row)
        trace.depths[span.id] = 0
        yield from root_notes(trace.row, span.origin)
        yield _started(trace.row, span, None, 0)
        yield from self._guesses.settle(trace.row, span.end)
        if span.operation not in _AGENTS:
            yield Described(trace.row, span.start, span.origin, title=_NO_AGENT)
        yield from _described(trace.row, span, trace)

    # -- what it did -----------------------------------------------------------------------------------------------

    def _activity(self, trace: _Trace, span: Span) -> Iterator[Event]:
        above, missing = trace.climb(span)
        if missing is not None:
            trace.waiting.setdefault(missing, []).append(span)
        if above is None or not trace.places[above].is_agent:
            return
        used = _tokens(span) if span.operation in _CALLS else None
        if used is not None and span.id not in trace.counted:
            trace.counted.add(span.id)
            trace.tokens[above] = trace.tokens.get(above, 0) + used
            if (charge := _charge(span)) is not None:
                trace.used.setdefault(above, Tokens()).charge(charge)
        what = span.text("gen_ai.tool.name") or "tool" if span.operation == "execute_tool" else "model call"
        total, kinds = trace.tokens.get(above), trace.used.get(above)
        priced = kinds.used if kinds else None
        yield Heard(trace.row_of(above), span.end, span.origin, doing=f"{what} ended", tokens=total, used=priced)


def _agent_name(span: Span) -> str:
    named = span.text("gen_ai.agent.name") or span.text("gen_ai.workflow.name")
    return named or span.name.removeprefix("invoke_agent ").removeprefix("invoke_workflow ")


def _started(row: str, span: Span, parent: str | None, depth: int | None, *, guessed: bool = False) -> Started:
    return Started(
        row,
        span.start,
        span.origin,
        agent=_agent_name(span),
        depth=depth,
        parent=parent,
        refs=refs_of(
            trace_id=span.trace,
            span_id=span.id,
            session_id=span.text("gen_ai.conversation.id"),
            agent_id=span.text("gen_ai.agent.id"),
        ),
        product=PRODUCT.name,
        guessed=guessed,
    )


def _described(row: str, span: Span, trace: _Trace) -> Iterator[Event]:
    """What an agent's own span says of it, and its end."""
    yield Described(
        row,
        span.start,
        span.origin,
        title=span.text("gen_ai.agent.description"),
        model=span.text("gen_ai.request.model") or span.text("gen_ai.response.model"),
        version=span.version,
    )
    if (used := _tokens(span)) is not None and not trace.tokens.get(span.id):
        yield Heard(row, None, span.origin, tokens=used)
    yield from _ended(row, span.end, span.origin, span)


def _ended(row: str, end: Millis | None, origin: Origin, span: Span) -> Iterator[Event]:
    if end is None:
        return
    fault = Fault(message=span.message, type=span.text("error.type")) if span.failed else None
    report = Report(errors=(fault,)) if fault else Report()
    yield Ended(row, end, origin, Outcome.FAILED if fault else Outcome.COMPLETED, Ending.RETURN, report)


def _tokens(span: Span) -> int | None:
    counts = (span.number("gen_ai.usage.input_tokens"), span.number("gen_ai.usage.output_tokens"))
    found = [count for count in counts if count is not None]
    return sum(found) if found else None


def _charge(span: Span) -> Charge | None:
    """What one call used, by kind and model: what is read from a cache and written to one is part of the input."""
    names = ("input_tokens", "output_tokens", "cache_read.input_tokens", "cache_creation.input_tokens")
    into, out, read, written = (span.number(f"gen_ai.usage.{name}") or 0 for name in names)
    model = span.text("gen_ai.response.model") or span.text("gen_ai.request.model")
    return charge_of(model, (max(into - read - written, 0), out, read, written, 0))

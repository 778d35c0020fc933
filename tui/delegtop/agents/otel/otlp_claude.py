"""Claude Code's own spans and log events.

There is one trace for each turn and no span for an agent as such: an agent is everything that bears its `agent_id`.
Its spans lie under the execution span of the call that started it, which names the call. That span is over when the
agent is, or at once if the agent went to the background; so it is the agent's end only if it outlasted a span of it.
"""

from collections.abc import Iterable, Iterator

import msgspec

from delegtop.agents.claude_code import PRODUCT
from delegtop.agents.claude_code.live_words import AGENT
from delegtop.agents.otel.otlp_rows import Guesses, root_notes, row_id, unseen
from delegtop.agents.otel.spans import LogEvent, Span, amount, is_true
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects.kit.coerce import clip
from delegtop.model.events import Described, Ended, Ending, Erred, Event, Fault, Heard, Outcome, Report, Started

_TELLING = frozenset(
    {"api_request", "api_error", "tool_result", "tool_decision", "assistant_response", "subagent_completed"}
)
"""The log events that name the agent they happened in, and its parent if that is an agent too."""
_REMEMBERED = 20_000
_REDACTED = "<REDACTED>"
_COUNTS = ("input_tokens", "output_tokens", "cache_creation_tokens")
"""What is new: every call reads the whole conversation from the cache again."""
_UNSEEN_SESSION = "no span or event of its own was seen yet; it is known from what ran in it"
_UNSEEN_AGENT = "no span of its own was seen; it is known because another agent names it as its parent"

Item = Span | LogEvent


def is_claude(item: Item) -> bool:
    return item.service == PRODUCT.name or (isinstance(item, Span) and item.name.startswith("claude_code."))


class _Agent:
    """What was told of an agent so far."""

    def __init__(self) -> None:
        self.facts: tuple[object, ...] | None = None
        """What its last start said: it is told again only when there is more."""
        self.parent: str | None = None
        self.depth: int | None = None
        self.kind: str | None = None


class _Call(msgspec.Struct, frozen=True):
    """The execution of a tool, which may have been the start of an agent."""

    tool_use: str | None
    start: Millis | None
    end: Millis | None
    fault: Fault | None
    origin: Origin


class ClaudeSpans:
    """The sessions and agents of any number of traces."""

    def __init__(self) -> None:
        self._sessions: set[str] = set()
        self._agents: dict[str, _Agent] = {}
        self._calls: dict[str, _Call] = {}
        """By span: any of the latest may turn out to be the start of an agent."""
        self._below: dict[str, tuple[str, Millis]] = {}
        """The agent whose spans lie under a span, and the first end among them."""
        self._begun: set[str] = set()
        self._over: set[str] = set()
        """The calls of which the start and the end of their agent were told."""
        self._guesses = Guesses()
        self._requests: dict[str, set[str]] = {}
        self._tokens: dict[str, int] = {}
        self._priced: dict[str, set[str]] = {}
        self._costs: dict[str, float] = {}

    # -- spans -----------------------------------------------------------------------------------------------------

    def take_spans(self, found: Iterable[Span]) -> Iterator[Event]:
        for span in found:
            session = span.text("session.id")
            if session is not None:
                yield from self._take_span(session, span)

    def _take_span(self, session: str, span: Span) -> Iterator[Event]:
        kind = span.name.removeprefix("claude_code.")
        agent = span.text("agent_id")
        whose = agent or span.text("gen_ai.conversation.id")
        row = row_id(session if whose in (None, session) else str(whose))
        yield from self._meet(session, None if whose in (None, session) else whose, span, told=agent is not None)
        match kind:
            case "interaction":
                yield Heard(row, span.end, span.origin, doing="turn ended")
            case "llm_request":
                yield from self._request(row, span, span.end, span.origin)
                yield Heard(row, span.end, span.origin, doing="model call ended")
                if span.failed:
                    yield _api_error(row, span, span.end)
            case "tool":
                yield Heard(row, span.end, span.origin, doing=f"{span.text('tool_name') or 'tool'} ended")
            case "tool.execution":
                self._calls[span.id] = _call(span)
                if len(self._calls) > _REMEMBERED:
                    self._calls.pop(next(iter(self._calls)))
                yield from self._join(session, span.id)
        if agent is not None and span.parent is not None and span.end is not None:
            self._below[span.parent] = (agent, min(span.end, self._below.get(span.parent, (agent, span.end))[1]))
            yield from self._join(session, span.parent)

    def _join(self, session: str, id: str) -> Iterator[Event]:
        """An execution span and the agent below it: the call, the start, and the end if it waited for the agent."""
        call, below = self._calls.get(id), self._below.get(id)
        if call is None or below is None:
            return
        agent, first_end = below
        row = row_id(agent)
        if id not in self._begun:
            self._begun.add(id)
            refs = [("session_id", session), ("agent_id", agent)]
            refs += [("tool_use_id", call.tool_use)] if call.tool_use else []
            yield Started(row, call.start, call.origin, refs=tuple(refs), product=PRODUCT.name)
        if id not in self._over and call.end is not None and first_end <= call.end:
            self._over.add(id)
            outcome = Outcome.COMPLETED if call.fault is None else Outcome.FAILED
            report = Report() if call.fault is None else Report(errors=(call.fault,))
            yield Ended(row, call.end, call.origin, outcome, Ending.RETURN, report)

    # -- log events ------------------------------------------------------------------------------------------------

    def take_log(self, event: LogEvent) -> Iterator[Event]:
        session, agent = event.text("session.id"), event.text("agent_id")
        if session is None or (event.name not in _TELLING and event.name != "user_prompt"):
            return
        row = row_id(agent or session)
        yield from self._meet(session, agent, event, told=agent is not None)
        match event.name:
            case "user_prompt":
                prompt = event.text("prompt")
                if prompt and prompt != _REDACTED:
                    yield Described(row, event.at, event.origin, prompt=clip(prompt))
                yield Heard(row, event.at, event.origin, doing="was given a prompt")
            case "api_request":
                yield from self._request(row, event, event.at, event.origin)
                yield Heard(row, event.at, event.origin, doing="model call ended")
            case "api_error":
                yield _api_error(row, event, event.at)
            case "tool_result":
                yield Heard(row, event.at, event.origin, doing=f"{event.text('tool_name') or 'tool'} ended")
            case "subagent_completed" if agent is not None:
                yield from self._completed(row, event)

    def _completed(self, row: str, event: LogEvent) -> Iterator[Event]:
        took = event.number("duration_ms")
        if event.at is not None and took is not None:
            yield Started(row, Millis(event.at - took), event.origin, product=PRODUCT.name)
        yield Ended(row, event.at, event.origin, Outcome.COMPLETED, Ending.RETURN, Report(duration=took))

    # -- who it is -------------------------------------------------------------------------------------------------

    def _meet(self, session: str, agent: str | None, item: Item, *, told: bool) -> Iterator[Event]:
        """Make the session and the agent known that this happened in, and those above it that were not seen."""
        row, origin = row_id(session), item.origin
        if session not in self._sessions:
            refs = (("session_id", session),)
            yield Started(row, None, origin, agent=AGENT, depth=0, refs=refs, product=PRODUCT.name)
            yield Described(row, None, origin, version=item.version)
            yield from root_notes(row, origin)
            yield from self._guesses.guess(row, origin, _UNSEEN_SESSION)
            self._sessions.add(session)
        if agent is None:
            yield from self._guesses.settle(row, _moment(item))
        if agent is not None:
            yield from self._meet_agent(session, agent, item, told)

    def _meet_agent(self, session: str, id: str, item: Item, told: bool) -> Iterator[Event]:
        agent = self._agents.setdefault(id, _Agent())
        row, origin = row_id(id), item.origin
        yield from self._guesses.settle(row, _moment(item))
        if told:
            above = item.text("parent_agent_id")
            agent.parent = row_id(above or session)
            agent.depth = agent.depth or (1 if above is None else self._depth_below(above))
            agent.kind = agent.kind or _kind(item)
            if above is not None and above not in self._agents:
                yield from self._presume(session, above, origin)
        yield from self._tell(session, id, agent, origin)

    def _depth_below(self, id: str) -> int | None:
        above = self._agents.get(id)
        return above.depth + 1 if above is not None and above.depth is not None else None

    def _presume(self, session: str, id: str, origin: Origin) -> Iterator[Event]:
        agent = self._agents[id] = _Agent()
        yield from self._tell(session, id, agent, origin)
        yield from self._guesses.guess(row_id(id), origin, _UNSEEN_AGENT)

    def _tell(self, session: str, id: str, agent: _Agent, origin: Origin) -> Iterator[Event]:
        facts = (agent.parent, agent.depth, agent.kind)
        if agent.facts == facts:
            return
        row = row_id(id)
        if agent.facts is None:
            yield unseen(row, origin)
        agent.facts = facts
        refs = (("session_id", session), ("agent_id", id))
        yield Started(
            row, None, origin, agent=agent.kind, parent=agent.parent, depth=agent.depth, refs=refs, product=PRODUCT.name
        )

    # -- what it used ----------------------------------------------------------------------------------------------

    def _request(self, row: str, item: Item, at: Millis | None, origin: Origin) -> Iterator[Event]:
        """Tokens and cost of one model call. A span and an event may both tell of it; it counts once."""
        yield Described(row, at, origin, model=item.text("model"))
        id = item.text("request_id")
        if id is None:
            return
        counts = [count for key in _COUNTS if (count := item.number(key)) is not None]
        if counts and id not in self._requests.setdefault(row, set()):
            self._requests[row].add(id)
            self._tokens[row] = self._tokens.get(row, 0) + sum(counts)
        cost = amount(item.attributes.get("cost_usd"))
        if cost is not None and id not in self._priced.setdefault(row, set()):
            self._priced[row].add(id)
            self._costs[row] = round(self._costs.get(row, 0.0) + cost, 9)
        yield Heard(row, None, origin, tokens=self._tokens.get(row), cost=self._costs.get(row))


def _moment(item: Item) -> Millis | None:
    return item.end if isinstance(item, Span) else item.at


def _call(span: Span) -> _Call:
    failed = span.failed or is_true(span.attributes.get("success")) is False
    fault = Fault(message=span.text("error") or span.message) if failed else None
    tool_use = span.text("tool_use_id") or span.text("gen_ai.tool.call.id")
    return _Call(tool_use, span.start, span.end, fault, span.origin)


def _kind(item: Item) -> str | None:
    """The kind of agent, where the record says it; what a helper did for an agent (compaction) does not."""
    named = item.text("agent_type") or item.text("agent.name")
    source = item.text("query_source_safe") or ""
    return named or (source.rpartition(".")[2] if source.startswith("agent.") else None)


def _api_error(row: str, item: Item, at: Millis | None) -> Erred:
    status = item.attributes.get("status_code")
    message = item.text("error") or (item.message if isinstance(item, Span) else None)
    fault = Fault(message=message, type="execution", code=None if status is None else f"HTTP {status}")
    return Erred(row, at, item.origin, fault)

"""Telemetry: agents by their spans, parents that were not seen, and nothing called running that nobody can know of."""

import json
import os
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.telling import forest_at, handle_of

from delegtop.agents.otel.otlp import Otlp
from delegtop.base.clock import FrozenClock, Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import Sample, Unit
from delegtop.feed.live_feed import Feed
from delegtop.model.delegation import Delegation, Link
from delegtop.model.events import Deviation, Event
from delegtop.model.forest import Forest
from delegtop.model.notes import INFERRED, UNSEEN
from delegtop.model.states import ACTIVE, State
from delegtop.sources.records import Line, Unreadable

REAL_LOGS = os.environ.get("DELEGTOP_REAL_LOGS", "")
TRIPS = Path(__file__).parents[4] / "sample_logs" / "otel" / "traces.jsonl"
NINE = parse_time("2026-05-04T09:00:00Z") or Millis(0)
Shape = dict[str, tuple[str | None, str]]


def events_of(*lines: bytes, source: str = "traces.jsonl", dialect: Otlp | None = None) -> list[Event]:
    dialect = dialect or Otlp()
    found = [e for n, line in enumerate(lines, 1) for e in dialect.read(Line(Origin(source, n, n * 9_000), line))]
    assert not [each for each in found if isinstance(each, Unreadable | Deviation)]
    return [each for each in found if not isinstance(each, Unreadable)]


def forest_of(events: list[Event], now: int = NINE + 100_000) -> Forest:
    return forest_at(now, events)


def shape(forest: Forest) -> Shape:
    """Parent and state by id, without the prefix all ids have."""
    found = {}
    for handle in forest.walk():
        parent = forest.parent(handle)
        above = forest.delegation(parent).id if parent is not None else None
        id = forest.delegation(handle).id
        found[id.removeprefix("otel:")] = (above and above.removeprefix("otel:"), str(forest.state(handle)))
    return found


def named(forest: Forest, id: str) -> Delegation:
    return forest.delegation(handle_of(forest, f"otel:{id}"))


def link(forest: Forest, id: str) -> Link:
    return forest.link(handle_of(forest, f"otel:{id}"))


def notes(forest: Forest, id: str, kind: str = INFERRED) -> list[str]:
    return [note.text for note in named(forest, id).notes if note.kind == kind]


def values(**attributes: Any) -> list[dict[str, Any]]:
    kinds = {int: "intValue", bool: "boolValue", float: "doubleValue"}
    return [
        {
            "key": key.replace("__", "."),
            "value": {kinds.get(type(value), "stringValue"): str(value) if type(value) is int else value},
        }
        for key, value in attributes.items()
    ]


def span(id: str, parent: str | None, start: int, end: int, name: str = "x", **attributes: Any) -> dict[str, Any]:
    status = {"code": 2, "message": attributes.pop("error")} if "error" in attributes else {}
    trace = attributes.pop("trace", "t1")
    above = {"parentSpanId": parent} if parent else {}
    nanos = {key: f"{NINE + at * 1_000}000000" for key, at in (("startTimeUnixNano", start), ("endTimeUnixNano", end))}
    return {
        "traceId": trace,
        "spanId": id,
        "name": name,
        **above,
        **nanos,
        "attributes": values(**attributes),
        "status": status,
    }


def agent(id: str, parent: str | None, start: int, end: int, **attributes: Any) -> dict[str, Any]:
    asked = {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": f"agent {id}"}
    return span(id, parent, start, end, **asked, **attributes)


def tool(id: str, parent: str | None, start: int, end: int) -> dict[str, Any]:
    return span(id, parent, start, end, gen_ai__operation__name="execute_tool", gen_ai__tool__name="ask")


def export(*spans: dict[str, Any], service: str = "trips") -> bytes:
    resource = {"attributes": values(service__name=service, service__version="1.2")}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}).encode()


# -- agents by the GenAI conventions -----------------------------------------------------------------------------------


def test_the_sample_shows_a_planner_with_two_agents_and_one_agent_whose_caller_was_not_seen() -> None:
    forest = forest_of(events_of(*TRIPS.read_bytes().splitlines()))
    planner, unseen = "4a1f0c52e0b94d6fa1c7d3e58b206f11", "b80d7723c5a44f1e9a36e2f40c917d52"
    assert shape(forest) == {
        planner: (None, "completed"),
        "a000000000000004": (planner, "completed"),
        "a000000000000009": (planner, "failed"),
        unseen: (None, "unknown"),
        "b000000000000004": (unseen, "completed"),
    }
    assert link(forest, "a000000000000004") is Link.EXPLICIT
    assert link(forest, "b000000000000004") is Link.INFERRED
    assert notes(forest, "b000000000000004") == ["what started it was not seen: span b000000000000003 is missing"]
    assert notes(forest, unseen)
    assert notes(forest, planner) == notes(forest, "a000000000000004") == []


def test_an_agent_says_what_it_is_and_what_it_used() -> None:
    forest = forest_of(events_of(*TRIPS.read_bytes().splitlines()))
    found = named(forest, "a000000000000004")
    assert (found.agent, found.title, found.model) == ("train-finder", "finds train connections", "small-1")
    assert (found.depth, found.tokens, found.product, found.version) == (1, 1_655, "otel", "0.4.1")
    assert (found.started_at, found.ended_at) == (NINE + 5_000, NINE + 19_000)
    failed = named(forest, "a000000000000009")
    assert [(fault.message, fault.type) for fault in failed.errors] == [
        ("the booking service did not answer", "timeout")
    ]
    assert dict(named(forest, "4a1f0c52e0b94d6fa1c7d3e58b206f11").refs)["session_id"] == "trip-0417"


def test_every_root_says_that_what_is_at_work_cannot_be_seen() -> None:
    forest = forest_of(events_of(*TRIPS.read_bytes().splitlines()))
    assert all(notes(forest, forest.delegation(root).id[5:], UNSEEN) for root in forest.roots())


CHAIN = [
    agent("c", "tc", 3, 4),
    tool("tc", "b", 3, 4),
    agent("b", "tb", 2, 5),
    tool("tb", "a", 2, 5),
    agent("a", None, 1, 6),
]


def test_an_agent_moves_below_its_caller_when_that_ends_and_nothing_ever_runs() -> None:
    dialect, forest = Otlp(), Forest()
    expected: list[Shape] = [
        {"t1": (None, "unknown"), "c": ("t1", "completed")},
        {"t1": (None, "unknown"), "c": ("t1", "completed")},
        {"t1": (None, "unknown"), "b": ("t1", "completed"), "c": ("b", "completed")},
        {"t1": (None, "unknown"), "b": ("t1", "completed"), "c": ("b", "completed")},
        {"t1": (None, "completed"), "b": ("t1", "completed"), "c": ("b", "completed")},
    ]
    for number, (each, then) in enumerate(zip(CHAIN, expected, strict=True)):
        forest.apply(events_of(export(each), dialect=dialect, source=f"export {number}"))
        for later in (7_000, 1_000_000, 10**9):
            forest.advance(Millis(NINE + later))
            assert not [handle for handle in forest.walk() if forest.state(handle) in ACTIVE]
        assert shape(forest) == then
    assert [link(forest, id) for id in ("b", "c")] == [Link.EXPLICIT, Link.EXPLICIT]
    assert notes(forest, "t1") == notes(forest, "b") == notes(forest, "c") == []
    assert not named(forest, "b").claims


def test_spans_in_any_order_give_the_same_tree() -> None:
    tree = {"t1": (None, "completed"), "b": ("t1", "completed"), "c": ("b", "completed")}
    for order in permutations(range(5)):
        forest = forest_of(events_of(*(export(CHAIN[number]) for number in order)))
        assert shape(forest) == tree, order
        assert notes(forest, "b") == notes(forest, "c") == notes(forest, "t1") == [], order
        assert {link(forest, "b"), link(forest, "c")} == {Link.EXPLICIT}, order


def test_a_span_that_is_missing_in_the_middle_leaves_an_inferred_link_to_the_root() -> None:
    forest = forest_of(events_of(export(CHAIN[0], CHAIN[2], CHAIN[3], CHAIN[4])))
    assert shape(forest)["c"] == ("t1", "completed")
    assert link(forest, "c") is Link.INFERRED
    assert notes(forest, "c") == ["what started it was not seen: span tc is missing"]


def test_a_root_that_is_no_agent_stands_above_its_agents_and_says_so() -> None:
    request = span("r", None, 0, 9, name="POST /trips")
    for lines in ([export(agent("a", "r", 1, 2), request)], [export(request), export(agent("a", "r", 1, 2))]):
        forest = forest_of(events_of(*lines))
        assert shape(forest) == {"t1": (None, "completed"), "a": ("t1", "completed")}
        root = named(forest, "t1")
        assert (root.agent, root.title) == ("POST /trips", "what the agents of this trace ran in; no agent itself")


def test_a_trace_without_an_agent_tells_of_no_delegation() -> None:
    call = span("x", "r", 1, 2, gen_ai__operation__name="chat")
    assert events_of(export(call, span("r", None, 0, 3, name="GET /"))) == []


def test_spans_that_lie_in_each_other_hang_nothing_up() -> None:
    forest = forest_of(events_of(export(agent("a", "b", 1, 2), agent("b", "a", 1, 2), agent("c", "c", 1, 2))))
    assert {"a", "b", "c"} <= shape(forest).keys()


def test_a_body_set_out_for_people_is_one_document() -> None:
    pretty = json.dumps(json.loads(export(*CHAIN)), indent=2).encode()
    sample = Sample("body.json", pretty, True)
    assert (Otlp.sniff(sample), Otlp.unit_of(sample)) == (95, Unit.DOCUMENT)
    assert len(shape(forest_of(events_of(pretty)))) == 3


def test_agents_of_the_openai_sdk_stand_below_their_trace() -> None:
    def sdk(id: str, parent: str | None, kind: str, **fields: Any) -> dict[str, Any]:
        moments = {"started_at": "2026-05-04T09:00:01+00:00", "ended_at": "2026-05-04T09:00:05+00:00"}
        data = {"type": kind, "name": id, **fields.pop("data", {})}
        return (
            {"object": "trace.span", "id": id, "trace_id": "w", "parent_id": parent, "span_data": data}
            | moments
            | fields
        )

    usage = {"usage": {"input_tokens": 10, "output_tokens": 5}}
    records = [
        {"object": "trace", "id": "w", "workflow_name": "Refunds", "group_id": "g"},
        sdk("refunds", "ask", "agent"),
        sdk("ask", "triage", "function"),
        sdk("think", "triage", "generation", data=usage),
        sdk("triage", None, "agent", error={"message": "guardrail", "data": {}}),
    ]
    lines = [json.dumps(each).encode() for each in records]
    assert Otlp.sniff(Sample("x", b"\n".join(lines), True)) == 85
    assert Otlp.sniff(Sample("x", lines[1], True)) == 85
    for told in (lines, lines[::-1]):
        forest = forest_of(events_of(*told))
        assert shape(forest) == {
            "w": (None, "unknown"),
            "triage": ("w", "failed"),
            "refunds": ("triage", "completed"),
        }
        assert (named(forest, "w").agent, named(forest, "triage").tokens) == ("Refunds", 15)
        assert [fault.message for fault in named(forest, "triage").errors] == ["guardrail"]


# -- Claude Code -------------------------------------------------------------------------------------------------------


def claude(name: str, id: str, parent: str | None, start: int, end: int, **attributes: Any) -> dict[str, Any]:
    return span(id, parent, start, end, name=f"claude_code.{name}", session__id="s", **attributes)


def request(id: str, parent: str, start: int, end: int, **attributes: Any) -> dict[str, Any]:
    used = {"input_tokens": 100, "output_tokens": 10, "cache_read_tokens": 5_000, "request_id": f"req {id}"}
    return claude("llm_request", id, parent, start, end, model="big-1", **used, **attributes)


def log(name: str, at: int, **attributes: Any) -> bytes:
    told = {
        "timeUnixNano": f"{NINE + at * 1_000}000000",
        "body": {"stringValue": f"claude_code.{name}"},
        "attributes": values(event__name=name, session__id="s", **attributes),
    }
    resource = {"attributes": values(service__name="claude-code", service__version="2.1.325")}
    return json.dumps({"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": [told]}]}]}).encode()


OWN = request("r0", "turn", 0, 1)
CHILD = request("r1", "exec", 3, 4, agent_id="a1", query_source_safe="agent.builtin.Plan")
EXEC = claude("tool.execution", "exec", "call", 2, 6, gen_ai__conversation__id="s", tool_use_id="toolu_1", success=True)
TURN = claude("interaction", "turn", None, 0, 7, gen_ai__operation__name="invoke_agent", gen_ai__conversation__id="s")


@pytest.mark.parametrize("order", permutations(range(4)))
def test_an_agent_is_all_that_bears_its_id_and_ends_with_the_call_that_waited_for_it(order: tuple[int, ...]) -> None:
    spans = [OWN, CHILD, EXEC, TURN]
    forest = forest_of(events_of(*(export(spans[number], service="claude-code") for number in order)))
    assert shape(forest) == {"s": (None, "unknown"), "a1": ("s", "completed")}
    found = named(forest, "a1")
    assert (found.agent, found.depth, found.started_at, found.ended_at) == ("Plan", 1, NINE + 2_000, NINE + 6_000)
    assert dict(found.refs) == {"session_id": "s", "agent_id": "a1", "tool_use_id": "toolu_1"}
    assert (found.tokens, found.model, found.product) == (110, "big-1", "claude-code")
    assert notes(forest, "s") == notes(forest, "a1") == []
    assert named(forest, "s").version == "1.2"


def test_a_session_known_only_from_its_agent_is_inferred() -> None:
    forest = forest_of(events_of(export(CHILD)))
    assert shape(forest) == {"s": (None, "unknown"), "a1": ("s", "unknown")}
    assert notes(forest, "s") == ["no span or event of its own was seen yet; it is known from what ran in it"]


def test_an_agent_known_only_as_the_parent_of_another_is_inferred_until_it_is_seen() -> None:
    below = request("r2", "x2", 3, 4, agent_id="a2", parent_agent_id="a1")
    forest = forest_of(events_of(export(below)))
    assert shape(forest)["a2"] == ("a1", "unknown")
    assert notes(forest, "a1")
    seen = forest_of(events_of(export(below, CHILD)))
    assert shape(seen) == {"s": (None, "unknown"), "a1": ("s", "unknown"), "a2": ("a1", "unknown")}
    assert notes(seen, "a1") == []


def test_a_call_that_was_over_before_its_agent_did_anything_is_no_end_of_it() -> None:
    launch = claude("tool.execution", "exec", "call", 2, 2, tool_use_id="toolu_1", success=True)
    forest = forest_of(events_of(export(launch, CHILD)))
    assert shape(forest)["a1"] == ("s", "unknown")
    assert named(forest, "a1").started_at == NINE + 2_000
    done = log("subagent_completed", 9, agent_id="a1", agent_type="Plan", duration_ms=7_000, total_tokens=5_000)
    told = forest_of(events_of(export(launch, CHILD), done))
    assert shape(told)["a1"] == ("s", "completed")
    assert named(told, "a1").ended_at == NINE + 9_000


def test_a_call_that_failed_with_its_agent_is_a_failure() -> None:
    broken = claude("tool.execution", "exec", "call", 2, 6, success=False, error="API Error: 500")
    forest = forest_of(events_of(export(CHILD, broken)))
    assert shape(forest)["a1"] == ("s", "failed")
    assert [fault.message for fault in named(forest, "a1").errors] == ["API Error: 500"]


def test_a_model_call_told_by_a_span_and_by_an_event_counts_once() -> None:
    dialect = Otlp()
    events = events_of(export(CHILD), dialect=dialect)
    used = {"input_tokens": 100, "output_tokens": 10, "request_id": "req r1", "cost_usd": "0.25"}
    events += events_of(log("api_request", 4, agent_id="a1", **used), source="logs.jsonl", dialect=dialect)
    found = named(forest_of(events), "a1")
    assert (found.tokens, found.cost) == (110, 0.25)


def test_an_error_of_the_model_told_twice_is_shown_once_and_ends_nothing() -> None:
    failed = request("r3", "exec", 4, 5, agent_id="a1", error="too long", status_code=400)
    event = log("api_error", 5, agent_id="a1", error="too long", status_code="400")
    forest = forest_of(events_of(export(failed), event))
    assert [(fault.message, fault.code) for fault in named(forest, "a1").errors] == [("too long", "HTTP 400")]
    assert shape(forest)["a1"] == ("s", "unknown")


def test_a_prompt_that_was_kept_back_is_not_shown_as_one() -> None:
    hidden, kept = log("user_prompt", 0, prompt="<REDACTED>"), log("user_prompt", 1, prompt="plant roses")
    assert named(forest_of(events_of(hidden)), "s").prompt is None
    assert named(forest_of(events_of(hidden, kept)), "s").prompt == "plant roses"


# -- any of them -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "odd",
    [
        b'{"resourceSpans": null}',
        b'{"resourceSpans": [1, {"scopeSpans": [{"spans": [null, {}, {"traceId": "t", "spanId": 5}]}]}]}',
        b'{"resourceSpans": [{"resource": 1, "scopeSpans": [{"spans": [{"traceId": "q", "spanId": "q", "status": 3,'
        b' "attributes": [{"key": 1}, {"key": "k"}, 7], "startTimeUnixNano": "x", "endTimeUnixNano": -1}]}]}]}',
        b'{"resourceLogs": [{"scopeLogs": [{"logRecords": [{"attributes": {"a": 1}}]}]}]}',
        b'{"resourceMetrics": [{"scopeMetrics": []}]}',
        b'{"object": "trace.span", "id": "x", "trace_id": "y", "span_data": 4, "error": 7}',
    ],
)
def test_an_export_of_an_odd_shape_hurts_nobody(odd: bytes) -> None:
    assert shape(forest_of(events_of(odd, export(*CHAIN)))).keys() == {"t1", "b", "c"}


def test_it_is_known_by_its_shape_and_metrics_tell_of_no_delegation() -> None:
    assert Otlp.sniff(Sample("x", export(*CHAIN), True)) == 95
    assert Otlp.unit_of(Sample("x", export(*CHAIN), True)) is Unit.LINES
    assert Otlp.sniff(Sample("x", log("user_prompt", 0)[:60], False)) == 95
    assert Otlp.sniff(Sample("x", b'{"resourceMetrics":[]}\n', True)) == 95
    assert Otlp.sniff(Sample("x", b'{"session_id":"s","text":"resourceSpans"}', True)) == 0


def test_the_line_of_a_row_holds_what_is_looked_for_to_find_it() -> None:
    assert Otlp().needle("otel:a000000000000004", "x") in TRIPS.read_bytes().splitlines()[1]


REAL: dict[str, Shape] = {
    "hang": {"a5d394ce": (None, "unknown"), "ac611c53": ("a5d394ce", "unknown")},
    "nested": {
        "79f72aa1": (None, "unknown"),
        "a6aa6d85": ("79f72aa1", "completed"),
        "a7160a59": ("a6aa6d85", "completed"),
        "a98fcbbb": ("a7160a59", "completed"),
    },
    "parallel": {
        "5a02221a": (None, "unknown"),
        "ad3b7753": ("5a02221a", "completed"),
        "a8777cfb": ("5a02221a", "completed"),
        "ad5fde89": ("5a02221a", "completed"),
        "a5d55826": ("ad3b7753", "completed"),
    },
}
LAUNCHED = {"ad3b7753", "a8777cfb", "ad5fde89", "a5d55826"}
"""Agents in the background: spans alone do not tell their end."""


def real(run: str, signal: str) -> Path:
    return Path(REAL_LOGS, "agents/otel/claude_code_2.1.325", f"{run}.{signal}.otlp.jsonl")


def cut(found: Shape) -> Shape:
    return {id[:8]: (above and above[:8], state) for id, (above, state) in found.items()}


@pytest.mark.skipif(not REAL_LOGS, reason="DELEGTOP_REAL_LOGS is not set")
@pytest.mark.parametrize("signal", ["traces", "logs"])
@pytest.mark.parametrize("run", REAL)
def test_real_traces_and_real_logs_each_have_exactly_the_agents_of_the_run(run: str, signal: str) -> None:
    forest = forest_of(events_of(*real(run, signal).read_bytes().splitlines()), now=1_794_788_600_000)
    expected = {
        id: (above, "unknown" if signal == "traces" and id in LAUNCHED else state)
        for id, (above, state) in REAL[run].items()
    }
    assert cut(shape(forest)) == expected
    for handle in forest.walk():
        facts = forest.delegation(handle)
        assert facts.depth == forest.level(handle)
        assert not facts.claims
        assert (forest.level(handle) == 0) == bool([note for note in facts.notes if note.kind == UNSEEN])
        assert not [note for note in facts.notes if note.kind == INFERRED]


@pytest.mark.skipif(not REAL_LOGS, reason="DELEGTOP_REAL_LOGS is not set")
def test_a_real_folder_of_traces_logs_and_metrics_is_three_runs() -> None:
    feed = Feed([str(real("nested", "traces").parent)], clock=FrozenClock(Millis(1_794_788_600_000)))
    events = [event for batch in feed.read_all() for event in batch.events]
    statuses = feed.statuses()
    feed.close()
    forest = forest_of(events, now=1_794_788_600_000)
    assert cut(shape(forest)) == REAL["hang"] | REAL["nested"] | REAL["parallel"]
    assert not [event for event in events if isinstance(event, Deviation)]
    assert {status.dialect for status in statuses} == {"otlp"}
    assert sum(status.unreadable for status in statuses) == 0
    root = next(handle for handle in forest.roots() if forest.delegation(handle).id.startswith("otel:79f72aa1"))
    rows = [root, *(handle for handle in forest.walk() if root in _above(forest, handle))]
    assert round(sum(forest.delegation(handle).cost or 0.0 for handle in rows), 6) == 0.0696
    assert forest.state(root) is State.UNKNOWN


def _above(forest: Forest, handle: int) -> list[int]:
    found = []
    parent = forest.parent(handle)
    while parent is not None:
        found.append(parent)
        parent = forest.parent(parent)
    return found

"""Two runs side by side: what was delegated in one and not in the other, and what went differently in both.

The structs are also the contract of `delegtop diff --json`: fields are added, never renamed or removed, while
`schema_version` is 1.
"""

import json
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from delegtop.base.clock import SECOND
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.path_ends import JudgedEnds
from delegtop.model import measures
from delegtop.model.delegation import Delegation
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.report.agent_stats import duration_of
from delegtop.report.privacy import Hide, hiding

SCHEMA_VERSION: Literal[1] = 1
_GRAVE = frozenset({Severity.ERROR, Severity.WARNING})

Key = Callable[[Delegation], object]
Pair = tuple[Handle | None, Handle | None]


class Side(Struct, frozen=True, forbid_unknown_fields=True):
    """A delegation in one of the runs."""

    id: str
    name: str
    title: str | None
    state: State
    took_seconds: Annotated[float | None, Meta(description="From its start to its end; null while it has none.")]
    findings: Annotated[dict[str, int], Meta(description="Errors and warnings by rule.")]
    tokens: Annotated[int | None, Meta(description="Used by it alone.")]
    cost: float | None
    cost_estimated: Annotated[bool, Meta(description="Whether the dollars are by list prices.")]


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """One delegation of either run, or of both."""

    level: int
    a: Annotated[Side | None, Meta(description="Null if it was not delegated in the first run.")]
    b: Annotated[Side | None, Meta(description="Null if it was not delegated in the second run.")]
    differs: Annotated[
        list[Literal["delegated", "outcome", "findings", "slower"]],
        Meta(description="In what they differ; `slower` only if a limit was given."),
    ]


class Run(Struct, frozen=True, forbid_unknown_fields=True):
    """One run in all."""

    source: str
    delegations: int
    states: dict[State, int]
    findings: Annotated[int, Meta(description="Errors and warnings.")]
    took_seconds: Annotated[float | None, Meta(description="From the first start to the last end or sign of life.")]


class Diff(Struct, frozen=True, forbid_unknown_fields=True):
    """What `delegtop diff --json` prints."""

    schema_version: Literal[1]
    a: Run
    b: Run
    differ: Annotated[bool, Meta(description="Whether anything differs; so does the exit code say.")]
    rows: Annotated[list[Row], Meta(description="In the order of the trees, parents before children.")]


def compare(
    one: Forest, other: Forest, sources: tuple[str, str], slower: float | None = None, *, masked: bool = True
) -> Diff:
    """Compare them. With `slower`, also a duration that grew by more than that share of it is a difference."""
    hide, ends = hiding(masked), (JudgedEnds(one), JudgedEnds(other))
    rows = [_row(one, other, level, pair, slower, hide, ends) for level, pair in _pairs(one, other)]
    return Diff(
        SCHEMA_VERSION,
        a=_run(one, sources[0], [row.a for row in rows if row.a]),
        b=_run(other, sources[1], [row.b for row in rows if row.b]),
        differ=any(row.differs for row in rows),
        rows=rows,
    )


# -- which is which --------------------------------------------------------------------------------------------------


def _kind(facts: Delegation) -> object:
    return facts.product, facts.agent or None, None if facts.agent else (facts.command or facts.name)


def _work(facts: Delegation) -> object:
    return _kind(facts), facts.task, facts.title


KEYS: tuple[Key, ...] = (_work, _kind)
"""By what children of the same parent are taken for the same, the surest first; of several alike the first for the
first. Ids say nothing: every run has its own."""


def _pairs(one: Forest, other: Forest) -> Iterator[tuple[int, Pair]]:
    """All delegations of both, each with its like in the other run; parents before children."""
    pending = [(0, pair) for pair in reversed(_matched(one, other, one.roots(), other.roots()))]
    while pending:
        level, (a, b) = pending.pop()
        yield level, (a, b)
        below = _matched(one, other, [] if a is None else one.children(a), [] if b is None else other.children(b))
        pending += [(level + 1, pair) for pair in reversed(below)]


def _matched(one: Forest, other: Forest, left: Sequence[Handle], right: Sequence[Handle]) -> list[Pair]:
    """Brothers of both runs, in the order of the first; those of the second alone follow the one they followed."""
    like: dict[Handle, Handle] = {}
    alone = dict.fromkeys(right)
    for key in KEYS:
        free: dict[object, deque[Handle]] = {}
        for b in alone:
            free.setdefault(key(other.delegation(b)), deque()).append(b)
        for a in left:
            if a not in like and (alike := free.get(key(one.delegation(a)))):
                like[a] = alike.popleft()
                del alone[like[a]]
    after = {b: index + 1 for index, b in enumerate(right)}
    pairs: list[Pair] = [(None, b) for b in _run_of(right, 0, alone)]
    for a in left:
        pairs.append((a, like.get(a)))
        if a in like:
            pairs += [(None, b) for b in _run_of(right, after[like[a]], alone)]
    return pairs


def _run_of(handles: Sequence[Handle], start: int, alone: Collection[Handle]) -> Iterator[Handle]:
    """Those that are alone, from there up to the next that is not."""
    for place in range(start, len(handles)):
        if handles[place] not in alone:
            return
        yield handles[place]


# -- what differs ----------------------------------------------------------------------------------------------------


def _row(
    one: Forest,
    other: Forest,
    level: int,
    pair: Pair,
    slower: float | None,
    hide: Hide,
    ends: tuple[JudgedEnds, JudgedEnds],
) -> Row:
    a = None if pair[0] is None else _side(one, pair[0], hide, ends[0])
    b = None if pair[1] is None else _side(other, pair[1], hide, ends[1])
    return Row(level, a, b, list(_differences(a, b, slower)))


def _differences(
    a: Side | None, b: Side | None, slower: float | None
) -> Iterator[Literal["delegated", "outcome", "findings", "slower"]]:
    if a is None or b is None:
        yield "delegated"
        return
    if a.state is not b.state:
        yield "outcome"
    if a.findings != b.findings:
        yield "findings"
    if slower is None or a.took_seconds is None or b.took_seconds is None:
        return
    if b.took_seconds > a.took_seconds * (1 + slower) and b.took_seconds - a.took_seconds >= 1:
        yield "slower"


def _side(forest: Forest, handle: Handle, hide: Hide, ends: JudgedEnds) -> Side:
    facts = forest.delegation(handle)
    took = duration_of(facts)
    found = diagnose(Case(forest, handle, ends=ends))
    return Side(
        id=facts.id,
        name=hide(measures.label(facts)),
        title=facts.title and hide(facts.title),
        state=forest.state(handle),
        took_seconds=None if took is None else took / SECOND,
        findings=dict(sorted(Counter(one.rule for one in found if one.severity in _GRAVE).items())),
        tokens=facts.tokens,
        cost=facts.cost,
        cost_estimated=facts.cost_estimated,
    )


def _run(forest: Forest, source: str, sides: Sequence[Side]) -> Run:
    known = [forest.delegation(handle) for handle in forest.walk()]
    starts = [facts.started_at for facts in known if facts.started_at is not None]
    ends = [at for facts in known for at in (facts.ended_at, facts.heard_at) if at is not None]
    took = max(ends) - min(starts) if starts and ends else None
    return Run(
        source=source,
        delegations=len(forest),
        states=dict(Counter(side.state for side in sides).most_common()),
        findings=sum(sum(side.findings.values()) for side in sides),
        took_seconds=None if took is None else max(took, 0) / SECOND,
    )


def as_json(diff: Diff) -> Iterator[str]:
    """ASCII, so that printing it to a terminal does nothing."""
    yield json.dumps(msgspec.to_builtins(diff), indent=2).replace("\x7f", "\\u007f")


def schema() -> str:
    made = msgspec.json.schema(Diff)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(made, indent=2) + "\n"

"""What a pile of delegations amounts to, by agent: how long they take, how they end, and which timeouts would fit.

The structs are also the contract of `delegtop stats --json`: fields are added, never renamed or removed, while
`schema_version` is 1.
"""

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil
from statistics import median
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from delegtop.base.clock import HOUR, MINUTE, SECOND, iso
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.path_ends import JudgedEnds
from delegtop.model.delegation import Delegation
from delegtop.model.events import Trust
from delegtop.model.forest import Forest
from delegtop.model.measures import ended_at
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.rollup import NOTHING, Dollars, shares
from delegtop.model.usage import NO_COUNTS
from delegtop.report.privacy import hiding
from delegtop.report.tree_json import Time
from delegtop.report.weekly_trends import Began, Week, weeks

SCHEMA_VERSION: Literal[1] = 1
ENOUGH = 8
"""So many durations say something about what is usual; fewer say nothing."""
TAIL = 0.95
ROOM = 1.5
"""A timeout that fits is so many times the time in which nearly all are done."""
GENEROUS = 4
"""A timeout is generous from so many times that time on."""
_RETURNED = frozenset({State.COMPLETED, State.PARTIAL, State.FAILED, State.BLOCKED})
"""Outcomes of those that came back by themselves: their durations are known."""
_STEPS = (
    *(n * SECOND for n in (10, 15, 20, 30, 45)),
    *(n * MINUTE for n in (1, 2, 3, 5, 10, 15, 20, 30, 45)),
    *(n * HOUR for n in (1, 2, 3, 4, 6, 8, 12, 24, 48, 72)),
)
_CONTRACTS = (
    *("RET-0", "DEL-00", "DEL-01", "DEL-04"),
    *("OUT-0", "OUT-10", "OUT-11", "OUT-12", "HYP-00", "HYP-01", "FAM-02"),
)
"""How the rules begin that judge what was agreed, and not how it goes or how it ended."""
_BREACH = frozenset({Severity.ERROR, Severity.WARNING})

Fit = Literal["fits", "too short", "generous"]


class Durations(Struct, frozen=True, forbid_unknown_fields=True):
    """How long those took that came back by themselves, in seconds."""

    count: int
    least: float
    quarter: Annotated[float, Meta(description="A quarter were done within it.")]
    median: float
    three_quarters: float
    p95: Annotated[float, Meta(description="Nineteen of twenty were done within it.")]
    most: float


class Timeouts(Struct, frozen=True, forbid_unknown_fields=True):
    """The time they were given against the time they took, in seconds."""

    given: Annotated[float, Meta(description="The median of the timeouts in the logs.")]
    count: Annotated[int, Meta(description="How many had one.")]
    ran_out: Annotated[int, Meta(description="How many were ended by a timeout, or took longer than theirs.")]
    suggested: Annotated[float | None, Meta(description="What would fit; null if too few are known.")]
    at_least: Annotated[bool, Meta(description="True if so many ran out that even more may be needed.")]
    fit: Annotated[Fit | None, Meta(description="Whether the given one fits; null if too few are known.")]


class Agent(Struct, frozen=True, forbid_unknown_fields=True):
    """All delegations to one agent of one program."""

    agent: str
    product: Annotated[str | None, Meta(description="The program; null for the delegation protocol.")]
    count: int
    states: Annotated[dict[State, int], Meta(description="Delegations by outcome, or by state while they are open.")]
    durations: Durations | None
    timeouts: Timeouts | None
    breaches: Annotated[dict[str, int], Meta(description="Breaches of a contract by rule, the most frequent first.")]
    breached: Annotated[int, Meta(description="Delegations with at least one.")]
    tokens: Annotated[int | None, Meta(description="Used by these alone, without what they handed on.")]
    cost: Annotated[
        float | None,
        Meta(
            description="US dollars, of these alone: of what a program tells of a session with all its agents, what is "
            "estimated for the agents is theirs."
        ),
    ]
    cost_estimated: Annotated[bool, Meta(description="Whether some of them are by list prices, or missing.")]


class Model(Struct, frozen=True, forbid_unknown_fields=True):
    """All that was used of one model, where logs tell kinds of tokens apart."""

    model: str
    count: Annotated[int, Meta(description="Delegations that used it.")]
    input: Annotated[int, Meta(description="Tokens that no cache was asked for.")]
    output: int
    cache_read: int
    cache_write: int
    cost: Annotated[
        float | None, Meta(description="US dollars by list prices or those of the settings, whatever programs tell.")
    ]


class Stats(Struct, frozen=True, forbid_unknown_fields=True):
    """What `delegtop stats --json` prints."""

    schema_version: Literal[1]
    at: Annotated[Time, Meta(description="The moment the states are for.")]
    delegations: int
    agents: Annotated[list[Agent], Meta(description="The agent with the most delegations first.")]
    models: Annotated[list[Model], Meta(description="The dearest first, then those without a price.")]
    weeks: Annotated[list[Week], Meta(description="From the first week in which anything began; a year at most.")]


def gather(forest: Forest, *, masked: bool = True) -> Stats:
    """The figures of every agent, of all delegations of the forest."""
    groups: dict[tuple[str | None, str], list[Handle]] = {}
    for handle in forest.walk():
        facts = forest.delegation(handle)
        groups.setdefault((facts.product, name_of(facts)), []).append(handle)
    paid, hide = shares(forest), hiding(masked)
    ends = JudgedEnds(forest)
    agents = [_agent(forest, product, hide(name), handles, paid, ends) for (product, name), handles in groups.items()]
    agents.sort(key=lambda agent: (-agent.count, agent.agent, agent.product or ""))
    trends = weeks([*_began(forest, paid)])
    return Stats(SCHEMA_VERSION, iso(forest.shown_at), len(forest), agents, list(_models(forest)), trends)


def _began(forest: Forest, paid: Sequence[Dollars]) -> Iterator[Began]:
    """All that say when they began."""
    for handle in range(len(forest)):
        facts, state = forest.delegation(handle), forest.state(handle)
        at = facts.started_at or facts.heard_at
        if at is None or facts.trust is Trust.MODEL:
            continue
        took = duration_of(facts) if state in _RETURNED else None
        spent = paid[handle]
        yield Began(at, forest.parent(handle) is None, state, took, spent.cost, spent.is_estimate)


def _models(forest: Forest) -> Iterator[Model]:
    """What was used of each model, and what that costs at list prices."""
    users: Counter[str] = Counter()
    used: dict[str, Sequence[int]] = {}
    costs: dict[str, float | None] = {}
    for handle in range(len(forest)):
        facts = forest.delegation(handle)
        users.update({each.model for each in facts.usage})
        for each in facts.usage:
            used[each.model] = tuple(map(sum, zip(used.get(each.model, NO_COUNTS), each.counts, strict=True)))
            cost = forest.policy.prices.cost([(each.account, each.counts)], facts.started_at)
            before = costs.get(each.model, 0.0)
            costs[each.model] = None if cost is None or before is None else before + cost
    for model in sorted(used, key=lambda model: (costs[model] is None, -(costs[model] or 0.0), model)):
        new, said, read, written, kept = used[model]
        cost = costs[model]
        yield Model(model, users[model], new, said, read, written + kept, None if cost is None else round(cost, 9))


def name_of(facts: Delegation) -> str:
    """What its kind is called: the agent, else the command without its task."""
    if facts.agent or not facts.command:
        return facts.name if facts.agent or facts.path else "(no agent)"
    return "/" + facts.command.lstrip("/")


def _agent(
    forest: Forest,
    product: str | None,
    name: str,
    handles: Sequence[Handle],
    paid: Sequence[Dollars],
    ends: JudgedEnds,
) -> Agent:
    members = [(handle, forest.delegation(handle)) for handle in handles]
    states = Counter(forest.state(handle) for handle in handles)
    took = sorted(
        span
        for handle, facts in members
        if forest.state(handle) in _RETURNED and (span := duration_of(facts)) is not None
    )
    rules: Counter[str] = Counter()
    breached = 0
    for handle in handles:
        found = breaches(forest, handle, ends)
        rules.update(found)
        breached += bool(found)
    used = [tokens for handle in handles if (tokens := forest.used(handle).tokens) is not None]
    spent = sum((paid[handle] for handle in handles), NOTHING)
    return Agent(
        agent=name,
        product=product,
        count=len(handles),
        states=dict(states.most_common()),
        durations=_durations(took),
        timeouts=_timeouts(forest, members),
        breaches=dict(rules.most_common()),
        breached=breached,
        tokens=sum(used) if used else None,
        cost=None if spent.cost is None else round(spent.cost, 9),
        cost_estimated=spent.is_estimate and spent.cost is not None,
    )


def duration_of(facts: Delegation) -> int | None:
    """Milliseconds from start to end by somebody's clock; None if one of them is not known, or a model wrote it."""
    ended = ended_at(facts)
    if facts.started_at is None or ended is None or facts.trust is Trust.MODEL:
        return None
    return max(ended - facts.started_at, 0)


def breaches(forest: Forest, handle: Handle, ends: JudgedEnds) -> list[str]:
    """The rules of a contract it breaks, each once."""
    found = diagnose(Case(forest, handle, ends=ends))
    rules = (one.rule for one in found if one.severity in _BREACH and one.rule.startswith(_CONTRACTS))
    return list(dict.fromkeys(rules))


def _durations(took: Sequence[int]) -> Durations | None:
    """`took` is sorted."""
    if not took:
        return None
    return Durations(
        count=len(took),
        least=took[0] / SECOND,
        quarter=within(took, 0.25) / SECOND,
        median=median(took) / SECOND,
        three_quarters=within(took, 0.75) / SECOND,
        p95=within(took, TAIL) / SECOND,
        most=took[-1] / SECOND,
    )


def within(took: Sequence[int], share: float) -> int:
    """The least duration within which that share of them were done."""
    return took[max(ceil(share * len(took)) - 1, 0)]


def _timeouts(forest: Forest, members: Sequence[tuple[Handle, Delegation]]) -> Timeouts | None:
    given = sorted(facts.timeout for _, facts in members if facts.timeout)
    if not given:
        return None
    took, ran_out = [], 0
    for handle, facts in members:
        state, span = forest.state(handle), duration_of(facts)
        is_over = state in (State.TIMEOUT, State.OVERDUE) or bool(span and facts.timeout and span > facts.timeout)
        ran_out += is_over
        # One that was ended would have taken longer: that much is known of it.
        if span is not None and (state in _RETURNED or state is State.TIMEOUT):
            took.append(span)
    usual = median(given)
    if len(took) < ENOUGH:
        return Timeouts(usual / SECOND, len(given), ran_out, None, at_least=False, fit=None)
    tail = within(sorted(took), TAIL)
    many = ran_out > (1 - TAIL) * len(members)
    return Timeouts(
        given=usual / SECOND,
        count=len(given),
        ran_out=ran_out,
        suggested=rounded(tail * ROOM) / SECOND,
        at_least=many,
        fit="too short" if many or tail > usual else "generous" if usual > GENEROUS * tail else "fits",
    )


def rounded(span: float) -> int:
    """The next round time that is no shorter."""
    place = bisect_left(_STEPS, span)
    return _STEPS[place] if place < len(_STEPS) else ceil(span / (24 * HOUR)) * 24 * HOUR


def as_json(stats: Stats) -> Iterator[str]:
    """ASCII, so that printing it to a terminal does nothing."""
    yield json.dumps(msgspec.to_builtins(stats), indent=2).replace("\x7f", "\\u007f")


def schema() -> str:
    made = msgspec.json.schema(Stats)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(made, indent=2) + "\n"

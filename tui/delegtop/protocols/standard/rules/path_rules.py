"""Rules on the place of a delegation: its depth, its path, and that neither leads back to itself."""

from collections.abc import Iterator

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model.delegation import Delegation, Link
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.measures import derived_depth
from delegtop.protocols.standard.contract.agent_file_contract import AGENT_TYPES
from delegtop.protocols.standard.contract.delegation_limits import MAX_DEPTH
from delegtop.protocols.standard.contract.delegation_paths import ORCHESTRATOR, own_path, repeated

DEVIATIONS = {DeviationKind.MISSING_FIELD: frozenset({"DEL-003"})}
_SHOWN = 10


@rule(
    "DEL-003",
    "no depth or path",
    Severity.WARNING,
    "every delegation says its depth and its path",
    "Delegation guide, Delegation Context Schema: every delegation must include depth and path, because the depth "
    "limit and the check for cycles need them.",
)
def context(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if facts.started_origin is None:
        return
    path = facts.path if facts.path and all(name.strip() for name in facts.path) else None
    lacks = [name for name, value in (("depth", facts.depth), ("path", path)) if value is None]
    if lacks:
        yield RuleNote(
            f"It was handed out without a usable delegation {' and '.join(lacks)}.",
            facts.started_origin,
            advice="Pass delegation_depth and delegation_path on with every delegation.",
            fields=tuple(f"delegation_{name}" for name in lacks),
        )


@rule(
    "DEL-004",
    "depth over limit",
    Severity.ERROR,
    f"no delegation is deeper than {MAX_DEPTH}",
    f"Delegation guide, Delegation Depth Limits: a command is depth 0, the agent it calls 1, and {MAX_DEPTH} is the "
    f"most. The guide contradicts itself: its counting allows {MAX_DEPTH}, its check (>= {MAX_DEPTH} is an error) "
    f"does not. delegtop takes the counting: {MAX_DEPTH} is told by DEL-005, more is an error. The structure standard "
    "counts the command as 1. The settings are protocol.max_depth and protocol.command_depth.",
)
def depth_limit(case: Case) -> Iterator[RuleNote]:
    deepest, told, fields = _depth(case)
    limit, origin = case.reading.max_depth, case.facts.started_origin
    if deepest <= limit and (returned := _returned_depth(case)) > limit:
        deepest, told, origin = returned, "as its return says", case.facts.ended_origin
        is_claim = (case.facts.report.depth or 0) == returned
        fields = (f"metadata.delegation_{'depth' if is_claim else 'path'}",)
    if deepest > limit:
        yield RuleNote(
            f"It is at depth {deepest} {told}, and the limit is {limit}: {_BOTH}{_chosen(case)}.",
            origin,
            advice="Let its caller do this work itself or return it to its own caller as a next step, and have every "
            "caller check the depth before it delegates (MAX_DEPTH_EXCEEDED).",
            fields=fields,
        )


@rule(
    "DEL-005",
    "depth at limit",
    Severity.INFO,
    f"depth {MAX_DEPTH} is the last",
    f"Delegation guide, Three-Level Delegation: at depth {MAX_DEPTH} nothing may be handed on. The guide's own check "
    f"(depth >= {MAX_DEPTH} is an error) would refuse this delegation too, against its counting and its example; "
    "delegtop goes by the counting. The settings are protocol.max_depth and protocol.command_depth.",
)
def depth_reached(case: Case) -> Iterator[RuleNote]:
    deepest, told, fields = _depth(case)
    if deepest == case.reading.max_depth:
        yield RuleNote(
            f"It is at depth {deepest} {told}, the maximum: {_BOTH}{_chosen(case)}.",
            case.facts.started_origin,
            advice="Nothing is wrong, but it must not delegate any further.",
            fields=fields,
        )


@rule(
    "DEL-006",
    "depth and path clash",
    Severity.WARNING,
    "depth and path agree",
    "Delegation guide, Delegation Depth Limits and Path Tracking: the path holds the orchestrator, the command and one "
    "name for each level below, so the depth is its length less two. With protocol.command_depth = 1 it is less one.",
)
def depth_by_path(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    path = facts.own_path
    if facts.depth is None or not path:
        return
    by_path = max(len(path) - 2, 0) + case.reading.command_depth
    # Some callers leave the agent itself out of the path, and without its name that cannot be seen.
    if facts.depth == by_path or (facts.agent is None and facts.depth == by_path + 1):
        return
    yield RuleNote(
        f"It claims depth {facts.depth}, but its path has {len(path)} names, which is depth {by_path}"
        f"{case.reading.chosen('command_depth')}.",
        facts.started_origin,
        advice="Have the caller add 1 to its own depth and its own name to the path, in the same step.",
        fields=("delegation_depth", "delegation_path"),
    )


@rule(
    "DEL-007",
    "cycle in path",
    Severity.ERROR,
    "no agent is twice in a delegation path",
    "Delegation guide, Delegation Path Tracking: an agent that is handed work by someone who works for it waits for "
    "itself. Its troubleshooting names this as the cause of endless loops. One that was refused with CYCLE_DETECTED "
    "did no harm and is a warning. The path that a return repeats is looked at as well: of some delegations nothing "
    "else is known.",
)
def cycle_in_path(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    path, whose, origin = facts.own_path or (), "Its path", facts.started_origin
    fields: tuple[str, ...] = ("delegation_path",) if facts.path == path else ("delegation_path", "subagent")
    if not repeated(path):
        path, whose, origin = _returned_path(facts), "The path in its return", facts.ended_origin
        fields = ("metadata.delegation_path|return.metadata.delegation_path",)
    if not (twice := repeated(path)):
        yield from _own_caller(case)
        return
    refused = any(fault.code == "CYCLE_DETECTED" for fault in facts.errors)
    yield RuleNote(
        f"{whose} comes back to {', '.join(twice[:_SHOWN])}: {_steps(path)}{'; it was refused' if refused else ''}.",
        origin,
        severity=Severity.WARNING if refused else None,
        advice="Have every caller look for its target in the path before it delegates, and let the agent that is "
        "already there finish the work.",
        fields=fields,
    )


@rule(
    "DEL-008",
    "cycle of parents",
    Severity.ERROR,
    "no delegation is its own ancestor",
    "Delegation guide, Delegation Path Tracking: the same for the parents that logs declare. The tree has to be cut "
    "somewhere to be drawn; it is cut at the least id.",
)
def cycle_of_parents(case: Case) -> Iterator[RuleNote]:
    forest, facts = case.forest, case.facts
    # A parent that was declared and seen but is not drawn is where a circle was cut.
    if facts.parent is None or forest.parent(case.handle) is not None or forest.link(case.handle) is not Link.EXPLICIT:
        return
    above = forest.find(facts.parent, facts.told_by)
    if above is None:
        return
    circle = [facts]
    while above is not None and above != case.handle:
        circle.append(forest.delegation(above))
        above = forest.parent(above)
    yield RuleNote(
        f"Its declared parents lead back to itself: {_steps((*(each.id for each in circle), facts.id))}.",
        *(each.started_origin for each in circle[:_SHOWN]),
        advice="Check which parent_session_id is wrong: a parent's id is known before its child's is made.",
    )


@rule(
    "DEL-013",
    "path breaks off",
    Severity.WARNING,
    "depth and path go on from the parent's",
    "Delegation guide, Core Principles 2 and 3: the caller adds 1 to its own depth and its own name to its own path. "
    "A child that does not go on from where its declared parent stands hides how deep the work is, and a cycle with "
    "it.",
)
def goes_on_from_parent(case: Case) -> Iterator[RuleNote]:
    facts, forest = case.facts, case.forest
    above = forest.parent(case.handle)
    if above is None or forest.link(case.handle) is not Link.EXPLICIT or facts.started_origin is None:
        return
    parent = forest.delegation(above)
    advice = "Have the caller hand out its own depth and 1 more, and its own path with the name of the agent behind it."
    if facts.depth is not None and parent.depth is not None and facts.depth != parent.depth + 1:
        yield RuleNote(
            f"It is handed out at depth {facts.depth}, but its parent {quoted(parent.name)} is at {parent.depth}.",
            facts.started_origin,
            parent.started_origin,
            advice=advice,
        )
    ours, theirs = facts.own_path, parent.own_path
    if ours and theirs and ours[:-1] != theirs and facts.agent is not None:
        yield RuleNote(
            f"Its path {quoted(_steps(ours))} does not go on from its parent's, {quoted(_steps(theirs))}.",
            facts.started_origin,
            parent.started_origin,
            advice=advice,
        )


_BOTH = f"the delegation guide's levels end at {MAX_DEPTH}, though its check already refuses {MAX_DEPTH}"


def _chosen(case: Case) -> str:
    return case.reading.chosen("max_depth", "command_depth")


def _depth(case: Case) -> tuple[int, str, tuple[str, ...]]:
    """The deeper of what it claims and what its path (else its place in the tree) says, and which of them says so, in
    words and by its fields."""
    facts = case.facts
    derived = derived_depth(case.forest, case.handle, facts) + case.reading.command_depth
    where = "by its path" if facts.own_path else "by its place in the tree"
    if facts.depth is None or facts.depth < derived:
        return derived, where, ("delegation_path",) if facts.own_path else ()
    if facts.depth == derived:
        return facts.depth, where, ("delegation_depth", "delegation_path")
    return facts.depth, "as it claims", ("delegation_depth",)


def _returned_depth(case: Case) -> int:
    """How deep it is by its return, the more of what that claims and what its path makes it."""
    path, claimed = _returned_path(case.facts), case.facts.report.depth or 0
    counts = path[:1] == (ORCHESTRATOR,)
    return max(claimed, len(path) - 2 + case.reading.command_depth if counts else 0)


def _returned_path(facts: Delegation) -> tuple[str, ...]:
    """The path that its return repeats, down to the agent itself."""
    signed = facts.report.agent if facts.report.agent not in AGENT_TYPES else None
    return own_path(facts.report.path, signed or facts.agent) or ()


def _namesake(case: Case) -> int | None:
    """Whoever has the same name among those it works for, as the logs declare them."""
    forest, agent, above = case.forest, case.facts.agent, case.handle
    for _ in range(2 * MAX_DEPTH):  # a longer chain is told as that
        parent = forest.parent(above) if agent and forest.link(above) is Link.EXPLICIT else None
        if parent is None:
            return None
        above, facts = parent, forest.delegation(parent)
        if agent in (facts.agent, facts.command):
            return above
    return None


def _own_caller(case: Case) -> Iterator[RuleNote]:
    """One that its own agent called: the path alone may look like any other, if it is that of the caller."""
    facts, forest = case.facts, case.forest
    above = forest.parent(case.handle) if forest.link(case.handle) is Link.EXPLICIT else None
    callers = {facts.caller, None if above is None else forest.delegation(above).agent}
    if facts.agent is not None and facts.agent in callers:
        yield RuleNote(
            f"It was handed to {quoted(facts.agent)} by {quoted(facts.agent)} itself.",
            facts.started_origin,
            advice="An agent does its own work itself: have every caller compare its target with its own name.",
            fields=("caller|subagent|delegation_path",),
        )
    elif not facts.path and facts.product is None and (above := _namesake(case)) is not None:
        yield RuleNote(
            f"By its place in the tree it comes back to {quoted(facts.agent or '')}, who works for its caller.",
            facts.started_origin,
            forest.delegation(above).started_origin,
            advice="Have every caller pass its path on and look for its target in it before it delegates.",
            fields=("delegation_path|subagent",),
        )
    path = facts.path or ()
    if any(callers) or facts.agent is None or path[:1] != (ORCHESTRATOR,) or path[-1] != facts.agent:
        return
    if facts.depth == len(path) - 1 + case.reading.command_depth:
        yield RuleNote(
            f"Its depth of {facts.depth} is right if its path is that of its caller, and then {quoted(facts.agent)} "
            "was handed work by itself.",
            facts.started_origin,
            severity=Severity.WARNING,
            advice="Have the caller say who it is, and look for its target in its own path before it delegates.",
            fields=("delegation_path", "delegation_depth"),
        )


def _steps(names: tuple[str, ...]) -> str:
    shown = names if len(names) <= _SHOWN else (*names[: _SHOWN - 1], "…", names[-1])
    return " › ".join(shown)

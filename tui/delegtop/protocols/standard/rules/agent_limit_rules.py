"""Rules on what the agents' own definition files allow: to whom they delegate, how deep, and for how long."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from delegtop.base.clock import SECOND, duration
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model.policy import AgentLimits


def _limits(case: Case, agent: str | None) -> AgentLimits | None:
    return case.policy.limits_of(agent, case.facts.cwd)


def _giver(case: Case) -> tuple[str, AgentLimits] | None:
    """The agent that handed the work out, and what its file says."""
    parent = case.forest.parent(case.handle) if case.policy.agents else None
    if parent is None:
        return None
    agent = case.forest.delegation(parent).agent
    limits = _limits(case, agent)
    return (agent, limits) if agent and limits else None


@rule(
    "DEL-040",
    "target not allowed",
    Severity.WARNING,
    "an agent delegates only to those its file names",
    "The structure standard's frontmatter lists under delegation.can_delegate_to whom an agent may hand work to.",
)
def may_delegate_to(case: Case) -> Iterator[RuleNote]:
    giver = _giver(case)
    if giver is None or case.facts.agent is None or giver[1].may_delegate_to is None:
        return
    agent, limits = giver
    allowed = limits.may_delegate_to or ()
    if any(fnmatchcase(case.facts.agent, pattern) for pattern in allowed):
        return
    named = ", ".join(allowed) or "nobody"
    yield RuleNote(
        f"{agent} delegated to {case.facts.agent}, but {limits.source} allows it to delegate to {named}.",
        case.facts.started_origin,
        advice=f"Add {case.facts.agent} to can_delegate_to in {limits.source}, or let the caller hand the work out.",
    )


@rule(
    "DEL-041",
    "too deep for caller",
    Severity.WARNING,
    "a delegation is no deeper than the file of its giver allows",
    "The structure standard's frontmatter sets delegation.max_depth; the delegation guide refuses what is deeper.",
)
def within_own_depth(case: Case) -> Iterator[RuleNote]:
    giver = _giver(case)
    if giver is None or giver[1].max_depth is None:
        return
    depth = case.facts.depth if case.facts.depth is not None else case.forest.level(case.handle)
    if depth <= giver[1].max_depth:
        return
    yield RuleNote(
        f"It is at depth {depth}; the file of {giver[0]} allows {giver[1].max_depth} ({giver[1].source}).",
        case.facts.started_origin,
        advice="Let an agent nearer to the top hand this work out.",
    )


@rule(
    "DEL-042",
    "timeout over limit",
    Severity.WARNING,
    "a timeout is no longer than the file of its giver allows",
    "The structure standard's frontmatter sets delegation.timeout_max for everything an agent hands out.",
)
def within_own_timeout(case: Case) -> Iterator[RuleNote]:
    giver = _giver(case)
    if giver is None or giver[1].child_timeout_max is None or case.facts.timeout is None:
        return
    limit = giver[1].child_timeout_max
    if case.facts.timeout <= limit:
        return
    yield RuleNote(
        f"Its timeout is {case.facts.timeout // SECOND} s; the file of {giver[0]} allows at most "
        f"{limit // SECOND} s ({giver[1].source}).",
        case.facts.started_origin,
        advice=f"Give it at most {duration(limit)}, or raise timeout_max.",
    )

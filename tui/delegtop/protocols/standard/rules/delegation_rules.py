"""Rules on how a delegation was handed out: its id, its limits, its place in the path."""

from collections.abc import Iterator

from delegtop.base.clock import SECOND, duration
from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model.delegation import Delegation, Link
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Trust
from delegtop.model.measures import derived_depth
from delegtop.model.policy import default_timeout
from delegtop.protocols.standard.contract.agent_file_contract import AGENT_TYPES
from delegtop.protocols.standard.contract.delegation_limits import DEFAULT_TIMEOUT, MAX_DEPTH, kind_of
from delegtop.protocols.standard.contract.delegation_paths import ORCHESTRATOR, own_path, repeated

DEVIATIONS = {
    DeviationKind.MALFORMED_SESSION_ID: frozenset({"DEL-012"}),
    DeviationKind.MISSING_SESSION_ID: frozenset({"DEL-001"}),
    DeviationKind.MISSING_FIELD: frozenset({"DEL-003", "DEL-015"}),
}

UNNAMED = "no-session-id@"
"""How the id begins that a delegation is given when its records name none."""
TOO_LONG = 4
TOO_SHORT = 10
"""A timeout of more than 4 times, or less than a 10th, of the default for its kind of work is worth a look."""
SLACK = 2 * SECOND
"""What is written in whole seconds may be off by so much."""
_COUNTED = frozenset({"started_at", "timeout", "deadline"})
_SHOWN = 10


@rule(
    "DEL-001",
    "no session id",
    Severity.ERROR,
    "every delegation has a session id",
    "Delegation guide, Session ID Tracking: the caller makes the id before it hands work out, the agent returns it. "
    "Without one, records of the same delegation cannot be put together and a return cannot be matched to its caller.",
)
def session_id(case: Case) -> Iterator[RuleNote]:
    if case.facts.id.startswith(UNNAMED):
        yield RuleNote(
            "Its records name no session id.",
            *case.facts.origins[:_SHOWN],
            advice="Make a session id (sess_<seconds>_<6 characters>) before delegating, pass it on, and write it into "
            "every record.",
        )


@rule(
    "DEL-002",
    "no time limit",
    Severity.WARNING,
    "every delegation has a timeout or a deadline",
    "Delegation guide, Timeout Enforcement: no caller waits without end. A missing timeout is the first thing its "
    "troubleshooting looks for when a delegation hangs; its defaults are 3600 s for research, 1800 s for planning, "
    "7200 s for implementation and 300 s for simple operations.",
)
def timeout(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if facts.started_origin is None or facts.timeout is not None or facts.deadline is not None:
        return
    kind = _kind(facts)
    usual = f"{DEFAULT_TIMEOUT} s"
    if kind is not None:
        usual = f"{default_timeout(case.forest.policy, kind) // SECOND} s, the default for {kind}"
    yield RuleNote(
        "It was handed out without a usable timeout or deadline.",
        facts.started_origin,
        advice=f"Give it a timeout in its delegation context, such as {usual}.",
    )


@rule(
    "DEL-003",
    "no depth or path",
    Severity.INFO,
    "every delegation says its depth and its path",
    "Delegation guide, Delegation Context Schema: depth and path are required, because the depth limit and the check "
    "for cycles need them.",
)
def context(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if facts.started_origin is None:
        return
    lacks = [name for name, value in (("depth", facts.depth), ("path", facts.path)) if value is None]
    if lacks:
        yield RuleNote(
            f"It was handed out without a usable delegation {' and '.join(lacks)}.",
            facts.started_origin,
            advice="Pass delegation_depth and delegation_path on with every delegation.",
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
    deepest, told = _depth(case)
    limit, origin = case.reading.max_depth, case.facts.started_origin
    if deepest <= limit and (returned := _returned_depth(case)) > limit:
        deepest, told, origin = returned, "as its return says", case.facts.ended_origin
    if deepest > limit:
        yield RuleNote(
            f"It is at depth {deepest} {told}, and the limit is {limit}: {_BOTH}{_chosen(case)}.",
            origin,
            advice="Let its caller do this work itself or return it to its own caller as a next step, and have every "
            "caller check the depth before it delegates (MAX_DEPTH_EXCEEDED).",
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
    deepest, told = _depth(case)
    if deepest == case.reading.max_depth:
        yield RuleNote(
            f"It is at depth {deepest} {told}, the maximum: {_BOTH}{_chosen(case)}.",
            case.facts.started_origin,
            advice="Nothing is wrong, but it must not delegate any further.",
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
    if not repeated(path):
        path, whose, origin = _returned_path(facts), "The path in its return", facts.ended_origin
    if not (twice := repeated(path)):
        yield from _own_caller(facts)
        return
    refused = any(fault.code == "CYCLE_DETECTED" for fault in facts.errors)
    yield RuleNote(
        f"{whose} comes back to {', '.join(twice[:_SHOWN])}: {_steps(path)}{'; it was refused' if refused else ''}.",
        origin,
        severity=Severity.WARNING if refused else None,
        advice="Have every caller look for its target in the path before it delegates, and let the agent that is "
        "already there finish the work.",
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
    above = forest.find(facts.parent)
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
    "DEL-009",
    "unusual timeout",
    Severity.INFO,
    "the timeout fits the kind of work",
    "Delegation guide, Timeout Enforcement and Troubleshooting: research 3600 s, planning 1800 s, implementation "
    f"7200 s, simple operations 300 s. More than {TOO_LONG} times the default hides a hang, less than a {TOO_SHORT}th "
    "of it cuts work off. The defaults are settings.",
)
def timeout_fits(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    kind = _kind(facts)
    if facts.timeout is None or kind is None:
        return
    usual = default_timeout(case.forest.policy, kind)
    if usual / TOO_SHORT <= facts.timeout <= usual * TOO_LONG:
        return
    yield RuleNote(
        f"Its timeout of {duration(facts.timeout)} is far from the {duration(usual)} that {kind} usually gets.",
        facts.started_origin,
        advice="Set the timeout by the kind of work and by how long such work really took.",
    )


@rule(
    "DEL-010",
    "sources disagree",
    Severity.WARNING,
    "all sources tell the same",
    "Delegation guide, Orchestrator Delegation Registry: the registry entry is made from the delegation context, so "
    "log and registry agree. Where they do not, one was changed alone, and a deadline may be watched that nobody set.",
)
def one_story(case: Case) -> Iterator[RuleNote]:
    for field in dict.fromkeys(claim.field for claim in case.facts.claims):
        claims = [claim for claim in case.facts.claims if claim.field == field]
        # In one log, a return that follows a timeout is a sequence of events and no contradiction.
        if field in ("outcome", "ended_at") and len({claim.origin.source for claim in claims}) == 1:
            continue
        told = ", ".join(dict.fromkeys(claim.value for claim in claims))
        yield RuleNote(
            f"Its sources disagree on {field.replace('_', ' ')}: {told}.",
            *_first(claim.origin for claim in claims),
            advice="The log's word is taken before the registry's. Write both from one delegation context.",
        )


@rule(
    "DEL-011",
    "parent not seen",
    Severity.INFO,
    "every declared parent is seen",
    "Delegation guide, Orchestrator Delegation Registry: whoever delegates was delegated to before, so its own record "
    "exists. If no source has it, the child stands at the top of the tree and nobody's deadline limits it.",
)
def parent_seen(case: Case) -> Iterator[RuleNote]:
    parent = case.facts.parent
    if parent is None or case.forest.find(parent) is not None:
        return
    yield RuleNote(
        f"Its parent {parent} is in none of the sources.",
        case.facts.started_origin,
        advice="Read the log of the parent too, or have the caller register itself before it delegates.",
    )


@rule(
    "DEL-012",
    "malformed session id",
    Severity.WARNING,
    "session ids are well-formed",
    "Delegation guide, Session ID Tracking: sess_{timestamp}_{random}. Its example has a day for the timestamp, its "
    "code the epoch second, its format six random characters; the return format standard names no number of them. All "
    "are taken unless protocol.session_id_form and protocol.session_id_random say otherwise.",
)
def session_id_form(case: Case) -> Iterator[RuleNote]:
    id = case.facts.id
    if id.startswith(UNNAMED) or case.reading.takes(id):
        return
    yield RuleNote(
        f"Its session id {quoted(id)} is not of the form {case.reading.session_id_example}"
        f"{case.reading.chosen('session_id_form', 'session_id_random')}.",
        *case.facts.origins[:_SHOWN],
        advice="Make session ids with one generator and pass them on as they are.",
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


@rule(
    "DEL-014",
    "deadline miscounted",
    Severity.WARNING,
    "the deadline is the start and the timeout",
    "Delegation guide, Orchestrator Delegation Registry: the deadline is start_time plus timeout. Where both are told "
    "and say something else, whoever watches one of them stops waiting too early or too late.",
)
def deadline_counted(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if facts.deadline is None or facts.timeout is None or facts.started_at is None or facts.trust is Trust.MODEL:
        return
    if any(claim.field in _COUNTED for claim in facts.claims):
        return  # two sources tell two stories, which DEL-010 says
    counted = facts.started_at + facts.timeout
    if abs(facts.deadline - counted) > SLACK:
        later = "later" if facts.deadline > counted else "earlier"
        yield RuleNote(
            f"Its deadline is {duration(abs(facts.deadline - counted))} {later} than its start and its timeout of "
            f"{duration(facts.timeout)} make it.",
            facts.started_origin,
            advice="Count the deadline from the start of the delegation, and write both from one delegation context.",
        )


@rule(
    "DEL-015",
    "registry entry gaps",
    Severity.WARNING,
    "an entry of the registry says who does what until when",
    "Delegation guide, Orchestrator Delegation Registry: an entry has command, subagent, task_number, start_time, "
    "timeout, deadline, status, depth and path; whoever monitors needs them. Timeout, depth and path have rules of "
    "their own, DEL-002 and DEL-003. What a log tells of the same delegation fills the gaps.",
)
def entry_complete(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if facts.listed_at is None or facts.product is not None or facts.heard_origin is not None:
        return
    if len({origin.source for origin in facts.origins}) > 1:
        return
    told = {"command": facts.command, "subagent": facts.agent, "start_time": facts.started_at}
    told["deadline"] = facts.deadline
    if missing := [name for name, value in told.items() if value is None]:
        yield RuleNote(
            f"Its entry in the registry has no {' and no '.join(missing)}.",
            facts.started_origin,
            advice="Write the entry from the whole delegation context when the work is handed out.",
        )


_BOTH = f"the delegation guide's levels end at {MAX_DEPTH}, though its check already refuses {MAX_DEPTH}"


def _chosen(case: Case) -> str:
    return case.reading.chosen("max_depth", "command_depth")


def _kind(facts: Delegation) -> str | None:
    """What kind of work it is, by its own name: a small helper of /implement is no implementation."""
    return kind_of(facts.agent or facts.command)


def _depth(case: Case) -> tuple[int, str]:
    """The deeper of what it claims and what its path (else its place in the tree) says, and which of them says so."""
    facts = case.facts
    derived = derived_depth(case.forest, case.handle, facts) + case.reading.command_depth
    where = "by its path" if facts.own_path else "by its place in the tree"
    if facts.depth is None or facts.depth < derived:
        return derived, where
    return facts.depth, where if facts.depth == derived else "as it claims"


def _returned_depth(case: Case) -> int:
    """How deep it is by its return, the more of what that claims and what its path makes it."""
    path, claimed = _returned_path(case.facts), case.facts.report.depth or 0
    counts = path[:1] == (ORCHESTRATOR,)
    return max(claimed, len(path) - 2 + case.reading.command_depth if counts else 0)


def _returned_path(facts: Delegation) -> tuple[str, ...]:
    """The path that its return repeats, down to the agent itself."""
    signed = facts.report.agent if facts.report.agent not in AGENT_TYPES else None
    return own_path(facts.report.path, signed or facts.agent) or ()


def _own_caller(facts: Delegation) -> Iterator[RuleNote]:
    """One that its own agent called: the path alone may look like any other."""
    if facts.agent is not None and facts.agent == facts.caller:
        yield RuleNote(
            f"It was handed to {quoted(facts.agent)} by {quoted(facts.agent)} itself.",
            facts.started_origin,
            advice="An agent does its own work itself: have every caller compare its target with its own name.",
        )


def _steps(names: tuple[str, ...]) -> str:
    shown = names if len(names) <= _SHOWN else (*names[: _SHOWN - 1], "…", names[-1])
    return " › ".join(shown)


def _first(origins: Iterator[Origin]) -> list[Origin]:
    return list(dict.fromkeys(origins))[:_SHOWN]

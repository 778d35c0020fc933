"""Rules on how a delegation was handed out: its id, its time limit, and what its sources tell."""

from collections.abc import Iterator

from delegtop.base.clock import SECOND, duration
from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import choice, quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model import notes as kinds
from delegtop.model.delegation import Delegation
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Ending, Trust
from delegtop.model.policy import default_timeout
from delegtop.protocols.noted_drift import notes
from delegtop.protocols.standard.contract.delegation_limits import DEFAULT_TIMEOUT, kind_of

DEVIATIONS = {
    DeviationKind.MALFORMED_SESSION_ID: frozenset({"DEL-012"}),
    DeviationKind.MISSING_SESSION_ID: frozenset({"DEL-001"}),
    DeviationKind.MISSING_FIELD: frozenset({"DEL-015"}),
}

UNNAMED = "no-session-id@"
"""How the id begins that a delegation is given when its records name none."""
TOO_LONG = 4
TOO_SHORT = 10
"""A timeout of more than 4 times, or less than a 10th, of the default for its kind of work is worth a look."""
SLACK = 2 * SECOND
"""What is written in whole seconds may be off by so much."""
_NAMES = {
    "started_at": "start_time",
    "agent": "subagent",
    "task": "task_number",
    "outcome": "status",
    "depth": "delegation_depth",
    "path": "delegation_path",
}
"""What an entry of a registry calls a fact."""
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
    facts = case.facts
    is_return_alone = facts.started_origin is None and facts.ended_by is Ending.RETURN  # which RET-005 tells of
    if facts.id.startswith(UNNAMED) and not is_return_alone:
        yield RuleNote(
            "Its records name no session id.",
            *facts.origins[:_SHOWN],
            advice="Make a session id (sess_<seconds>_<6 characters>) before delegating, pass it on, and write it into "
            "every record.",
            fields=("session_id",),
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
        fields=("timeout|deadline",),
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
        f"Its timeout of {duration(facts.timeout)} is far from the {duration(usual)} that {kind} work usually gets.",
        facts.started_origin,
        advice="Set the timeout by the kind of work and by how long such work really took.",
        fields=("timeout|deadline",),
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
            fields=(_NAMES.get(field, field),),
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
    if parent is None or case.forest.find(parent, case.facts.told_by) is not None:
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
        fields=("metadata.session_id|session_id",),
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
            fields=("deadline", "start_time", "timeout"),
        )


@rule(
    "DEL-015",
    "registry entry gaps",
    Severity.WARNING,
    "an entry of the registry says who does what until when",
    "Delegation guide, Orchestrator Delegation Registry: an entry has command, subagent, task_number, start_time, "
    "timeout, deadline, status, depth and path; whoever monitors needs them. Depth and path have a rule of their own, "
    "DEL-003; one without a status is taken for running. What a log tells of the same delegation fills the gaps.",
)
def entry_complete(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if facts.listed_at is None or facts.product is not None or facts.heard_origin is not None:
        return
    if len({origin.source for origin in facts.origins}) > 1:
        return
    told: dict[str, object] = {"command": facts.command, "subagent": facts.agent, "start_time": facts.started_at}
    told |= {"timeout": facts.timeout, "deadline": facts.deadline}
    missing = [name for name, value in told.items() if value is None or not str(value).strip()]
    if notes(case, kinds.UNSTATED):
        missing.append("status")
    if missing:
        yield RuleNote(
            f"Its entry in the registry has no usable {choice(missing)}.",
            facts.started_origin,
            advice="Write the entry from the whole delegation context when the work is handed out.",
            fields=tuple(missing),
        )


def _kind(facts: Delegation) -> str | None:
    """What kind of work it is, by its own name: a small helper of /implement is no implementation."""
    return kind_of(facts.agent or facts.command)


def _first(origins: Iterator[Origin]) -> list[Origin]:
    return list(dict.fromkeys(origins))[:_SHOWN]

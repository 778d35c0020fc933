"""Rules on the return an ended delegation gave: its fields, and whose return it is."""

from collections.abc import Iterator

from delegtop.contract import session_ids
from delegtop.contract.returns import METADATA, STATUS_ALIASES, STATUSES
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.on_return import Note, choice, on_return, quoted
from delegtop.diagnosis.rule import Case
from delegtop.model.delegation import own_path
from delegtop.model.events import Report


@on_return(
    "RET-001",
    Severity.ERROR,
    "the return has a status and a summary",
    "Return format standard, Validation Requirements 1; delegation guide, Return Validation: a return without them "
    "is refused. That `artifacts` or `metadata` are absent altogether is counted as a deviation of the log.",
)
def required_fields(_case: Case, report: Report) -> Iterator[Note]:
    missing = [
        name for name, value in (("status", report.status), ("summary", report.summary)) if not (value or "").strip()
    ]
    if missing:
        yield Note(
            f"The return has no {' and no '.join(missing)}.",
            "Let the agent check its return before it sends it; read its last lines to learn how the work ended.",
        )


@on_return(
    "RET-002",
    Severity.ERROR,
    "the status is completed, failed, partial or blocked",
    "Return format standard, Field Specifications: status is exactly one of the four, in small letters. Later "
    "versions of the system write words such as `researched` or `implemented` instead; they are named here as well.",
)
def known_status(_case: Case, report: Report) -> Iterator[Note]:
    if not report.status or report.status in STATUSES:
        return
    word = report.status.strip().lower()
    meant = word if word in STATUSES else STATUS_ALIASES.get(word)
    yield Note(
        f"The status {quoted(report.status)} is none of {choice(STATUSES)}.",
        f'Write "{meant}".' if meant else "Ask the agent how the work ended; callers cannot act on this word.",
    )


@on_return(
    "RET-003",
    Severity.WARNING,
    "the metadata is complete",
    "Return format standard, Field Specifications: metadata names session_id, duration_seconds, agent_type, "
    "delegation_depth and delegation_path. The structure standard lets metadata hold what the operation likes, so "
    "a gap is a warning. The session id has a rule of its own, RET-005.",
)
def complete_metadata(_case: Case, report: Report) -> Iterator[Note]:
    given = (report.session_id, report.duration, report.agent, report.depth, report.path)
    missing = [name for name, value in zip(METADATA, given, strict=True) if value is None and name != "session_id"]
    if missing:
        yield Note(
            f"The metadata lacks {', '.join(missing)}, which the return format standard requires "
            "and the structure standard does not.",
            "Let the agent copy them from the delegation context it was given.",
        )


@on_return(
    "RET-004",
    Severity.WARNING,
    "the metadata repeats what was handed out",
    "Delegation guide, Core Principles 2 and 3: the agent receives its depth and path and returns both. If they "
    "differ, the return may belong to another delegation, or the agent made them up.",
)
def same_metadata(case: Case, report: Report) -> Iterator[Note]:
    facts = case.facts
    if report.agent and facts.agent and report.agent != facts.agent:
        yield Note(
            f"The return is signed by {quoted(report.agent)}, but the work was given to {quoted(facts.agent)}.",
            "See whether this return belongs to this delegation.",
        )
    if report.depth is not None and facts.depth is not None and report.depth != facts.depth:
        yield Note(
            f"The return says depth {report.depth}, the delegation was handed out at depth {facts.depth}.",
            "Let the agent return the depth it was given.",
        )
    returned = own_path(report.path, facts.agent)
    if returned and facts.own_path and returned != facts.own_path:
        yield Note(
            f"The return says the path {quoted(' > '.join(returned))}, "
            f"the delegation was handed out with {quoted(' > '.join(facts.own_path))}.",
            "Let the agent return the path it was given.",
        )


_SESSION_FORMS = "sess_20251226_abc123 or sess_1766743200_abc123"


@on_return(
    "RET-005",
    Severity.ERROR,
    "the return names its session",
    "Return format standard: `metadata.session_id`; structure standard, Return Format: `session_id` beside the "
    "metadata. Either place is taken.",
)
def session_named(_case: Case, report: Report) -> Iterator[Note]:
    if not report.session_id:
        yield Note(
            "The return names no session, neither in its metadata (return format standard) "
            "nor beside it (structure standard).",
            "Let the agent return the session id it was given; without it the caller cannot tell whose return it is.",
        )


@on_return(
    "RET-006",
    Severity.WARNING,
    "the session id is well-formed",
    "Delegation guide, Session ID Tracking: sess_{timestamp}_{random}. Its example has a day for the timestamp, its "
    "code the epoch second; both are taken, and a child's suffix as well.",
)
def session_well_formed(_case: Case, report: Report) -> Iterator[Note]:
    if report.session_id and not session_ids.is_well_formed(report.session_id):
        yield Note(
            f"The session id {quoted(report.session_id)} is not of the form {_SESSION_FORMS}.",
            "Make session ids with the caller's generator and let the agent return them as they are.",
        )


@on_return(
    "RET-007",
    Severity.ERROR,
    "the return is of this session",
    "Delegation guide, Return Validation 3; structure standard, Return Format: the session id must match the input.",
)
def session_matches(case: Case, report: Report) -> Iterator[Note]:
    id = case.facts.id
    if not report.session_id or report.session_id == id:
        return
    parsed = session_ids.parse(id)
    if parsed is not None and parsed.parent == report.session_id:
        yield Note(
            f"The return names {quoted(report.session_id)}, the session of its parent, instead of its own.",
            "Let the agent return its own session id, with the suffix.",
            Severity.WARNING,
        )
        return
    yield Note(
        f"The return names the session {quoted(report.session_id)}, but it came back for {quoted(id)}.",
        "Do not act on this return before you know whose it is.",
    )


@on_return(
    "RET-008",
    Severity.WARNING,
    "the depth fits the path",
    "Delegation guide, Delegation Depth Limits: orchestrator to command is 0, command to agent 1, and so on; the "
    "path of an agent at depth 1 has three names, its own the last. If the caller handed out both as they are, the "
    "agent is not to blame and DEL-006 tells it.",
)
def depth_fits_path(case: Case, report: Report) -> Iterator[Note]:
    facts = case.facts
    path = own_path(report.path, report.agent or facts.agent)
    if report.depth is None or not path or path[0] != "orchestrator":
        return
    if (report.depth, path) == (facts.depth, facts.own_path):
        return  # it repeats what it was given: the fault is the caller's, and DEL-006 tells it
    counted = len(path) - 2
    if report.depth != counted:
        yield Note(
            f"The return says depth {report.depth}, but its path {quoted(' > '.join(path))} makes it {counted}.",
            "Count from the command: the agent it calls is 1.",
        )

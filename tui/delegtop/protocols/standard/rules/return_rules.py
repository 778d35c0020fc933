"""Rules on the return an ended delegation gave: its fields, and whose return it is."""

from collections.abc import Iterator

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import ReturnNote, choice, on_return, quoted
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Report
from delegtop.protocols.standard.contract import session_ids
from delegtop.protocols.standard.contract.agent_file_contract import AGENT_TYPES
from delegtop.protocols.standard.contract.delegation_paths import ORCHESTRATOR, own_path
from delegtop.protocols.standard.contract.protocol_options import SessionIdPlace
from delegtop.protocols.standard.contract.return_contract import METADATA, STATUS_ALIASES, STATUSES

DEVIATIONS = {
    DeviationKind.UNKNOWN_STATUS: frozenset({"RET-002"}),
    DeviationKind.ANOTHER_SESSION_ID: frozenset({"RET-007"}),
    DeviationKind.MALFORMED_SESSION_ID: frozenset({"RET-006"}),
    DeviationKind.MISSING_FIELD: frozenset({"RET-001", "RET-026"}),
}

_SESSION = "metadata.session_id|session_id"
"""Where a return names its session."""


@on_return(
    "RET-001",
    "return incomplete",
    Severity.ERROR,
    "the return has status, summary, artifacts and metadata",
    "Return format standard, Validation Requirements 1; delegation guide, Return Validation: a return without them "
    "is refused. Artifacts may be an empty list, but the list must be there.",
)
def required_fields(_case: Case, report: Report) -> Iterator[ReturnNote]:
    missing = [
        name for name, value in (("status", report.status), ("summary", report.summary)) if not (value or "").strip()
    ]
    missing += [name for name in ("artifacts", "metadata") if name in report.absent]
    if missing:
        yield ReturnNote(
            f"The return has no usable {choice(missing)}.",
            "Let the agent check its return before it sends it; read its last lines to learn how the work ended.",
            fields=tuple(missing),
        )


@on_return(
    "RET-002",
    "unknown status",
    Severity.ERROR,
    "the status is completed, failed, partial or blocked",
    "Return format standard, Field Specifications: status is exactly one of the four, in small letters. Later "
    "versions of the system write words such as `researched` or `implemented` instead; they are named here as well.",
)
def known_status(_case: Case, report: Report) -> Iterator[ReturnNote]:
    if not report.status or report.status in STATUSES:
        return
    word = report.status.strip().lower()
    meant = word if word in STATUSES else STATUS_ALIASES.get(word)
    yield ReturnNote(
        f"The status {quoted(report.status)} is none of {choice(STATUSES)}.",
        f'Write "{meant}".' if meant else "Ask the agent how the work ended; callers cannot act on this word.",
        fields=("status",),
    )


@on_return(
    "RET-003",
    "metadata incomplete",
    Severity.WARNING,
    "the metadata is complete",
    "Return format standard, Field Specifications: metadata names session_id, duration_seconds, agent_type, "
    "delegation_depth and delegation_path. The structure standard lets metadata hold what the operation likes, so "
    "a gap is a warning. The session id has a rule of its own, RET-005. What is asked for is the setting "
    "protocol.metadata.",
)
def complete_metadata(case: Case, report: Report) -> Iterator[ReturnNote]:
    agent, path = (report.agent or "").strip() or None, report.path
    path = path if path and all(name.strip() for name in path) else None
    given = (report.session_id, report.duration, agent, report.depth, path)
    asked = set(case.reading.metadata) - {"session_id"}
    missing = [name for name, value in zip(METADATA, given, strict=True) if value is None and name in asked]
    if missing and "metadata" not in report.absent:  # RET-001 tells that there is none at all
        yield ReturnNote(
            f"The metadata has no usable {choice(missing)}, which the return format standard requires "
            f"and the structure standard does not{case.reading.chosen('metadata')}.",
            "Let the agent copy them from the delegation context it was given.",
            fields=tuple(f"metadata.{name}" for name in missing),
        )


@on_return(
    "RET-004",
    "metadata differs",
    Severity.WARNING,
    "the metadata repeats what was handed out",
    "Delegation guide, Core Principles 2 and 3: the agent receives its depth and path and returns both. If they "
    "differ, the return may belong to another delegation, or the agent made them up. The agent's name is compared as "
    "well, unless the return has its kind there: for the structure standard agent_type is the kind of agent.",
)
def same_metadata(case: Case, report: Report) -> Iterator[ReturnNote]:
    facts = case.facts
    if report.agent and facts.agent and report.agent not in (facts.agent, *AGENT_TYPES):
        yield ReturnNote(
            f"The return is signed by {quoted(report.agent)}, but the work was given to {quoted(facts.agent)}.",
            "See whether this return belongs to this delegation.",
            fields=("metadata.agent_type",),
        )
    if report.depth is not None and facts.depth is not None and report.depth != facts.depth:
        yield ReturnNote(
            f"The return says depth {report.depth}, the delegation was handed out at depth {facts.depth}.",
            "Let the agent return the depth it was given.",
            fields=("metadata.delegation_depth",),
        )
    returned = own_path(report.path, facts.agent)
    if returned and facts.own_path and returned != facts.own_path:
        yield ReturnNote(
            f"The return says the path {quoted(' > '.join(report.path or ()))}, "
            f"the delegation was handed out with {quoted(' > '.join(facts.own_path))}.",
            "Let the agent return the path it was given.",
            fields=("metadata.delegation_path",),
        )


@on_return(
    "RET-005",
    "unclear id in return",
    Severity.ERROR,
    "the return names its session",
    "Return format standard: `metadata.session_id`; structure standard, Return Format: `session_id` beside the "
    "metadata. Either place is taken; with the setting protocol.session_id_place one of them is asked for.",
)
def session_named(case: Case, report: Report) -> Iterator[ReturnNote]:
    inside, place = "metadata.session_id" not in report.absent, case.reading.session_id_place
    if inside and report.beside not in (None, report.session_id):
        yield ReturnNote(
            f"The return names two sessions: {quoted(report.session_id or '')} in its metadata (return format "
            f"standard) and {quoted(report.beside or '')} beside it (structure standard).",
            "Do not act on this return before you know whose it is.",
            fields=("metadata.session_id", "session_id"),
        )
    if report.session_id and (
        (place is SessionIdPlace.METADATA and not inside) or (place is SessionIdPlace.BESIDE and report.beside is None)
    ):
        yield ReturnNote(
            f"The return names its session {_PLACES[place]}{case.reading.chosen('session_id_place')}.",
            "Let the agent write the session id where its readers look for it.",
            Severity.WARNING,
            (_SESSION,),
        )
    if not report.session_id:
        yield ReturnNote(
            "The return names no session, neither in its metadata (return format standard) "
            "nor beside it (structure standard).",
            "Let the agent return the session id it was given; without it the caller cannot tell whose return it is.",
            fields=(_SESSION,),
        )


_PLACES = {
    SessionIdPlace.METADATA: (
        "beside its metadata, as the structure standard shows it, and not in them, where the return format standard "
        "has it"
    ),
    SessionIdPlace.BESIDE: (
        "in its metadata, as the return format standard shows it, and not beside them, where the structure standard "
        "has it"
    ),
}


@on_return(
    "RET-006",
    "malformed return id",
    Severity.WARNING,
    "the session id of a return is well-formed",
    "Delegation guide, Session ID Tracking: sess_{timestamp}_{random}. Its example has a day for the timestamp, its "
    "code the epoch second; both are taken, and a child's suffix as well. The settings protocol.session_id_form and "
    "protocol.session_id_random are stricter. If the delegation itself has the id, DEL-012 tells it.",
)
def session_well_formed(case: Case, report: Report) -> Iterator[ReturnNote]:
    if not report.session_id or (report.session_id == case.facts.id and case.facts.product is None):
        return
    if not case.reading.takes(report.session_id):
        yield ReturnNote(
            f"The session id {quoted(report.session_id)} is not of the form {case.reading.session_id_example}"
            f"{case.reading.chosen('session_id_form', 'session_id_random')}.",
            "Make session ids with the caller's generator and let the agent return them as they are.",
            fields=(_SESSION,),
        )


@on_return(
    "RET-007",
    "wrong id in return",
    Severity.ERROR,
    "the return is of this session",
    "Delegation guide, Return Validation 3; structure standard, Return Format: the session id must match the input.",
)
def session_matches(case: Case, report: Report) -> Iterator[ReturnNote]:
    id = case.facts.id
    if not report.session_id or report.session_id == id:
        return
    parsed = session_ids.parse(id)
    if parsed is not None and parsed.parent == report.session_id:
        yield ReturnNote(
            f"The return names {quoted(report.session_id)}, the session of its parent, instead of its own.",
            "Let the agent return its own session id, with the suffix.",
            Severity.WARNING,
            (_SESSION,),
        )
        return
    yield ReturnNote(
        f"The return names the session {quoted(report.session_id)}, but it came back for {quoted(id)}.",
        "Do not act on this return before you know whose it is.",
        fields=(_SESSION,),
    )


@on_return(
    "RET-008",
    "depth miscounted",
    Severity.WARNING,
    "the depth fits the path",
    "Delegation guide, Delegation Depth Limits: orchestrator to command is 0, command to agent 1, and so on; the "
    "path of an agent at depth 1 has three names, its own the last. If the caller handed out both as they are, the "
    "agent is not to blame and DEL-006 tells it. The structure standard counts the command as 1; the setting "
    "protocol.command_depth says so.",
)
def depth_fits_path(case: Case, report: Report) -> Iterator[ReturnNote]:
    facts = case.facts
    signed = report.agent if report.agent not in AGENT_TYPES else None  # a kind of agent is in no path
    path = own_path(report.path, signed or facts.agent)
    if report.depth is None or not path or path[0] != ORCHESTRATOR:
        return
    if (report.depth, path) == (facts.depth, facts.own_path):
        return  # it repeats what it was given: the fault is the caller's, and DEL-006 tells it
    first = case.reading.command_depth
    counted = len(path) - 2 + first
    if report.depth != counted:
        yield ReturnNote(
            f"The return says depth {report.depth}, but its path {_in_words(report.path or (), path)} it {counted}"
            f"{case.reading.chosen('command_depth')}.",
            f"Count from the command: it is {first}, the agent it calls is {first + 1}.",
            fields=("metadata.delegation_depth", "metadata.delegation_path"),
        )


def _in_words(given: tuple[str, ...], path: tuple[str, ...]) -> str:
    """The path as the return has it, and who comes after it, as what makes a depth."""
    told = quoted(" > ".join(given))
    return f"{told} makes" if given == path else f"{told} and then {quoted(path[-1])} make"

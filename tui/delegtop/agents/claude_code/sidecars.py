"""The files beside the transcripts: what a child is, and how the run of a workflow went."""

from delegtop.agents.claude_code import PRODUCT, notices
from delegtop.agents.claude_code.agent_rows import AgentRow
from delegtop.agents.claude_code.file_layout import FilePlace
from delegtop.agents.claude_code.project_files import ProjectFiles
from delegtop.agents.claude_code.wire import Meta, TranscriptEntry, WireSnapshot, WorkflowAgent, string
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Described, Ended, Ending, Fault, Outcome, Report, Started

WORKFLOW_AGENT = "workflow-subagent"
_STATES = {
    "done": Outcome.COMPLETED,
    "completed": Outcome.COMPLETED,
    "error": Outcome.FAILED,
    "failed": Outcome.FAILED,
    "killed": Outcome.INTERRUPTED,
    "cancelled": Outcome.INTERRUPTED,
    "skipped": Outcome.INTERRUPTED,
}


def meta(family: ProjectFiles, place: FilePlace, told: Meta, origin: Origin) -> None:
    """What stands beside a child's transcript: who started it, and whether it is done."""
    session, agent = place.session, place.agent
    if session is None or agent is None:
        return
    if place.run:
        workflow_agent(family, session, place.run, agent, None, origin)
    elif told.tool_use_id:
        _linked(family, session, agent, told)
    transcript = family.agent(session, agent)
    if told.finished and not transcript.finished:
        transcript.finished = True
        for at, where, outcome in transcript.turns:
            transcript.say(Ended(transcript.id, at, where, outcome, Ending.REGISTRY))
    if told.stopped_by_user:
        transcript.say(Ended(transcript.id, None, origin, Outcome.INTERRUPTED, Ending.CANCEL))


def _linked(family: ProjectFiles, session: str, agent: str, told: Meta) -> None:
    def tell(row: AgentRow) -> None:
        if family.link(session, agent, row):
            row.start((("agent_id", agent),))
        if told.agent_type and not row.agent:
            row.start((), told.agent_type)

    if told.tool_use_id:
        family.with_row(session, told.tool_use_id, tell)


# -- workflows ---------------------------------------------------------------------------------------------------------


def workflow_agent(
    family: ProjectFiles, session: str, run: str, agent: str, at: Millis | None, origin: Origin
) -> AgentRow:
    """The row of an agent that a workflow started; the run it belongs to shows it."""
    id = f"{session}/{agent}"
    row = family.row(id)
    if row is None:
        row = AgentRow(id, family.emit, None, origin, WORKFLOW_AGENT)
        family.spawned(row, family.run(session, run), None)
        family.link(session, agent, row)
    refs = (("session_id", session), ("agent_id", agent))
    row.say(Started(id, at, origin, agent=WORKFLOW_AGENT, refs=refs, product=PRODUCT.name))
    return row


def journal(family: ProjectFiles, place: FilePlace, entry: TranscriptEntry, origin: Origin) -> None:
    """The workflow's own notes. They bear no times."""
    session, run = place.session, place.run
    if session is None or run is None or entry.agent_id is None:
        return
    row = workflow_agent(family, session, run, entry.agent_id, None, origin)
    if entry.label:
        row.say(Described(row.id, None, origin, title=notices.cut(entry.label)))
    if entry.type == "result":
        said = string(entry.result) or bytes(entry.result).decode("utf-8", "replace")
        row.say(Ended(row.id, None, origin, Outcome.COMPLETED, Ending.RETURN, Report(summary=notices.cut(said))))


def snapshot(family: ProjectFiles, place: FilePlace, told: WireSnapshot, origin: Origin) -> None:
    """The whole run, written when it is over."""
    session, run = place.session, told.run_id or place.run
    if session is None or run is None:
        return
    outcome = _STATES.get(told.status or "")
    if outcome is not None:
        faults = (Fault(message=notices.cut(told.error)),) if told.error else ()
        report = Report(status=told.status, errors=faults, duration=told.duration_ms)
        standin = family.run(session, run)
        standin.say(Ended(standin.id, None, origin, outcome, Ending.RETURN, report))
    for agent in told.workflow_progress or ():
        if agent.agent_id:
            _agent_told(family, session, run, agent, origin)


def _agent_told(family: ProjectFiles, session: str, run: str, told: WorkflowAgent, origin: Origin) -> None:
    if told.agent_id is None:
        return
    started = Millis(told.started_at) if told.started_at and told.started_at > 0 else None
    row = workflow_agent(family, session, run, told.agent_id, started, origin)
    row.say(Described(row.id, started, origin, title=notices.cut(told.label), model=told.model))
    outcome = _STATES.get(told.state or "")
    if outcome is None:
        return
    ended = Millis(started + told.duration_ms) if started is not None and told.duration_ms else None
    faults = (Fault(message=notices.cut(told.error)),) if told.error else ()
    report = Report(errors=faults, duration=told.duration_ms) if faults or told.duration_ms else Report()
    row.say(Ended(row.id, ended, origin, outcome, Ending.RETURN, report))

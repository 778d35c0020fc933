"""Agents that are started: by which record, and what is said of how they ended."""

from msgspec import Raw, Struct

from delegtop.agents.claude_code import notices
from delegtop.agents.claude_code.agent_rows import AgentRow, Transcript
from delegtop.agents.claude_code.project_files import ProjectFiles, TranscriptFile
from delegtop.agents.claude_code.tools import POLLS, SEND, SPAWNS, WORKFLOW, Tool
from delegtop.agents.claude_code.wire import ContentBlock, SpawnInput, WireOutcome, WireTask, decode, string, texts
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Awaited, Described, Ended, Ending, Fault, Phase, Report, Resumed
from delegtop.model.events import Outcome as End


class SpawnPlace(Struct, frozen=True):
    """The record at hand: in which file, of whom, when and where."""

    family: ProjectFiles
    file: TranscriptFile
    who: Transcript
    at: Millis | None
    origin: Origin


def used(here: SpawnPlace, block: ContentBlock, tool: Tool) -> None:
    """A tool is used that starts an agent, or that asks for one or writes to one."""
    if block.id is None:
        return
    if tool.name in SPAWNS:
        _started(here, block.id, decode(SpawnInput, block.input) or SpawnInput())
    elif tool.name == WORKFLOW:
        _workflow_started(here, block.id, decode(SpawnInput, block.input) or SpawnInput())
    elif tool.name in POLLS:
        _awaited(here, tool)
    elif tool.asked.leaves and not here.who.is_trunk:
        here.who.say(Ended(here.who.id, here.at, here.origin, End.COMPLETED, Ending.RETURN))
    elif tool.name == SEND and tool.asked.target:
        here.who.sent[block.id] = (tool.asked.target, here.at)


def _started(here: SpawnPlace, id: str, given: SpawnInput) -> None:
    who = here.who
    row = AgentRow(id, here.family.emit, here.at, here.origin, given.subagent_type)
    row.start((("session_id", who.session), ("tool_use_id", id)), given.subagent_type)
    row.say(
        Described(
            id,
            here.at,
            here.origin,
            title=notices.cut(given.description),
            name=given.name,
            prompt=notices.cut(given.prompt),
        )
    )
    here.family.spawned(row, who, None if given.resume else given.prompt)
    if given.name:
        here.family.name(who.session, given.name, row)


def _workflow_started(here: SpawnPlace, id: str, given: SpawnInput) -> None:
    row = AgentRow(id, here.family.emit, here.at, here.origin, "workflow")
    row.start((("session_id", here.who.session), ("tool_use_id", id)), "workflow")
    title = notices.cut(given.name or given.description)
    if title:
        row.say(Described(id, here.at, here.origin, title=title))
    here.family.spawned(row, here.who, None)


def _awaited(here: SpawnPlace, tool: Tool) -> None:
    """A poll that blocks says how long it waits."""
    asked, at = tool.asked, here.at
    timeout, target = asked.timeout, asked.target
    if target is None or at is None or not timeout or timeout < 0 or asked.phase is not Phase.CHILD:
        return
    until, by = Millis(at + int(timeout)), f"{tool.name} {int(timeout) // 1000} s"
    origin = here.origin
    here.family.with_agent(here.who.session, target, lambda row: row.say(Awaited(row.id, at, origin, until, by)))


# -- results -----------------------------------------------------------------------------------------------------------


def result(here: SpawnPlace, row: AgentRow, block: ContentBlock, structured: Raw, denied: str | None) -> None:
    """What came back from starting an agent."""
    told = decode(WireOutcome, structured) or WireOutcome()
    said = texts(block.content)
    words = string(structured) or "\n".join(said)
    if denied is not None or notices.is_refused(words) or any(map(notices.is_refused, said)):
        return _end(here, row, End.INTERRUPTED, Ending.CANCEL, Report(summary=notices.cut(words)))
    if block.is_error or (not told.status and string(structured)):
        fault = Fault(message=notices.cut(words))
        return _end(here, row, End.FAILED, Ending.RETURN, Report(summary=notices.cut(words), errors=(fault,)))
    _linked(here, row, told, words)
    if told.status not in (None, "completed") or (told.status is None and notices.is_launched(words)):
        return None if told.run_id else row.send_off(here.at, here.origin)
    answer = notices.answer(texts(told.content) or said)
    ended = notices.ended("completed", answer, None, told.total_duration_ms)
    if ended is not None:
        _end(here, row, *ended)
    return None


def _linked(here: SpawnPlace, row: AgentRow, told: WireOutcome, words: str) -> None:
    """Who works for the row, if the result says so."""
    family, session = here.family, here.who.session
    if told.run_id:
        family.link_run(session, told.run_id, row)
    agent = told.agent_id or told.teammate or told.task_id or notices.agent_id(words)
    if agent and family.link(session, agent, row):
        row.start((("task_id" if told.run_id else "agent_id", agent),))
    if told.agent_type and not row.agent:
        row.start((), told.agent_type)
    if told.teammate:
        family.link_mate(told.teammate, row)
    if told.resolved_model or told.workflow_name:
        row.say(Described(row.id, here.at, here.origin, title=told.workflow_name, model=told.resolved_model))


def _end(here: SpawnPlace, row: AgentRow, outcome: End, by: Ending, report: Report) -> None:
    here.file.ended[row.id] = None
    row.end(here.at, here.origin, outcome, by, report)


def interrupted(here: SpawnPlace) -> None:
    """A person stopped the turn: what it waited for is over, what runs in the background is not."""
    who = here.who
    for id in who.open:
        row = here.family.row(id)
        if row is not None:
            _end(here, row, End.INTERRUPTED, Ending.CANCEL, Report())
    who.open.clear()
    if not who.is_trunk:
        who.say(Ended(who.id, here.at, here.origin, End.INTERRUPTED, Ending.CANCEL))


# -- polls, messages, notices ------------------------------------------------------------------------------------------


def polled(here: SpawnPlace, tool: Tool, block: ContentBlock, structured: Raw) -> None:
    """What a poll says of a task."""
    told = decode(WireOutcome, structured)
    task = told.task if told else None
    if task is None:
        tags = notices.poll("\n".join(texts(block.content)))
        task = WireTask(tags.get("task_id"), tags.get("task_type"), tags.get("status"))
    said = notices.ended(task.status, task.result or task.output)
    target = task.task_id or tool.asked.target
    if said is None or target is None or task.task_type not in (None, "local_agent", "remote_agent", "local_workflow"):
        return

    def tell(row: AgentRow) -> None:
        if row.id not in here.file.ended:
            _end(here, row, *said)

    here.family.with_agent(here.who.session, target, tell)


def answered(here: SpawnPlace, id: str, block: ContentBlock) -> None:
    """A message to an agent went out; one that had stopped may go on with it."""
    if not block.is_error and "resumed" in "\n".join(texts(block.content)):
        _resumed(here, id)


def _resumed(here: SpawnPlace, id: str) -> None:
    target, at = here.who.sent.pop(id, ("", None))
    if at is None:
        return
    resumed, origin = at, here.origin

    def tell(row: AgentRow) -> None:
        here.file.ended.pop(row.id, None)
        row.say(Resumed(row.id, resumed, origin))

    here.family.with_agent(here.who.session, target, tell)


def noticed(here: SpawnPlace, text: str) -> None:
    """A text that may tell of tasks that are over."""
    for notice in notices.notices(text):
        if notice.mark in here.file.heard:
            continue
        here.file.heard[notice.mark] = None
        if notice.tool_use:
            _resumed(here, notice.tool_use)
        _over(here, notice)


def _over(here: SpawnPlace, notice: notices.TaskNotice) -> None:
    def tell(row: AgentRow) -> None:
        _end(here, row, notice.outcome, notice.by, notice.report)

    row = here.family.row(notice.tool_use) if notice.tool_use else None
    if row is not None:
        tell(row)
    else:
        here.family.with_agent(here.who.session, notice.task, tell)


def left(here: SpawnPlace, text: str) -> None:
    """Mates that said goodbye."""
    for mate in notices.mates_who_left(text):
        here.family.with_agent(
            here.who.session, mate, lambda row: _end(here, row, End.COMPLETED, Ending.RETURN, Report())
        )

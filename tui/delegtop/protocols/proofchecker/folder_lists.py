"""The lists kept for the whole folder: `errors.json`, in three shapes, and `state.json`, the state of every task."""

from collections.abc import Iterator
from typing import Any

from delegtop.base.clock import DAY, Millis, parse_time
from delegtop.model import notes
from delegtop.model.events import Described, Erred, Event, Fault, Heard, Noted, Phase, Started, Surveyed, Trust
from delegtop.protocols.proofchecker import PRODUCT, vocabulary
from delegtop.protocols.proofchecker.nodes import Document, FolderMemory, NodeLink, number, row, session_started, text

_FIXED = frozenset({"fixed", "resolved", "closed", "wontfix"})
_SHOWN = 200
_ALONE = "task "
"""How the id of a task begins that no session is known of."""


def read_errors(given: Any, document: Document, memory: FolderMemory) -> Iterator[Event]:
    """Errors of commands and agents. A list of compiler errors, or its description, tells of no delegation."""
    errors = given if isinstance(given, list) else given.get("errors")
    for each in errors if isinstance(errors, list) else ():
        context = each.get("context") if isinstance(each, dict) else None
        if isinstance(context, dict) and text(each.get("fix_status")) not in _FIXED:
            yield from _error(each, context, document, memory)


def _error(error: dict[str, Any], context: dict[str, Any], document: Document, memory: FolderMemory) -> Iterator[Event]:
    session, task = text(context.get("session_id")), number(context.get("task"))
    link = memory.whose(task, document.at) if session is None else None
    session = session or (link.session if link else None)
    if session is None:
        return
    at = document.moment(error.get("timestamp"))
    yield from session_started(session, document.origin, at or document.at, task=task)
    yield Heard(session, at, document.origin, phase=Phase.IDLE)
    recovery = error.get("recovery")
    recovery = recovery if isinstance(recovery, dict) else {}
    recoverable = recovery.get("auto_recoverable")
    fault = Fault(
        text(error.get("message")),
        text(error.get("type")),
        text(context.get("checkpoint")),
        # What no script could mend by itself has not ended the session for that.
        recoverable if recoverable is True else None,
        text(recovery.get("suggested_action")),
    )
    yield Erred(session, at, document.origin, fault)


def read_state(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """What is said to be in work, and what is known of the tasks that have a row."""
    projects = document.value.get("active_projects")
    in_work: set[str] = set()
    for project in projects if isinstance(projects, list) else [document.value]:
        task = number(project.get("project_number")) if isinstance(project, dict) else None
        if task is None:
            continue
        if (id := _row(project, task, document.copied or document.at)) is not None:
            in_work.add(id)
            yield from _in_work(id, project, task, document)
        yield from _aside(project, task, document, memory)
    yield from memory.listed(document, notes.LISTED, in_work)
    alone = tuple(sorted(id for id in in_work if id.startswith(_ALONE)))
    if document.at is not None and (alone or document.origin.source in memory.surveyed):
        memory.surveyed.add(document.origin.source)
        yield Surveyed(document.at, document.origin, alone)


def _row(project: dict[str, Any], task: str, written: Millis | None) -> str | None:
    """The row of a task in work: its session's, or, if none is named for a day, one of its own."""
    status, session = text(project.get("status")), text(project.get("session_id"))
    if vocabulary.outcome(status) != "running":
        return None
    if session is not None:
        return row(session, task, vocabulary.operation(status))
    return f"{_ALONE}{task}/{vocabulary.operation(status)}" if _long_ago(project, written) is not None else None


def _in_work(id: str, project: dict[str, Any], task: str, document: Document) -> Iterator[Event]:
    status, session = text(project.get("status")) or "", text(project.get("session_id"))
    since = None
    if session is not None:
        yield from session_started(session, document.origin, document.at, task=task)
    else:
        since = _long_ago(project, document.copied or document.at)
        yield Heard(id, since, document.origin, doing=status)
    yield Started(
        id,
        since,
        document.origin,
        command=vocabulary.operation(status),
        task=task,
        parent=session,
        trust=Trust.MODEL,
        listed=True,
        product=PRODUCT.name,
    )
    yield Described(id, None, document.origin, title=_title(project))
    yield Noted(id, document.at, document.origin, notes.LISTED, status)
    yield Noted(id, document.at, document.origin, notes.COPIED, document.remark or "")


def _aside(project: dict[str, Any], task: str, document: Document, memory: FolderMemory) -> Iterator[Event]:
    """What the list says of a task whose session another file knows."""
    session = text(project.get("session_id"))
    own = (session, f"{session}_{task}")

    def wanted(link: NodeLink) -> bool:
        return session is None or link.session in own

    yield from memory.tell(document, task, lambda document, link: _known(project, link, document), wanted)


def _known(project: dict[str, Any], link: NodeLink, document: Document) -> Iterator[Event]:
    """What the list says of a task that somebody worked on."""
    reasons = ("blocked_reason", "blocking_reason", "blocked_on", "on_hold_reason")
    blocked = text(next((project[key] for key in reasons if project.get(key)), None))
    yield Described(link.session, None, document.origin, title=_title(project))
    yield Noted(link.session, document.at, document.origin, notes.BLOCKER, blocked or "")


def _title(project: dict[str, Any]) -> str | None:
    return (text(project.get("project_name"), _SHOWN) or "").replace("_", " ") or None


def _long_ago(project: dict[str, Any], written: Millis | None) -> Millis | None:
    """When the task was last changed, if that is more than a day before the file: one that began since then names its
    session in another file."""
    given = project.get("last_updated")
    at = parse_time(given) if isinstance(given, str) else None
    return at if at is not None and written is not None and DAY < written - at < 1000 * DAY else None

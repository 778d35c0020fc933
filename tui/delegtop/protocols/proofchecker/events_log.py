"""`events.jsonl`: what the hooks and scripts of the system write down, one event a line, in the order of time.

The facts stand in the messages. A preflight opens an operation and a postflight closes it, but only if it succeeded;
a return that an agent writes is noted with its status in between.
"""

import re
from collections.abc import Iterator
from typing import Any

from delegtop.base.clock import Millis, parse_time
from delegtop.model import notes
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import (
    Described,
    Deviation,
    Ended,
    Ending,
    Event,
    Heard,
    Noted,
    Outcome,
    Resumed,
    Started,
)
from delegtop.protocols.proofchecker import PRODUCT, vocabulary
from delegtop.protocols.proofchecker.markers import defect
from delegtop.protocols.proofchecker.nodes import (
    Document,
    FolderMemory,
    number,
    row,
    session_heard,
    session_started,
    text,
)

_MANY = 3
_STAGE = re.compile(
    r"(?P<stage>Pre|Post)flight stage completed for (?P<operation>[\w-]+)(?: \(status: (?P<status>\w+)\))?"
)
_WRITTEN = re.compile(r"Artifact metadata written with status '(?P<status>[^']+)'")
_STOPPED = re.compile(r"Subagent stop for (?P<skill>[\w-]+) \((?P<operation>[\w-]+)\)")


class LoggedEvent:
    """One line, with the session and the operation it is about."""

    def __init__(self, document: Document, memory: FolderMemory) -> None:
        value = document.value
        self.value, self.origin, self.memory = value, document.origin, memory
        self.id = text(value.get("event_id")) or ""
        self.kind = text(value.get("event_type")) or ""
        self.message = text(value.get("message")) or ""
        stamp = value.get("timestamp")
        self.at: Millis | None = parse_time(stamp) if isinstance(stamp, str) else None
        self.task = number(value.get("task"))
        session = text(value.get("session_id"))
        self.session = memory.own_session(session, self.task) if session else None

    def operation(self, *said: str | None) -> str | None:
        """What it is about: as it says itself, else what the session runs on the task at this point of the log."""
        named = vocabulary.operation(*said)
        if named != vocabulary.UNNAMED:
            return named
        if self.id not in self.memory.operations and (running := self.memory.running.get(self.key)) is not None:
            self.memory.operations[self.id] = (running, 0)
        return self.memory.operations.get(self.id, (None, 0))[0]

    @property
    def key(self) -> tuple[str, str | None]:
        return self.session or "", self.task

    def row(self, operation: str | None) -> str:
        """The row of the operation, or of the session if it is not known."""
        return row(self.session or "", self.task, operation) if operation else self.session or ""


def read(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """What one line tells."""
    entry = LoggedEvent(document, memory)
    if entry.session is None:
        yield Deviation(document.origin, DeviationKind.MISSING_SESSION_ID, entry.kind)
        return
    if entry.at is None:
        yield Deviation(document.origin, DeviationKind.MISSING_TIME, entry.kind)
    yield from _session(entry)
    yield from session_heard(entry.session, entry.at, entry.origin)
    match entry.kind:
        case "lifecycle_stage":
            yield from _stage(entry)
        case "artifact_write":
            yield from _written(entry)
        case "subagent_stop":
            yield from _subagent_stopped(entry)
        case "system_defect":
            yield from _defect(entry)


def _session(entry: LoggedEvent) -> Iterator[Event]:
    """The session, told once: every line names it."""
    session, memory = entry.session or "", entry.memory
    claude = text(entry.value.get("cc_session_id"))
    first = f"{session} {claude or ''}"
    if first in memory.begun:
        return
    memory.begun.add(first)
    at = entry.at if vocabulary.parent(session) is not None and session not in memory.begun else None
    memory.begun.add(session)
    refs = (("session_id", claude),) if claude else ()
    yield from session_started(session, entry.origin, entry.at, task=entry.task, at=at, refs=refs)
    yield from memory.link(entry.task, session, None, entry.at)
    if cwd := text(entry.value.get("cwd")):
        yield Described(session, entry.at, entry.origin, cwd=cwd)


def _stage(entry: LoggedEvent) -> Iterator[Event]:
    """An operation begins, or its result was taken."""
    match = _STAGE.search(entry.message)
    if match is not None and match["stage"] == "Pre":
        yield from _dispatched(entry, vocabulary.operation(match["operation"]))
    elif match is not None:
        yield from _taken(entry, vocabulary.operation(match["operation"]), match["status"])


def _dispatched(entry: LoggedEvent, operation: str) -> Iterator[Event]:
    memory, id, at, origin = entry.memory, entry.row(operation), entry.at, entry.origin
    if entry.id not in memory.operations:  # a line that is read again is no further dispatch
        memory.dispatches[id] = memory.dispatches.get(id, 0) + 1
        memory.operations[entry.id] = (operation, memory.dispatches[id])
    memory.running[entry.key] = operation
    memory.ended.discard(id)
    times = memory.operations[entry.id][1]
    if times == 1:
        yield Started(id, at, origin, command=operation, task=entry.task, parent=entry.session, product=PRODUCT.name)
    else:
        yield from _again(entry, id, times)
    yield Heard(id, at, origin, doing="dispatched")
    yield from memory.link(entry.task, entry.session or "", operation, at)


def _again(entry: LoggedEvent, id: str, times: int) -> Iterator[Event]:
    """It is dispatched once more, so what was said of the dispatch before no longer holds."""
    if entry.at is not None:
        yield Resumed(id, entry.at, entry.origin)
    yield Noted(
        id, entry.at, entry.origin, notes.LOOP if times >= _MANY else notes.PROGRESS, f"dispatched {times} times"
    )
    for kind in (notes.CLOSED, notes.PARKED, notes.REPORTED):
        yield Noted(id, entry.at, entry.origin, kind, "")


def _taken(entry: LoggedEvent, operation: str, status: str | None) -> Iterator[Event]:
    memory, id = entry.memory, entry.row(operation)
    if memory.running.get(entry.key) == operation:
        del memory.running[entry.key]
    yield Noted(id, entry.at, entry.origin, notes.CLOSED, status or "done")
    yield Noted(id, entry.at, entry.origin, notes.PARKED, "")
    if id not in memory.ended:
        yield from _ended(entry, id, operation, status)


def _written(entry: LoggedEvent) -> Iterator[Event]:
    """The agent wrote its return."""
    match = _WRITTEN.search(entry.message)
    status = match["status"] if match else None
    operation = entry.operation() or entry.operation(None if vocabulary.outcome(status) == "running" else status)
    id = entry.row(operation)
    if operation is None:
        return
    if vocabulary.outcome(status) == "running" or status is None:
        yield Heard(id, entry.at, entry.origin, doing=f"return says {status}" if status else entry.message)
        return
    yield Noted(id, entry.at, entry.origin, notes.PARKED, "")
    if id in entry.memory.ended:
        # It reported before and was not given work again: it is still alive.
        yield Heard(id, entry.at, entry.origin, doing=f"return written again: {status}")
    else:
        yield from _ended(entry, id, operation, status)


def _ended(entry: LoggedEvent, id: str, operation: str, status: str | None) -> Iterator[Event]:
    entry.memory.ended.add(id)
    word = vocabulary.outcome(status) or "completed"
    outcome = Outcome.COMPLETED if word == "running" else Outcome(word)
    if entry.memory.dispatches.get(id) is None:
        yield Started(
            id, None, entry.origin, command=operation, task=entry.task, parent=entry.session, product=PRODUCT.name
        )
    # The log knows the status alone; the return itself stands in the file.
    yield Ended(id, entry.at, entry.origin, outcome, Ending.REGISTRY)
    if status:
        yield Noted(id, entry.at, entry.origin, notes.REPORTED, status)


def _subagent_stopped(entry: LoggedEvent) -> Iterator[Event]:
    """An agent ended its turn. If it has not reported by then, it waits for something or has forgotten to."""
    match = _STOPPED.search(entry.message)
    said = (match["operation"], match["skill"]) if match else ()
    operation = entry.operation(*said)
    id = entry.row(operation)
    skill = match["skill"] if match and match["skill"] != "unknown" else None
    if operation is None or id in entry.memory.ended:
        return
    yield Heard(id, entry.at, entry.origin, doing="its turn ended")
    if entry.memory.dispatches.get(id) is None:
        yield Started(
            id,
            None,
            entry.origin,
            caller=skill,
            command=operation,
            task=entry.task,
            parent=entry.session,
            product=PRODUCT.name,
        )
    told = f"its turn ended without a return ({skill or 'agent'})"
    yield Noted(id, entry.at, entry.origin, notes.PARKED, told)


def _defect(entry: LoggedEvent) -> Iterator[Event]:
    """Something the system found wrong with a dispatch; several of one row stand together."""
    detail: Any = entry.value.get("detail")
    given = {**(detail if isinstance(detail, dict) else {}), "detail": entry.message}
    id = entry.row(entry.operation())
    found = entry.memory.defects.setdefault(id, {})
    found[defect(given)] = None
    yield Noted(id, entry.at, entry.origin, notes.DEFECT, "\n".join(found))

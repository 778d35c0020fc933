"""The small files by which scripts mark what is open: markers, locks, live sessions, and counters against loops."""

from collections.abc import Iterator
from typing import Any

from delegtop.base.clock import MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.base.text import folded
from delegtop.model import notes
from delegtop.model.events import (
    Ended,
    Ending,
    Event,
    Heard,
    Noted,
    Outcome,
    Resumed,
    Started,
    Surveyed,
    Trust,
)
from delegtop.protocols.proofchecker import PRODUCT, vocabulary
from delegtop.protocols.proofchecker.nodes import (
    Document,
    FolderMemory,
    NodeLink,
    described,
    number,
    row,
    session_heard,
    session_started,
    text,
)
from delegtop.protocols.proofchecker.return_meta import shell_texts

_MOST = 1 << 31
"""No process has a number beyond this."""


def read_marker(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """`.postflight-pending`: written before the agent starts, deleted when its result was taken."""
    value, origin = document.value, document.origin
    session = text(value.get("session_id"))
    task = number(value.get("task_number")) or document.place.task
    skill = text(value.get("skill"))
    operation = vocabulary.operation(text(value.get("operation")), skill)
    if session is None or vocabulary.is_shell_text(session):
        link = memory.whose(task, document.at)
        document = document.beside(link)
        session = link.session if link else None
    else:
        session = memory.own_session(session, task)
    id = row(session, task, operation) if session else f"{document.place.folder or 'unknown'}/{operation}"
    at = document.at
    if session:
        yield from session_started(session, origin, at, task=task)
        yield from session_heard(session, at, origin)
    yield Started(
        id,
        at,
        origin,
        command=None if operation == vocabulary.UNNAMED else operation,
        caller=skill,
        task=task,
        parent=session,
        trust=Trust.MTIME if document.copied is None else Trust.MODEL,
        product=PRODUCT.name,
    )
    yield from described(id, document)
    if memory.open_rows.get(origin.source) != id:  # one that is only rewritten opens nothing anew
        memory.open_rows[origin.source] = id
        memory.ended.discard(id)
        if at is not None:
            yield Resumed(id, at, origin)
    if session:
        yield from memory.link(task, session, operation, at, document.copied)
    told = {notes.MARKER: text(value.get("reason")) or "open", notes.BREACH: "\n".join(shell_texts(value)) or None}
    yield from memory.notes(document, id, told)


def marker_vanished(origin: Origin, at: Millis, memory: FolderMemory) -> Iterator[Event]:
    """The result was taken; if no return was seen, nobody knows what it was."""
    id = memory.open_rows.pop(origin.source, None)
    yield from memory.gone(origin, at)
    if id is None:
        return
    yield Noted(id, at, origin, notes.CLOSED, "its marker was deleted")
    if id not in memory.ended:
        yield Ended(id, at, origin, Outcome.UNKNOWN, Ending.REGISTRY)


def read_stops(data: bytes, document: Document, memory: FolderMemory) -> Iterator[Event]:
    """`.postflight-loop-guard`: how often the stop hook has sent the agent back."""
    count = int(data)

    def teller(document: Document, link: NodeLink) -> Iterator[Event]:
        id = row(link.session, document.place.task, link.operation or vocabulary.UNNAMED)
        told = f"stop refused {count} of {vocabulary.STOPS} times"
        yield from memory.notes(document, id, {_loop(count, vocabulary.STOPS): told})

    yield from memory.tell(document, document.place.task, teller, lambda link: link.operation is not None)


def read_continuations(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """`.continuation-loop-guard`: how often the work was handed on to a fresh agent."""
    value = document.value
    count, most = value.get("continuation_count"), value.get("max_continuations")
    yield from _counter(document, memory, {_loop(count, most): counted(count, most, "continuation")})


def read_cycles(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """`.orchestrator-loop-guard`: the cycles of a session that takes one task through all its operations."""
    value, session = document.value, text(document.value.get("session_id"))
    state = text(value.get("current_state"))
    count, most = value.get("cycle_count"), value.get("max_cycles")
    failures, limit = value.get("infra_failures"), value.get("max_infra_failures")
    told: dict[str, list[str | None]] = {notes.PROGRESS: [f"the task is {state.replace('_', ' ')}" if state else None]}
    told.setdefault(_loop(count, most), []).append(counted(count, most, "cycle"))
    told.setdefault(_loop(failures, limit), []).append(
        counted(failures, limit, "failed dispatch") if failures else None
    )
    noted = {kind: "; ".join(filter(None, parts)) or None for kind, parts in told.items()}
    noted[notes.DEFECT] = defects(value.get("detected_defects"))
    yield from _counter(document, memory, noted, command="orchestrate")
    at = document.moment(value.get("last_updated"), MINUTE)
    if session and at is not None:
        yield Heard(session, at, document.origin, doing=state)


def _counter(
    document: Document, memory: FolderMemory, noted: dict[str, str | None], command: str | None = None
) -> Iterator[Event]:
    """What a counter that names its session says of it."""
    session = text(document.value.get("session_id"))
    noted[notes.BREACH] = "\n".join(shell_texts(document.value)) or None
    if session is None or vocabulary.is_shell_text(session):
        return
    task = document.place.task
    near = document.moment(document.value.get("last_updated") or document.value.get("created"), MINUTE)
    yield from session_started(session, document.origin, near, task=task, command=command)
    yield from described(session, document)
    yield from memory.link(task, session, None, near, document.copied)
    yield from memory.notes(document, session, noted)


def read_lock(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """`.lock/holder.json`: one session at a time works on a task. Its heartbeat is true, and seldom renewed."""
    value, origin = document.value, document.origin
    session = text(value.get("session_id"))
    if session is None:
        return
    task = number(value.get("task_number")) or document.place.task
    acquired, heard = (
        document.moment(value.get("acquired_at"), MINUTE),
        document.moment(value.get("heartbeat_at"), MINUTE),
    )
    command, operation = text(value.get("command")), text(value.get("operation"))
    yield from session_started(
        session,
        origin,
        acquired or document.at,
        task=task,
        at=acquired,
        command=_first_word(command),
        pid=_process(document),
        # The lock of a child is taken anew for each operation: what a log says of its start is better.
        trust=Trust.SCRIPT if vocabulary.parent(session) is None else Trust.MTIME,
    )
    yield from described(session, document)
    if heard is not None:
        yield Heard(session, heard, origin, doing=operation)
    yield from memory.link(task, session, None, document.at, document.copied)
    told = f"holds the lock of task {task or '?'}{f' for {operation}' if operation else ''}"
    yield from memory.notes(document._replace(at=heard or document.at), session, {notes.LOCK: told})


def read_session(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """`.sessions/*.json`: a session that runs now, with its process."""
    value, origin = document.value, document.origin
    session = text(value.get("session_id"))
    if session is None:
        return
    tasks = value.get("task_numbers")
    numbers = [each for given in (tasks if isinstance(tasks, list) else ()) if (each := number(given))]
    heard = document.moment(value.get("heartbeat_at"), MINUTE)
    began = document.moment(value.get("started_at") or value.get("registered_at"), MINUTE)
    claude = text(value.get("cc_session_id"))
    yield from session_started(
        session,
        origin,
        heard or document.at,
        task=numbers[0] if len(numbers) == 1 else None,
        at=began,
        command=_first_word(text(value.get("command"))),
        pid=_process(document),
        host=text(value.get("host") or value.get("hostname")),
        refs=(("session_id", claude),) if claude else (),
    )
    if len(numbers) > 1:
        yield from described(session, document, f"tasks {', '.join(numbers)}", text(value.get("cwd")))
    if heard is not None:
        yield Heard(session, heard, origin)
    if document.at is not None:
        memory.surveyed.add(origin.source)
        yield Surveyed(document.at, origin, (session,))
    if len(numbers) == 1:  # a batch hands its tasks to sessions of their own
        yield from memory.link(numbers[0], session, None, began, document.copied)


def defects(given: Any) -> str | None:
    """What the system found wrong, a line each: the class, a colon, what happened."""
    lines = [defect(each) for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    return "\n".join(lines) or None


def defect(given: dict[str, Any]) -> str:
    told = text(given.get("detail") or given.get("message")) or "no detail"
    return f"{text(given.get('defect_class')) or 'DEFECT'}: {folded(told)}"


def _loop(count: Any, most: Any) -> str:
    """The kind of note a count is: a loop when it has reached its limit, else mere progress."""
    at_limit = isinstance(count, int) and isinstance(most, int) and 0 < most <= count
    return notes.LOOP if at_limit else notes.PROGRESS


def counted(count: Any, most: Any, what: str) -> str | None:
    """`cycle 3 of 5`."""
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    if isinstance(most, int) and not isinstance(most, bool):
        return f"{what} {count} of {most}"
    return f"{what} {count}"


def _process(document: Document) -> int | None:
    """Its process; that of a copy may have run on any machine."""
    given = document.value.get("pid") if document.copied is None else None
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 < given < _MOST else None


def _first_word(command: str | None) -> str | None:
    return command.split()[0].lstrip("/") or None if command else None

"""Files of a task's folder that name no session: the handoff to the orchestrator, the progress of a phase, new tasks.

They belong to whoever works on the task, which another file of the task says.
"""

from collections.abc import Iterator
from typing import Any

from delegtop.base.clock import Millis
from delegtop.model import notes
from delegtop.model.events import Described, Ended, Ending, Event, Heard, Outcome, Phase, Report, Started
from delegtop.protocols.proofchecker import PRODUCT, vocabulary
from delegtop.protocols.proofchecker.nodes import (
    Document,
    FolderMemory,
    NodeLink,
    described,
    row,
    runs,
    session_started,
    text,
)
from delegtop.protocols.proofchecker.return_meta import artifacts, phases

_SHOWN = 200
_MANY = 3


def read_handoff(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """`.orchestrator-handoff.json`: the outcome of an operation, for the orchestrator."""
    session, status = text(document.value.get("session_id")), text(document.value.get("status"))
    named = vocabulary.operation(None if vocabulary.outcome(status) == "running" else status)
    operation = named if named != vocabulary.UNNAMED else "implement"

    def teller(document: Document, link: NodeLink) -> Iterator[Event]:
        return _handoff(document, memory, link, operation)

    if session is None or vocabulary.is_shell_text(session):
        yield from memory.tell(document, document.place.task, teller, runs(operation))
        return
    yield from session_started(session, document.origin, document.at, task=document.place.task)
    yield from teller(document, NodeLink(document.at or Millis(0), session, None, document.copied))


def _handoff(document: Document, memory: FolderMemory, link: NodeLink, operation: str) -> Iterator[Event]:
    value, status = document.value, text(document.value.get("status"))
    id = row(link.session, document.place.task, operation)
    yield _operation(id, document, link, operation)
    yield from described(id, document)
    word = vocabulary.outcome(status)
    if word == "running":
        yield Heard(id, document.at, document.origin, doing=phases(value) or status)
    else:
        memory.ended.add(id)
        told = Report(status, text(value.get("summary")), artifacts(value), next_steps=_hint(value))
        ended = Outcome(word) if word else Outcome.UNKNOWN
        yield Ended(id, document.ended_at, document.origin, ended, Ending.RETURN, told)
    context = value.get("continuation_context")
    path = context.get("handoff_path") if isinstance(context, dict) else None
    yield from memory.notes(
        document,
        id,
        {
            notes.NEXT: _hint(value),
            notes.BLOCKER: _blockers(value.get("blockers")),
            notes.RESUME: text(context),
            notes.HANDOFF: text(path or value.get("handoff_path")),
            notes.PROGRESS: phases(value),
            notes.REVIEW: text(value.get("review_reason")) if value.get("requires_user_review") is True else None,
        },
    )


def _operation(id: str, document: Document, link: NodeLink, operation: str) -> Started:
    task, product = document.place.task, PRODUCT.name
    return Started(id, None, document.origin, command=operation, task=task, parent=link.session, product=product)


def _hint(value: dict[str, Any]) -> str | None:
    hint = text(value.get("next_action_hint"))
    return None if hint in ("none", "complete") else hint


def _blockers(given: Any) -> str | None:
    """What is in the way, a line each."""
    lines = []
    for each in given if isinstance(given, list) else []:
        if isinstance(each, dict):
            told = text(each.get("description") or each.get("reason")) or text(each) or ""
            severity = text(each.get("severity"))
            lines.append(f"{told} ({severity})" if severity else told)
        elif (told := text(each) or "") != "":
            lines.append(told)
    return "\n".join(filter(None, lines)) or None


def read_progress(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """`progress/phase-N-progress.json`: how far a phase of the plan is."""
    yield from memory.tell(
        document,
        document.place.task,
        lambda document, link: _progress(document, memory, link),
        runs("implement"),
    )


def _progress(document: Document, memory: FolderMemory, link: NodeLink) -> Iterator[Event]:
    value = document.value
    id = row(link.session, document.place.task, "implement")
    phase, status = text(value.get("phase")) or "?", text(value.get("status"))
    objective = text(value.get("current_objective"), _SHOWN)
    done, total = _objectives(value.get("objectives"))
    counted = f"{done} of {total} objectives" if total else None
    told = f"phase {phase} {status or 'open'}" + (f" ({counted})" if counted else "")
    yield _operation(id, document, link, "implement")
    if id not in memory.ended:
        yield Heard(id, document.at, document.origin, doing=f"phase {phase}: {objective}" if objective else told)
    finished = vocabulary.outcome(status) == "completed" or (total > 0 and done == total)
    tried = value.get("approaches_tried")
    yield from memory.notes(
        document,
        id,
        {
            notes.PROGRESS: told,
            notes.SALVAGE: f"phase {phase} done" if finished else None,
            notes.BLOCKER: objective if vocabulary.outcome(status) == "blocked" else None,
            notes.LOOP: f"{len(tried)} approaches tried" if isinstance(tried, list) and len(tried) >= _MANY else None,
        },
    )


def _objectives(given: Any) -> tuple[int, int]:
    """How many objectives are done, of how many; they are a list or an object."""
    listed = list(given.values()) if isinstance(given, dict) else given if isinstance(given, list) else []
    statuses = [text(each.get("status")) if isinstance(each, dict) else text(each) for each in listed]
    return sum(vocabulary.outcome(status) == "completed" for status in statuses), len(listed)


def read_spawn(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """`.spawn-return.json`: a task that is stuck asks for new ones, each a row below it."""
    yield from memory.tell(document, document.place.task, _spawned)


def _spawned(document: Document, link: NodeLink) -> Iterator[Event]:
    given = document.value.get("new_tasks")
    for index, each in enumerate(given if isinstance(given, list) else (), 1):
        if not isinstance(each, dict):
            continue
        id = f"{link.session}/new-{text(each.get('index')) or index}"
        needs = each.get("dependencies")
        waits = f", needs {', '.join(str(one) for one in needs)}" if isinstance(needs, list) and needs else ""
        yield Started(id, None, document.origin, parent=link.session, product=PRODUCT.name)
        title, asked = text(each.get("title"), _SHOWN), text(each.get("description"))
        yield Described(id, None, document.origin, title=title, prompt=asked)
        yield Heard(id, document.at, document.origin, doing=f"new task{waits}", phase=Phase.IDLE)

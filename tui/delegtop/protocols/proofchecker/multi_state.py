"""`.orchestrator-multi-state*.json`, the registry of a batch of tasks, and `.return-meta-multi-*.json`, its return."""

from collections.abc import Iterator
from typing import Any

from delegtop.base.clock import Millis
from delegtop.dialects.kit.coerce import items
from delegtop.model import notes
from delegtop.model.events import (
    Described,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Phase,
    Report,
    Resumed,
    Started,
    Surveyed,
    Trust,
)
from delegtop.protocols.proofchecker import PRODUCT, vocabulary
from delegtop.protocols.proofchecker.markers import counted, defect
from delegtop.protocols.proofchecker.nodes import Document, FolderMemory, number, session_started, text
from delegtop.protocols.proofchecker.return_meta import artifacts

_SHOWN = 6
_MANY = 3


def read_state(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """The batch, every task of it, and what each waits for."""
    batch = TaskBatch(document)
    if batch.session is None:
        return
    near = max(batch.dispatched.values(), default=None) or document.at
    yield from session_started(batch.session, document.origin, near, command="orchestrate")
    yield Described(batch.session, None, document.origin, title=batch.title)
    yield from memory.notes(document, batch.session, batch.notes())
    ids = [batch.session]
    for task in batch.tasks:
        ids.append(batch.row(task))
        yield from _task(batch, task, document, memory)
        yield from memory.link(task, batch.row(task), None, batch.dispatched.get(task), document.copied)
    if batch.is_over:
        outcome = Outcome.PARTIAL if batch.failed else Outcome.COMPLETED
        yield Ended(batch.session, None, document.origin, outcome, Ending.REGISTRY)
    else:
        yield Heard(batch.session, document.at, document.origin, doing=batch.doing)
    if document.at is not None:
        memory.surveyed.add(document.origin.source)
        yield Surveyed(document.at, document.origin, tuple(ids))


class TaskBatch:
    """What the registry says, in words of one kind."""

    def __init__(self, document: Document) -> None:
        value = document.value
        self.value = value
        self.session = text(value.get("session_id"))
        self.tasks = [*dict.fromkeys(_numbers(value.get("task_numbers")))]
        self.waves = [_numbers(wave) for wave in items(value.get("waves"))]
        self.statuses = _by_task(value.get("current_statuses"))
        self.completed = set(_numbers(value.get("completed_tasks")))
        self.failed = dict(_failure(each) for each in items(value.get("failed_tasks")))
        self.dispatched = {
            task: Millis(int(at) * 1000)
            for task, at in _by_task(value.get("dispatch_start_ts")).items()
            if isinstance(at, int | float) and 0 < at < 1e11
        }
        self.needs = {task: _numbers(needed) for task, needed in _by_task(value.get("dependency_graph")).items()}
        self.titles = {
            task: title
            for task, folder in _by_task(value.get("task_dirs")).items()
            if (title := (vocabulary.place(f"{folder}/x").slug or "").replace("_", " "))
        }
        self.wave_of = {task: index for index, wave in reversed([*enumerate(self.waves, 1)]) for task in wave}
        self.defects = _about(value.get("detected_defects"))
        self.put_off = _about(value.get("defer_ledger"))
        self.infra_failures = _by_task(value.get("infra_failures"))

    def row(self, task: str) -> str:
        return f"{self.session}_{task}"

    def status(self, task: str) -> str | None:
        if task in self.completed:
            return "completed"
        return "failed" if task in self.failed else text(self.statuses.get(task))

    @property
    def is_over(self) -> bool:
        return bool(self.tasks) and all(self.status(task) in ("completed", "failed") for task in self.tasks)

    @property
    def title(self) -> str:
        more = f" and {len(self.tasks) - _SHOWN} more" if len(self.tasks) > _SHOWN else ""
        return f"tasks {', '.join(self.tasks[:_SHOWN])}{more}"

    @property
    def doing(self) -> str:
        done = sum(self.status(task) == "completed" for task in self.tasks)
        return f"{done} of {len(self.tasks)} tasks completed"

    def notes(self) -> dict[str, str | None]:
        value = self.value
        count, most = value.get("cycle_count"), value.get("max_cycles")
        cycle = counted(count, most, "cycle")
        spent = isinstance(count, int) and isinstance(most, int) and 0 < most <= count
        stalled = value.get("consecutive_no_dispatch_cycles")
        idle = f"{stalled} cycles without a dispatch" if isinstance(stalled, int) and stalled >= _MANY else None
        violated = "no progress" if value.get("forward_progress_violated") is True else None
        waves = [
            f"wave {index}: {sum(self.status(task) == 'completed' for task in wave)} of {len(wave)}"
            for index, wave in enumerate(self.waves, 1)
        ]
        return {
            notes.LOOP: "; ".join(filter(None, (cycle if spent and not self.is_over else None, idle, violated)))
            or None,
            notes.PROGRESS: "; ".join(filter(None, (self.doing, *waves, cycle))),
        }

    def waits_for(self, task: str) -> list[str]:
        """The tasks that must be completed before it."""
        return [each for each in self.needs.get(task, ()) if self.status(each) != "completed"]


def _task(batch: TaskBatch, task: str, document: Document, memory: FolderMemory) -> Iterator[Event]:
    """One task of the batch: its row, and what the registry says it does."""
    id, origin, at = batch.row(task), document.origin, batch.dispatched.get(task)
    status = batch.status(task) or "not_started"
    since = memory.since(id, status, document.at)
    # It is the start of the last dispatch: what a log says of the first is better.
    yield Started(id, at, origin, task=task, parent=batch.session, trust=Trust.MTIME, listed=True, product=PRODUCT.name)
    if task in batch.titles:
        yield Described(id, None, origin, title=batch.titles[task])
    if at is not None:
        yield Resumed(id, at, origin)
    outcome = vocabulary.outcome(status)
    if status in vocabulary.NEXT_OPERATION:
        yield Heard(id, since, origin, doing=_waiting(batch, task, status), phase=Phase.IDLE)
    elif outcome is None or outcome == "running":
        yield Heard(id, since, origin, doing=status.replace("_", " "))
    else:
        over = since if document.copied is None else None
        yield Ended(id, over, origin, Outcome(outcome), Ending.REGISTRY)
    if reason := batch.failed.get(task):
        yield Erred(id, None, origin, Fault(reason))
    for kind, told in (*_task_notes(batch, task), (notes.COPIED, document.remark or "")):
        yield Noted(id, document.at, origin, kind, told)


def _waiting(batch: TaskBatch, task: str, status: str) -> str:
    wave = batch.wave_of.get(task)
    needed = batch.waits_for(task)
    parts = [status.replace("_", " ")]
    if wave is not None and len(batch.waves) > 1:
        parts.append(f"wave {wave} of {len(batch.waves)}")
    if needed:
        parts.append(f"waits for {', '.join(needed[:_SHOWN])}")
    return ", ".join(parts)


def _task_notes(batch: TaskBatch, task: str) -> Iterator[tuple[str, str]]:
    """What the batch noted of one task; an empty text withdraws what it said before."""
    failed = [each for each in batch.waits_for(task) if each in batch.failed]
    yield notes.BLOCKER, f"waits for {', '.join(failed)}, which failed" if failed else ""
    found = [defect(each) for each in batch.defects.get(task, ())]
    yield notes.DEFECT, "\n".join(dict.fromkeys(found))
    put_off = [
        ": ".join(filter(None, (text(each.get("defer_reason")), text(each.get("detail")))))
        for each in batch.put_off.get(task, ())
    ]
    yield notes.DEFERRED, "" if batch.status(task) == "completed" else "\n".join(put_off)
    failures = batch.infra_failures.get(task)
    yield notes.LOOP, f"failed dispatch {failures}" if isinstance(failures, int) and failures >= _MANY else ""


def read_return(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """The end of a batch, with what is left and how to go on."""
    value = document.value
    inner = value.get("metadata")
    inner = inner if isinstance(inner, dict) else {}
    session = text(value.get("session_id")) or text(inner.get("session_id"))
    if session is None:
        return
    status, origin = text(value.get("status")), document.origin
    yield from session_started(session, origin, document.at, command="orchestrate")
    for key, outcome in (("tasks_completed", Outcome.COMPLETED), ("tasks_failed", Outcome.FAILED)):
        for task, reason in (_failure(each) for each in items(inner.get(key))):
            id = f"{session}_{task}"
            yield Started(id, None, origin, task=task, parent=session, listed=True, product=PRODUCT.name)
            yield Ended(id, None, origin, outcome, Ending.REGISTRY)
            if reason and outcome is Outcome.FAILED:
                yield Erred(id, None, origin, Fault(reason))
    for each in items(inner.get("detected_defects")):
        if isinstance(each, dict) and (about := number(each.get("task"))):
            yield Noted(f"{session}_{about}", document.at, origin, notes.DEFECT, defect(each))
    word = vocabulary.outcome(status)
    paused = "The user paused it." if inner.get("paused_by_user") is True else None
    hint = text(inner.get("resume_hint") or value.get("resume_hint"))
    if word == "running":
        yield Heard(session, document.at, origin, doing=status)
    else:
        report = Report(status, text(value.get("summary")), artifacts(value), session_id=session)
        ended = Outcome(word) if word else Outcome.UNKNOWN
        yield Ended(session, document.ended_at, origin, ended, Ending.RETURN, report)
    told = {
        notes.RESUME: hint,
        notes.PROGRESS: " ".join(filter(None, (_tally(inner), paused))),
        notes.REPORTED: status,
        notes.LOOP: "no progress" if inner.get("forward_progress_violated") is True else None,
        notes.REVIEW: text(value.get("review_reason")) if value.get("requires_user_review") is True else None,
    }
    yield from memory.notes(document, session, told)


def _tally(inner: dict[str, Any]) -> str:
    done, failed = _numbers(inner.get("tasks_completed")), items(inner.get("tasks_failed"))
    cycles = inner.get("cycles_used")
    used = f" in {cycles} cycles" if isinstance(cycles, int) else ""
    return f"{len(done)} tasks completed, {len(failed)} failed{used}."


def _about(given: Any) -> dict[str, list[dict[str, Any]]]:
    """What is noted of each task."""
    found: dict[str, list[dict[str, Any]]] = {}
    for each in items(given):
        if isinstance(each, dict) and (task := number(each.get("task"))) is not None:
            found.setdefault(task, []).append(each)
    return found


def _failure(given: Any) -> tuple[str, str]:
    """The number of a failed task and why it failed, if that is said."""
    if isinstance(given, dict):
        return number(given.get("task") or given.get("task_number")) or "?", text(given.get("reason")) or ""
    return number(given) or "?", ""


def _by_task(given: Any) -> dict[str, Any]:
    return {number(task) or task: each for task, each in given.items()} if isinstance(given, dict) else {}


def _numbers(given: Any) -> list[str]:
    return [each for one in items(given) if (each := number(one)) is not None]

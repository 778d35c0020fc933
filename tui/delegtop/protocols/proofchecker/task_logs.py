"""`metrics.jsonl` and `issues.jsonl` of a task: what scripts append for each dispatch, and what agents note as they go.

A line of metrics is written when a dispatch is over: how it ended, how long it took, what it used of which model. What
nobody could measure is left out of it, and never zero. Notes of issues often name no session: they belong to whoever
works on the task, which another file says.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from delegtop.base.clock import DAY, SECOND, Millis, parse_time
from delegtop.base.text import folded
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
    Phase,
    Resumed,
    Started,
    Trust,
)
from delegtop.model.usage import Usage
from delegtop.protocols.proofchecker import PRODUCT, vocabulary
from delegtop.protocols.proofchecker.nodes import (
    Dispatch,
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

_LONGEST = 1e9
_MOST = 10**15
"""No dispatch uses more."""
_SHOWN = 300
_SEPARATOR = " · "


def read_metrics(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """One dispatch of an operation."""
    value, origin = document.value, document.origin
    session, task = text(value.get("session_id")), number(value.get("task")) or document.place.task
    if session is None or vocabulary.is_shell_text(session):
        yield Deviation(origin, DeviationKind.MISSING_SESSION_ID, "session_id")
        return
    at = _moment(value.get("recorded_at"))
    if at is None:
        yield Deviation(origin, DeviationKind.MISSING_TIME, "recorded_at")
    session = memory.own_session(session, task)
    operation = _operation(text(value.get("phase")))
    id, start = row(session, task, operation), _start(value, at)
    is_first = not memory.metered.get(id)
    claude = text(value.get("cc_session_id"))
    yield from session_started(session, origin, at, refs=(("session_id", claude),) if claude else ())
    yield from session_heard(session, at, origin)
    yield Started(
        id,
        start if is_first else None,  # the others give it work again
        origin,
        agent=text(value.get("agent")),
        command=operation,
        task=task,
        parent=session,
        refs=_refs(value),
        # What was reckoned up long after from commits is no clock.
        trust=Trust.MODEL if value.get("backfilled") is True else Trust.SCRIPT,
        product=PRODUCT.name,
    )
    yield from described(id, document)
    if model := _model(value.get("model")):
        yield Described(id, at, origin, model=model)
    yield from _amounts(id, document, memory, at, start)
    yield from _ended(id, value, document, at)
    yield from memory.link(task, session, operation, start or at)


def _operation(phase: str | None) -> str:
    named = vocabulary.operation(phase)
    return phase if named == vocabulary.UNNAMED and phase else named


def _amounts(
    id: str, document: Document, memory: FolderMemory, at: Millis | None, start: Millis | None
) -> Iterator[Event]:
    """What all dispatches of the operation used together; one that comes after another gives it work again."""
    known = memory.metered.setdefault(id, {})
    entry = text(document.value.get("entry_id")) or f"line {document.origin.line}"
    over = max((each.over for each in known.values() if each.over is not None), default=None)
    if entry not in known and over is not None and at is not None and over < at:
        yield Resumed(id, Millis(max(start or 0, over + 1)), document.origin)
    known[entry] = _dispatch(document.value, at)
    tokens = [each.tokens for each in known.values() if each.tokens is not None]
    if tokens:
        used = tuple(_summed(each.used for each in known.values() if each.used is not None)) or None
        # No sign of life: it is written once the dispatch is over.
        yield Heard(id, None, document.origin, tokens=sum(tokens), used=used)


def _dispatch(value: dict[str, Any], over: Millis | None) -> Dispatch:
    """Of the tokens those are counted that were new: what is read from a cache is read again with every call."""
    given = value.get("tokens")
    counts = {kind: _count(given.get(kind)) for kind in _KINDS} if isinstance(given, dict) else {}
    told = [count for kind, count in counts.items() if count is not None and kind != "cache_read"]
    if not told:
        return Dispatch(None, None, over)
    model = value.get("model")
    amounts = {kind: count or 0 for kind, count in counts.items()}
    one = text(model) if isinstance(model, str) else None  # of several nobody knows which used how much
    return Dispatch(
        sum(told),
        Usage(one, amounts["input"], amounts["output"], amounts["cache_read"], amounts["cache_creation"])
        if one
        else None,
        over,
    )


_KINDS = ("input", "output", "cache_read", "cache_creation")


def _summed(usages: Iterator[Usage]) -> Iterator[Usage]:
    by_model: dict[str, list[Usage]] = {}
    for each in usages:
        by_model.setdefault(each.model, []).append(each)
    for model, several in by_model.items():
        yield Usage(model, *(sum(counts) for counts in zip(*(each.counts for each in several), strict=True)))


def _ended(id: str, value: dict[str, Any], document: Document, at: Millis | None) -> Iterator[Event]:
    word = text(value.get("outcome"))
    if word == "deferred":
        yield Heard(id, at, document.origin, doing="put off", phase=Phase.IDLE)
        yield Noted(id, at, document.origin, notes.DEFERRED, "put off by its orchestrator")
        return
    outcome = vocabulary.outcome(word)
    ended = Outcome.UNKNOWN if outcome in (None, "running") else Outcome(outcome)
    # The return itself stands in a file of its own.
    yield Ended(id, at, document.origin, ended, Ending.REGISTRY)


def _start(value: dict[str, Any], at: Millis | None) -> Millis | None:
    took = value.get("wall_clock_seconds")
    if at is None or not isinstance(took, int | float) or isinstance(took, bool) or not 0 < took < _LONGEST:
        return None
    return Millis(at - int(took * SECOND))


def _refs(value: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The transcript that has all of it, for as long as its program keeps it."""
    given = value.get("transcript")
    path = text(given.get("path")) if isinstance(given, dict) else None
    return (("transcript", path),) if path else ()


def _model(given: Any) -> str | None:
    return ", ".join(each for one in given if (each := text(one))) if isinstance(given, list) else text(given)


def _count(given: Any) -> int | None:
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < _MOST else None


def _moment(given: Any) -> Millis | None:
    return parse_time(given) if isinstance(given, str) else None


# -- issues ------------------------------------------------------------------------------------------------------------


class TaskIssue(NamedTuple):
    """What an agent wrote down that went wrong."""

    severity: str
    """`blocking`, `costly`, `minor` or `none`."""
    resolution: str
    """`fixed_inline`, `worked_around` or `open`; empty if it does not say."""
    kind: str
    what: str

    @property
    def is_open(self) -> bool:
        return self.resolution in ("open", "")


def issues(note: str) -> list[TaskIssue]:
    """The issues, from the text of a note."""
    return [TaskIssue(*[*line.split(_SEPARATOR, 3), "", "", ""][:4]) for line in note.splitlines()]


def read_issue(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """One issue; that something went well is no concern of anybody who looks for what is stuck."""
    value = document.value
    if value.get("kind") != "issue":
        return
    task, phase, at = _task(document), text(value.get("phase")), _moment(value.get("timestamp"))
    session = text(value.get("session_id"))
    operation = _operation(phase) if phase else None

    def wanted(link: NodeLink) -> bool:
        """Who does that to the task at that time; a return is written hours after what it was in the middle of."""
        near = at is None or not link.at or abs(at - link.at) < DAY
        same = session is None or session in (link.session, vocabulary.parent(link.session))
        same = same or vocabulary.parent(session or "") == link.session  # a batch often stands for its child
        return near and same and link.operation is not None and operation in (link.operation, None)

    yield from memory.tell(document, task, lambda document, link: _issue(document, memory, link), wanted)


def _issue(document: Document, memory: FolderMemory, link: NodeLink) -> Iterator[Event]:
    value, task = document.value, _task(document)
    id = row(link.session, task, link.operation or vocabulary.UNNAMED)
    told = memory.issues.setdefault(id, {})
    told[text(value.get("entry_id")) or f"line {document.origin.line}"] = _SEPARATOR.join(
        folded(text(value.get(name), _SHOWN) or "") for name in ("severity", "resolution", "class", "what_happened")
    )
    at = _moment(value.get("timestamp"))
    yield Noted(id, at, document.origin, notes.ISSUE, "\n".join(told.values()))


def _task(document: Document) -> str | None:
    """The task whose folder it is; the line names the folder, too."""
    if document.place.task is not None:
        return document.place.task
    folder = text(document.value.get("task_dir"))
    return vocabulary.place(f"{folder}/issues.jsonl").task if folder else None

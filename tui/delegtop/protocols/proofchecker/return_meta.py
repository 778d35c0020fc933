"""`.return-meta.json`: what an agent hands back, written first when it starts and rewritten until it is done."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from delegtop.model import notes
from delegtop.model.events import Artifact, Ended, Ending, Event, Fault, Heard, Outcome, Phase, Report, Started, Trust
from delegtop.protocols.proofchecker import PRODUCT, vocabulary
from delegtop.protocols.proofchecker.nodes import (
    Document,
    FolderMemory,
    described,
    number,
    row,
    session_heard,
    session_started,
    text,
)

_WAITS = re.compile(
    r"\b(?:in the background|background (?:job|build|task|process|run|command)|"
    r"wait(?:s|ing)? (?:for|on) (?:the |a )?(?:notification|background|build|job|monitor|process))\b",
    re.IGNORECASE,
)
_SHOWN = 200
_MOST = 1_000_000_000
"""No plan has more phases and no team more members."""


class MetaAgent(NamedTuple):
    """Who returns, wherever in the file it says so."""

    session: str | None
    name: str | None
    path: tuple[str, ...] | None
    depth: int | None


def read(document: Document, memory: FolderMemory) -> Iterator[Event]:
    """The operation's row, its progress or its end, and everything the agent says about going on."""
    value = document.value
    agent = signature(value)
    status = text(value.get("status"))
    task = number(value.get("task_number")) or document.place.task
    # Some put the operation before the usual name of the file.
    prefix = document.origin.source.rpartition("/")[2].rpartition("__")[2].partition("return-meta")[0]
    counted = "implement" if phases(value) else None
    operation = vocabulary.operation(agent.name, status, prefix, counted, path=agent.path)
    link = memory.whose(task, document.at) if agent.session is None else None
    document = document.beside(link)
    session = memory.own_session(agent.session, task) if agent.session else link.session if link else None
    id = row(session, task, operation) if session else f"{document.place.folder or 'unknown'}/{operation}"
    outcome = vocabulary.outcome(status)
    yield from _started(id, document, agent, session, task, operation)
    yield from described(id, document)
    yield from _teammates(id, value, document)
    if outcome == "running":
        yield _progress(id, document, status)
    else:
        ended = Outcome(outcome) if outcome else Outcome.UNKNOWN
        memory.ended.add(id)
        yield Ended(id, document.ended_at, document.origin, ended, Ending.RETURN, _report(value, agent))
    if session:
        yield from session_heard(session, document.at, document.origin)
        yield from memory.link(task, session, operation, document.at, document.copied)
    yield from memory.notes(document, id, _notes(value, status, agent, outcome))


def signature(value: dict[str, Any]) -> MetaAgent:
    """The agent by the metadata, or by the top of a flat file."""
    inner = value.get("metadata")
    places = (inner, value) if isinstance(inner, dict) else (value,)

    def first(*names: str) -> Any:
        return next((place[name] for place in places for name in names if place.get(name) is not None), None)

    path, depth, session = first("delegation_path"), first("delegation_depth"), first("session_id")
    return MetaAgent(
        text(session) if not vocabulary.is_shell_text(session) else None,
        text(first("agent_type", "agent", "agent_name")),
        tuple(str(each) for each in path) if isinstance(path, list) and path else None,
        depth if isinstance(depth, int) and not isinstance(depth, bool) else None,
    )


def _started(
    id: str, document: Document, agent: MetaAgent, session: str | None, task: str | None, operation: str
) -> Iterator[Event]:
    """Its start is the second in the session's id, unless the session runs many operations; else the agent's own word,
    which is no clock."""
    if session:
        yield from session_started(session, document.origin, document.at, task=task)
    batch = session is None or vocabulary.parent(session) is not None or "orchestrate" in (agent.path or ())
    epoch = None if batch or session is None else vocabulary.begun(session, document.at)
    begun = document.value.get("started_at")
    is_moment = isinstance(begun, str) and len(begun) > len("2026-01-01")
    told = document.moment(begun) if epoch is None and is_moment else None
    yield Started(
        id,
        epoch if epoch is not None else told,
        document.origin,
        agent=agent.name,
        command=None if operation == vocabulary.UNNAMED else operation,
        task=task,
        path=agent.path,
        parent=session,
        trust=Trust.EPOCH if epoch is not None else Trust.MODEL if told is not None else Trust.MTIME,
        product=PRODUCT.name,
    )


def _progress(id: str, document: Document, status: str | None) -> Heard:
    phase = Phase.ANSWER if status in vocabulary.ASKS else None
    return Heard(id, document.at, document.origin, doing=_doing(document.value) or status, phase=phase)


def _doing(value: dict[str, Any]) -> str | None:
    stage = value.get("partial_progress")
    if isinstance(stage, dict):
        return text([": ".join(filter(None, (text(stage.get("stage")), text(stage.get("details")))))], _SHOWN)
    return text(stage, _SHOWN)


def _teammates(id: str, value: dict[str, Any], document: Document) -> Iterator[Event]:
    """The agents of a team, each a row below it."""
    team = value.get("teammate_results")
    for index, mate in enumerate(team if isinstance(team, list) else (), 1):
        if not isinstance(mate, dict):
            continue
        name = next((text(mate[key]) for key in ("name", "id", "teammate", "agent_id") if mate.get(key)), None)
        own = f"{id}/{name or f'teammate-{index}'}"
        yield Started(own, None, document.origin, agent=name or "teammate", parent=id, product=PRODUCT.name)
        outcome = vocabulary.outcome(text(mate.get("status")))
        if outcome == "running":
            yield Heard(own, document.at, document.origin, doing=text(mate.get("status")))
        else:
            told = Report(text(mate.get("status")), text(mate.get("summary") or mate.get("focus")), artifacts(mate))
            ended = Outcome(outcome) if outcome else Outcome.UNKNOWN
            yield Ended(own, document.ended_at, document.origin, ended, Ending.RETURN, told)


def _report(value: dict[str, Any], agent: MetaAgent) -> Report:
    summary = text(value.get("summary")) or _completion(value)
    inner = value.get("metadata")
    took = inner.get("duration_seconds") if isinstance(inner, dict) else None
    return Report(
        text(value.get("status")),
        summary or _doing(value),
        artifacts(value),
        _faults(value.get("errors")),
        text(value.get("next_steps")),
        agent.session,
        agent.name,
        agent.depth,
        agent.path,
        int(took * 1000) if isinstance(took, int | float) and not isinstance(took, bool) and 0 <= took < 1e9 else None,
    )


def _completion(value: dict[str, Any]) -> str | None:
    """What the work came to, for the list of tasks."""
    done = value.get("completion_data")
    return text(done.get("completion_summary")) if isinstance(done, dict) else None


def artifacts(value: dict[str, Any]) -> tuple[Artifact, ...]:
    """The files it names, also as bare texts, as one object, or only as the path of its report."""
    given = value.get("artifacts")
    listed = given if isinstance(given, list) else [given] if isinstance(given, dict | str) else []
    found = [_artifact(each) for each in listed]
    if not listed and (path := text(value.get("report_path"))):
        found = [Artifact(path, "report")]
    return tuple(each for each in found if each is not None)


def _artifact(given: Any) -> Artifact | None:
    if isinstance(given, dict):
        path = text(given.get("path") or given.get("file"))
        return Artifact(path, text(given.get("type")), text(given.get("summary"), _SHOWN)) if path else None
    path = text(given) if isinstance(given, str) else None
    return Artifact(path) if path else None


def _faults(given: Any) -> tuple[Fault, ...]:
    found = []
    for each in given if isinstance(given, list) else [given] if isinstance(given, dict | str) else []:
        if isinstance(each, dict):
            recoverable = each.get("recoverable")
            found.append(
                Fault(
                    text(each.get("message")),
                    text(each.get("type")),
                    text(each.get("code")),
                    recoverable if isinstance(recoverable, bool) else None,
                    text(each.get("recommendation")),
                )
            )
        elif (message := text(each)) is not None:
            found.append(Fault(message))
    return tuple(found)


def _notes(value: dict[str, Any], status: str | None, agent: MetaAgent, outcome: str | None) -> dict[str, str | None]:
    """Everything in the file that somebody needs to go on."""
    stage = value.get("partial_progress")
    stage = stage if isinstance(stage, dict) else {}
    doing = _doing(value)
    review = value.get("requires_user_review") is True or status in vocabulary.ASKS
    why = text(value.get("review_reason")) or (text(value.get("summary")) if status in vocabulary.ASKS else None)
    return {
        notes.REVIEW: (why or "It asks for a person and does not say why.") if review else None,
        notes.NEXT: text(value.get("next_steps")),
        notes.FOLLOWUP: text(value.get("recommendations") or value.get("recommendation")),
        notes.BLOCKER: text(
            value.get("blocking_reason")
            or value.get("blocked_reason")
            or value.get("blockers")
            or (value.get("research_questions") if status == "needs_research" else None)
        ),
        notes.HANDOFF: text(stage.get("handoff_path") or value.get("handoff_path")),
        notes.RESUME: text(
            value.get("continuation_context") or stage.get("continuation_context") or value.get("resume_hint")
        ),
        notes.PROGRESS: "; ".join(filter(None, (doing, phases(value), _team(value)))) or None,
        notes.PARKED: doing if outcome == "running" and doing and _WAITS.search(doing) else None,
        notes.SALVAGE: _made(value) if outcome == "running" else None,
        notes.REPORTED: None if outcome == "running" else status,
        notes.BREACH: "\n".join(_breaches(value, status, agent)) or None,
    }


def _made(value: dict[str, Any]) -> str | None:
    """The files that a return lists before it is final, a line each."""
    return "\n".join(each.path for each in artifacts(value)) or None


def phases(value: dict[str, Any]) -> str | None:
    """`2 of 4 phases`, wherever the file counts them."""
    counted = _counted(value)
    return None if counted is None else f"{counted[0]:g} of {counted[1]:g} phases"


def _counted(value: dict[str, Any]) -> tuple[float, float] | None:
    for place in (value.get("metadata"), value.get("partial_progress"), value):
        if isinstance(place, dict):
            done, total = _count(place.get("phases_completed")), _count(place.get("phases_total"))
            if done is not None and total is not None:
                return done, total
    return None


def _count(value: Any) -> float | None:
    if isinstance(value, list):
        return len(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST else None


def _team(value: dict[str, Any]) -> str | None:
    team = value.get("team_execution")
    if not isinstance(team, dict):
        return None
    done, spawned = _count(team.get("teammates_completed")), _count(team.get("teammates_spawned"))
    return f"team of {spawned:g}, {done:g} done" if done is not None and spawned is not None else None


def _breaches(value: dict[str, Any], status: str | None, agent: MetaAgent) -> Iterator[str]:
    """What does not keep to the contract of the file, a line each."""
    if status is None:
        yield "status: there is none"
    elif status in vocabulary.STOPS_WORK:
        yield f"stop: {status}"
    elif status not in vocabulary.STATUSES:
        yield f"status: {status[:60]}"
    given = value.get("artifacts")
    if not isinstance(given, list):
        yield "artifacts: there is no list of them" if given is None else "artifacts: they are no list"
    elif bare := sum(isinstance(each, str) for each in given):
        yield f"artifacts: {bare} of {len(given)} are bare paths"
    if agent.session is None:
        yield "session: there is no session id"
    yield from shell_texts(value)
    counted = _counted(value)
    if counted is not None and status == "implemented" and counted[0] < counted[1]:
        yield f"phases: {counted[0]:g} of {counted[1]:g} are completed"
    if status == "implemented" and _completion(value) is None:
        yield "completion: there is no completion_data.completion_summary"


def shell_texts(value: dict[str, Any]) -> Iterator[str]:
    """Every short field that holds shell text instead of what the shell would have made of it."""
    inner = value.get("metadata")
    places = [("", value), *([("metadata.", inner)] if isinstance(inner, dict) else [])]
    for where, place in places:
        for name in ("session_id", "created", "started_at", "completed_at", "started", "timestamp", "last_updated"):
            if vocabulary.is_shell_text(place.get(name)):
                yield f"shell: {where}{name} is {place[name][:20]}"

"""What the file of one Codex thread says of the threads it spawned.

Each of those has a file of its own that knows better; this is for what only the parent knows (how long it waits) and
for files that are not there. A status that the parent reads tells of an end but not of its moment, so it counts only
where the moment must be the same.
"""

from collections.abc import Iterator
from typing import Any

from delegtop.clock import SECOND, Millis
from delegtop.dialects.codex.calls import Call, targets
from delegtop.dialects.codex.names import DEFAULT_ROLE, PRODUCT, is_thread_id, made_at
from delegtop.dialects.foreign import clip, number, obj, parsed, prose, title, word
from delegtop.model.events import (
    Awaited,
    Described,
    Ended,
    Ending,
    Event,
    Fault,
    Noted,
    Outcome,
    Report,
    Resumed,
    Started,
    Trust,
)
from delegtop.model.notes import WAIT
from delegtop.origin import Origin

_OUTCOMES = {
    "completed": Outcome.COMPLETED,
    "errored": Outcome.FAILED,
    "interrupted": Outcome.INTERRUPTED,
    "shutdown": Outcome.INTERRUPTED,
}
_NOTIFICATION = "<subagent_notification>"


class Children:
    """The threads one thread spawned."""

    def __init__(self, parent: str) -> None:
        self.parent = parent
        self.depth: int | None = None
        """Of the children."""
        self._spawned: dict[str, Millis | None] = {}
        self._done: set[str] = set()
        self._paths: dict[str, str] = {}

    def spawned(
        self,
        child: str | None,
        nickname: str | None,
        told: dict[str, Any],
        at: Millis | None,
        origin: Origin,
        call: str | None = None,
    ) -> Iterator[Event]:
        """A thread was spawned by a call, with what it was told."""
        if child is None or child in self._spawned or child == self.parent:
            return
        self._spawned[child] = at
        made = made_at(child)
        yield Started(
            child,
            at if made is None else made,
            origin,
            agent=word(told.get("agent_type")) or DEFAULT_ROLE,
            depth=self.depth,
            parent=self.parent,
            refs=(*((("call_id", call),) if call else ()), ("thread_id", child)),
            trust=Trust.SCRIPT if made is None else Trust.EPOCH,
            product=PRODUCT,
        )
        message = word(told.get("message"))
        name = title(word(told.get("task_name"))) or title(message)
        yield Described(child, at, origin, title=name, name=nickname, prompt=clip(message))

    def returned(
        self, call: Call, output: dict[str, Any], at: Millis | None, origin: Origin, id: str | None = None
    ) -> Iterator[Event]:
        """A call about agents came back."""
        if call.is_wait:
            yield from self._waited(call, output, at, origin)
        elif call.tool == "spawn_agent":
            child = word(output.get("agent_id")) or self._paths.get(str(output.get("task_name")))
            yield from self.spawned(child, word(output.get("nickname")), call.arguments, at, origin, id)
        elif call.tool == "close_agent" and output.get("previous_status") == "running":
            for child in self._named(call):
                self._done.add(child)
                report = Report(summary="closed by the agent that spawned it")
                yield Ended(child, at, origin, Outcome.INTERRUPTED, Ending.CANCEL, report)

    def called(self, call: Call, at: Millis, origin: Origin) -> Iterator[Event]:
        """A call about agents was made."""
        timeout = number(call.arguments.get("timeout_ms"))
        if call.is_wait and timeout is not None:
            for child in self._awaited(call):
                yield Awaited(child, at, origin, Millis(at + timeout), f"{call.tool} {timeout / SECOND:g} s")
        elif call.tool in ("send_input", "followup_task"):
            for child in self._named(call):
                if child in self._done:
                    self._done.discard(child)
                    yield Resumed(child, at, origin)

    def activity(
        self, activity: dict[str, Any], requests: list[dict[str, Any]], at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        """In the second version of its agents Codex notes what becomes of each, with its path and its thread."""
        child, path = word(activity.get("agent_thread_id")), word(activity.get("agent_path")) or ""
        if child is None or child == self.parent:
            return
        self._paths[path] = child
        match activity.get("kind"):
            case "started":
                name = path.rpartition("/")[2]
                told = next((asked for asked in requests if asked.get("task_name") == name), {"task_name": name})
                yield from self.spawned(child, None, told, at, origin, word(activity.get("id")))
            case "completed" | "interrupted" | "errored" as status if child not in self._done:
                self._done.add(child)
                yield Ended(child, at, origin, _OUTCOMES[status], Ending.RETURN)

    def notified(self, text: str) -> None:
        """A message tells that one is over, whenever the parent's turn allows."""
        if not text.lstrip().startswith(_NOTIFICATION):
            return
        told = obj(parsed(text.partition(_NOTIFICATION)[2].partition("</")[0]))
        name = word(told.get("agent_path")) or word(told.get("agent_id"))
        if name and _status(told.get("status"))[0] in _OUTCOMES:
            self._done.add(self._paths.get(name, name))

    def answered(self, payload: dict[str, Any]) -> None:
        """An agent's message arrived; a final answer means that it is over."""
        author = word(payload.get("author"))
        if author in self._paths and "FINAL_ANSWER" in (prose(payload.get("content")) or "")[:200]:
            self._done.add(self._paths[author])

    def _waited(self, call: Call, output: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
        statuses = obj(output.get("status"))
        for child, status in statuses.items():
            name, detail = _status(status)
            outcome = _OUTCOMES.get(name or "")
            if outcome is None or child in self._done:
                continue
            self._done.add(child)
            if self._is_exact(call.at, self._spawned.get(child), at):
                faults = (Fault(message=clip(detail)),) if outcome is Outcome.FAILED else ()
                yield Ended(child, at, origin, outcome, Ending.RETURN, Report(summary=clip(detail), errors=faults))
        if output.get("timed_out") is not True:
            return
        limit = number(call.arguments.get("timeout_ms"))
        after = "" if limit is None else f" after {limit / SECOND:g} s"
        for child in self._awaited(call):
            if child not in statuses:
                yield Noted(child, at, origin, WAIT, f"{call.tool} gave up waiting{after}")

    def _is_exact(self, called: Millis | None, spawned: Millis | None, at: Millis | None) -> bool:
        """Whether the end must have come just now: the wait lasted until then, or it was spawned just before."""
        if at is None:
            return False
        lasted = called is not None and at - called >= SECOND
        return lasted or (spawned is not None and at - spawned <= SECOND)

    def _awaited(self, call: Call) -> list[str]:
        """The threads a wait is for: those it names, else all that are not done."""
        if targets(call.arguments):
            return self._named(call)
        return [child for child in self._spawned if child not in self._done]

    def _named(self, call: Call) -> list[str]:
        named = (self._paths.get(name, name) for name in targets(call.arguments))
        return [id for id in named if id in self._spawned or is_thread_id(id)]


def _status(status: object) -> tuple[str | None, str | None]:
    """The word of an agent's status and what goes with it: `running`, or `{"completed": "the answer"}`."""
    if isinstance(status, dict) and status:
        name, detail = next(iter(status.items()))
        return name, word(detail)
    return word(status), None

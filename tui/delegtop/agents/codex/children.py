"""What the file of one Codex thread says of the threads it spawned.

Each of those has a file of its own that knows better; this is for what only the parent knows (how long it waits) and
for files that are not there. A status that the parent reads tells of an end but not of its moment, so it counts only
where the moment must be the same.
"""

from typing import Any

from delegtop.agents.codex.calls import targets
from delegtop.agents.codex.names import DEFAULT_ROLE, is_thread_id, made_at
from delegtop.base.clock import SECOND, Millis
from delegtop.dialects.kit.coerce import clip, number, obj, parsed, prose, title, word
from delegtop.dialects.kit.conversation import ENDS, Conversation
from delegtop.dialects.kit.occupation import Call
from delegtop.model.events import Awaited, Ending, Noted, Outcome, Phase, Resumed, Trust
from delegtop.model.notes import WAIT

_NOTIFICATION = "<subagent_notification>"


class Children:
    """The threads one thread spawned."""

    def __init__(self, parent: Conversation) -> None:
        self.parent = parent
        self._spawned: dict[str, Millis | None] = {}
        self._done: set[str] = set()
        self._paths: dict[str, str] = {}

    def spawned(self, child: str | None, nickname: str | None, told: dict[str, Any], call: str | None = None) -> None:
        """A thread was spawned by a call, with what it was told."""
        if child is None or child in self._spawned or child == self.parent.id:
            return
        at = self._spawned[child] = self.parent.chat.at
        made = made_at(child)
        message = word(told.get("message"))
        self.parent.spawn(
            child,
            at if made is None else made,
            kind=word(told.get("agent_type")) or DEFAULT_ROLE,
            refs={"call_id": call, "thread_id": child},
            trust=Trust.SCRIPT if made is None else Trust.EPOCH,
            title=title(word(told.get("task_name"))) or title(message),
            name=nickname,
            prompt=clip(message),
        )

    def returned(self, call: Call, output: dict[str, Any], id: str | None) -> None:
        """A call about agents came back."""
        if call.phase is Phase.CHILD:
            self._waited(call, output)
        elif call.tool == "spawn_agent":
            child = word(output.get("agent_id")) or self._paths.get(str(output.get("task_name")))
            self.spawned(child, word(output.get("nickname")), call.arguments, id)
        elif call.tool == "close_agent" and output.get("previous_status") == "running":
            for child in self._named(call):
                self._end(child, Outcome.INTERRUPTED, "closed by the agent that spawned it")

    def called(self, call: Call) -> None:
        """A call about agents was made."""
        if call.at is None:
            return
        chat, timeout = self.parent.chat, number(call.arguments.get("timeout_ms"))
        if call.phase is Phase.CHILD and timeout is not None:
            until, by = Millis(call.at + timeout), f"{call.tool} {timeout / SECOND:g} s"
            chat.events += [Awaited(child, call.at, chat.origin, until, by) for child in self._awaited(call)]
        elif call.tool in ("send_input", "followup_task"):
            for child in self._named(call):
                if child in self._done:
                    self._done.discard(child)
                    chat.events.append(Resumed(child, call.at, chat.origin))

    def activity(self, activity: dict[str, Any]) -> None:
        """In the second version of its agents Codex notes what becomes of each, with its path and its thread."""
        child, path = word(activity.get("agent_thread_id")), word(activity.get("agent_path")) or ""
        if child is None or child == self.parent.id:
            return
        self._paths[path] = child
        match activity.get("kind"):
            case "started":
                name = path.rpartition("/")[2]
                asked = [call.arguments for call in self.parent.calls.values() if call.tool == "spawn_agent"]
                told = next((each for each in asked if each.get("task_name") == name), {"task_name": name})
                self.spawned(child, None, told, word(activity.get("id")))
            case "completed" | "interrupted" | "errored" as status if child not in self._done:
                self._end(child, ENDS[status], None, by=Ending.RETURN)

    def _end(self, child: str, outcome: Outcome, summary: str | None, by: Ending | None = None) -> None:
        self._done.add(child)
        chat = self.parent.chat
        chat.events.append(chat.ending(child, outcome, summary, by=by))

    def outlived(self) -> None:
        """A turn began and the one before had no end: the program was started again, without those it had spawned."""
        for child in [child for child in self._spawned if child not in self._done]:
            self._end(child, Outcome.LOST, None, by=Ending.GONE)

    def notified(self, text: str) -> None:
        """A message tells that one is over, whenever the parent's turn allows."""
        if not text.lstrip().startswith(_NOTIFICATION):
            return
        told = obj(parsed(text.partition(_NOTIFICATION)[2].partition("</")[0]))
        name = word(told.get("agent_path")) or word(told.get("agent_id"))
        if name and _status(told.get("status"))[0] in ENDS:
            self._done.add(self._paths.get(name, name))

    def answered(self, payload: dict[str, Any]) -> None:
        """An agent's message arrived; a final answer means that it is over."""
        author = word(payload.get("author"))
        if author in self._paths and "FINAL_ANSWER" in (prose(payload.get("content")) or "")[:200]:
            self._done.add(self._paths[author])

    def _waited(self, call: Call, output: dict[str, Any]) -> None:
        chat, statuses = self.parent.chat, obj(output.get("status"))
        for child, status in statuses.items():
            name, detail = _status(status)
            outcome = ENDS.get(name or "")
            if outcome is None or child in self._done:
                continue
            self._done.add(child)
            if self._is_exact(call.at, self._spawned.get(child), chat.at):
                self._end(child, outcome, detail, by=Ending.RETURN)
        if output.get("timed_out") is not True:
            return
        limit = number(call.arguments.get("timeout_ms"))
        gave_up = f"{call.tool} gave up waiting" + ("" if limit is None else f" after {limit / SECOND:g} s")
        late = [child for child in self._awaited(call) if child not in statuses]
        chat.events += [Noted(child, chat.at, chat.origin, WAIT, gave_up) for child in late]

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

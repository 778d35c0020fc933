"""The story that OpenCode's sessions, messages and parts tell together, however they are stored.

A session is one row of the tree; `parentID` links it, exactly. A message waits for its session and a part for its
message, because files and tables are read one after the other, and parts are rewritten and come in any order: that is
why this is no `Conversation` of the kit, which goes by the order of its records. How a sub-agent ended is told by its
own last message; the parent's task call, which is all there is when the sub-agent was cut off, has the weaker word.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from delegtop.agents.opencode import PRODUCT
from delegtop.agents.opencode.record_words import (
    TASK,
    answer_in,
    charge_of,
    cost_of,
    doing_of,
    end_of,
    fault_of,
    is_asking,
    is_interruption,
    model_of,
    task_told,
    title_of,
    tokens_of,
    word,
)
from delegtop.agents.opencode.story_parts import StoryCall, StoryMessage, StorySession, Told
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects.kit.coerce import clip, moment, number, obj, refs_of
from delegtop.dialects.kit.loops import words_of
from delegtop.model.events import (
    Described,
    Deviation,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Outcome,
    Phase,
    Report,
    Resumed,
    Started,
)
from delegtop.model.usage import Usage

_OUTCOMES = {"completed": Outcome.COMPLETED, "error": Outcome.FAILED, "cancelled": Outcome.INTERRUPTED}


_Reader = Callable[[Origin, dict[str, Any], Millis | None], Iterator[Event]]
_Waiting = list[tuple[_Reader, Origin, dict[str, Any], Millis | None]]


class Story:
    """Everything of one store. Records come in any order and any number of times."""

    def __init__(self, product: str = PRODUCT.name) -> None:
        self._product = product
        self._behind: Story | None = None
        """Another story whose sessions and messages are known here too; it is not changed."""
        self._sessions: dict[str, StorySession] = {}
        self._messages: dict[str, StoryMessage] = {}
        self._for_session: dict[str, _Waiting] = {}
        self._for_message: dict[str, _Waiting] = {}
        self._for_depth: dict[str, list[tuple[Origin, str]]] = {}

    def again(self) -> "Story":
        """An empty story that knows what this one knows, to tell a record once more without changing anything."""
        story = Story(self._product)
        story._behind = self
        return story

    def knows(self, session: str) -> bool:
        """Whether the session's own record was read."""
        found = self._sessions.get(session) or (self._behind and self._behind._sessions.get(session))
        return bool(found and found.known)

    # -- sessions --------------------------------------------------------------------------------------------------

    def session(self, origin: Origin, value: dict[str, Any]) -> Iterator[Event]:
        """One session: who, where, under whom, and what it has used."""
        id = word(value.get("id"))
        if id is None:
            yield Deviation(origin, "session without id", "")
            return
        session = self._session(id)
        session.known, session.parent = True, word(value.get("parentID"))
        created = moment(obj(value.get("time")).get("created"))
        title, named = title_of(value.get("title"))
        agent = word(value.get("agent"))
        is_root = session.parent is None
        session.depth = 0 if is_root else self._depth_below(session, origin)
        yield Started(
            id,
            created,
            origin,
            agent=self._product if is_root else agent or named,
            depth=session.depth,
            parent=session.parent,
            refs=(("session_id", id),) if is_root else (),
            product=self._product,
        )
        yield Described(
            id,
            created,
            origin,
            title=title,
            name=agent if is_root else None,
            model=model_of(value),
            cwd=word(value.get("directory")),
            version=word(value.get("version")),
        )
        yield from self._spent(id, origin, tokens_of(value.get("tokens")), cost_of(value.get("cost")))
        yield from self._tell_depths(session)
        for read, place, held, written in self._for_session.pop(id, ()):
            yield from read(place, held, written)

    def _session(self, id: str) -> StorySession:
        session = self._sessions.get(id)
        if session is None:
            other = self._behind and self._behind._sessions.get(id)
            session = (
                StorySession(id, other.known, other.parent, other.depth, other.newest) if other else StorySession(id)
            )
            self._sessions[id] = session
        return session

    def _depth_below(self, session: StorySession, origin: Origin) -> int | None:
        """One more than the parent's; if that is not known yet, it is told later."""
        parent = self._session(session.parent or "")
        if parent.depth is not None:
            return parent.depth + 1
        self._for_depth.setdefault(parent.id, []).append((origin, session.id))
        return None

    def _tell_depths(self, session: StorySession) -> Iterator[Event]:
        pending = [session]
        while pending:
            above = pending.pop()
            if above.depth is None:
                continue
            for origin, id in self._for_depth.pop(above.id, ()):
                below = self._session(id)
                if below.depth is None:
                    below.depth = above.depth + 1
                    yield Started(id, None, origin, depth=below.depth, product=self._product)
                    pending.append(below)

    @staticmethod
    def _spent(
        id: str, origin: Origin, tokens: int, cost: float, used: tuple[Usage, ...] | None = None
    ) -> Iterator[Event]:
        # Without a time: it tells what was used, not what is going on.
        if tokens or cost or used:
            yield Heard(id, None, origin, tokens=tokens or None, cost=round(cost, 9) or None, used=used)

    # -- messages --------------------------------------------------------------------------------------------------

    def message(self, origin: Origin, value: dict[str, Any], updated: Millis | None = None) -> Iterator[Event]:
        """One message: a prompt, or one step of the answer."""
        id, owner = word(value.get("id")), word(value.get("sessionID"))
        if id is None or owner is None:
            yield Deviation(origin, "message without id", "")
            return
        session = self._session(owner)
        if not session.known:
            self._for_session.setdefault(owner, []).append((self.message, origin, value, updated))
            return
        created = moment(obj(value.get("time")).get("created"))
        age = created or Millis(0), origin, id
        session.newest = max(session.newest or age, age)
        message = self._message(id) or StoryMessage(owner, value.get("role") == "user", created)
        self._messages[id] = message
        if message.is_user:
            session.asked = max(session.asked or Millis(0), created or Millis(0))
            yield from self._beat(session, created, origin, (Phase.MODEL, None, None))
            yield from self._resumed(session, origin)
        elif value.get("role") == "assistant":
            yield from self._step(session, id, message, origin, value, updated)
        for read, place, held, written in self._for_message.pop(id, ()):
            yield from read(place, held, written)

    def _message(self, id: str) -> StoryMessage | None:
        found = self._messages.get(id)
        if found is None and self._behind is not None:
            other = self._behind._messages.get(id)
            found = msgspec.structs.replace(other) if other else None
        return found

    def _step(
        self,
        session: StorySession,
        id: str,
        message: StoryMessage,
        origin: Origin,
        value: dict[str, Any],
        updated: Millis | None,
    ) -> Iterator[Event]:
        """One step of an answer; the last one ends the turn."""
        session.stepped = max(session.stepped, message.at or session.stepped)
        yield from self._outlived(session, origin)
        yield Described(session.id, message.at, origin, model=model_of(value))
        yield from self._used(session, id, origin, value)
        completed = moment(obj(value.get("time")).get("completed"))
        message.outcome = end_of(value)
        message.is_over = completed is not None or message.outcome is not None
        if message.is_over:
            session.calls = {part: call for part, call in session.calls.items() if call.message != id}
        if message.outcome is None:
            yield from self._beat(session, completed or updated or message.at, origin, (Phase.MODEL, None, None))
            return
        message.ended_at = completed or updated or message.at
        if text := clip(word(value.get("text"))):  # where a message and its text are one record
            message.answer = origin, text
        message.fault = fault_of(value.get("error"))
        yield from self._turn_over(session, message, origin)

    def _turn_over(self, session: StorySession, message: StoryMessage, origin: Origin) -> Iterator[Event]:
        at = message.ended_at
        if session.parent is None:
            if message.fault and message.outcome is not Outcome.INTERRUPTED:
                yield Erred(session.id, at, origin, message.fault)
            yield from self._beat(session, at, origin, (Phase.IDLE, None, None))
            return
        answer = message.answer[1] if message.answer else None
        message.answer = None
        yield self._ended(session.id, message, origin, answer)
        if at is not None:
            session.ended = min(session.ended or at, at)
            yield from self._resumed(session, origin)

    @staticmethod
    def _ended(id: str, message: StoryMessage, origin: Origin, answer: str | None) -> Ended:
        errors = (message.fault,) if message.fault else ()
        outcome = message.outcome or Outcome.UNKNOWN
        return Ended(id, message.ended_at, origin, outcome, Ending.RETURN, Report(summary=answer, errors=errors))

    @staticmethod
    def _resumed(session: StorySession, origin: Origin) -> Iterator[Event]:
        """It ended, and was asked again after that."""
        if session.parent and session.ended is not None and session.asked and session.ended < session.asked:
            yield Resumed(session.id, session.asked, origin)

    def _used(self, session: StorySession, id: str, origin: Origin, value: dict[str, Any]) -> Iterator[Event]:
        now = tokens_of(value.get("tokens")), cost_of(value.get("cost"))
        before = session.used.get(id, (0, 0.0))
        if now == before:
            return
        session.used[id] = now
        session.total = session.total[0] + now[0] - before[0], session.total[1] + now[1] - before[1]
        if (charge := charge_of(value)) is not None:
            session.charged[id] = session.tokens.grow(charge, session.charged.get(id))
        yield from self._spent(session.id, origin, *session.total, session.tokens.used)

    # -- parts -----------------------------------------------------------------------------------------------------

    def part(self, origin: Origin, value: dict[str, Any], updated: Millis | None = None) -> Iterator[Event]:
        """One part of a message: a text, a tool call, a mark."""
        owner = word(value.get("messageID"))
        if owner is None:
            yield Deviation(origin, "part without message", "")
            return
        message = self._message(owner)
        if message is None:
            self._for_message.setdefault(owner, []).append((self.part, origin, value, updated))
            return
        session = self._session(message.session)
        time = obj(value.get("time"))
        at = updated or moment(time.get("end")) or moment(time.get("start"))
        kind = value.get("type")
        if message.is_user:
            if kind == "text":
                yield from self._asked(session, message, origin, value, at)
        elif kind == "tool":
            yield from self._tool(session, owner, message, origin, value, updated)
        elif kind == "retry":
            fault = fault_of(value.get("error"))
            doing = f"retry {value.get('attempt')}: {fault.message if fault else 'error'}"
            at = at or moment(time.get("created"))
            asked = self._request(message, origin, value, at)
            yield from self._beat(session, at, origin, (Phase.MODEL, None, doing), asked)
        elif kind == "step-start":
            asked = self._request(message, origin, value, at)
            if not message.is_over:
                yield from self._beat(session, at, origin, (Phase.MODEL, None, None), asked)
        else:
            message.answered = max(message.answered or Millis(0), at or Millis(0))
            if kind == "text" and not value.get("synthetic"):
                yield from self._answered(session, message, origin, value)
            if not message.is_over:
                yield from self._beat(session, at, origin, (Phase.MODEL, None, None))

    @staticmethod
    def _request(message: StoryMessage, origin: Origin, value: dict[str, Any], at: Millis | None) -> list[Millis]:
        """The model is asked, once more if it has not answered since."""
        if at is not None:
            message.requests[word(value.get("id")) or str(origin)] = at
        return message.unanswered()

    def _asked(
        self, session: StorySession, message: StoryMessage, origin: Origin, value: dict[str, Any], at: Millis | None
    ) -> Iterator[Event]:
        text = word(value.get("text"))
        if value.get("synthetic") is not True:
            yield Described(session.id, message.at, origin, prompt=clip(text))
        elif told := task_told(text):
            # A sub-agent in the background has come back: OpenCode says so in a text of its own.
            child, state, answer = told
            if state in _OUTCOMES:
                yield self._reported(child, at or message.at, origin, _OUTCOMES[state], answer)

    def _answered(
        self, session: StorySession, message: StoryMessage, origin: Origin, value: dict[str, Any]
    ) -> Iterator[Event]:
        text = clip(word(value.get("text")))
        if session.parent is None or text is None:
            return
        if message.outcome is not None:
            yield self._ended(session.id, message, origin, text)
        elif not message.is_over and (message.answer is None or message.answer[0] <= origin):
            message.answer = origin, text

    def _tool(
        self,
        session: StorySession,
        owner: str,
        message: StoryMessage,
        origin: Origin,
        value: dict[str, Any],
        updated: Millis | None,
    ) -> Iterator[Event]:
        """A tool call, from the moment it is written until it has come back."""
        id, tool = word(value.get("id")) or str(origin), word(value.get("tool")) or "tool"
        state = obj(value.get("state"))
        time = obj(state.get("time"))
        started, ended = moment(time.get("start")), moment(time.get("end"))
        if tool == TASK:
            yield from self._task(session, message, origin, value, state, ended or updated)
        if state.get("status") in ("pending", "running") and not message.is_over:
            phase = Phase.CHILD if tool == TASK else Phase.ANSWER if is_asking(tool) else Phase.TOOL
            begun = started or updated or message.at or Millis(0)
            timeout = number(obj(state.get("input")).get("timeout"))
            due = Millis(begun + timeout) if timeout and timeout > 0 and begun else None
            session.calls[id] = StoryCall(owner, begun, (phase, tool, doing_of(state)), due)
        else:
            message.answered = max(message.answered or Millis(0), started or Millis(0))
            session.calls.pop(id, None)
        yield from self._counted(session, id, tool, state, started or updated, origin)
        yield from self._beat(session, updated or ended or started, origin, (Phase.MODEL, None, None))

    @staticmethod
    def _counted(
        session: StorySession, id: str, tool: str, state: dict[str, Any], at: Millis | None, origin: Origin
    ) -> Iterator[Event]:
        """Count calls that are made again and again; what one is given is known once it runs."""
        given = obj(state.get("input"))
        if at is None or not given or not session.repeats.is_new(id):
            return
        yield from session.repeats.called(session.id, at, origin, tool, words_of(given), doing_of(state), waits=False)

    @staticmethod
    def _outlived(session: StorySession, origin: Origin) -> Iterator[Event]:
        for child in session.outlived():
            yield Ended(child, session.stepped, origin, Outcome.LOST, Ending.GONE)

    def _task(
        self,
        session: StorySession,
        message: StoryMessage,
        origin: Origin,
        value: dict[str, Any],
        state: dict[str, Any],
        at: Millis | None,
    ) -> Iterator[Event]:
        """The call that made a sub-agent."""
        given, about = obj(state.get("input")), obj(state.get("metadata"))
        status, child = state.get("status"), word(about.get("sessionId"))
        error = clip(word(state.get("error")))
        if child is None:
            if status == "error":
                yield Erred(session.id, at, origin, Fault(message=error, type=word(value.get("tool"))))
            return
        known = self._sessions.get(child)
        parent = known.parent if known is not None and known.known else session.id
        refs = refs_of(session_id=child, call_id=word(value.get("callID")))
        agent = word(given.get("subagent_type"))
        yield Started(child, None, origin, agent=agent, parent=parent, refs=refs, product=self._product)
        yield Described(
            child, None, origin, title=word(given.get("description")), prompt=clip(word(given.get("prompt")))
        )
        if status in ("pending", "running") and message.at is not None:
            session.tasks[child] = message.at
            yield from self._outlived(session, origin)
        else:
            session.tasks.pop(child, None)
        if status == "error" and is_interruption(state):
            yield Ended(child, at, origin, Outcome.INTERRUPTED, Ending.CANCEL, Report(errors=_errors(error)))
        elif status == "error":
            yield Ended(child, at, origin, Outcome.FAILED, Ending.ERROR, Report(errors=_errors(error)))
        elif status == "completed":
            told = task_told(state.get("output"))
            outcome = _OUTCOMES.get(told[1]) if told else Outcome.COMPLETED
            # In the background the call is over at once, and its output says that the task is running.
            if outcome is not None and about.get("background") is not True:
                yield self._reported(child, at, origin, outcome, answer_in(state.get("output")))

    @staticmethod
    def _reported(child: str, at: Millis | None, origin: Origin, outcome: Outcome, answer: str | None) -> Ended:
        """An end as the parent was told of it."""
        report = Report(errors=_errors(answer)) if outcome is Outcome.FAILED else Report(summary=answer)
        return Ended(child, at, origin, outcome, Ending.REGISTRY, report)

    # -- signs of life ---------------------------------------------------------------------------------------------

    @staticmethod
    def _beat(
        session: StorySession, at: Millis | None, origin: Origin, told: Told, asked: Sequence[Millis] = ()
    ) -> Iterator[Event]:
        """A sign of life. A tool of the newest message that has not come back is what it is in the middle of."""
        calls = [call for call in session.calls.values() if session.newest and call.message == session.newest[2]]
        since, due = next(iter(asked), None), None
        if calls:
            call = min(calls, key=lambda call: call.started)
            told, since, due, asked = call.told, call.started, call.due, ()
        if at is None:
            return
        if session.last is not None and (at, origin) <= session.last[:2]:
            if not calls or told == session.last[2]:
                return
            # A record of an earlier moment changes what is going on now: it must count as the later word.
            at = Millis(session.last[0] + 1)
        session.last = at, origin, told
        phase, tool, doing = told
        yield Heard(session.id, at, origin, doing, tool, phase=phase, since=since, asked=len(asked) or None, due=due)


def _errors(message: str | None) -> tuple[Fault, ...]:
    return (Fault(message=message),) if message else ()

"""The hooks of Claude Code: their payloads, appended to a file, one JSON object a line.

A payload tells no time; where the hook's command adds one (`timestamp`, `ts` or `time`) it counts. Nor does it say
which call started an agent: PostToolUse names both, but comes last. Until then an agent belongs to the only open call
of its kind, if there is only one, and that is noted as inferred.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec

from delegtop.agents.claude_code import PRODUCT
from delegtop.agents.claude_code.live_words import AGENT, answer, doing, is_refusal, outcome_of
from delegtop.agents.claude_code.tools import SPAWNS
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample
from delegtop.dialects.kit.coerce import clip, moment, obj, objects, word
from delegtop.dialects.signature import Signature
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
)
from delegtop.model.notes import INFERRED
from delegtop.sources.records import Record

_TIMES = ("timestamp", "ts", "time")
_JOINED = "which agent works on this call is inferred: it was the only open call of its kind"


class _Payload(msgspec.Struct, frozen=True):
    """One payload with what every one of them tells."""

    value: dict[str, Any]
    origin: Origin
    session: str
    at: Millis | None
    agent: str | None
    """The id of the agent it fired in; None in the session itself."""

    def text(self, key: str) -> str | None:
        return word(self.value.get(key))


class _Session:
    """What a session has told so far."""

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}
        """Agents by id, with the call that started each."""
        self.depths: dict[str, int] = {}
        self.unclaimed: dict[str, str | None] = {}
        """Calls whose agent is not known yet, and the kind each asked for."""
        self.open: set[str] = set()
        self.held: dict[str, list[_Payload]] = {}
        """Payloads of agents whose call is not known yet."""
        self.busy = False
        """In the middle of a turn."""


class ClaudeHooks(Dialect):
    """Reads a file of payloads, of one session or of many."""

    name: ClassVar[str] = "claude-hooks"
    title: ClassVar[str] = "Claude Code, hook payloads"
    product = PRODUCT
    surest: ClassVar[int] = 95
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b'"hook_event_name":', b'"session_id":')),)
    about: ClassVar[About] = About(
        "Claude Code, hooks that write their payload to a file",
        "a file of lines",
        "tree, status, tool, prompts, answers; times only if the hook adds them",
        Basis.MADE,
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._sessions: dict[str, _Session] = {}

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        named = ("hook_event_name", "session_id")
        return 95 if any(all(word(value.get(key)) for key in named) for value in objects(sample)) else 0

    def translate(self, record: Record) -> Iterator[Event]:
        value, origin = record.value, record.origin
        id = word(value.get("session_id"))
        if id is None or word(value.get("hook_event_name")) is None:
            return
        at = next((found for key in _TIMES if (found := moment(value.get(key))) is not None), record.at)
        payload = _Payload(value, origin, id, at, word(value.get("agent_id")))
        session = self._sessions.get(id)
        if session is None:
            session = self._sessions[id] = _Session()
            begun = at if value["hook_event_name"] == "SessionStart" and payload.agent is None else None
            yield Started(id, begun, origin, agent=AGENT, depth=0, refs=(("session_id", id),), product=PRODUCT.name)
            yield Described(id, at, origin, cwd=payload.text("cwd"))
        if payload.agent is None:
            yield from self._of_session(session, payload)
        elif payload.agent in session.rows:
            yield from self._of_agent(session, session.rows[payload.agent], payload)
        else:
            yield from self._of_stranger(session, payload)

    # -- who it is -------------------------------------------------------------------------------------------------

    def _of_stranger(self, session: _Session, payload: _Payload) -> Iterator[Event]:
        """An agent whose call is not known. One without a kind is a helper of the program's own."""
        kind, agent = payload.text("agent_type"), str(payload.agent)
        if kind is None:
            return
        session.held.setdefault(agent, []).append(payload)
        fitting = [call for call, asked in session.unclaimed.items() if asked in (kind, None)]
        if payload.value["hook_event_name"] == "SubagentStart" and len(fitting) == 1:
            yield Noted(fitting[0], payload.at, payload.origin, INFERRED, _JOINED)
            yield from self._join(session, agent, kind, fitting[0], payload)

    def _join(self, session: _Session, agent: str, kind: str | None, call: str, payload: _Payload) -> Iterator[Event]:
        """Now it is known which call started the agent; what was kept of it can be told."""
        session.rows[agent] = call
        session.unclaimed.pop(call, None)
        refs = (("session_id", payload.session), ("agent_id", agent), ("tool_use_id", call))
        yield Started(call, None, payload.origin, agent=kind, refs=refs, product=PRODUCT.name)
        for kept in session.held.pop(agent, ()):
            yield from self._of_agent(session, call, kept)

    # -- what happened ---------------------------------------------------------------------------------------------

    def _of_session(self, session: _Session, payload: _Payload) -> Iterator[Event]:
        id, at, origin = payload.session, payload.at, payload.origin
        event = payload.value["hook_event_name"]
        if event in ("UserPromptSubmit", "PreToolUse", "Stop", "StopFailure"):
            session.busy = event in ("UserPromptSubmit", "PreToolUse")
        match event:
            case "SessionStart":
                yield Described(id, at, origin, model=payload.text("model"))
                if at is not None and payload.text("source") == "resume":
                    yield Resumed(id, at, origin)
            case "UserPromptSubmit":
                yield Described(id, at, origin, prompt=clip(word(payload.value.get("prompt"))))
                yield Heard(id, at, origin, phase=Phase.MODEL)
            case "Stop":
                yield Heard(id, at, origin, doing=payload.text("last_assistant_message"), phase=Phase.IDLE)
            case "SessionEnd":
                yield from self._session_ended(session, payload)
            case _:
                yield from self._common(session, id, payload)

    def _session_ended(self, session: _Session, payload: _Payload) -> Iterator[Event]:
        """With the session its process ends, and everything that was not done by then."""
        for call in sorted(session.open):
            yield Ended(call, payload.at, payload.origin, Outcome.INTERRUPTED, Ending.GONE)
        session.open.clear()
        outcome = Outcome.INTERRUPTED if session.busy else Outcome.COMPLETED
        yield Ended(payload.session, payload.at, payload.origin, outcome, Ending.RETURN)

    def _of_agent(self, session: _Session, call: str, payload: _Payload) -> Iterator[Event]:
        match payload.value["hook_event_name"]:
            case "SubagentStart":
                yield from self._agent_started(session, call, payload)
            case "SubagentStop":
                yield from self._ended(session, call, payload, "completed", payload.text("last_assistant_message"))
            case _:
                yield from self._common(session, call, payload)

    def _agent_started(self, session: _Session, call: str, payload: _Payload) -> Iterator[Event]:
        if call not in session.open and payload.at is not None:
            session.open.add(call)
            yield Resumed(call, payload.at, payload.origin)
        yield Heard(call, payload.at, payload.origin, phase=Phase.MODEL)

    def _common(self, session: _Session, row: str, payload: _Payload) -> Iterator[Event]:
        """What happens alike in a session and in an agent."""
        at, origin = payload.at, payload.origin
        tool, call = payload.text("tool_name"), payload.text("tool_use_id")
        match payload.value["hook_event_name"]:
            case "PreToolUse" if tool and call:
                if tool in SPAWNS:
                    yield from self._spawn(session, row, call, payload)
                phase = Phase.CHILD if tool in SPAWNS else Phase.TOOL
                what = doing(tool, payload.value.get("tool_input"))
                yield Heard(row, at, origin, doing=what, tool=tool, phase=phase)
            case "PermissionRequest":
                what = doing(tool or "", payload.value.get("tool_input"))
                yield Heard(row, at, origin, doing=what, tool=tool, phase=Phase.PERMISSION)
            case "PostToolUse" | "PostToolUseFailure":
                if tool in SPAWNS and call:
                    yield from self._returned(session, call, payload)
                yield Heard(row, at, origin, phase=Phase.MODEL)
            case "Notification":
                asked = "permission" in f"{payload.value.get('notification_type')} {payload.value.get('message')}"
                phase = Phase.PERMISSION if asked else Phase.ANSWER
                yield Heard(row, at, origin, doing=payload.text("message"), phase=phase)
            case "StopFailure":
                message = payload.text("error_details") or payload.text("last_assistant_message")
                yield Erred(row, at, origin, Fault(message=message, type=payload.text("error")))
                yield Heard(row, at, origin, phase=Phase.IDLE if row == payload.session else None)

    def _spawn(self, session: _Session, row: str, call: str, payload: _Payload) -> Iterator[Event]:
        given = obj(payload.value.get("tool_input"))
        kind = word(given.get("subagent_type"))
        depth = session.depths.get(row, 0) + 1
        session.depths[call] = depth
        session.unclaimed[call] = kind
        session.open.add(call)
        yield Started(call, payload.at, payload.origin, agent=kind, parent=row, depth=depth, product=PRODUCT.name)
        yield Described(
            call,
            payload.at,
            payload.origin,
            title=word(given.get("description")),
            name=word(given.get("name")),
            model=word(given.get("model")),
            prompt=clip(word(given.get("prompt"))),
        )

    def _returned(self, session: _Session, call: str, payload: _Payload) -> Iterator[Event]:
        """What the call came back with: the agent's answer, or word that it runs in the background."""
        told = payload.value.get("tool_response")
        fields = obj(told)
        agent = word(fields.get("agentId"))
        if agent is not None and agent not in session.rows:
            yield from self._join(session, agent, word(fields.get("agentType")), call, payload)
        elif agent is not None and session.rows[agent] == call:
            yield Noted(call, payload.at, payload.origin, INFERRED, "")
        if payload.value["hook_event_name"] == "PostToolUseFailure":
            refused = payload.value.get("is_interrupt") is True
            said = payload.text("error")
            yield from self._ended(session, call, payload, "stopped" if refused or is_refusal(said) else "failed", said)
        elif fields.get("status") == "completed":
            yield from self._ended(session, call, payload, "completed", answer(fields.get("content")))
        elif is_refusal(word(told)):
            yield from self._ended(session, call, payload, "stopped", None)

    def _ended(self, session: _Session, call: str, payload: _Payload, status: str, said: str | None) -> Iterator[Event]:
        outcome = outcome_of(status, said)
        if outcome is None or call not in session.open:
            return
        session.open.discard(call)
        session.unclaimed.pop(call, None)
        report = Report(summary=clip(said)) if outcome is Outcome.COMPLETED else Report()
        if outcome is Outcome.FAILED:
            report = Report(errors=(Fault(message=clip(said)),))
        by = Ending.CANCEL if outcome is Outcome.INTERRUPTED else Ending.RETURN
        yield Ended(call, payload.at, payload.origin, outcome, by, report)

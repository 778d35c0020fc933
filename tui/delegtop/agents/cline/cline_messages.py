"""Cline CLI: the documents beside its database, one with the messages of each session or sub-agent, and one for each
session that says what its row says.

Those of a sub-agent are written when it is over; what it is doing meanwhile no file tells.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from delegtop.agents.cline import PRODUCT
from delegtop.agents.cline.cline_database import SUBAGENT, kinds, session_events, spent
from delegtop.dialects import About, Basis, Sample, Unit
from delegtop.dialects.kit.coerce import document, items, moment, obj, prose, title, word
from delegtop.dialects.kit.conversation import Chat, Conversation
from delegtop.dialects.kit.speaker import Speaker
from delegtop.dialects.kit.tokens import charge_of
from delegtop.dialects.signature import Signature
from delegtop.model.events import Outcome, Phase, Trust
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.records import Record

_KEYS = (b'"sessionId"', b'"origin"', b'"messages"')
_SPEAK = ("user", "assistant")
_ASKED = re.compile(r"\A\s*<user_input\b[^>]*>(.*?)(?:</user_input>\s*)?\Z", re.DOTALL)


class ClineMessages(Chat):
    """Reads `sessions/<id>/*.json`. An instance reads one file."""

    name: ClassVar[str] = "cline-messages"
    title: ClassVar[str] = "Cline CLI messages"
    surest: ClassVar[int] = 90
    about: ClassVar[About] = About(
        "Cline CLI 3.0",
        "`~/.cline/data/sessions/*/*.json`",
        "tool, tokens, prompts, answers, errors of the model; of a sub-agent once it is over",
        Basis.MADE,
    )
    product = PRODUCT
    unit: ClassVar[Unit] = Unit.DOCUMENT
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"sessionId":', b'"origin":', b'"messages":')),
        Signature((b'"session_id":', b'"pid":', b'"workspace_root":')),
    )
    phases: ClassVar[dict[str, Phase]] = {"spawn_agent": Phase.CHILD}

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        whole = document(sample)
        if not whole:
            begins = sample.head.lstrip().startswith(b"{") and b'"version"' in sample.head[:100]
            return 70 if begins and not sample.whole and all(key in sample.head for key in _KEYS) else 0
        return 90 if _is_messages(whole) or _is_session(whole) else 0

    def tell(self, value: dict[str, Any]) -> None:
        if _is_messages(value):
            self._messages(str(value["sessionId"]), obj(value["origin"]), value)
        elif _is_session(value):
            row = {**value, "metadata_json": value.get("metadata")}
            self.events += session_events(str(value["session_id"]), row, self.origin)

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        for record in records:
            for message in map(obj, items(record.value.get("messages"))):
                voice = Voice.PROMPT if message.get("role") == "user" else Voice.ANSWER
                voice = Voice.ERROR if _is_error(message) else voice
                for each in Speaker(moment(message.get("ts")), record.origin).blocks(message.get("content"), voice):
                    asked = _ASKED.match(each.text) if each.voice is Voice.PROMPT else None
                    yield msgspec.structs.replace(each, text=asked[1]) if asked else each

    def _messages(self, id: str, origin: dict[str, Any], value: dict[str, Any]) -> None:
        root = word(origin.get("parentThreadId"))
        agent = self.conversation(id, is_child=root is not None)
        messages = [obj(message) for message in items(value.get("messages"))]
        first = moment(next((message.get("ts") for message in messages), None))
        kind, refs = SUBAGENT if root else None, {"session_id": root or id, "agent_id": word(origin.get("subagent"))}
        # Whose child it is and when it began, the database knows better.
        agent.start(first, agent=kind, parent=root, trust=Trust.MTIME, guessed=root is not None, refs=refs)
        for message in messages:
            if message.get("role") in _SPEAK:
                self.at = moment(message.get("ts"))
                self._message(agent, message)
        if messages and agent.is_child and not agent.calls:
            self._came_back(agent, messages[-1])

    def _message(self, agent: Conversation, message: dict[str, Any]) -> None:
        parts = [obj(part) for part in items(message.get("content"))] or [
            {"type": "text", "text": message.get("content")}
        ]
        text = prose([part for part in parts if part.get("type") == "text"])
        if message.get("role") == "user":
            for part in parts:
                if part.get("type") == "tool_result":
                    agent.result(word(part.get("tool_use_id")))
            if text:
                asked = _ASKED.match(text)
                agent.prompt(asked[1] if asked else text)
        elif message.get("role") == "assistant":
            agent.describe(model=word(obj(message.get("modelInfo")).get("id")))
            metrics, model = obj(message.get("metrics")), word(obj(message.get("modelInfo")).get("id"))
            agent.use(spent(metrics), word(message.get("id")), charge_of(model, kinds(metrics)))
            for part in parts:
                if part.get("type") == "tool_use":
                    agent.call(word(part.get("id")), word(part.get("name")), obj(part.get("input")))
            if _is_error(message) and not agent.is_child:
                agent.err(text, recoverable=None)
            agent.rest(title(text))

    def _came_back(self, agent: Conversation, last: dict[str, Any]) -> None:
        """A sub-agent whose last message calls nothing is over."""
        text = prose(last.get("content"))
        if last.get("role") == "assistant" and text:
            agent.end(Outcome.FAILED if _is_error(last) else Outcome.COMPLETED, text)


def _is_error(message: dict[str, Any]) -> bool:
    return obj(message.get("metadata")).get("displayRole") == "error"


def _is_messages(value: dict[str, Any]) -> bool:
    told = word(value.get("sessionId")) and isinstance(value.get("messages"), list)
    return bool(told) and word(obj(value.get("origin")).get("sessionId")) is not None


def _is_session(value: dict[str, Any]) -> bool:
    named = all(word(value.get(key)) for key in ("session_id", "status", "started_at", "workspace_root"))
    return named and isinstance(value.get("pid"), int)

"""What `opencode run --format json` prints: one line for each part of the answer as it is finished.

Only the session that was asked prints anything, and a tool only when it has come back. So a sub-agent turns up when it
is over, and what goes on meanwhile cannot be seen: the database beside it tells more.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from delegtop.agents.opencode import opencode_said
from delegtop.agents.opencode.opencode_dialects import Telling
from delegtop.agents.opencode.record_words import word
from delegtop.dialects import About, Basis, Sample, Unit
from delegtop.dialects.kit.coerce import moment, obj, objects
from delegtop.dialects.kit.speaker import Speaker
from delegtop.dialects.signature import Signature
from delegtop.model.events import Deviation, Event
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.records import Record

_KINDS = frozenset({"step_start", "step_finish", "text", "reasoning", "tool_use", "error"})


class OpenCodeStream(Telling):
    """Reads the lines of `opencode run --format json`."""

    name: ClassVar[str] = "opencode-stream"
    title: ClassVar[str] = "OpenCode run output"
    surest: ClassVar[int] = 90
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b'"type":', b'"timestamp":', b'"sessionID":')),)
    about: ClassVar[About] = About(
        "OpenCode, `opencode run --format json`",
        "a pipe or a file",
        "tree as far as the session's own calls, status, tool, tokens, cost",
        Basis.MADE,
    )
    unit: ClassVar[Unit] = Unit.LINES

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        value = next(objects(sample), {})
        about = obj(value.get("error")) if value.get("type") == "error" else obj(value.get("part"))
        is_one = (
            word(value.get("type")) in _KINDS
            and word(value.get("sessionID"))
            and moment(value.get("timestamp"))
            and about
        )
        return 90 if is_one else 0

    def translate(self, record: Record) -> Iterator[Event]:
        value, origin = record.value, record.origin
        session, at = word(value.get("sessionID")), moment(value.get("timestamp"))
        part = obj(value.get("part"))
        if session is None:
            yield Deviation(origin, "line without session", str(value.get("type")))
            return
        if not self._story.knows(session):
            yield from self._story.session(origin, {"id": session})
        message: dict[str, Any] = {"sessionID": session, "role": "assistant", "time": {"created": at}}
        if value.get("type") == "error":
            error = {**message, "id": f"{session}/{origin.line}", "error": value.get("error")}
            yield from self._story.message(origin, error, at)
            return
        message["id"] = part.get("messageID")
        if part.get("type") == "step-finish":
            time = {"created": at, "completed": at}
            used = {"finish": part.get("reason"), "tokens": part.get("tokens"), "cost": part.get("cost")}
            yield from self._story.message(origin, {**message, **used, "time": time}, at)
        else:
            yield from self._story.message(origin, message, at)
            yield from self._story.part(origin, part, at)

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        for record in records:
            value = record.value
            speaker = Speaker(moment(value.get("timestamp")), record.origin, word(value.get("sessionID")))
            yield from opencode_said.part(speaker, obj(value.get("part")), "assistant")
            error = obj(value.get("error"))
            yield from speaker.say(Voice.ERROR, word(obj(error.get("data")).get("message")), word(error.get("name")))

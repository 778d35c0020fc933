"""Codex CLI: rollouts, one file of lines for each thread, and the state database beside them.

A thread's file begins with its own `session_meta`. A forked thread then repeats what it inherited: the meta, the turns
and the ends of another thread, which are not its own.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from delegtop.contract.departures import Kind
from delegtop.dialects import About, Basis, Dialect, Sample
from delegtop.dialects.codex.names import thread_id_in
from delegtop.dialects.codex.thread import Thread, thread_of
from delegtop.dialects.foreign import moment, obj, objects, word
from delegtop.model.events import Deviation, Event
from delegtop.sources.record import Line, Record, Unreadable, records

_TYPES = frozenset(
    {
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "world_state",
        "token_usage_record",
        "inter_agent_communication_metadata",
    }
)
_BEGINNING = re.compile(
    rb'\s*\{"timestamp":\s*"[^"]{10,40}",\s*(?:"ordinal":\s*\d+,\s*)?"type":\s*"(\w+)",\s*"payload":\s*\{'
)
"""A first line may be longer than any sample: it holds the model's instructions."""


class Codex(Dialect):
    """Reads rollouts. An instance reads one file, and so one thread."""

    name: ClassVar[str] = "codex"
    title: ClassVar[str] = "Codex CLI rollout"
    surest: ClassVar[int] = 95
    about: ClassVar[About] = About(
        "Codex CLI 0.140 to 0.166",
        "`~/.codex/sessions/**/rollout-*.jsonl`, also `.zst`",
        "tree, status, tool, wait deadlines, tokens, prompts, answers",
        Basis.REAL,
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._thread: Thread | None = None
        self._is_helper = False
        """The thread is the program's own: a review, a compaction, a memory. Nobody delegated it."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        kinds = [_kind(value) for value in objects(sample)]
        if not kinds:
            beginning = _BEGINNING.match(sample.head)
            return 90 if beginning and beginning[1].decode() in _TYPES else 0
        if kinds[0] == "session_meta":
            return 95
        return 85 if 2 * sum(kind in _TYPES for kind in kinds) > len(kinds) else 0

    def translate(self, record: Record) -> Iterator[Event]:
        value, origin = record.value, record.origin
        kind, payload = value.get("type"), obj(value.get("payload"))
        at = moment(value.get("timestamp"), self.zone)
        if at is None:
            yield Deviation(origin, Kind.GARBLED_TIME.value, f"timestamp: {value.get('timestamp')!r}"[:200])
        if self._is_helper:
            return
        if self._thread is None and not self._begin(record, kind, payload):
            if not self._is_helper:
                yield Deviation(origin, Kind.MISSING_SESSION_ID.value, "no session_meta says which thread this is")
            return
        if self._thread is not None:
            yield from self._thread.tell(value, kind, payload, at, origin, self.zone)

    def _begin(self, record: Record, kind: object, payload: dict[str, Any]) -> bool:
        """Find out whose file this is: by its first meta, else by its name."""
        if kind == "session_meta" and word(payload.get("id")):
            self._thread = thread_of(payload)
            self._is_helper = self._thread is None
        elif named := thread_id_in(record.origin.source):
            self._thread = Thread(named)
        return self._thread is not None

    def retell(self, line: Line) -> Iterable[Event | Unreadable]:
        thread = self._thread
        if thread is None:
            return
        for record in records(line):
            if isinstance(record, Unreadable):
                yield record
                continue
            kind, payload = record.value.get("type"), obj(record.value.get("payload"))
            at = moment(record.value.get("timestamp"), self.zone)
            yield from thread.copy().tell(record.value, kind, payload, at, record.origin, self.zone)

    def needle(self, id: str, path: str) -> bytes:  # noqa: ARG002 - one instance reads one file
        own = self._thread is not None and self._thread.id == id
        return b"" if own else id.encode()


def _kind(value: dict[str, Any]) -> str | None:
    """The type of a line that has the shape of a rollout's."""
    kind = value.get("type")
    fits = isinstance(kind, str) and isinstance(value.get("payload"), dict) and "timestamp" in value
    return kind if fits and isinstance(kind, str) else None

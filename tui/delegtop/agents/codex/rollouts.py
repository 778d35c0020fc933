"""Codex CLI: rollouts, one file of lines for each thread, and the state database beside them.

A thread's file begins with its own `session_meta`. A forked thread then repeats what it inherited: the meta, the turns
and the ends of another thread, which are not its own.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from delegtop.agents.codex import PRODUCT, codex_said
from delegtop.agents.codex.calls import LOOKS
from delegtop.agents.codex.names import thread_id_in
from delegtop.agents.codex.thread import Thread, thread_of
from delegtop.dialects import About, Basis, Sample
from delegtop.dialects.kit.coerce import obj, objects, word
from delegtop.dialects.kit.conversation import Chat
from delegtop.dialects.signature import Signature
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Deviation
from delegtop.model.spoken import Utterance
from delegtop.sources.records import Record

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


class Codex(Chat):
    """Reads rollouts. An instance reads one file, and so one thread."""

    name: ClassVar[str] = "codex"
    title: ClassVar[str] = "Codex CLI rollout"
    surest: ClassVar[int] = 95
    about: ClassVar[About] = About(
        "Codex CLI 0.140 to 0.166",
        "`~/.codex/sessions/**/rollout-*.jsonl`, also `.zst`",
        "tree, status, tool, waits, tokens, prompts, answers",
        Basis.REAL,
    )
    product = PRODUCT
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b'"timestamp":', b'"type":', b'"payload":')),)
    looking: ClassVar[frozenset[str]] = LOOKS

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
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

    def tell(self, value: dict[str, Any]) -> None:
        kind, payload = value.get("type"), obj(value.get("payload"))
        if self.at is None:
            self._deviate(DeviationKind.GARBLED_TIME, f"timestamp: {value.get('timestamp')!r}"[:200])
        thread = next(iter(self.conversations.values()), None) or self._begin(kind, payload)
        if isinstance(thread, Thread):
            thread.tell(value, kind, payload)
        elif not self._is_helper:
            self._deviate(DeviationKind.MISSING_SESSION_ID, "no session_meta says which thread this is")

    def said(self, records: Sequence[Record]) -> Iterator[Utterance]:
        return codex_said.said(records, self.moment)

    def _begin(self, kind: object, payload: dict[str, Any]) -> Thread | None:
        """Find out whose file this is: by its first meta, else by its name."""
        thread = None
        if self._is_helper:
            return None
        if kind == "session_meta" and word(payload.get("id")):
            thread = thread_of(self, payload)
            self._is_helper = thread is None
        elif named := thread_id_in(self.origin.source):
            thread = Thread(self, named)
            thread.depth = None  # nothing says whether another spawned it
        if thread is not None:
            self.conversations[self.origin.source] = thread
        return thread

    def _deviate(self, kind: DeviationKind, detail: str) -> None:
        self.events.append(Deviation(self.origin, kind.value, detail))


def _kind(value: dict[str, Any]) -> str | None:
    """The type of a line that has the shape of a rollout's."""
    kind = value.get("type")
    fits = isinstance(kind, str) and isinstance(value.get("payload"), dict) and "timestamp" in value
    return kind if fits and isinstance(kind, str) else None

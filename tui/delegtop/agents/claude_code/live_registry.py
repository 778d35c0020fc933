"""The live registry of Claude Code: one small file for each running process, `sessions/<pid>.json`.

It is there while the process is: a normal exit, Ctrl-C and SIGTERM remove it, SIGKILL leaves it behind. So a file alone
proves nothing, and what its process is doing is asked of the system by whoever can. Beside it lies a `.key` file, which
is a secret and no log.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from delegtop.agents.claude_code import PRODUCT
from delegtop.agents.claude_code.live_words import AGENT
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.kit.coerce import document, moment, number, word
from delegtop.dialects.signature import Signature
from delegtop.model.events import (
    LOCALHOST,
    Described,
    Deviation,
    Ended,
    Ending,
    Event,
    Heard,
    Outcome,
    Phase,
    Resumed,
    Sighted,
    Started,
)
from delegtop.model.session_manner import JOB, MANNER, PANE, PID_DOMAIN, PROC_START, Manner
from delegtop.sources.records import Record

_KNOWN = frozenset({"pid", "sessionId", "startedAt", "cwd", "procStart", "kind", "entrypoint", "version", "status"})
_REFS = (
    ("session_id", "sessionId"),
    (PROC_START, "procStart"),
    (PID_DOMAIN, "pidDomain"),
    (JOB, "jobId"),
    (PANE, "tmux"),
)


class ClaudeSessions(Dialect):
    """Reads one process file."""

    name: ClassVar[str] = "claude-sessions"
    title: ClassVar[str] = "Claude Code, running processes"
    product = PRODUCT
    surest: ClassVar[int] = 95
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b'"pid":', b'"sessionId":')),)
    about: ClassVar[About] = About(
        "Claude Code 2.1.325 and later",
        "`~/.claude/sessions/<pid>.json`",
        "which sessions run, busy, idle or asking, and their processes",
        Basis.MADE,
    )
    unit: ClassVar[Unit] = Unit.DOCUMENT

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._listed: dict[str, str] = {}
        """Which session each file named last."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        if sample.path.endswith(".key"):
            return 0
        value = document(sample)
        if number(value.get("pid")) is None or word(value.get("sessionId")) is None:
            return 0
        return 95 if len(_KNOWN & value.keys()) >= 5 else 0

    def translate(self, record: Record) -> Iterator[Event]:
        value, origin = record.value, record.origin
        id, pid = word(value.get("sessionId")), number(value.get("pid"))
        if id is None or pid is None:
            yield Deviation(origin, "missing field", "sessionId" if id is None else "pid")
            return
        self._listed[origin.source] = id
        begun = moment(value.get("startedAt"))
        refs = [(name, found) for name, key in _REFS if (found := word(value.get(key)))]
        yield Started(
            id,
            begun,
            origin,
            agent=AGENT,
            depth=0,
            pid=pid,
            host=LOCALHOST,
            refs=(*refs, *_manner(value)),
            listed=True,
            product=PRODUCT.name,
        )
        if begun is not None:  # an end the logs told of an earlier process of the same session is no end of this one
            yield Resumed(id, begun, origin)
        yield Described(
            id,
            begun,
            origin,
            name=word(value.get("name")),
            cwd=word(value.get("cwd")),
            version=word(value.get("version")),
        )
        yield from _heard(id, value, origin)

    def vanished(self, origin: Origin, at: Millis) -> Iterable[Event]:
        """The process took its file away, so it ended by itself or was asked to; how its work ended it does not say."""
        id = self._listed.pop(origin.source, None)
        if id is not None:
            yield Ended(id, at, origin, Outcome.UNKNOWN, Ending.GONE)


def _manner(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """How it was started. Whatever runs without a terminal is `interactive` too: the entry point tells it apart."""
    kind, entry = word(value.get("kind")), word(value.get("entrypoint")) or ""
    if kind == "bg":
        yield MANNER, Manner.BACKGROUND.value
    elif entry == "cli":
        yield MANNER, Manner.TERMINAL.value
    elif entry.startswith("sdk-"):
        yield MANNER, Manner.HEADLESS.value


def _heard(id: str, value: dict[str, Any], origin: Origin) -> Iterator[Event]:
    """Whether it works, rests or waits, at the moment it says it began to. At what, its transcript tells."""
    at = moment(value.get("statusUpdatedAt")) or moment(value.get("updatedAt"))
    status, awaited = word(value.get("status")), word(value.get("waitingFor"))
    if awaited is not None:
        asked = any(word in awaited.lower() for word in ("permission", "approv", "allow"))
        yield Sighted(id, at, origin, Phase.PERMISSION if asked else Phase.ANSWER)
    elif status == "idle":
        yield Heard(id, at, origin, phase=Phase.IDLE)
    elif status == "busy":
        yield Sighted(id, at, origin)
    elif status is not None:
        yield Heard(id, at, origin, doing=status)

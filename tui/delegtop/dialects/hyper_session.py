"""hyper's session sidecars, `~/.hyper/sessions/{session id}.json`: who works on what, by the last file it wrote.

A hook rewrites the file at every write to the workspace. A session that only reads or runs commands leaves it alone,
so silence here proves little, and nothing here ever says that a session ended. `parentId` is mostly null: then the
run it belongs to is all that is known of its place.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from delegtop.clock import Millis
from delegtop.contract.departures import Kind
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.hyper_activity import activity_events
from delegtop.dialects.hyper_output import PRODUCT
from delegtop.dialects.lenient import Notes, moment, wrong_type
from delegtop.model import notes as kinds
from delegtop.model.events import Described, Event, Heard, Noted, Phase, Started
from delegtop.origin import Origin
from delegtop.sources.record import Record, decoded

NO_PARENT = "the sidecar names no parent session"
_KEYS = frozenset({"sessionId", "currentTarget", "recentTargets", "lastActivity"})


class HyperSession(Dialect):
    """Reads one sidecar."""

    name: ClassVar[str] = "hyper-session"
    title: ClassVar[str] = "hyper session sidecar"
    surest: ClassVar[int] = 85
    about: ClassVar[About] = About(
        "hyper",
        "`~/.hyper/sessions/*.json`",
        "tree, status, what it wrote",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.DOCUMENT

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        if not sample.head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or b'"sessionId"' not in sample.head:
            return 0
        value = decoded(sample.head)
        return 85 if isinstance(value, dict) and len(_KEYS & value.keys()) >= 3 and "type" not in value else 0

    def translate(self, record: Record) -> Iterator[Event]:
        value, origin, notes = record.value, record.origin, Notes(record.origin)
        id = _text(value.get("sessionId"))
        if id is None:
            notes.add(Kind.MISSING_SESSION_ID, "sessionId")
            yield from notes.deviations()
            return
        started = moment(value.get("startedAt"), self.zone, notes, "startedAt")
        active = moment(value.get("lastActivity"), self.zone, notes, "lastActivity")
        agent = _object(value, "agent", notes)
        run, role = _text(agent.get("runId")), _text(agent.get("role"))
        parent = _text(value.get("parentId"))
        target = _object(value, "currentTarget", notes)
        if run:
            yield from _run(run, agent, active, origin)
        yield Started(
            id,
            started,
            origin,
            agent=role or PRODUCT,
            task=_text(target.get("taskId")),
            parent=parent or run,
            refs=_refs(id, run, value),
            product=PRODUCT,
        )
        yield Described(
            id,
            started,
            origin,
            title=_title(agent),
            name=_text(agent.get("name")),
            cwd=_text(value.get("workspaceRoot")),
        )
        # An agent with a role works until it is done; a person's own session waits for the next prompt at any time.
        yield Heard(id, active, origin, doing=_doing(target), phase=None if role else Phase.IDLE)
        yield from _no_parent(id, active, origin, parent, run)
        yield from activity_events(value.get("activity"), _path(target), self.zone, notes)
        yield from notes.deviations()


def _run(run: str, agent: dict[str, Any], at: Millis | None, origin: Origin) -> Iterator[Event]:
    """The row of the run the session belongs to. Of itself it does nothing: it waits for its sessions."""
    yield Started(run, None, origin, refs=(("run_id", run),), product=PRODUCT, listed=True)
    yield Described(run, None, origin, title=_text(agent.get("workflow")))
    yield Heard(run, at, origin, doing=_text(agent.get("phase")), phase=Phase.IDLE)


def _no_parent(id: str, at: Millis | None, origin: Origin, parent: str | None, run: str | None) -> Iterator[Event]:
    told = f"{NO_PARENT}; shown under its run {run}" if run else f"{NO_PARENT}, and no run"
    yield Noted(id, at, origin, kinds.PARENTLESS, "" if parent else told)


def _refs(id: str, run: str | None, value: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    named = (("session_id", id), ("run_id", run), ("transcript", _text(value.get("transcriptPath"))))
    return tuple((name, text) for name, text in named if text)


def _title(agent: dict[str, Any]) -> str | None:
    return " / ".join(text for name in ("workflow", "phase") if (text := _text(agent.get(name)))) or None


def _path(target: dict[str, Any]) -> str | None:
    """The file; a target of unknown type spells it in another way."""
    return _text(target.get("filePath")) or _text(target.get("file_path"))


def _doing(target: dict[str, Any]) -> str | None:
    """What it works on, in a few words."""
    kind = _text(target.get("type"))
    names = [_text(target.get(name)) for name in ("projectSlug", "taskId", "docSlug", "resourcePath")]
    what = "/".join(name for name in names if name) or _path(target)
    return " ".join(part for part in (kind, what) if part) or None


def _object(value: dict[str, Any], key: str, notes: Notes) -> dict[str, Any]:
    given = value.get(key)
    if isinstance(given, dict):
        return given
    if given is not None:
        wrong_type("object", given, notes, key)
    return {}


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None

"""hyper's session sidecars, `~/.hyper/sessions/{session id}.json`: who works on what, by the last file it wrote.

A hook rewrites the file at every write to the workspace. A session that only reads or runs commands leaves it alone,
so silence here proves little, and nothing here ever says that a session ended. `parentId` is mostly null: then the
run it belongs to is all that is known of its place.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.kit.coerce import document, refs_of
from delegtop.dialects.kit.salvage import Notes, moment, object_at
from delegtop.dialects.signature import Signature
from delegtop.model import notes as kinds
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Described, Event, Heard, Noted, Phase, Started
from delegtop.protocols.hyper import PRODUCT
from delegtop.protocols.hyper.file_activity import activity_events
from delegtop.sources.records import Record

NO_PARENT = "the sidecar names no parent session"
_KEYS = frozenset({"sessionId", "currentTarget", "recentTargets", "lastActivity"})


class HyperSession(Dialect):
    """Reads one sidecar."""

    name: ClassVar[str] = "hyper-session"
    title: ClassVar[str] = "hyper session sidecar"
    product = PRODUCT
    surest: ClassVar[int] = 85
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"sessionId"', b'"currentTarget":')),
        Signature((b'"sessionId"', b'"recentTargets":')),
    )
    about: ClassVar[About] = About(
        "hyper",
        "`~/.hyper/sessions/*.json`",
        "tree, status, what it wrote",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.DOCUMENT

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        value = document(sample)
        return 85 if "sessionId" in value and len(_KEYS & value.keys()) >= 3 and "type" not in value else 0

    def translate(self, record: Record) -> Iterator[Event]:
        value, origin, notes = record.value, record.origin, Notes(record.origin)
        id = _text(value.get("sessionId"))
        if id is None:
            notes.add(DeviationKind.MISSING_SESSION_ID, "sessionId")
            yield from notes.deviations()
            return
        started = moment(value.get("startedAt"), self.zone, notes, "startedAt")
        active = moment(value.get("lastActivity"), self.zone, notes, "lastActivity")
        agent = object_at(value, "agent", notes)
        run, role = _text(agent.get("runId")), _text(agent.get("role"))
        parent = _text(value.get("parentId"))
        target = object_at(value, "currentTarget", notes)
        if run:
            yield from _run(run, agent, active, origin)
        yield Started(
            id,
            started,
            origin,
            agent=role or PRODUCT.name,
            task=_text(target.get("taskId")),
            parent=parent or run,
            refs=refs_of(session_id=id, run_id=run, transcript=_text(value.get("transcriptPath"))),
            product=PRODUCT.name,
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
    yield Started(run, None, origin, refs=(("run_id", run),), product=PRODUCT.name, listed=True)
    yield Described(run, None, origin, title=_text(agent.get("workflow")))
    yield Heard(run, at, origin, doing=_text(agent.get("phase")), phase=Phase.IDLE)


def _no_parent(id: str, at: Millis | None, origin: Origin, parent: str | None, run: str | None) -> Iterator[Event]:
    told = f"{NO_PARENT}; shown under its run {run}" if run else f"{NO_PARENT}, and no run"
    yield Noted(id, at, origin, kinds.PARENTLESS, "" if parent else told)


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


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None

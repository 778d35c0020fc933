"""The delegation context: one JSON object that a caller hands over together with the work, kept in a file.

It tells that something was handed out and on what terms. When that was, and what became of it, it does not tell.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from delegtop.base.clock import SECOND
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.kit.salvage import Notes, Repair, salvage, wrong_type
from delegtop.dialects.signature import Signature
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Event, Started
from delegtop.protocols.standard.contract.delegation_paths import ORCHESTRATOR
from delegtop.protocols.standard.contract.session_ids import is_well_formed
from delegtop.protocols.standard.dialects.return_reading import Count
from delegtop.protocols.standard.dialects.session_log_lines import TaskContext, Wait
from delegtop.sources.records import Record, decoded

_Name = Annotated[str, Meta(pattern=r"\S")]


class ContextObject(msgspec.Struct, gc=False, kw_only=True):
    """The fields that are read; any other is welcome. What a rule tells that is missing has a default."""

    session_id: _Name | None = None
    delegation_depth: Count | None = None
    delegation_path: Annotated[tuple[_Name, ...], Meta(min_length=1)] | None = None
    timeout: Wait | None = None
    caller: str | None = None
    task_context: TaskContext | None = None
    task_number: int | str | None = None
    parent_session_id: str | None = None


class ContextFile(Dialect):
    """Reads one context."""

    name: ClassVar[str] = "delegation-context"
    title: ClassVar[str] = "delegation context"
    surest: ClassVar[int] = 80
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"delegation_depth":',)),
        Signature((b'"delegation_path":',)),
        Signature((b'"task_context":', b'"timeout":')),
    )
    about: ClassVar[About] = About(
        "orchestrators of the delegation protocol, and `delegtop run`, which hands it on in `DELEGTOP_CONTEXT`",
        "one context in a JSON file",
        "that work was handed out: depth, path, timeout, caller and task",
        Basis.OWN,
    )
    unit: ClassVar[Unit] = Unit.DOCUMENT

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        value = decoded(sample.head.strip(b"\0\xef\xbb\xbf \t\r\n")) if sample.whole else None
        if not isinstance(value, dict) or value.keys() & _FOREIGN or not value.keys() & _TELLING:
            return 0
        known = len(value.keys() & _KNOWN)
        return 80 if known >= _MOST else 60 if known >= _FEW else 0

    def translate(self, record: Record) -> Iterator[Event]:
        notes = Notes(record.origin)
        given = salvage(ContextObject, record.value, notes, repairs=_REPAIRS)
        id = given.session_id
        if id is not None and not is_well_formed(id):
            notes.add(DeviationKind.MALFORMED_SESSION_ID, id)
        path, task = given.delegation_path, given.task_number
        if task is None and given.task_context is not None:
            task = given.task_context.task_number
        yield Started(
            id or f"no-session-id@{PurePath(record.origin.source).name}:{record.origin.line}",
            None,
            record.origin,
            agent=_agent(given),
            command=path[1] if path and len(path) > 1 and path[0] == ORCHESTRATOR else None,
            caller=given.caller,
            task=None if task is None else str(task),
            path=path,
            depth=given.delegation_depth,
            timeout=None if given.timeout is None else int(given.timeout * SECOND),
            parent=given.parent_session_id,
            listed=True,
        )
        yield from notes.deviations()


_REQUIRED = frozenset({"session_id", "delegation_depth", "delegation_path", "timeout"})
_TELLING = frozenset({"delegation_depth", "delegation_path", "task_context"})
_KNOWN = _REQUIRED | {"caller", "task_context", "parent_session_id"}
_FEW, _MOST = 3, 4
_FOREIGN = frozenset({"event", "status", "return", "summary", "artifacts", "metadata", "start_time", "agent_type"})
"""What an object has that is more than what was handed over: a line of a log, a return, an entry of a registry."""


def _agent(given: ContextObject) -> str | None:
    """Whom the work was handed to: the end of the path. A command has none, and some callers stop at themselves."""
    path = given.delegation_path or ()
    return path[-1] if len(path) > 2 and path[-1] != given.caller else None


def _unread(given: Any, notes: Notes, where: str) -> None:
    """What is of no use tells nothing, and the rule on what is missing says so."""
    del given, notes, where


def _repair_context(given: Any, notes: Notes, where: str) -> TaskContext | None:
    if isinstance(given, dict):
        return salvage(TaskContext, given, notes, f"{where}.")
    wrong_type("object", given, notes, where)
    return None


_REPAIRS: dict[str, Repair] = {**dict.fromkeys(_REQUIRED, _unread), "task_context": _repair_context}

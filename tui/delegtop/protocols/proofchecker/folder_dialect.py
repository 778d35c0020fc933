"""The file-based delegation system of the ProofChecker family: markers, returns and registries under `specs/`.

Its files are small documents that scripts and agents write beside the work itself, and one log of events. Each has a
module here; `shapes` tells which is which, `nodes` where each one's word belongs in the tree.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, tzinfo
from typing import ClassVar

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.signature import Signature
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Deviation, Event
from delegtop.protocols.proofchecker import (
    PRODUCT,
    events_log,
    folder_lists,
    markers,
    multi_state,
    return_meta,
    sessionless_files,
    shapes,
    task_logs,
    vocabulary,
)
from delegtop.protocols.proofchecker.nodes import Document, FolderMemory
from delegtop.protocols.proofchecker.shapes import FileShape
from delegtop.sources.records import NOT_AN_OBJECT, NOT_JSON, Line, Record, Unreadable, decoded, excerpt

_SHOWN = 5

_READERS: dict[FileShape, Callable[[Document, FolderMemory], Iterator[Event]]] = {
    FileShape.RETURN_META: return_meta.read,
    FileShape.MULTI_RETURN: multi_state.read_return,
    FileShape.MARKER: markers.read_marker,
    FileShape.CONTINUATIONS: markers.read_continuations,
    FileShape.CYCLES: markers.read_cycles,
    FileShape.MULTI_STATE: multi_state.read_state,
    FileShape.HANDOFF: sessionless_files.read_handoff,
    FileShape.EVENTS: events_log.read,
    FileShape.METRICS: task_logs.read_metrics,
    FileShape.ISSUES: task_logs.read_issue,
    FileShape.LOCK: markers.read_lock,
    FileShape.SESSION: markers.read_session,
    FileShape.PROGRESS: sessionless_files.read_progress,
    FileShape.SPAWN: sessionless_files.read_spawn,
    FileShape.STATE: folder_lists.read_state,
    FileShape.ERRORS: lambda document, memory: folder_lists.read_errors(document.value, document, memory),
}


class ProofChecker(Dialect):
    """Reads the files of one folder of tasks together."""

    name: ClassVar[str] = "proofchecker"
    title: ClassVar[str] = "delegation files of the ProofChecker family (specs/)"
    product = PRODUCT
    surest: ClassVar[int] = 95
    signatures: ClassVar[tuple[Signature, ...]] = shapes.SIGNATURES
    about: ClassVar[About] = About(
        "the ProofChecker family of orchestrators",
        "`specs/**`: return files, markers, locks, state files, logs of events, metrics and issues",
        "tree, status, tokens, returns, what blocks and what to do next",
        Basis.REAL,
    )
    unit: ClassVar[Unit] = Unit.DOCUMENT
    files: ClassVar[tuple[str, ...]] = (
        shapes.MARKER_NAME,
        shapes.STOPS_NAME,
        ".continuation-loop-guard",
        ".orchestrator-loop-guard",
    )

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self._memory = FolderMemory()

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        return shapes.sniff(sample)[1]

    @classmethod
    def unit_of(cls, sample: Sample) -> Unit:
        shape, _ = shapes.sniff(sample)
        if shape in shapes.LOGS:
            return Unit.LINES
        bare = shape in (FileShape.STOPS, FileShape.MARKER) or sample.head.lstrip().startswith(b"[")
        return Unit.TEXT if bare else Unit.DOCUMENT

    @classmethod
    def family(cls, path: str) -> str:
        return vocabulary.family(path)

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        name = line.origin.source.rpartition("/")[2]
        data = line.data.strip(b"\0\xef\xbb\xbf \t\r\n")
        if name == shapes.STOPS_NAME and data.isdigit() and len(data) < 5:
            return markers.read_stops(data, self._memory.document({}, line.origin, line.at), self._memory)
        if name == shapes.MARKER_NAME and not data:
            return markers.read_marker(self._memory.document({}, line.origin, line.at), self._memory)
        if data.startswith(b"["):
            return self._list(line, data)
        return super().read(line)

    def translate(self, record: Record) -> Iterable[Event]:
        shape, _ = shapes.of(record.value, record.origin.source.rpartition("/")[2])
        if shape is None:
            return (
                Deviation(
                    record.origin, DeviationKind.UNKNOWN_EVENT, f"none of ours: {', '.join([*record.value][:_SHOWN])}"
                ),
            )
        return _READERS[shape](self._memory.document(record.value, record.origin, record.at), self._memory)

    def vanished(self, origin: Origin, at: Millis) -> Iterable[Event]:
        if origin.source in self._memory.open_rows:
            yield from markers.marker_vanished(origin, at, self._memory)
            return
        yield from self._memory.gone(origin, at)

    def retell(self, line: Line) -> Iterable[Event | Unreadable]:
        again = type(self)(self.zone)
        again._memory = self._memory.retold()
        return again.read(line)

    def needle(self, id: str, path: str) -> bytes:  # noqa: ARG002 - every file names the session the same way
        return id.partition("/")[0].encode()

    def _list(self, line: Line, data: bytes) -> Iterator[Event | Unreadable]:
        """A bare list of errors."""
        value = decoded(data)
        if not isinstance(value, list):
            yield Unreadable(line.origin, NOT_JSON, excerpt(data))
            return
        if any(not isinstance(each, dict) for each in value):
            yield Unreadable(line.origin, NOT_AN_OBJECT, excerpt(data))
        errors = [each for each in value if isinstance(each, dict)]
        yield from folder_lists.read_errors(
            errors, self._memory.document({}, line.origin, line.at, errors), self._memory
        )

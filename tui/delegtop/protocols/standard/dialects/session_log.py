"""The session log: delegtop's own format. One JSON object a line, one event an object, appended as things happen.

A line that fits is decoded straight into its Struct, with no dictionary in between: that is where loading a million
lines spends its time. The decoder is strict, so everything odd about a line makes it fail, and only then is the line
read again with care, field by field.
"""

from collections.abc import Callable, Iterable
from itertools import accumulate, count
from operator import attrgetter
from pathlib import PurePath
from typing import Any, ClassVar

import msgspec

from delegtop.base.clock import Millis, millis
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample
from delegtop.dialects.kit.salvage import Notes, Repair, blank, moment, read_apart, salvage, wrong_type
from delegtop.dialects.signature import Signature
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.event_runs import EndRow, EventRun, SignRow, StartRow
from delegtop.model.events import Ended, Ending, Erred, Event, Fault, Heard, Outcome, Report, Started
from delegtop.protocols.standard.contract.session_ids import is_well_formed
from delegtop.protocols.standard.dialects.return_reading import (
    NO_METADATA,
    OUTCOMES,
    ReturnObject,
    repair_artifacts,
    repair_fault,
    repair_return,
    report,
    report_by,
)
from delegtop.protocols.standard.dialects.session_log_lines import (
    Cancel,
    Entry,
    Error,
    Heartbeat,
    Register,
    ReturnLine,
    TaskContext,
    Timeout,
)
from delegtop.sources.records import Line, LineBlock, Record, Unreadable, records

_KINDS: dict[object, type[Entry]] = {
    "register": Register,
    "heartbeat": Heartbeat,
    "return": ReturnLine,
    "timeout": Timeout,
    "error": Error,
    "cancel": Cancel,
}

_whose = attrgetter("session_id")
_UNKNOWN, _RETURN = Outcome.UNKNOWN, Ending.RETURN  # looking up an enum's member costs as much as making an event

_decode: Callable[[bytes], Register | Heartbeat | ReturnLine | Timeout | Error | Cancel]
_decode = msgspec.json.Decoder(Entry).decode


class SessionLog(Dialect):
    """Reads session logs."""

    name: ClassVar[str] = "session-log"
    title: ClassVar[str] = "delegtop session log"
    surest: ClassVar[int] = 95
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b'"event":',)),)
    lines_stand_alone: ClassVar[bool] = True
    about: ClassVar[About] = About(
        "delegtop run, and any orchestrator that writes it",
        "one log or many, anywhere: `*.jsonl`",
        "tree, status, deadline, tokens, cost, returns",
        Basis.OWN,
    )

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        lines = sample.head.split(b"\n", _LINES_SNIFFED)
        cut = lines.pop() if not sample.whole or len(lines) > _LINES_SNIFFED else b""
        scores = [score for score in map(_sniff_line, lines) if score is not None]
        if not scores:
            return max(map(_sniff_part, [cut, *lines]))  # two records glued together are no line, and begin like one
        return max(scores) if 2 * sum(score > 0 for score in scores) >= len(scores) else 0

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        try:
            event = _plain_event(_decode(line.data), line.origin)
        except (ValueError, RecursionError):
            event = None
        return (event,) if event is not None else self._read_with_care(line)

    def read_block(self, block: LineBlock, longest: int) -> Iterable[EventRun | Event | Line]:
        source, first, raws = block.source, block.line, block.take().raws
        offsets = [*accumulate(map(len, raws), initial=block.offset)]
        entries = _decoded(raws)
        if max(map(len, raws), default=0) > longest:
            entries = [entry if len(raw) <= longest else None for raw, entry in zip(raws, entries, strict=True)]
        told: list[EventRun | Event | Line] = []
        begin, run = 0, _RunRows()
        signs = run.signs
        for line, entry, offset in zip(count(first), entries, offsets, strict=False):
            if type(entry) is Heartbeat:  # the bulk of a log: a call for each would cost
                id, at = entry.session_id, millis(entry.at)
                signs.append((id, at, line, offset, entry.activity, entry.tool, entry.tokens, entry.cost, None))
            elif entry is None or not run.take(entry, line, offset):
                number, origin = line - first, Origin(source, line, offset)
                if begin < number:
                    told.append(run.told(Origin(source, first + begin, offsets[begin]), entries[begin:number]))
                    run = _RunRows()
                    signs = run.signs
                begin = number + 1
                event = None if entry is None else _plain_event(entry, origin)
                told.append(Line(origin, raws[number][:-1]) if event is None else event)
        if begin < len(raws):
            told.append(run.told(Origin(source, first + begin, offsets[begin]), entries[begin:]))
        return told

    def _read_with_care(self, line: Line) -> list[Event | Unreadable]:
        events: list[Event | Unreadable] = []
        for record in records(line):
            if isinstance(record, Unreadable):
                events.append(record)
            else:
                events.extend(self.translate(record))
        return events

    def translate(self, record: Record) -> list[Event]:
        notes = Notes(record.origin)
        event = record.value.get("event")
        kind = _KINDS.get(event) if isinstance(event, str) else None
        if kind is None:
            notes.add(
                DeviationKind.UNKNOWN_EVENT, f"event: {event!r}" if "event" in record.value else "no event is named"
            )
            return [*notes.deviations()]
        entry = salvage(kind, record.value, notes, repairs=_REPAIRS)
        _complete(entry, notes)
        at = moment(record.value.get("at"), self.zone, notes, "at")
        if isinstance(entry, Register):
            deadline = moment(record.value.get("deadline"), self.zone, notes, "deadline")
            return [_started(entry, at, deadline, record.origin), *notes.deviations()]
        return [_event(entry, at, record.origin), *notes.deviations()]


def _decoded(raws: list[bytes]) -> list[Entry | None]:
    """Each line as an entry; None where it has to be read with care."""
    try:
        return [*map(_decode, raws)]
    except (ValueError, RecursionError):
        return [*map(_decoded_alone, raws)]


def _decoded_alone(raw: bytes) -> Entry | None:
    try:
        return _decode(raw)
    except (ValueError, RecursionError):
        return None


def _plain_event(entry: Entry, origin: Origin) -> Event | None:
    """What an entry tells that was decoded strictly; None if something about its ids is odd."""
    id, at = entry.session_id, millis(entry.at)
    if not isinstance(entry, Heartbeat) and not is_well_formed(id):  # a heartbeat's is looked at in the other records
        return None
    if isinstance(entry, Register):
        return _started(entry, at, None if entry.deadline is None else millis(entry.deadline), origin)
    if isinstance(entry, ReturnLine):
        told = report(entry.returned)
        if told.session_id is not None and told.session_id != id:
            return None
        return Ended(id, at, origin, OUTCOMES[told.status], _RETURN, told)
    return _event(entry, at, origin)


class _RunRows:
    """What plain lines tell that follow each other."""

    __slots__ = ("ends", "signs", "starts")

    def __init__(self) -> None:
        self.signs: list[SignRow] = []
        self.starts: list[StartRow] = []
        self.ends: list[EndRow] = []

    def take(self, entry: Entry, line: int, offset: int) -> bool:
        """One that is no heartbeat; False if it has to be read alone."""
        id = entry.session_id
        if not is_well_formed(id):
            return False
        if type(entry) is Register:
            deadline = None if entry.deadline is None else millis(entry.deadline)
            self.starts.append(_start_row(entry, millis(entry.at), deadline, line, offset))
        elif type(entry) is ReturnLine:
            wire = entry.returned
            named = wire.metadata.session_id or wire.session_id
            if named is not None and named != id:
                return False
            signed = named is not None
            outcome, told = OUTCOMES[wire.status], report_by(wire, None)
            self.ends.append((id, millis(entry.at), line, offset, outcome, _RETURN, told, signed))
        else:
            return False
        return True

    def told(self, origin: Origin, entries: list[Entry | None]) -> EventRun:
        """These, and whom each of the entries tells of."""
        return EventRun(origin, [*map(_whose, entries)], self.signs, self.starts, self.ends)


def _started(entry: Register, at: Millis | None, deadline: Millis | None, origin: Origin) -> Started:
    """What a register tells. Its times are given apart: a bad one costs more than this."""
    return Started(entry.session_id, at, origin, *_start_row(entry, Millis(0), deadline, 0, 0)[4:])


def _start_row(entry: Register, at: Millis, deadline: Millis | None, line: int, offset: int) -> StartRow:
    """The same as it stands in a run."""
    timeout, task = entry.timeout, entry.task_number
    if task is None and entry.task_context is not None:
        task = entry.task_context.task_number
    return (
        entry.session_id,
        at,
        line,
        offset,
        entry.subagent,
        entry.command,
        entry.caller,
        None if task is None else str(task),
        entry.delegation_path,
        entry.delegation_depth,
        None if timeout is None else int(timeout * 1000),
        deadline,
        entry.parent_session_id,
        entry.pid,
        entry.host,
    )


def _event(entry: Heartbeat | ReturnLine | Timeout | Error | Cancel, at: Millis | None, origin: Origin) -> Event:
    """What any other entry tells."""
    id = entry.session_id
    match entry:
        case ReturnLine():
            told = report(entry.returned)
            return Ended(id, at, origin, OUTCOMES.get(told.status, _UNKNOWN), _RETURN, told)
        case Heartbeat():
            return Heard(id, at, origin, entry.activity, entry.tool, entry.tokens, entry.cost)
        case Timeout():
            return Ended(id, at, origin, Outcome.TIMEOUT, Ending.TIMEOUT, Report(artifacts=entry.artifacts))
        case Error():
            return Erred(id, at, origin, entry.error)
        case Cancel():
            return Ended(id, at, origin, Outcome.INTERRUPTED, Ending.CANCEL, Report(summary=entry.reason))


def _complete(entry: Entry, notes: Notes) -> None:
    """Fill in what an event cannot do without, and note what is odd about the id."""
    if isinstance(entry, ReturnLine) and entry.returned is None:
        entry.returned = blank(ReturnObject, {"metadata": NO_METADATA})
    if isinstance(entry, Error) and entry.error is None:
        entry.error = Fault()
    if entry.session_id is None:
        entry.session_id = _substitute_id(entry, notes.origin)
    elif not isinstance(entry, Heartbeat) and not is_well_formed(entry.session_id):
        notes.add(DeviationKind.MALFORMED_SESSION_ID, entry.session_id)
    if isinstance(entry, ReturnLine) and _returned_id(entry) not in (None, entry.session_id):
        notes.add(
            DeviationKind.ANOTHER_SESSION_ID,
            f"the return is of {_returned_id(entry)}, the record of {entry.session_id}",
        )


def _substitute_id(entry: Entry, origin: Origin) -> str:
    """The id of a record that has none: the one its return names, else the place where it stands."""
    named = _returned_id(entry) if isinstance(entry, ReturnLine) else None
    return named or f"no-session-id@{PurePath(origin.source).name}:{origin.line}"


def _returned_id(entry: ReturnLine) -> str | None:
    return entry.returned.metadata.session_id or entry.returned.session_id


def _repair_id(given: Any, notes: Notes, where: str) -> None:
    if given == "":
        notes.add(DeviationKind.MISSING_SESSION_ID, f"{where}: empty")
    else:
        wrong_type("str", given, notes, where)


def _repair_version(given: Any, notes: Notes, where: str) -> int:
    notes.add(DeviationKind.UNKNOWN_SCHEMA_VERSION, f"{where}: {given!r}; read as version 1")
    return 1


def _repair_context(given: Any, notes: Notes, where: str) -> TaskContext | None:
    if isinstance(given, dict):
        return salvage(TaskContext, given, notes, f"{where}.")
    wrong_type("object", given, notes, where)
    return None


_REPAIRS: dict[str, Repair] = {
    "at": read_apart,
    "deadline": read_apart,
    "session_id": _repair_id,
    "schema_version": _repair_version,
    "task_context": _repair_context,
    "return": repair_return,
    "artifacts": repair_artifacts,
    "error": repair_fault,
}


class _Shape(msgspec.Struct, gc=False):
    """The three keys a line is told by."""

    event: Any = None
    session_id: Any = None
    at: Any = None


_shape = msgspec.json.Decoder(_Shape).decode
_LINES_SNIFFED = 64
_EVENT_KEY = lazy_pattern(rb'"event"\s*:\s*"(\w+)"')
_OWN_KEY = lazy_pattern(rb'"(?:session_id|at)"\s*:')


def _sniff_line(data: bytes) -> int | None:
    """How much one whole line looks like ours; None if it is no JSON object and so says nothing.

    Many programs write lines with an `event`: ours has a known one, or at least both of the other keys.
    """
    try:
        shape = _shape(data.strip(b"\0\xef\xbb\xbf \t\r"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(shape.event, str):
        return 0
    own = isinstance(shape.session_id, str) + isinstance(shape.at, str)
    if shape.event in _KINDS:
        return (0, 60, 95)[own]
    return 40 if own == 2 else 0


def _sniff_part(data: bytes) -> int:
    """How much the beginning of a line looks like ours."""
    event = _EVENT_KEY.search(data)
    if event is None or not data.lstrip(b"\0\xef\xbb\xbf \t").startswith(b"{"):
        return 0
    known = event[1].decode("ascii", "replace") in _KINDS
    return 80 if known and _OWN_KEY.search(data) else 30 if known else 0

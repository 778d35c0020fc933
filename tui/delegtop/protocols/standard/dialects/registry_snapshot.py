"""The registry snapshot: one JSON object, keyed by session id, of the delegations an orchestrator waits for.

It is rewritten whole on every change, and an entry is deleted when its delegation completes or times out. So a
snapshot tells what was active when it was written; of what is missing from it, it tells nothing.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any, ClassVar

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.kit.clones import Copies
from delegtop.dialects.kit.salvage import Notes, moment, wrong_type
from delegtop.dialects.signature import Signature
from delegtop.model import notes as kinds
from delegtop.model.deviation_kinds import Departure, DeviationKind
from delegtop.model.events import Ended, Ending, Event, Noted, Outcome, Report, Started, Surveyed
from delegtop.protocols.standard.contract.session_ids import is_well_formed
from delegtop.protocols.standard.dialects.return_reading import OUTCOMES, repair_return, report
from delegtop.sources.records import NOT_JSON, TORN, Line, Record, Unreadable, decoded, excerpt, records

_ENDED: dict[str | None, Outcome] = {**OUTCOMES, "timeout": Outcome.TIMEOUT}


class Registry(Dialect):
    """Reads registry snapshots."""

    name: ClassVar[str] = "registry"
    title: ClassVar[str] = "orchestrator registry snapshot"
    surest: ClassVar[int] = 94  # a log that is sure of itself is not asked whether it is a registry, too
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b"\n{}\n",)),
        Signature((b'{"sess_',)),
        Signature((b',"sess_',)),
        # An entry under another id has four of ten keys, and so one of these seven.
        Signature((b':{"', b'"subagent":')),
        Signature((b':{"', b'"task_number":')),
        Signature((b':{"', b'"start_time":')),
        Signature((b':{"', b'"deadline":')),
        Signature((b':{"', b'"delegation_depth":')),
        Signature((b':{"', b'"delegation_path":')),
        Signature((b':{"', b'"return":')),
    )
    about: ClassVar[About] = About(
        "orchestrators of the delegation protocol",
        "`registry.json`",
        "tree, status, deadline, and who left without a return",
        Basis.OWN,
    )
    unit: ClassVar[Unit] = Unit.DOCUMENT

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._first: dict[str, tuple[Millis | None, Millis]] = {}
        """When each file was written as it was read first, and how old what it told then was."""
        self._unstated: set[str] = set()
        """The entries that have no status."""

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        head = sample.head.strip(b"\0\xef\xbb\xbf \t\r\n")
        if not head.startswith(b"{"):
            return 0
        value = decoded(head) if sample.whole else None
        if not isinstance(value, dict):
            return _sniff_part(head)
        return max((_sniff_entry(id, entry) for id, entry in value.items()), default=10)

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        found = list(records(line))
        unreadable = [each for each in found if isinstance(each, Unreadable)]
        whole = [each for each in found if isinstance(each, Record)]
        # Half a snapshot would make the other half look deleted, so what is not one whole object tells nothing.
        if len(whole) > 1:
            return [Unreadable(line.origin, "several objects", excerpt(line.data))]
        if not whole or any(each.reason in (TORN, NOT_JSON) for each in unreadable):
            return unreadable
        places = _places(line, whole[0].value)
        return [*self._given_before(line, places), *self._events(whole[0], places), *unreadable]

    def translate(self, record: Record) -> Iterable[Event]:
        return self._events(record, {})

    def _given_before(self, line: Line, places: dict[str, Origin]) -> Iterator[Event]:
        """What entries tell under an id that another entry further down has too: JSON keeps only the last of them."""
        start = line.origin
        for id, first in places.items():
            quoted = msgspec.json.encode(id)
            if not is_well_formed(id) or line.data.count(quoted) < 2:
                continue
            at = first.offset - start.offset
            last = _find_key(line.data, quoted, at + len(quoted))
            if last >= 0 and (entry := _entry_at(line.data, at + len(quoted))) is not None:
                yield from self._entry(id, id, entry, first)
                places[id] = Origin(start.source, start.line + line.data.count(b"\n", 0, last), start.offset + last)

    def _events(self, record: Record, places: dict[str, Origin]) -> Iterator[Event]:
        ids = []
        for key, value in record.value.items():
            origin = places.get(key, record.origin)
            id = key or f"no-session-id@{PurePath(origin.source).name}:{origin.line}"
            ids.append(id)
            yield from self._entry(id, key, value, origin)
        yield Surveyed(self._as_of(record), record.origin, tuple(ids))

    def _as_of(self, record: Record) -> Millis:
        """When it was so: as the file was written, or long before if it is a copy. What is written again is none."""
        written, source = record.at or Millis(0), record.origin.source
        if source not in self._first:
            told = Copies().told(source, record.value, record.at, self.zone)
            self._first[source] = (record.at, written if told is None else told)
        first, told_then = self._first[source]
        return told_then if first == record.at else written

    def _entry(self, id: str, key: str, value: Any, origin: Origin) -> Iterator[Event]:
        """What one entry tells; one that is no object is listed all the same."""
        notes = Notes(origin)
        if not key:
            notes.add(DeviationKind.MISSING_SESSION_ID, "the key is empty")
        elif not is_well_formed(key):
            notes.add(DeviationKind.MALFORMED_SESSION_ID, key)
        if isinstance(value, dict):
            yield from self._delegation(id, value, notes)
        else:
            wrong_type("object", value, notes, id)
        yield from notes.deviations()

    def _delegation(self, id: str, value: dict[str, Any], notes: Notes) -> Iterator[Event]:
        from delegtop.protocols.standard.dialects.registry_entry import (
            fit,  # the models take longer to load than all other formats together
        )

        fields, departures = fit(value)
        for kind, detail in departures:
            notes.add(kind, f"{id}: {detail}")
        yield from self._stated(id, Departure(DeviationKind.MISSING_FIELD, "status") not in departures, notes.origin)
        timeout, task, path = fields.get("timeout"), fields.get("task_number"), fields.get("delegation_path")
        yield Started(
            id,
            moment(fields.get("start_time"), self.zone, notes, f"{id}: start_time"),
            notes.origin,
            agent=fields.get("subagent"),
            command=fields.get("command"),
            task=None if task is None else str(task),
            path=None if path is None else tuple(path),
            depth=fields.get("delegation_depth"),
            timeout=None if timeout is None else int(timeout * 1000),
            deadline=moment(fields.get("deadline"), self.zone, notes, f"{id}: deadline"),
            listed=True,
        )
        ended = self._ended(id, fields, notes)
        if ended is not None:
            yield ended

    def _stated(self, id: str, is_stated: bool, origin: Origin) -> Iterator[Event]:
        """That an entry has no status, for the rule on that; no longer if it has one now."""
        if not is_stated:
            self._unstated.add(id)
            yield Noted(id, None, origin, kinds.UNSTATED, "the entry has no status")
        elif id in self._unstated:
            self._unstated.discard(id)
            yield Noted(id, None, origin, kinds.UNSTATED, "")

    def _ended(self, id: str, fields: dict[str, Any], notes: Notes) -> Ended | None:
        """The end, if the entry tells of one. When it was, no registry tells."""
        outcome, told = _ENDED.get(fields.get("status")), Report()
        if fields.get("return") is not None:
            told = report(repair_return(fields["return"], notes, f"{id}: return"))
            outcome = outcome or OUTCOMES.get(told.status, Outcome.UNKNOWN)
        if told.session_id not in (None, id):
            notes.add(DeviationKind.ANOTHER_SESSION_ID, f"{id}: the return is of {told.session_id}")
        return None if outcome is None else Ended(id, None, notes.origin, outcome, Ending.REGISTRY, told)


def _places(line: Line, ids: Iterable[str]) -> dict[str, Origin]:
    """Where in the document each entry stands, found by its key; the keys come in the order of the document."""
    data, start = line.data, line.origin
    places: dict[str, Origin] = {}
    at, number = 0, start.line
    for id in ids:
        found = _find_key(data, msgspec.json.encode(id), at)
        if found < 0:  # spelt with other escapes than ours: it and those after it stay with the whole document
            break
        number += data.count(b"\n", at, found)
        at = found
        places[id] = Origin(start.source, number, start.offset + at)
    return places


def _find_key(data: bytes, quoted: bytes, start: int) -> int:
    """Where from `start` on the text stands as a key, not as a value; -1 if nowhere."""
    at = data.find(quoted, start)
    while at >= 0:
        after = at + len(quoted)
        if data[after : after + 16].lstrip().startswith(b":"):
            return at
        at = data.find(quoted, after)
    return at


def _entry_at(data: bytes, start: int) -> dict[str, Any] | None:
    """The object that follows a key, behind its colon."""
    text = data[start:].decode("utf-8", "replace").lstrip().removeprefix(":").lstrip()
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


_KNOWN = frozenset(
    {
        "command",
        "subagent",
        "task_number",
        "start_time",
        "timeout",
        "deadline",
        "status",
        "delegation_depth",
        "delegation_path",
        "return",
    }
)
"""The keys of an entry."""
_ENTRY_START = re.compile(rb'\s*\{\s*"((?:[^"\\]|\\.){1,200})"\s*:\s*\{')
_KEY = re.compile(rb'"(\w+)"\s*:')
_SNIFFED = 16 * 1024


def _sniff_entry(id: str, entry: Any) -> int:
    """How much one key and its value look like an entry."""
    known = len(_KNOWN & entry.keys()) if isinstance(entry, dict) else 0
    if is_well_formed(id):
        return 94 if known >= 3 else 60 if isinstance(entry, dict) else 30
    return 80 if known >= 4 else 0


def _sniff_part(head: bytes) -> int:
    """How much the beginning of a document looks like ours, or one that was read while it was written."""
    first, newline, _ = head.partition(b"\n")
    entry = _ENTRY_START.match(head)
    if entry is None or (newline and isinstance(decoded(first), dict)):  # an object a line is a log
        return 0
    if is_well_formed(entry[1].decode("utf-8", "replace")):
        return 85
    known = _KNOWN & {key.decode() for key in _KEY.findall(head, 0, _SNIFFED)}
    return 50 if len(known) >= 4 and "start_time" in known else 0

"""CLEO's MANIFEST.jsonl: one line for each subagent that came back, appended by the subagent itself.

A line is written at the end and says no more than the day. So it is an end without a start and, mostly, without a
moment: no time is ever made of a day. Epic, wave and `parent` are the only lines of descent it draws.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, tzinfo
from hashlib import blake2b
from typing import Any, ClassVar

import msgspec

from delegtop.base.origin import Origin
from delegtop.dialects import About, Basis, Dialect, Sample
from delegtop.dialects.kit.multiline import Unfinished
from delegtop.dialects.kit.salvage import Notes, moment
from delegtop.dialects.signature import Signature
from delegtop.model.events import Deviation, Event
from delegtop.protocols import protocol_drift as drifts
from delegtop.protocols.cleo import PRODUCT
from delegtop.protocols.cleo.entry_drift import SAME_ID, SHARED, SPREAD, TWICE
from delegtop.protocols.cleo.entry_rows import entry_events, entry_notes, noted
from delegtop.protocols.cleo.manifest_entry import ManifestEntry, looks_like_entry
from delegtop.protocols.protocol_drift import Drift
from delegtop.sources.records import Line, Record, Unreadable, decoded, records

_SNIFFED = 40
_LONG = 16 * 1024
"""Bytes of an entry that is written otherwise for its digest: `repr` takes milliseconds for lists within lists."""


class CleoManifest(Dialect):
    """Reads MANIFEST.jsonl."""

    name: ClassVar[str] = "cleo-manifest"
    title: ClassVar[str] = "CLEO manifest"
    product = PRODUCT
    surest: ClassVar[int] = 80
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((b'"key_findings":',)),
        Signature((b'"needs_followup":',)),
        Signature((b'"linked_tasks":',)),
        Signature((b'"actionable":',)),
        Signature((b'"status":', b'"task')),
        Signature((b'"status":', b'"linkedTask":')),
        Signature((b'"status":', b'"epic":')),
        Signature((b'"status":', b'"id":')),
    )
    about: ClassVar[About] = About(
        "CLEO",
        "`claudedocs/agent-outputs/MANIFEST.jsonl`",
        "what each agent left behind and how it ended, by task and epic",
        Basis.REAL,
    )

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self._unfinished = Unfinished()
        self._offset = -1
        self._places: dict[str, tuple[int, bytes]] = {}
        """Where each id stands in the file as it is now, and what it says there."""
        self._names: dict[str, list[bytes]] = {}
        """What is said under each id: of two different entries with one id, the second gets a name of its own."""
        self._again = False
        """The file was read before: a note that no longer holds must be withdrawn."""

    outputs: ClassVar[str] = r"[0-9]{4}-[0-9]{2}-[0-9]{2}_.+\.md"
    outputs_listed_in: ClassVar[str] = "MANIFEST.jsonl"

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        """By the first objects: most of them must mean to be entries, whatever the file is called."""
        values = list(_objects(sample))
        if not values:
            return 0
        fitting = sum(looks_like_entry(value) for value in values)
        if fitting * 2 <= len(values):
            return 0
        return 80 if fitting == len(values) else 65

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        if line.origin.offset <= self._offset:  # archived entries were taken out, so the file is read anew
            self._unfinished = Unfinished()
            self._places.clear()
            self._names.clear()
            self._again = True
        self._offset = line.origin.offset
        was_open = self._unfinished.is_open
        ready, spread = self._unfinished.take(line)
        if self._unfinished.is_open and (ready or not was_open):
            # Said at once: an entry that the file ends in the middle of would never be heard of otherwise.
            yield Deviation(line.origin, SPREAD, "an entry begins here that does not end on this line")
        for number, whole in enumerate(ready, start=1):
            yield from self._told(whole, spread if number == len(ready) else 1)

    def retell(self, line: Line) -> Iterable[Event | Unreadable]:
        again = type(self)(self.zone)
        again._names = self._names  # the second entry with an id keeps its name
        return again.read(line)

    def needle(self, id: str, path: str) -> bytes:  # noqa: ARG002 - the same for all
        return b""  # an entry may have no id, or go by another one here

    def translate(self, record: Record) -> Iterable[Event]:
        return self._events(record, [])

    def _told(self, line: Line, spread: int) -> Iterator[Event | Unreadable]:
        if listed := _listed(line):
            for entry in listed:
                yield from self._events(entry, [Drift(SHARED, "a list stands around it")])
            return
        found = list(records(line))
        shared = sum(isinstance(each, Record) for each in found) > 1
        for each in found:
            if isinstance(each, Unreadable):
                yield each
                continue
            place = [Drift(SPREAD, f"{spread} lines")] if spread > 1 else []
            if shared:
                place.append(Drift(SHARED, "another entry stands on the same line"))
            elif line.data.strip().endswith(b",") or line.data.lstrip().startswith(b","):
                place.append(Drift(SHARED, "a comma stands beside it, which makes the line no valid JSON"))
            yield from self._events(each, place)

    def _events(self, record: Record, place: list[Drift]) -> Iterator[Event]:
        entry, origin = ManifestEntry.of(record.value), record.origin
        said = _digest(record.value)
        id = self._name(entry.id or f"entry-{said.hex()[:8]}", said)
        drift = [*entry.drift, *place, *self._repeated(entry.id, said, origin)]
        notes = Notes(origin)
        at = moment(entry.time, self.zone, notes, "time")
        yield from entry_events(id, entry, at, origin)
        for kind, text in (*entry_notes(entry, at), (drifts.NOTE, drifts.written(drift))):
            if text or self._again:
                yield noted(id, at, origin, kind, text)
        yield from notes.deviations()

    def _name(self, id: str, said: bytes) -> str:
        known = self._names.setdefault(id, [])
        if said not in known:
            known.append(said)
        number = known.index(said) + 1
        return id if number == 1 else f"{id}~{number}"

    def _repeated(self, id: str, said: bytes, origin: Origin) -> list[Drift]:
        """Whether the file has this id already."""
        if not id:
            return []
        line, before = self._places.setdefault(id, (origin.line, said))
        if before == said:
            return [] if line == origin.line else [Drift(TWICE, f"line {line} says the same")]
        return [Drift(SAME_ID, f"line {line} has the id {id} too")]


def _digest(entry: dict[str, Any]) -> bytes:
    """Of all that an entry says."""
    written = msgspec.json.encode(entry)
    if len(written) <= _LONG:
        written = repr(entry).encode("utf-8", "replace")
    return blake2b(written, digest_size=8).digest()


def _listed(line: Line) -> list[Record]:
    """The entries that stand in a list on the line."""
    if not line.data.lstrip().startswith(b"[{"):
        return []
    values = decoded(line.data)
    values = values if isinstance(values, list) else []
    return [Record(line.origin, each) for each in values if isinstance(each, dict) and looks_like_entry(each)]


def _objects(sample: Sample) -> Iterator[dict[str, Any]]:
    """The first objects of the file, also over several lines or several on one."""
    lines = sample.head.split(b"\n")
    if not sample.whole and len(lines) > 1:
        lines.pop()  # it was cut
    unfinished = Unfinished()
    found = 0
    for number, data in enumerate(lines, start=1):
        ready, _ = unfinished.take(Line(Origin(sample.path, number, 0), data))
        for line in ready:
            for each in _listed(line) or records(line):
                if isinstance(each, Record):
                    found += 1
                    yield each.value
        if found >= _SNIFFED:
            return

"""CLEO's SESSIONS.jsonl: one line for each working session that was ended, some of them spread over several lines.

A session is written again whenever it is ended again, so the same one may stand there several times; some have no
start. What the session came to, its line does not tell.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, tzinfo
from typing import ClassVar

from delegtop.dialects import About, Basis, Dialect, Sample
from delegtop.dialects.kit.multiline import Unfinished
from delegtop.dialects.kit.salvage import Notes, moment
from delegtop.dialects.signature import Signature
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Deviation, Ended, Ending, Event, Heard, Outcome, Started
from delegtop.protocols.cleo import PRODUCT
from delegtop.protocols.cleo.entry_drift import SPREAD
from delegtop.sources.records import Line, Record, Unreadable, decoded, records


class CleoSessions(Dialect):
    """Reads SESSIONS.jsonl."""

    name: ClassVar[str] = "cleo-sessions"
    title: ClassVar[str] = "CLEO session log"
    product = PRODUCT
    surest: ClassVar[int] = 85
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b'"start_timestamp"', b'"end_timestamp"')),)
    about: ClassVar[About] = About(
        "CLEO",
        "`.cleo/metrics/SESSIONS.jsonl`",
        "sessions, their start, end and tokens",
        Basis.REAL,
    )

    def __init__(self, zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self._unfinished = Unfinished()
        self._offset = -1

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        head = sample.head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not head.startswith(b"{") or b'"start_timestamp"' not in head or b'"end_timestamp"' not in head:
            return 0
        value = decoded(head.partition(b"\n")[0])
        if not isinstance(value, dict):
            return 60 if b'"session_id"' in head and b'"tasks_completed"' in head else 0
        return 85 if {"session_id", "end_timestamp", "stats"} <= value.keys() else 0

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        if line.origin.offset <= self._offset:  # the file is read anew
            self._unfinished = Unfinished()
        self._offset = line.origin.offset
        was_open = self._unfinished.is_open
        ready, _ = self._unfinished.take(line)
        if self._unfinished.is_open and (ready or not was_open):
            yield Deviation(line.origin, SPREAD, "an entry begins here that does not end on this line")
        for whole in ready:
            for each in records(whole):
                if isinstance(each, Unreadable):
                    yield each
                else:
                    yield from self.translate(each)

    def translate(self, record: Record) -> Iterator[Event]:
        value, notes = record.value, Notes(record.origin)
        id = value.get("session_id")
        if not isinstance(id, str) or not id:
            notes.add(DeviationKind.MISSING_SESSION_ID, "session_id")
            yield from notes.deviations()
            return
        start = moment(value.get("start_timestamp") or None, self.zone, notes, "start_timestamp")
        end = moment(value.get("end_timestamp") or None, self.zone, notes, "end_timestamp")
        yield Started(id, start, record.origin, agent=PRODUCT.name, refs=(("session_id", id),), product=PRODUCT.name)
        tokens = value.get("tokens")
        used = tokens.get("consumed") if isinstance(tokens, dict) else None
        if isinstance(used, int) and 0 < used < 2**62:
            yield Heard(id, end, record.origin, tokens=used)
        if end is not None:
            yield Ended(id, end, record.origin, Outcome.UNKNOWN, Ending.REGISTRY)
        yield from notes.deviations()

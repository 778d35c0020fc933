"""The past, read again from disk: the very line an event came from, and all lines about one delegation."""

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.feed.bounded_facts import bounded
from delegtop.feed.dormant_sessions import DormantSessions, Session
from delegtop.feed.followed_file import FollowedFile
from delegtop.feed.formats import Formats
from delegtop.model.delegation import Delegation
from delegtop.model.events import Event
from delegtop.sources import history
from delegtop.sources.discover import is_packed
from delegtop.sources.records import Line, Unreadable
from delegtop.sources.snapshot import Snapshot
from delegtop.sources.tail import Tail

if TYPE_CHECKING:
    from delegtop.feed.spoken_pages import SpokenPages

_MOST = 1 << 62
MANY = 500
"""So many rows of a database or lines of a compressed log are looked at most."""


History = list[tuple[Line, list[Event]]]
"""Lines, and what each says."""


class LineHistory:
    """Reads again what the readings read before. It may be asked by any thread."""

    def __init__(
        self, readings: Mapping[str, FollowedFile], tail: Tail, shelf: DormantSessions, formats: Formats, unnamed: str
    ) -> None:
        self._readings = readings
        self._tail = tail
        self._shelf = shelf
        self._formats = formats
        self._unnamed = unnamed
        """The source that is no file and cannot be opened again."""
        self._again: tuple[Session, dict[str, FollowedFile]] = ((), {})
        """The session that was read again last: whoever looks at one of its delegations looks at the others too."""

    def raw(self, origin: Origin) -> bytes | None:
        """The very line; None if it is no longer there. Of another host only recordings are asked: what lies here
        under the same name is another file."""
        if not _is_place(origin):
            return None
        if origin.host:
            return self._repeated(origin)
        reading = self._readings.get(origin.source)
        if reading is None or reading.source is None:
            found = self._shelf.raw(origin) if origin.source in self._shelf else self._tail.read_line(origin)
            return (self._since_packed(origin) or self._repeated(origin)) if found is None else found
        return reading.source.raw(origin)

    def _since_packed(self, origin: Origin) -> bytes | None:
        """The line as it stands in the file that its log was compressed to."""
        from delegtop.sources.packed import Packed

        found = (reading.source for reading in list(self._readings.values()) if isinstance(reading.source, Packed))
        return next((source.raw(origin) for source in found if source.repeats(origin.source)), None)

    def _repeated(self, origin: Origin) -> bytes | None:
        """The line as a recording of its source has it."""
        for reading in self._second_hand():
            needle = reading.dialect.place(origin)
            for line in self._all(reading, needle) if needle else ():
                original = reading.dialect.original(line)
                if original.data and original.holds(origin):
                    return original.data
        return None

    def _second_hand(self) -> list[FollowedFile]:
        return [reading for reading in list(self._readings.values()) if reading.dialect.second_hand]

    def _all(self, reading: FollowedFile, needle: bytes) -> Iterator[Line]:
        """The lines of a recording that hold the needle."""
        from delegtop.sources.packed import Packed

        if isinstance(reading.source, Packed):
            yield from reading.source.about(needle, MANY)
        elif reading.path != self._unnamed:
            yield from history.lines_about(needle, reading.path, None, None)

    def told(self, delegation: Delegation, limit: int) -> list[tuple[Line, list[Event]]]:
        """The lines about one delegation and what they say, oldest first; at most the last `limit`."""
        own = [origin for origin in delegation.origins if not origin.host and _is_place(origin)]
        readings = self._readings_of({origin.source for origin in own})
        places: dict[str, list[Origin]] = {}
        for origin in own:
            if origin.source in readings:
                places.setdefault(_path_of(delegation.id, origin, readings), []).append(origin)
        logs = sum(1 for path in places if readings[path].is_log)
        found = [
            told
            for path, origins in places.items()
            for told in self._in(readings[path], delegation.id, sorted(origins), logs > 1)
        ]
        found += [told for reading in self._second_hand() for told in self._recorded(reading, delegation)]
        found.sort(key=lambda told: (_moment(told[1]), told[0].origin))
        return found[-limit:]

    def transcript(self, delegation: Delegation, history: Callable[[], History], until: Millis | None) -> "SpokenPages":
        """What was said in a delegation; where no words of it are kept, what its history tells."""
        from delegtop.feed.transcript_files import transcript_of  # only who reads one needs it

        own = [origin for origin in delegation.origins if not origin.host and _is_place(origin)]
        readings = self._readings_of({origin.source for origin in own})
        places = [origin for origin in own if origin.source in readings]
        paths = dict.fromkeys(_path_of(delegation.id, origin, readings) for origin in places)
        files = [readings[path] for path in paths if path != self._unnamed]
        return transcript_of(delegation, files, history, until)

    def _recorded(self, reading: FollowedFile, delegation: Delegation) -> Iterator[tuple[Line, list[Event]]]:
        """What a recording tells of a delegation, but not what is read from the very source as well."""
        about_it = delegation.told_by, delegation.id
        for line in self._all(reading, reading.dialect.needle(delegation.id, reading.path)):
            original = reading.dialect.original(line)
            events = [bounded(event) for event in reading.dialect.retell(line) if not isinstance(event, Unreadable)]
            about = [event for event in events if (event.origin.host, getattr(event, "id", None)) == about_it]
            if about and not self._is_read(original.origin):
                yield original, about

    def _is_read(self, origin: Origin) -> bool:
        """Whether the source itself is read here."""
        return not origin.host and (origin.source in self._readings or origin.source in self._shelf)

    def _readings_of(self, sources: set[str]) -> Mapping[str, FollowedFile]:
        """The readings that there are now, and for this once those of the sessions that were put away."""
        readings = {**self._readings}  # asked first: what is put away meanwhile is on the shelf before it leaves them
        put_away = {self._shelf.session(path) for path in sources if path in self._shelf}
        return ChainMap(*[self._read_again(session) for session in put_away], readings)

    def _read_again(self, session: Session) -> dict[str, FollowedFile]:
        known, readings = self._again
        if known is not session:
            readings = self._shelf.read_again(session, self._formats.anew())
            self._again = (session, readings)
        return readings

    def _in(
        self, reading: FollowedFile, id: str, places: list[Origin], several: bool
    ) -> Iterator[tuple[Line, list[Event]]]:
        """What one file tells of a delegation. If it is one of several, more may stand before and after the places."""
        for line in self._lines(reading, id, places, several):
            events = [bounded(event) for event in reading.dialect.retell(line) if not isinstance(event, Unreadable)]
            about = [event for event in events if getattr(event, "id", None) == id]
            if about or isinstance(reading.source, Snapshot):
                yield line, about

    def _lines(self, reading: FollowedFile, id: str, places: list[Origin], several: bool) -> Iterator[Line]:
        from delegtop.sources.packed import Packed
        from delegtop.sources.row_reader import RowReader

        path = reading.path
        if isinstance(reading.source, RowReader):
            yield from reading.source.about(id, MANY)
            return
        if isinstance(reading.source, Packed):
            yield from reading.source.about(reading.dialect.needle(id, path), MANY)
            return
        if not reading.is_log or path == self._unnamed:
            yield from (Line(origin, data) for origin in places if (data := self.raw(origin)) is not None)
            return
        needle = reading.dialect.needle(id, path)
        span = (None, None) if several or not needle else (places[0], places[-1])
        yield from history.lines_about(needle, path, *span)


def _is_place(origin: Origin) -> bool:
    """Whether a file can have it: a recording, and whoever asks from elsewhere, may name any numbers."""
    return 0 <= origin.line < _MOST and 0 <= origin.offset < _MOST


def _path_of(id: str, origin: Origin, readings: Mapping[str, FollowedFile]) -> str:
    """Where a line about it is now: a rotated log goes on under a longer name, and another takes its own."""
    name = origin.source
    if not readings[name].is_log:
        return name
    needle = readings[name].dialect.needle(id, name)
    paths = [name, *(path for path in list(readings) if path != name and path.startswith(name))]
    return next((path for path in paths if _tells(readings[path], origin, needle)), name)


def _tells(reading: FollowedFile, origin: Origin, needle: bytes) -> bool:
    if reading.source is None:
        return history.tells(reading.path, origin.offset, needle)
    return is_packed(reading.path) and needle in (reading.source.raw(origin) or b"")


def _moment(events: list[Event]) -> int:
    """When the first of these happened; 0 if none says so."""
    return min((at for event in events if (at := getattr(event, "at", None)) is not None), default=0)

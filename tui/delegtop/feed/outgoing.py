"""What leaves a host: everything that a feed tells, as pieces of a recording that each can be read by itself.

`record -o -` writes them to a pipe one after the other; whoever carries them otherwise sends each with its id. Who had
some of it before says so by marks, and is not told that again: the log is read all the same, for its format may need
it, and if what it tells is not what was told then, all of it is told again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple
from zlib import crc32

import msgspec

from delegtop.base.clock import Clock, Millis
from delegtop.base.origin import Origin
from delegtop.dialects.recording.tape import Mark, TapeBeat, TapeLine, frames
from delegtop.feed.outgoing_words import OutgoingWords
from delegtop.feed.recorder import Recorder, kept_text
from delegtop.model.events import Event
from delegtop.sources.records import Line, Unreadable

LARGEST = 48 * 1024
"""Bytes of a batch; a record that is longer makes one by itself."""
_UNWRITTEN = ""
"""Stands for the source of what no line tells."""
_BLOCK = 256 * 1024
_pack = msgspec.msgpack.Encoder().encode

Have = Mapping[str, Mark]
"""By source, what somebody was told of it before."""
Told = Sequence[Event | Unreadable]


class OutgoingBatch(NamedTuple):
    """Whole lines of a recording that tell of one source, with the names of all that they mean."""

    id: str
    """The same for the same bytes of the same place, and for nothing else: first and last offset are in it, and all
    of the data, for after a crash a batch may begin as another did and be longer."""
    data: bytes
    source: str = ""
    """The log that it is of; empty for what no line tells."""


class _Waiting(NamedTuple):
    """What one line tells, not sent yet."""

    offset: int
    used: set[int]
    data: bytes


class Outgoing:
    """Takes what a feed reads and gives batches. One thread does both."""

    def __init__(
        self, recorder: Recorder, clock: Clock, words: OutgoingWords, *, have: Have | None = None, place: str = ""
    ) -> None:
        self._recorder, self._clock, self._words = recorder, clock, words
        self._have = dict(have or {})
        self._place = place
        """By what the place is known that all of it is told from."""
        self.grows: Callable[[str], bool] = lambda _source: False
        """Whether a source is a log that grows: of others nobody can say how much was told."""
        self._verified: dict[str, Mark] = {}
        """Of the sources that were had before, those that still begin with what was told then."""
        self._again: dict[str, int] = {}
        """What they told once more and was not sent: the sum of the checksums, by the source that it stands in."""
        self._sums: dict[str, int] = {}
        """The same of all that was told."""
        self._ends: dict[str, int] = {}
        """How far the sources were read."""
        self._told: dict[str, tuple[int, int]] = {}
        """How much of them is in the marks, and the checksum of that."""
        self._stirred: set[str] = set()
        """Those whose marks are not what was last said."""
        self._settled = not self._have
        self._named: set[int] = set()
        self._to_name: set[int] = set()
        self._waiting: dict[str, list[_Waiting]] = {}

    # -- taking ----------------------------------------------------------------------------------------------------

    def take(self, line: Line | None, told: Told) -> None:
        """What one line tells; without a line, what no line tells. It is the witness of a feed."""
        source = line.origin.source if line is not None and not line.origin.host else _UNWRITTEN
        if line is not None and source and self.grows(source):
            self._ends[source] = max(line.origin.offset + len(line.data) + 1, self._ends.get(source, 0))
            self._stirred.add(source)
            again = line.origin.offset < self._had(source)
            self._count(told, again=again)
            if again:
                return
        self._keep(source, line, told)

    def take_again(self, sources: Iterable[str]) -> Callable[[Line | None, Told], None]:
        """A witness that takes only what stands in these sources."""
        wanted = set(sources)

        def take(line: Line | None, told: Told) -> None:
            found = [event for event in told if event.origin.source in wanted]
            if line is not None and found:
                self._keep(line.origin.source, line, found)

        return take

    def _keep(self, source: str, line: Line | None, told: Told) -> None:
        used: set[int] = set()
        shown = self._words.line(line) if self._recorder.keeps_lines else line
        data = self._recorder.lines(shown, self._words.told(told), used)
        if data:
            offset = line.origin.offset if line is not None else self._clock.now()
            self._waiting.setdefault(source, []).append(_Waiting(offset, used, data))

    def _count(self, told: Told, *, again: bool) -> None:
        for event in told:
            source, number = event.origin.source, _sum(event)
            self._sums[source] = self._sums.get(source, 0) + number
            self._stirred.add(source)
            if again:
                self._again[source] = self._again.get(source, 0) + number

    def _had(self, source: str) -> int:
        """How many bytes of it were told before, if it still begins with these."""
        mark = self._have.pop(source, None)
        if mark is not None and _checksum(source, 0, mark[0], 0) == mark[:2]:
            self._verified[source] = mark
            self._told[source] = mark[:2]
            self._to_name.add(self._recorder.number(("", source)))
        return self._verified[source][0] if source in self._verified else 0

    # -- giving ----------------------------------------------------------------------------------------------------

    def header(self, beat: int, can: tuple[str, ...] = ()) -> bytes:
        return self._recorder.header(beat, can)

    def end(self) -> bytes:
        return self._recorder.end()

    def batches(self) -> Iterator[OutgoingBatch]:
        """All that was taken since."""
        waiting, self._waiting = self._waiting, {}
        if self._to_name:
            yield self._batch("", [_Waiting(0, self._to_name, b"")])
            self._to_name = set()
        for source, pieces in waiting.items():
            batch: list[_Waiting] = []
            for piece in pieces:
                if batch and sum(len(each.data) for each in batch) + len(piece.data) > LARGEST:
                    yield self._batch(source, batch)
                    batch = []
                batch.append(piece)
            yield self._batch(source, batch)

    def _batch(self, source: str, pieces: Sequence[_Waiting]) -> OutgoingBatch:
        used = set[int]().union(*(piece.used for piece in pieces))
        self._named |= used
        data = self._recorder.names(used) + b"".join(piece.data for piece in pieces)
        span = f"{self._place}\0{source}\0{pieces[0].offset}\0{pieces[-1].offset}\0{crc32(data)}"
        id = blake2b(span.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
        return OutgoingBatch(id, data, source)

    def settle(self) -> list[str]:
        """Once all that was there is read: the sources of which something was told that was not told before, in lines
        that were. Somebody must read them again for `take_again`."""
        self._settled = True
        return [source for source, mark in self._verified.items() if self._again.get(source, 0) != mark[2]]

    def beat(self, *, behind: bool) -> bytes:
        """That all is told that was taken, and up to where; before all of it is read, only that somebody is there."""
        marks = {} if behind and not self._settled else self.marks()
        numbered = {str(self._recorder.number(("", source))): mark for source, mark in marks.items()}
        names = self._recorder.names({*map(int, numbered)} - self._named)
        self._named.update(map(int, numbered))
        return names + b"".join(frames(TapeBeat(self._clock.now(), behind, numbered)))

    def bare_beat(self, *, behind: bool) -> tuple[Millis, bytes]:
        """The same without marks, for whoever keeps these at home; and up to when it is."""
        now = self._clock.now()
        return now, b"".join(frames(TapeBeat(now, behind)))

    def marks(self) -> dict[str, Mark]:
        """How much is told of each log, where that is more than when this was last asked."""
        stirred, self._stirred = self._stirred, set()
        found: dict[str, Mark] = {}
        for source in stirred:
            if source in self._ends:
                known, crc = self._told.get(source, (0, 0))
                self._told[source] = told = _checksum(source, known, self._ends[source], crc)
                found[source] = (*told, self._sums.get(source, 0))
        return found

    # -- what is asked for -----------------------------------------------------------------------------------------

    def line(self, ask: int, origin: Origin, raw: Callable[[Origin], bytes | None]) -> bytes:
        """The very line, if it stands in a source that was named here; else nothing of it."""
        number = self._recorder.known(origin.file)
        data = raw(origin) if number in self._named and not origin.is_kernel else None
        text = None if data is None else kept_text(self._words.data(data))
        return b"".join(frames(TapeLine(ask, text)))


def _sum(told: Event | Unreadable) -> int:
    with suppress(ValueError, TypeError, OverflowError):  # half of a character: told otherwise, but told
        return crc32(_pack(told))
    return 1


def _checksum(path: str, start: int, end: int, crc: int) -> tuple[int, int]:
    """How many bytes of the file there are up to `end`, and their checksum, given that of those before `start`."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 -- as the source is spelled
            file.seek(start)
            while start < end and (data := file.read(min(_BLOCK, end - start))):
                crc, start = crc32(data, crc), start + len(data)
    except OSError:
        return start, crc
    return start, crc

"""What comes from other hosts: bytes to lines to events, whichever way they are carried.

A carrier hands over what it received (`take`); what says how the host stands is understood at once, everything else is
kept and read by whoever polls (`drain`). A host is not trusted: what it sends is bounded, checked line by line, and can
only tell of itself.
"""

import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, tzinfo
from itertools import count
from sys import intern
from typing import NamedTuple

from delegtop.base.clock import DAY, SECOND, Clock, Millis, monotonic
from delegtop.base.origin import Origin
from delegtop.base.ssh_command import SCHEME
from delegtop.base.system_errors import reason_of
from delegtop.dialects.recording import MAGIC
from delegtop.dialects.recording.recording_dialect import LONGEST_NAME, Recording, room_for
from delegtop.dialects.recording.tape import (
    VERSION,
    Damaged,
    Header,
    Mark,
    TapeBeat,
    TapeLine,
    TapeSource,
    unframe,
)
from delegtop.feed.followed_file import FollowedFile
from delegtop.model.delegation import Delegation
from delegtop.model.events import OF_NONE, Event, Surveyed
from delegtop.sources.line_spool import LineSpool
from delegtop.sources.records import Line, Unreadable

LINE = 1024 * 1024
"""Bytes of a line: nobody who writes recordings writes longer ones."""
ROWS = 200_000
"""Delegations of a host."""
STRANGE = 1_000
"""Lines before the first of a recording: a greeting has fewer."""
AHEAD = 16 * 1024 * 1024
"""Bytes that may wait to be read before no more are taken."""
MARKS = 100_000
NAMES = 32 * 1024 * 1024
"""Bytes that the names of a host's logs take, in one conversation, in all earlier ones, and among its marks."""
ERAS = 1_000
"""Conversations of which lines can be read again."""
ANSWER = 3.0
"""Seconds that a line is waited for."""
ASK_AGAIN = 60.0
"""Seconds before one that did not answer is asked again."""
TOO_LONG = "line over 1 MiB"
TOO_MANY = "more than 200,000 delegations"
TOO_MANY_NAMES = "names of logs that take more than 32 MiB"
NO_RECORDING = "what it sends is no recording"
_AFTER_CRC = 16
_BEAT, _SOURCE, _LINE = (f'","is":"{kind}"'.encode() for kind in ("beat", "source", "line"))
_FRAME = b'{"crc":"'
_SAMPLES = 12
_SAME = SECOND
"""Clocks that differ by less are taken to be the same."""
_YEARS = 3650 * DAY


class ToldLine(NamedTuple):
    """One line, and what it tells."""

    dialect: Recording
    sent: Line
    told: Sequence[Event | Unreadable]

    @property
    def line(self) -> Line:
        """The line of the host's own log."""
        return self.dialect.original(self.sent)


class HostStream:
    """All that one host told. One thread takes, one drains, any may ask for the past."""

    def __init__(self, name: str, clock: Clock, zone: tzinfo = UTC, via: str = "", scheme: str = SCHEME) -> None:
        self.name, self.spool = name, LineSpool()
        self._clock, self._zone, self._via = clock, zone, via
        self.header: Header | None = None
        """Of the conversation that goes on."""
        self.is_accepted = False
        """Whether it is to be told: who it is, is known by its first line."""
        self.is_behind = True
        self.news_at: Millis | None = None
        """By its own clock, up to when all is told."""
        self.heard_at = float("-inf")
        """When there was last a word of it."""
        self.offset = 0
        """Milliseconds that this machine's clock is ahead of its own."""
        self.fault = ""
        """Why it is not listened to any more."""
        self.strange = 0
        """Lines that came before the recording."""
        self.send: Callable[[object], None] | None = None
        """Asks the host for something; None if nobody is there who could be asked."""
        self.marks: dict[str, Mark] = {}
        self._named: dict[str, str] = {}
        """Sources by their number, in the conversation that goes on."""
        self._room = self._room_for_marks = NAMES
        self._rest = b""
        self._is_late = False
        self._samples: deque[int] = deque(maxlen=_SAMPLES)
        self._asks = count(1)
        self._mute_until = float("-inf")
        """It did not answer, and nobody waits for it until then: a report asks for a hundred lines."""
        self._answers: dict[int, tuple[threading.Event, list[str | None]]] = {}
        self._drained = 0
        self._eras: list[tuple[int, Recording]] = []
        """Where in the spool each conversation begins, and who reads it: the numbers of sources are its own. Of the
        oldest no line is read again, if all of them name too many."""
        self._named_before = 0
        """Bytes of the names in all but the last."""
        self._reading = FollowedFile(f"{scheme}{name}", Recording(zone, name), None)
        self._rows: set[int] = set()

    # -- taking ----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Somebody begins to tell from the start."""
        self._rest, self.header, self.is_accepted, self.is_behind = b"", None, False, True
        self._named.clear()
        self._room = NAMES
        self._mute_until = float("-inf")

    def ended(self) -> None:
        """Nobody tells any more; what is torn is dropped."""
        self._rest, self.send = b"", None
        self._named.clear()
        for told, _ in list(self._answers.values()):
            told.set()

    @property
    def is_full(self) -> bool:
        """Whether more came than was read."""
        return self.spool.size - self._drained > AHEAD

    def take(self, data: bytes) -> None:
        """Bytes as they came, in whatever pieces."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LINE or any(len(line) > LINE for line in lines):
            self._rest, self.fault = b"", TOO_LONG
            return
        kept = [line for line in lines if self._is_kept(line)]
        if kept and not self.fault:
            try:
                self.spool.append(b"\n".join(kept) + b"\n")
            except OSError as error:
                self.fault = f"it cannot be kept: {reason_of(error)}"

    def take_late(self, data: bytes) -> None:
        """The same of what was said a while ago: it tells nothing of clocks, nor that anybody is there."""
        self._is_late = True
        self.take(data)
        self._is_late = False

    def _is_kept(self, line: bytes) -> bool:
        """Understand what is for us; True if the rest is to read it, too."""
        if self.header is None and not line[_AFTER_CRC:].startswith(MAGIC):
            self.strange += 1
            if self.strange > STRANGE:
                self.fault = NO_RECORDING
            return False
        kind = line[_AFTER_CRC:]
        if line.startswith(_FRAME) and kind.startswith((MAGIC, _BEAT, _SOURCE, _LINE)):
            with suppress(Damaged):  # it is counted where it is read
                record = unframe(line)
                if isinstance(record, TapeLine):
                    self._answer(record)
                    return False
                self._heed(record)
        return self.header is not None

    def _heed(self, record: object) -> None:
        if isinstance(record, Header):
            self.header, self.heard_at = record, monotonic()
            if record.version > VERSION:
                self.fault = f"form {record.version}"
        elif isinstance(record, TapeSource):
            self._name(str(record.number), record.name)
        elif isinstance(record, TapeBeat):
            self._hear(record)

    def _name(self, number: str, name: str) -> None:
        """As whoever reads it does, who says so if there is no room for it."""
        if self._named.get(number) == name:
            return
        left = self._room - room_for(name)
        if left < 0 or len(name) > LONGEST_NAME:
            self._named.pop(number, None)
        else:
            self._named[number], self._room = intern(name), left  # who reads the line keeps it, too

    def _hear(self, beat: TapeBeat) -> None:
        self.heard_at, now = monotonic(), self._clock.now()
        if abs(now - beat.at) > _YEARS:
            return
        if not self._is_late:
            self._compare(now - beat.at)
        self.is_behind = beat.behind
        if not beat.behind:
            self.news_at = beat.at
        for number, mark in beat.marks.items():
            if (name := self._named.get(number)) is not None:
                self._mark(name, mark)

    def _mark(self, name: str, mark: Mark) -> None:
        """Up to where a log was told. One that finds no room is told from its beginning after the next connection."""
        if name not in self.marks:
            left = self._room_for_marks - room_for(name)
            if left < 0 or len(self.marks) >= MARKS:
                return
            self._room_for_marks = left
        self.marks[name] = mark

    def _compare(self, ahead: int) -> None:
        """By how much the clock here is ahead of the one there."""
        self._samples.append(ahead)
        ahead = min(self._samples)  # the way here takes time; the quickest tells best
        if abs(ahead) <= _SAME:  # what came late at first, when all were busy, was no clock
            self.offset = 0
        elif abs(ahead - self.offset) > _SAME:
            self.offset = ahead

    # -- reading ---------------------------------------------------------------------------------------------------

    @property
    def has_more(self) -> bool:
        return self.is_accepted and self._drained < self.spool.size

    def drain(self) -> Iterator[ToldLine]:
        """What was not read yet."""
        if not self.is_accepted:
            return
        for offset, line in self.spool.lines(self._drained, self.spool.size):
            dialect = self._dialect(offset, line)
            self._reading.dialect = dialect
            numbered = Line(Origin(self._reading.path, offset + 2, offset), line)
            told = self._admitted(self._reading.read(numbered))
            if dialect.is_full:
                self.fault = TOO_MANY_NAMES
            self._reading.records += any(not isinstance(each, Unreadable) for each in told)
            for each in told:
                if isinstance(each, Unreadable):
                    self._reading.note(each)
            self._drained = offset + len(line) + 1
            yield ToldLine(dialect, numbered, told)

    def _dialect(self, offset: int, line: bytes) -> Recording:
        if not self._eras or line[_AFTER_CRC:].startswith(MAGIC):
            self._named_before += _names_of(self._eras[-1][1]) if self._eras else 0
            self._eras.append((offset, self._recording()))
            while len(self._eras) > ERAS or self._named_before > NAMES:
                self._named_before -= _names_of(self._eras.pop(0)[1])
        return self._eras[-1][1]

    def _recording(self) -> Recording:
        made = Recording(self._zone, self.name)
        made.via, made.offset, made.room = self._via, lambda: self.offset, NAMES
        return made

    def _admitted(self, told: Sequence[Event | Unreadable]) -> Sequence[Event | Unreadable]:
        """Without those that are about more delegations than any host has."""
        if all(self._is_known(id) for each in told for id in _about(each)):
            return told
        return [each for each in told if not isinstance(each, Surveyed) and all(map(self._is_known, _about(each)))]

    def _is_known(self, id: str) -> bool:
        number = hash(id)
        if number in self._rows:
            return True
        if len(self._rows) >= ROWS:
            self.fault = TOO_MANY
            return False
        self._rows.add(number)
        return True

    def was_let_in(self, event: Event) -> bool:
        """Whether it is about somebody who is known here."""
        return all(hash(id) in self._rows for id in _about(event))

    def again(self) -> "SecondReading":
        """For somebody who looks at the past."""
        return SecondReading(self, self._recording)

    # -- the past --------------------------------------------------------------------------------------------------

    def history(self, delegation: Delegation, limit: int) -> list[tuple[Line, list[Event]]]:
        """The lines about one delegation and what they say, oldest first; at most the last `limit`."""
        needle = Recording().needle(delegation.id, "")
        found: deque[tuple[Line, list[Event]]] = deque(maxlen=limit)
        for dialect, numbered in self._holding(needle):
            told = [each for each in dialect.retell(numbered) if not isinstance(each, Unreadable)]
            if about := [event for event in told if getattr(event, "id", None) == delegation.id]:
                found.append((dialect.original(numbered), about))
        return list(found)

    def raw(self, origin: Origin) -> bytes | None:
        """The very line, if it was told or the host still tells it."""
        for dialect in {id(dialect): dialect for _, dialect in list(self._eras)}.values():
            needle = dialect.place(origin)
            for reader, numbered in self._holding(needle) if needle else ():
                original = reader.original(numbered)
                if reader is dialect and original.data and original.holds(origin):
                    return original.data
        return self._ask(origin)

    def _holding(self, needle: bytes) -> Iterator[tuple[Recording, Line]]:
        eras = list(self._eras)
        first = eras[0][0] if eras else 0
        for offset, line in self.spool.lines(first, self._drained):
            if needle in line:
                number = bisect_right(eras, offset, key=lambda era: era[0]) - 1
                yield eras[number][1], Line(Origin(self._reading.path, offset + 2, offset), line)

    def _ask(self, origin: Origin) -> bytes | None:
        send = self.send
        if send is None or origin.is_kernel or monotonic() < self._mute_until:
            return None
        ask = next(self._asks)
        told, answer = self._answers[ask] = threading.Event(), []
        try:
            send({"want": [ask, origin.source, origin.line, origin.offset]})
            if not told.wait(ANSWER):
                self._mute_until = monotonic() + ASK_AGAIN
        finally:
            del self._answers[ask]
        return answer[0].encode("utf-8", "replace") if answer and answer[0] is not None else None

    def _answer(self, record: TapeLine) -> None:
        asked = self._answers.get(record.ask)
        self._mute_until = float("-inf")
        if asked is not None:
            asked[1].append(record.text)
            asked[0].set()

    @property
    def reading(self) -> FollowedFile:
        """What was counted in it."""
        return self._reading

    def close(self) -> None:
        self.ended()
        self.spool.close()


def _names_of(conversation: Recording) -> int:
    return NAMES - (conversation.room or 0)


def _about(told: Event | Unreadable) -> tuple[str, ...]:
    if isinstance(told, Surveyed):
        return told.ids
    return () if isinstance(told, (Unreadable, OF_NONE)) else (told.id,)


class SecondReading:
    """All that a host told and that is kept, from its beginning, once more."""

    def __init__(self, stream: HostStream, recording: Callable[[], Recording]) -> None:
        self._stream, self._recording = stream, recording
        self._dialect = recording()
        self._read = 0

    def events(self) -> Iterator[Event]:
        """What was not read by this one yet."""
        stream = self._stream
        for offset, line in stream.spool.lines(self._read, stream.spool.size):
            if line[_AFTER_CRC:].startswith(MAGIC):
                self._dialect = self._recording()
            for each in self._dialect.read(Line(Origin(stream.reading.path, offset + 2, offset), line)):
                if not isinstance(each, Unreadable) and stream.was_let_in(each):
                    yield each
            self._read = offset + len(line) + 1


class Incoming:
    """The streams of many hosts, by name; one that is not known yet is begun."""

    def __init__(self, clock: Clock, zone: tzinfo = UTC) -> None:
        self._clock, self._zone = clock, zone
        self.streams: dict[str, HostStream] = {}

    def stream(self, host: str, via: str = "", scheme: str = SCHEME) -> HostStream:
        if host not in self.streams:
            self.streams[host] = HostStream(host, self._clock, self._zone, via, scheme)
        return self.streams[host]

    def take(self, host: str, data: bytes) -> HostStream:
        """Bytes that a host sent."""
        stream = self.stream(host)
        stream.take(data)
        return stream

"""Writing a recording: every line that a feed reads, with all it tells (docs/recording.md).

What is written is never changed again. After a crash of this process everything flushed is there; after a crash of
the machine, everything that is older than `SYNC_SECONDS`.
"""

import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

import msgspec

from delegtop.base.clock import Clock, monotonic
from delegtop.base.origin import HostFile, Origin
from delegtop.dialects.recording.tape import (
    VERSION,
    End,
    Header,
    Lost,
    Place,
    TapeEvents,
    TapeSource,
    frames,
    written,
)
from delegtop.model.events import Event
from delegtop.model.policy import AgentLimits
from delegtop.sources.records import Line, Unreadable

RAW = 16 * 1024
"""Bytes of a line that are kept; how long it was is said."""
_SLACK = 64
SYNC_SECONDS = 1.0
UNRECORDED = "cannot be recorded"


class Recorder:
    """Turns what a feed reads into the lines of a recording."""

    def __init__(
        self,
        clock: Clock,
        by: str,
        limits: Mapping[str, AgentLimits] = MappingProxyType({}),
        *,
        lines: bool = True,
        place: tuple[str, str] = ("", ""),
    ) -> None:
        self._clock = clock
        self._by = by
        self._limits = limits
        """What the agent files say that deadlines come from: they are not there elsewhere."""
        self.keeps_lines = lines
        """Whether the lines themselves are kept."""
        self._recorded_on = place
        """The name and the mark of where it is made; without them, what it tells is taken for the reader's own."""
        self._numbers: dict[HostFile, int] = {}
        self._files: list[HostFile] = []
        self._named: set[int] = set()
        self.records = self.events = 0

    @property
    def sources(self) -> int:
        return len(self._numbers)

    def header(self, beat: int = 0, can: tuple[str, ...] = ()) -> bytes:
        limits = {name: msgspec.to_builtins(limit) for name, limit in self._limits.items()}
        return b"".join(frames(Header(VERSION, self._by, self._clock.now(), limits, *self._recorded_on, beat, can)))

    def end(self) -> bytes:
        return b"".join(frames(End(self._clock.now(), self.records)))

    def record(self, line: Line | None, told: Sequence[Event | Unreadable]) -> bytes:
        """What one line tells, after the names of sources that were not named yet."""
        used: set[int] = set()
        lines = self.lines(line, told, used)
        names = self.names(used - self._named)
        self._named |= used
        return names + lines

    def names(self, numbers: Iterable[int]) -> bytes:
        """What the numbers of sources mean."""
        return b"".join(part for number in sorted(numbers) for part in frames(self._name(number)))

    def _name(self, number: int) -> TapeSource:
        host, name = self._files[number - 1]
        return TapeSource(number, name.encode("utf-8", "backslashreplace").decode(), host)

    def lines(self, line: Line | None, told: Sequence[Event | Unreadable], used: set[int]) -> bytes:
        """What one line tells. What it tells of other lines, because they waited for it, stands at their places. `used`
        gains the numbers of all sources that are meant."""
        own = line.origin if line is not None else None
        groups = [(home, list(found)) for home, found in groupby(told, lambda event: _home(event.origin, line))]
        if own is not None and self.keeps_lines and line is not None and line.data and own not in dict(groups):
            groups.insert(0, (own, []))
        return b"".join(part for home, found in groups for part in self._told(home, found, line, used))

    def _told(
        self, home: Origin, found: list[Event | Unreadable], line: Line | None, used: set[int]
    ) -> Iterator[bytes]:
        here = self._place(home, used)
        seen = line.at if line is not None and line.at is not None else self._clock.now()
        keep = self.keeps_lines and line is not None and line.data and line.origin == home
        raw, data = _kept(line.data) if keep and line is not None else (None, None)
        events, lost = [], []
        for each in found:
            place = self._place(each.origin, used)
            if isinstance(each, Unreadable):
                lost.append(Lost(each.reason, each.excerpt, None if place == here else place))
            else:
                events.append(written(each, here, place))
        try:
            lines = list(frames(TapeEvents(here, seen, tuple(events), tuple(lost), raw, data)))
        except (ValueError, OverflowError) as error:  # half of a character, as a path may hold
            lines = list(
                frames(TapeEvents(here, seen, lost=(Lost(UNRECORDED, str(error).encode("ascii", "replace").decode()),)))
            )
        self.records += 1
        self.events += len(events)
        yield from lines

    def number(self, file: HostFile) -> int:
        """What a source is called."""
        if file not in self._numbers:
            self._files.append(file)
            self._numbers[file] = len(self._files)
        return self._numbers[file]

    def known(self, file: HostFile) -> int | None:
        """The same, if it was called anything yet."""
        return self._numbers.get(file)

    def _place(self, origin: Origin, used: set[int]) -> Place:
        number = self.number(origin.file)
        used.add(number)
        return number, origin.line, origin.offset


def _home(origin: Origin, line: Line | None) -> Origin:
    """The place of the record that an event of that place is written in."""
    return line.origin if line is not None and line.holds(origin) else origin


def _kept(data: bytes) -> tuple[str | None, bytes | None]:
    """The line as text, else as bytes; the rest of a very long one is only counted."""
    if len(data) > RAW + _SLACK:
        short = data[:RAW].decode("utf-8", "ignore")
        return f"{short} … ({len(data):,} bytes)", None
    try:
        return data.decode(), None
    except UnicodeDecodeError:
        return None, data


def kept_text(data: bytes) -> str:
    """A line as text; of a very long one the beginning, and how long it is."""
    text, _ = _kept(data)
    return data.decode("utf-8", "replace") if text is None else text


class Tape:
    """The file that a recording is written to, by appending alone. A name that ends in .gz makes it compressed."""

    def __init__(self, path: Path) -> None:
        """FileExistsError if there is one already."""
        self.path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(path, flags, 0o600)
        self._waiting: list[bytes] = []
        self._packs = path.suffix == ".gz"
        self._synced_at = monotonic()
        self._dirty = False
        self.size = 0
        self._has_begun = False
        _sync_folder(path.absolute().parent)

    def write(self, data: bytes) -> None:
        if data:
            self._waiting.append(data)

    def flush(self, *, whole: bool = False) -> None:
        """Hand everything to the system, and now and then, or if `whole`, to the disk."""
        due = whole or monotonic() - self._synced_at >= SYNC_SECONDS
        if self._waiting and (due or not self._packs):  # many small members would not be compact
            self._put(b"".join(self._waiting))
            self._waiting.clear()
        if self._dirty and due:
            os.fsync(self._fd)
            self._synced_at, self._dirty = monotonic(), False

    def close(self) -> None:
        try:
            self.flush(whole=True)
        finally:
            os.close(self._fd)

    def records_nothing(self) -> bool:
        """Whether not even its first line could be written; then the file is taken away again."""
        if self._has_begun:
            return False
        with suppress(OSError):
            self.path.unlink()
        return True

    def _put(self, data: bytes) -> None:
        if self._packs:
            packer = zlib.compressobj(wbits=31)
            data = packer.compress(data) + packer.flush()
        self._dirty = True
        while data:
            done = os.write(self._fd, data)
            self.size += done
            data = data[done:]
        self._has_begun = True


def _sync_folder(folder: Path) -> None:
    """So that the name of a new file survives as well."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass  # some file systems cannot
    finally:
        os.close(fd)

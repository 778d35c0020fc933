"""New lines of growing files: nothing lost, nothing twice.

Polling is the truth: a look at a file that did not change costs one `stat`. A file is its inode, kept open while it
is affordable; a text is its `Trace`. When a file turns out to hold another text than it did, or a new file turns up,
the text in it is looked up among the known ones, so that a rotated copy, a longer replacement or a file that comes
back goes on where its text had got to.
"""

import errno
import os
import stat
from collections.abc import Collection, Generator, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from delegtop.base.clock import Clock, WallClock, monotonic
from delegtop.base.origin import Origin
from delegtop.base.system_errors import reason_within
from delegtop.sources.file_status import FileStatus, State
from delegtop.sources.handles import Handles, Inode, affordable
from delegtop.sources.inode import FollowedInode, Look, look_of, settled, stamp_of
from delegtop.sources.lines import OVERSIZE, oversize, whole_lines
from delegtop.sources.records import Line, LineBlock, Unreadable, excerpt, fault
from delegtop.sources.text_identity.known_texts import KnownTexts
from delegtop.sources.text_identity.text_recognition import TextRecogniser
from delegtop.sources.text_identity.text_trace import HEAD, UNENDED, TextTrace, first_data

if TYPE_CHECKING:
    from delegtop.sources.text_identity.unpacked_text import UnpackedTexts

__all__ = ["FileStatus", "Tail"]

LINE_LIMIT = 1024 * 1024
LINGER = 300
"""Polls that a file without a name is still watched for late writes."""
UNTERMINATED = "unterminated"

Streams = Generator[Iterable[LineBlock | Line | Unreadable], None, None]


class Tail:
    """Follows files through everything that happens to logs. One thread polls; `read_line` may be asked by any."""

    def __init__(
        self, *, limit: int = LINE_LIMIT, linger: int = LINGER, handles: int | None = None, clock: Clock | None = None
    ) -> None:
        self._limit = limit
        self._linger = linger
        self._clock = clock or WallClock()
        self._attached: dict[str, int] = {}
        self._handles = Handles(handles or affordable(), self._attached)
        self._library = KnownTexts(limit)
        self._texts = TextRecogniser(self._library, self._handles, limit, self._clock)
        self._files: dict[Inode, FollowedInode] = {}
        self._paths: dict[str, FollowedInode] = {}
        self._left: dict[str, FollowedInode] = {}
        self._errors: dict[str, str] = {}
        self._adrift: dict[Inode, FollowedInode] = {}
        """Files without a name, or whose name cannot be looked at now."""
        self._unended: dict[Inode, tuple[int, float]] = {}
        """Files whose last line has no end: their size, and since when they have it."""
        self._given: tuple[str, ...] = ()
        self._running: list[Generator[Any, None, None]] = []

    def attach(self, name: str, fd: int) -> None:
        """Read an open file under a name that is no path, such as `-`. It stays the caller's; its position may move."""
        self._attached[name] = fd

    def poll(self, paths: Collection[str], *, whole: bool = True) -> Iterator[Line | Unreadable]:
        """Every line of these files that was finished since the last poll."""
        for found in self.poll_blocks(paths, whole=whole):
            if isinstance(found, LineBlock):
                yield from found.lines()
            else:
                yield found

    def poll_blocks(self, paths: Collection[str], *, whole: bool = True) -> Iterator[LineBlock | Line | Unreadable]:
        """The same, with lines that follow each other in one piece: of it as many are had as are taken.

        Files that had other names before are read to their end first. With `whole=False` the paths are only those that
        are worth a look between two whole polls: they are read on if they merely grew, and nothing is concluded from
        anything else. An iterator left early loses nothing: the next poll goes on behind the last line taken from it.
        """
        for unfinished in self._running:
            unfinished.close()
        streams = self._streams(paths) if whole else self._growth(paths)
        self._running = [streams]
        return chain.from_iterable(streams)  # a line passes one generator instead of three

    def flush(self) -> Iterator[Line | Unreadable]:
        """The last lines that have no end yet, once each: whole objects as lines, fragments as unterminated.

        If a line delivered here is finished later, only what was added is delivered then.
        """
        for file in list(self._files.values()):
            if _is_unended(file):
                yield from self._flush(file)

    def flush_left(self, seconds: float) -> Iterator[Line | Unreadable]:
        """Of those, the whole objects that nobody has added anything to for so long. Fragments wait for their end."""
        if not self._unended:
            return
        left = monotonic() - seconds
        for inode, (size, since) in list(self._unended.items()):
            if since <= left:
                del self._unended[inode]
                file = self._files.get(inode)
                if file is not None and file.size == size and _is_unended(file):
                    yield from self._flush(file, fragments=False)

    def status(self, path: str) -> FileStatus:
        """What is known about the file of that name."""
        file = self._paths.get(path)
        error = self._errors.get(path, "")
        if file is not None:
            error = error or file.error
            state: State = "unreadable" if error else "loading" if file.loading else "live"
            return self._status(path, file, state, error)
        left = self._left.get(path)
        if left is not None and not error:
            return self._status(path, left, "rotated" if left.linked else "gone", "")
        return FileStatus(path, "unreadable" if error else "gone", error or "not found")

    def read_line(self, origin: Origin) -> bytes | None:
        """The bytes of the line that an origin names, read again; None if it is no longer on disk."""
        trace = self._library.named(origin.source)
        if trace is None:
            named = self._paths.get(origin.source)
            trace = named.trace if named else None
        file = trace.home if trace else None
        if trace is None or file is None or origin.offset < trace.start:
            return None
        try:
            fd = self._handles.private(file.inode, file.names)
        except OSError:
            return None
        try:
            return self._read_line(fd, trace, origin.offset)
        finally:
            os.close(fd)

    def at_rest(self, path: str) -> tuple[Look, int] | None:
        """What a file looks like, and the key of its text, if all of it is read and nothing is in doubt; else None."""
        file = self._paths.get(path)
        look = file.at_rest(path) if file and path not in self._errors and path not in self._attached else None
        if look is None or file is None or file.trace is None or not self._library.is_alone(file.trace):
            return None
        return look, file.trace.key

    def digest(self, path: str) -> int:
        """The digest of all that was read of a file that is at rest."""
        file = self._paths[path]
        return file.trace.digest if file.trace is not None else 0

    def trace(self, path: str) -> TextTrace | None:
        """What was read of a file."""
        file = self._paths.get(path)
        return file.trace if file is not None else None

    def go_on(self, path: str, trace: TextTrace, look: Look) -> bool:
        """Read a new file on from where an earlier run had got to, when it looked like this; False if all before that
        is not what it was, and then it is new."""
        try:
            found = os.stat(path)  # noqa: PTH116 - as below
            inode = found.st_dev, found.st_ino
            if path in self._paths or inode in self._files or not stat.S_ISREG(found.st_mode):
                return False
            fd = self._handles.get(inode, [path])
        except (OSError, ValueError):
            return False
        if look_of(os.fstat(fd)) != look and not (found.st_size >= trace.offset and trace.is_proven(fd, trace.offset)):
            self._handles.close(inode)
            return False
        try:
            trace.recall_ends(fd)
        except OSError:
            self._handles.close(inode)
            return False
        self._texts.begin(self._name(path, inode), trace)
        return True

    def knows_any(self, keys: Collection[int]) -> bool:
        """Whether a text with one of these first lines was read."""
        return self._library.knows_any(keys)

    def borrowed(self) -> set[str]:
        """The names under which files are read that bear them no longer: who bears one now must stay to be read too."""
        return {file.source for file in self._files.values() if file.names != [file.source]}

    def forget(self, path: str) -> None:
        """Follow the file no longer. Should it be asked for again, it is read from its top."""
        file = self._paths.pop(path)
        del self._files[file.inode]
        self._left.pop(path, None)
        self._handles.close(file.inode)
        trace, file.trace = file.trace, None  # taken apart by hand: while much is read, nobody collects circles
        if trace is not None:
            trace.home = None
            self._library.forget(trace)

    def is_over(self, path: str) -> bool:
        """Whether nothing more can come from the file that had this name: it is gone, and followed no longer."""
        left = self._left.get(path)
        return left is not None and path not in self._paths and self._files.get(left.inode) is not left

    def forget_gone(self, path: str) -> None:
        """Such a file is not asked for any more."""
        self._left.pop(path, None)

    def unpacked_texts(self) -> "UnpackedTexts":
        """What is known here, for those who read compressed logs."""
        from delegtop.sources.text_identity.unpacked_text import UnpackedTexts  # few files are

        return UnpackedTexts(self._library, self._handles, self._texts.copies)

    def close(self) -> None:
        self._handles.close_all()

    # Looking

    def _streams(self, paths: Collection[str]) -> Streams:
        changed = self._look(paths)
        self._forget_all_but(tuple(paths))
        yield from self._drain()
        # Originals come before copies: known texts first, then the longer, the plainer named and the older.
        for file in changed:
            if file.trace is not None:
                yield from self._catch_up(file)
        for file in list(self._texts.copies.values()):
            if file.orphaned or file in changed:
                yield from self._catch_up(file)
        new = [file for file in changed if file.trace is None and file.copy_of is None]
        for file in sorted(new, key=lambda file: (-file.size, len(file.path), file.written, file.path)):
            yield from self._catch_up(file)

    def _growth(self, paths: Collection[str]) -> Streams:
        for path in paths:
            file = self._paths.get(path)
            if file is None or file.trace is None:
                continue
            fd = self._handles.peek(file.inode)
            try:
                found = os.fstat(fd) if fd is not None else os.stat(path)  # noqa: PTH116 - as below
                if found.st_size <= file.size or (found.st_dev, found.st_ino) != file.inode:
                    continue
                fd = self._handles.get(file.inode, file.names)
            except OSError:
                continue
            if file.trace.has_ends_in(fd) and not self._texts.is_overtaken(file, fd, found.st_size):
                file.observe(found)
                yield from self._read_on(file, file.trace, fd, found)
                file.seen = None  # the next whole poll looks at all of it

    def _look(self, paths: Collection[str]) -> dict[FollowedInode, None]:
        """Stat every path: the files that changed since they were last read."""
        changed: dict[FollowedInode, None] = {}
        attached, by_path, errors = self._attached, self._paths, self._errors
        for path in paths:
            try:
                found = os.stat(attached.get(path, path))  # noqa: PTH116 - a Path for each file costs more than this
            except (OSError, ValueError) as error:
                self._miss(path, error)
                continue
            file = by_path.get(path)
            if file is None or file.inode != (found.st_dev, found.st_ino):
                if not stat.S_ISREG(found.st_mode):
                    errors[path] = "not a regular file"
                    continue
                file = self._name(path, (found.st_dev, found.st_ino))
            if path in errors:
                del errors[path]
                self._adrift.pop(file.inode, None)
            if file.seen != (found.st_size, found.st_mtime_ns, found.st_ctime_ns):
                file.observe(found)
                changed[file] = None
        return changed

    def _forget_all_but(self, paths: tuple[str, ...]) -> None:
        if paths == self._given:
            return
        self._given = paths
        for path in self._paths.keys() - {*paths}:
            self._lose_name(path)
        for path in self._errors.keys() - {*paths}:
            del self._errors[path]

    def _miss(self, path: str, error: OSError | ValueError) -> None:
        """A path that cannot be looked at. Only one that is certainly not there loses its file."""
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            self._lose_name(path)
            self._errors.pop(path, None)
            return
        self._errors[path] = reason_within(error)
        file = self._paths.get(path)
        if file is not None and self._handles.peek(file.inode) is not None:
            self._adrift[file.inode] = file

    def _name(self, path: str, inode: Inode) -> FollowedInode:
        before = self._paths.get(path) or self._left.get(path)
        self._lose_name(path)
        file = self._files.get(inode)
        if file is None:
            file = self._files[inode] = FollowedInode(inode, path)
            file.replaces = before
        file.names.append(path)
        self._paths[path] = file
        self._adrift.pop(inode, None)
        self._handles.named(inode, True)
        return file

    def _lose_name(self, path: str) -> None:
        file = self._paths.pop(path, None)
        if file is None:
            return
        self._left[path] = file
        file.names.remove(path)
        if not file.names:
            file.quiet = 0
            self._adrift[file.inode] = file
            self._handles.named(file.inode, False)

    def _drain(self) -> Streams:
        """Read on in files that have no name, or whose name cannot be looked at now."""
        for file in list(self._adrift.values()):
            fd = self._handles.peek(file.inode)
            if fd is None:
                if not file.names:
                    file.note_gap(self._clock.now(), "it vanished while it was not open")
                    self._retire(file)
                self._adrift.pop(file.inode, None)
                continue
            found = os.fstat(fd)
            if file.seen != stamp_of(found) or file.orphaned:
                changed = file.size != found.st_size
                file.observe(found)
                file.quiet = 0 if changed else file.quiet + 1
                yield from self._catch_up(file)
            else:
                file.quiet += 1
            if file.quiet > self._linger and not file.names:
                self._retire(file)

    def _retire(self, file: FollowedInode) -> None:
        self._handles.close(file.inode)
        for files in (self._files, self._adrift, self._texts.copies):
            files.pop(file.inode, None)
        if file.trace is not None:
            self._library.close(file.trace)
        elif file.copy_of is not None and file.copy_of.home is file:
            file.copy_of.home = None

    # Reading

    def _catch_up(self, file: FollowedInode) -> Streams:
        """What is new in a file that changed."""
        try:
            fd = self._handles.get(file.inode, file.names)
            found = os.fstat(fd)
        except OSError as error:
            file.error = "" if error.errno == errno.ENOENT else reason_within(error)
            file.seen = None
            return
        file.error = ""
        file.observe(found)
        stamp = stamp_of(found)
        if file.copy_of is not None and file.compared == stamp[:2] and file.size <= file.copy_of.offset:
            file.original = None  # it was compared with its original and holds nothing beyond it
            return
        if file.trace is not None and not file.trace.is_in(fd, file.size):
            self._texts.close_text(file)
        elif self._texts.is_overtaken(file, fd, file.size):
            self._texts.let_go(file)
        if file.trace is None and not self._texts.recognise(file, fd):
            file.seen = settled(stamp)
            file.compared = stamp[:2] if file.copy_of else None
            self._note_end(file)
            return
        if file.trace is not None:
            yield from self._read_on(file, file.trace, fd, found)

    def _read_on(self, file: FollowedInode, trace: TextTrace, fd: int, found: os.stat_result) -> Streams:
        file.loading = True
        trace.disturbed = False
        lines = whole_lines(trace, file.source, fd, file.size, self._limit)
        self._running[1:] = [lines]
        yield lines
        file.loading = False
        self._library.end_first_line(trace)
        file.seen = None if trace.disturbed else settled(stamp_of(found))
        self._note_end(file)

    def _note_end(self, file: FollowedInode) -> None:
        """Remember since when the last line waits for its end."""
        if not _is_unended(file):
            self._unended.pop(file.inode, None)
        elif file.size != self._unended.get(file.inode, (-1, 0.0))[0]:
            self._unended[file.inode] = file.size, monotonic()

    def _flush(self, file: FollowedInode, *, fragments: bool = True) -> Iterator[Line | Unreadable]:
        try:
            fd = self._handles.get(file.inode, file.names)
        except OSError:
            return
        trace = file.trace or TextTrace(UNENDED, first_data(fd, 0, file.size) or 0)
        if not trace.is_in(fd, file.size):
            return
        data = os.pread(fd, self._limit, trace.offset)
        text = data.strip(b"\0\r\t ")
        if not text or b"\n" in data or (not fragments and (trace.oversize is not None or fault(text))):
            return
        file.flushed = file.size
        if file.trace is None and self._texts.is_known(fd, file.size, trace.start, text[:HEAD]):
            return
        origin = Origin(file.source, trace.line + 1, trace.offset if trace.oversize is None else trace.oversize)
        if trace.oversize is not None:
            yield Unreadable(origin, OVERSIZE, oversize(file.size - trace.oversize, self._limit, " and no end"))
        elif fault(text):
            yield Unreadable(origin, UNTERMINATED, excerpt(text))
        else:
            if file.trace is None:
                self._texts.begin(file, trace)
            base = trace.offset - len(trace.tail)
            end = trace.offset + len(data.rstrip(b"\0"))
            trace.open = True
            trace.advance(trace.tail + data, base, end, trace.line, marked=False)
            yield Line(Origin(file.source, origin.line, origin.offset), text)

    def _read_line(self, fd: int, trace: TextTrace, offset: int) -> bytes | None:
        if not trace.is_roughly_in(fd):
            return None
        before = min(offset, 1)
        data = os.pread(fd, before + self._limit + 1, offset - before)
        line, newline, _ = data[before:].partition(b"\n")
        if not newline and len(line) > self._limit:
            from delegtop.sources.line_outline import outline  # few lines are that long

            line = outline(fd, offset, self._limit) or line
        line = line[: self._limit].lstrip(b"\0")
        starts_here = not before or data[:1] in (b"\n", b"\0") or line[:1] == b"{"
        return line if line and starts_here else None

    def _status(self, path: str, file: FollowedInode, state: State, error: str) -> FileStatus:
        # A file that was cut off holds less than was read from it until its text is looked at.
        read = file.size if file.copy_of else min(file.trace.offset, file.size) if file.trace else 0
        return FileStatus(path, state, error or file.gap, file.size, read, file.written or None)


def _is_unended(file: FollowedInode) -> bool:
    """Whether there is more in it than was read, and not reported yet."""
    read = file.trace.offset if file.trace else 0
    return bool(file.names) and file.copy_of is None and file.flushed != file.size and read < file.size

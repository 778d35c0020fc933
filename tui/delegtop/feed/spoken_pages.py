"""The conversation of one agent, read again from its own files, page by page: its end first, the rest on demand.

A transcript may have a hundred megabytes, and nothing of it is kept here. What stands in lines is read backwards from
the end, or on from any place; rows of a database, documents and compressed logs are read as a whole, up to a bound. Of
a format that tells no words, what its events tell is shown in their place, and said to be that.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect
from delegtop.model.events import Described, Deviation, Ended, Erred, Event, Heard, Noted, Started
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.line_pages import BLOCK, FileBytes, lines_after, lines_before, split
from delegtop.sources.records import Line, Record, records

_TAIL = 4_096
"""Bytes at the end that are looked at for whether the last line is whole."""
_ENOUGH = 80
"""Pieces that make a page: more than any screen shows."""
_FARTHEST = 64 * 1024 * 1024
"""Bytes of one line that are looked at; one that is longer is named and left out."""


class SpokenPage(NamedTuple):
    """Some pieces that follow each other, and where in the source they stand."""

    said: list[Utterance]
    start: int
    end: int
    is_first: bool
    """Nothing comes before it."""
    is_last: bool
    """Nothing comes after it, yet."""
    renewed: bool = False
    """What was read before does not stand there any more: this takes its place."""


class Chapter(Protocol):
    """One source of a conversation."""

    path: str

    def last(self) -> SpokenPage: ...
    def first(self) -> SpokenPage: ...
    def before(self, place: int) -> SpokenPage: ...
    def after(self, place: int) -> SpokenPage: ...


Sift = Callable[[Sequence[Line]], list[Utterance]]
"""What these lines say, as far as it belongs to the conversation."""


class LogChapter:
    """A file of lines. A place is the offset of a line."""

    def __init__(self, path: str, sift: Sift) -> None:
        self.path, self._sift = path, sift

    def last(self) -> SpokenPage:
        end = self._end()
        return self.before(end)._replace(is_last=True)

    def first(self) -> SpokenPage:
        return self.after(0)._replace(is_first=True)

    def before(self, place: int) -> SpokenPage:
        """The page that ends there. A page may be empty only if it reaches the beginning."""
        said: list[Utterance] = []
        start = place
        with FileBytes(self.path) as file:
            while start > 0 and len(said) < _ENOUGH:
                start, data = lines_before(file, start, BLOCK)
                said = self._sift(split(self.path, data, start)) + said
        return SpokenPage(said, start, place, start == 0, is_last=False)

    def after(self, place: int) -> SpokenPage:
        """The page that begins there; empty if nothing was added. A file that has become shorter is another one."""
        end = self._end()
        if end < place:
            return self.last()._replace(renewed=True)
        said: list[Utterance] = []
        at = place
        with FileBytes(self.path) as file:
            while at < end and len(said) < _ENOUGH:
                data = lines_after(file, at, end)
                if not data:  # it has become shorter since
                    return self.last()._replace(renewed=True)
                said += self._sift(split(self.path, data, at))
                at += len(data)
        return SpokenPage(said, place, at, place == 0, is_last=at >= end)

    def _end(self) -> int:
        """Behind the last line that is whole; a last one without its newline counts if it is a record."""
        with FileBytes(self.path) as file:
            size = file.size
            if not size:
                return 0
            start, data = lines_before(file, size, _TAIL)
            if data.endswith(b"\n"):
                return size
            whole = data.rfind(b"\n") + 1
            tail = records(Line(Origin(self.path, 0, start + whole), data[whole:]))
            return size if all(isinstance(each, Record) for each in tail) else start + whole


class WholeChapter:
    """What can only be read as a whole. A place is how many pieces stand before it."""

    def __init__(
        self, path: str, read: Callable[[], list[Utterance]], stamped: Callable[[], object] | None = None
    ) -> None:
        self.path, self._read = path, read
        self._stamp = stamped or (lambda: stamp(path))
        self._known: tuple[object, list[Utterance]] | None = None

    def last(self) -> SpokenPage:
        now = self._stamp()
        if self._known is None or self._known[0] != now:
            self._known = (now, self._read())
        said = self._known[1]
        return SpokenPage(said, 0, len(said), is_first=True, is_last=True)

    first = last

    def before(self, place: int) -> SpokenPage:
        return SpokenPage([], place, place, is_first=True, is_last=False)

    def after(self, place: int) -> SpokenPage:
        """All of it again, if any of it changed."""
        before = self._known
        page = self.last()
        if before is not None and before[1] is not page.said and before[1] != page.said:
            return page._replace(renewed=True)
        return SpokenPage([], place, place, is_first=False, is_last=True)


class SpokenPages:
    """All chapters of one conversation: mostly one. Any thread may ask, one at a time."""

    def __init__(
        self,
        chapters: Sequence[Chapter],
        *,
        told: str = "",
        until: Millis | None = None,
        asked: Utterance | None = None,
    ) -> None:
        self.chapters = chapters
        self.told = told
        """How the conversation is known, where it is not simply the agent's own file."""
        self.until = until
        """What was said later is not shown."""
        self._asked = asked
        """What stands at its beginning if no prompt does."""
        self._newest = len(chapters) - 1

    @property
    def paths(self) -> list[str]:
        return [chapter.path for chapter in self.chapters]

    def last(self) -> "Window":
        return self._window(self._newest, self.chapters[self._newest].last())

    def first(self) -> "Window":
        return self._window(0, self.chapters[0].first())

    def earlier(self, window: "Window") -> "Window":
        """What stands before a window."""
        chapter, place = window.start
        page = self.chapters[chapter].before(place)
        if not page.said and page.is_first and chapter > 0:
            return self._window(chapter - 1, self.chapters[chapter - 1].last())
        return self._window(chapter, page)

    def later(self, window: "Window") -> "Window":
        """What stands after it, as far as there is anything."""
        chapter, place = window.end
        page = self.chapters[chapter].after(place)
        if not page.said and page.is_last and not page.renewed and chapter < self._newest:
            return self._window(chapter + 1, self.chapters[chapter + 1].first())
        return self._window(chapter, page)

    def place(self, origin: Origin) -> "Place":
        """Where the line stands that something was said on."""
        return next((number for number, path in enumerate(self.paths) if path == origin.source), 0), origin.offset

    def _window(self, chapter: int, page: SpokenPage) -> "Window":
        said = [each for each in page.said if self.until is None or each.at is None or each.at <= self.until]
        is_first = page.is_first and chapter == 0
        if is_first and self._asked is not None and not any(each.voice is Voice.PROMPT for each in said):
            said.insert(0, self._asked)
        return Window(
            said,
            (chapter, page.start),
            (chapter, page.end),
            is_first=is_first,
            is_last=page.is_last and chapter == self._newest,
            renewed=page.renewed,
        )

    def find(
        self, matches: Callable[[Utterance], bool], window: "Window", step: int, stop: Callable[[], bool]
    ) -> "Window | None":
        """The next page after the window, or the one before it, in which something matches; None if there is none, or
        somebody wants it no more."""
        while not stop():
            if window.is_last if step > 0 else window.is_first:
                return None
            before = window
            window = self.later(window) if step > 0 else self.earlier(window)
            if any(map(matches, window.said)):
                return window
            if window.end == before.end and window.start == before.start:
                return None
        return None


Place = tuple[int, int]
"""A chapter, and a place in it."""


class Window(NamedTuple):
    """A page of the whole conversation."""

    said: list[Utterance]
    start: Place
    end: Place
    is_first: bool
    is_last: bool
    renewed: bool = False


def stamp(path: str) -> object:
    """What tells that a file was changed; with its log, if it is a database."""
    found = []
    for name in (path, f"{path}-wal"):
        try:
            told = os.stat(name)  # noqa: PTH116 - asked every second
            found.append((told.st_ino, told.st_size, told.st_mtime_ns))
        except OSError:
            found.append((0, 0, 0))
    return found


# -- what lines say --------------------------------------------------------------------------------------------------


def sift(dialect: Dialect, id: str, needle: bytes) -> Sift:
    """What lines of a format say in the conversation of one delegation. With a needle the file is another's, and only
    what is of that delegation, or names it, counts."""

    def said(lines: Sequence[Line]) -> list[Utterance]:
        wanted = [line for line in lines if needle in line.data] if needle else lines
        found = [each for line in wanted for each in _records(line)]
        try:
            told = list(dialect.said(found))
        except Exception as error:  # noqa: BLE001 - the formats of other people may fail in any way
            place = found[0].origin if found else Origin("", 0, 0)
            words = f"{len(found)} records cannot be shown: {type(error).__name__}: {error}"
            return [Utterance(Voice.NOTE, words, None, place)]
        if not needle:
            return [each for each in told if each.whose in (None, id)]
        name = needle.decode("utf-8", "replace")
        return [each for each in told if each.whose == id or (each.whose is None and name in (each.call, each.name))]

    return said


def _records(line: Line) -> Iterator[Record]:
    if len(line.data) > _FARTHEST:
        return
    for each in records(line):
        if isinstance(each, Record):
            yield each


def speaks(dialect: Dialect) -> bool:
    """Whether a format holds words."""
    return type(dialect).said is not Dialect.said


def of_events(history: Iterable[tuple[Line, list[Event]]]) -> list[Utterance]:
    """What events tell, where no words are kept."""
    return [piece for _, events in history for event in events for piece in _told(event)]


def _told(event: Event) -> Iterator[Utterance]:
    match event:
        case Started():
            words = (event.caller and f"by {event.caller}", event.task and f"task {event.task}", event.command)
            yield Utterance(Voice.NOTE, "started " + ", ".join(filter(None, words)), event.at, event.origin)
        case Described(prompt=str(text)):
            yield Utterance(Voice.PROMPT, text, event.at, event.origin)
        case Heard(tool=str(tool)):
            yield Utterance(Voice.CALL, event.doing or "", event.at, event.origin, tool)
        case Heard(doing=str(doing)):
            yield Utterance(Voice.NOTE, doing, event.at, event.origin)
        case Erred():
            text = event.fault.message or event.fault.code or "an error"
            yield Utterance(Voice.ERROR, text, event.at, event.origin, event.fault.type or "")
        case Ended():
            for fault in event.report.errors:
                yield Utterance(Voice.ERROR, fault.message or "an error", event.at, event.origin, fault.type or "")
            text = event.report.summary or f"it ended: {event.outcome.value}"
            yield Utterance(Voice.ANSWER, text, event.at, event.origin, event.outcome.value)
        case Noted(text=str(text)) if text:
            yield Utterance(Voice.NOTE, text, event.at, event.origin, event.kind)
        case Deviation():
            yield Utterance(
                Voice.NOTE, event.detail or "", None, event.origin, f"does not fit the format: {event.kind}"
            )

"""One line of a log as it stands there, and once more in a form that can be read."""

import json
from functools import partial

from textual import on
from textual.content import Content
from textual.worker import Worker, WorkerState

from delegtop.app.pages.inspector import raw
from delegtop.app.pages.inspector.page_words import MUTED, heading, one_line
from delegtop.app.screens.page import Page
from delegtop.app.widgets.sheet import Block, LabelledFact
from delegtop.base.origin import Origin
from delegtop.feed.live_feed import Readable
from delegtop.report import privacy

_SHOWN = 16_000
_READABLE = 256 * 1024


class RawLine(Page):
    """Read again from the disk, in a thread."""

    heading = "delegtop · raw line"

    def __init__(self, feed: Readable, origin: Origin, *, masked: bool) -> None:
        super().__init__()
        self._feed, self._origin = feed, origin
        self._hide = privacy.hiding(masked)
        self._note: Content | None = Content.styled("Reading the log …", MUTED)
        self._data = b""

    def on_mount(self) -> None:
        super().on_mount()
        work = partial(self._feed.raw, self._origin)
        self.run_worker(work, name="raw", description="raw", thread=True, exit_on_error=False)

    @on(Worker.StateChanged)
    def _read(self, event: Worker.StateChanged) -> None:
        event.stop()
        if event.state is WorkerState.ERROR:
            self._note = Content.styled("It cannot be read again: ", "$error") + one_line(str(event.worker.error))
        elif event.state is WorkerState.SUCCESS:
            self._data = event.worker.result or b""
            self._note = None if self._data else Content.styled("The line cannot be read any more.", MUTED)
        self.show_page()

    def blocks(self) -> list[Block]:
        where = one_line(str(self._origin), "bold $accent")
        if self._note is not None:
            return [where, self._note]
        blocks: list[Block] = [where, raw.shown(self._data, self._hide, _SHOWN)]
        if readable := _indented(self._data):
            lines = raw.shown(readable, self._hide, _SHOWN).split("\n")
            blocks += [Content(), heading("Indented"), *map(_hanging, lines)]
        return blocks


def _hanging(line: Content) -> Block:
    """A line that is continued where it begins."""
    depth = len(line.plain) - len(line.plain.lstrip(" "))
    return LabelledFact(" " * (depth - 1), line[depth:], depth) if depth else line


def _indented(data: bytes) -> bytes:
    """The line as indented JSON; nothing if it is none, or so long that nobody would read it."""
    if len(data) > _READABLE:
        return b""
    try:
        return json.dumps(json.loads(data), indent=2, ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return b""

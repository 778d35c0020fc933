"""Source health: which files are read, as what, how much of them, and every line that could not be."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from delegtop.app.pages.inspector.page_words import MUTED, heading, one_line, said
from delegtop.app.screens.page import Page
from delegtop.app.state.reader_thread import Reader
from delegtop.app.widgets.chips import Chips
from delegtop.app.widgets.filter_bar import FilterBar
from delegtop.app.widgets.notice import megabytes
from delegtop.app.widgets.sheet import Block, LabelledFact
from delegtop.base.clock import Clock, Millis, age
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.recent_window import session_of
from delegtop.model.events import Deviation
from delegtop.report import privacy
from delegtop.report.health import UNHEALTHY, ails, standing
from delegtop.report.source_table import size
from delegtop.sources.records import Unreadable

_SHOWN = 500
_FEW = 3
"""So many sources are shown with everything that is wrong in them; of more, the first of it stands on one line."""
_COLUMNS = (("STATUS", 17), ("WRITTEN", 12), ("FORMAT", 18), ("RECORDS", 9), ("SIZE", 10))
_WORDS = {"read": "read to the end"}
_NARROW = 90
"""Columns of the screen below which a line has no room for figures."""
_LEAST = 20
"""Columns for a path, however narrow the screen is."""


class SourceHealth(Page):
    heading = "delegtop · sources"
    hints = (("/", " filter   ", "filter"),)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "filter", "filter", show=False)]

    def __init__(self, reader: Reader, clock: Clock, *, masked: bool = True) -> None:
        super().__init__()
        self._reader, self._clock = reader, clock
        self._hide = privacy.hiding(masked)
        self._wanted, self._bar = "", FilterBar("words of the path, the format or the status")

    def above(self) -> ComposeResult:
        yield self._bar

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(1.0, self.show_page)

    def on_resize(self) -> None:
        self.show_page()

    def on_chips_chosen(self, event: Chips.Chosen) -> None:
        if event.name == "filter":
            self.action_filter()
        else:
            super().on_chips_chosen(event)

    # Filtering

    def action_filter(self) -> None:
        self._bar.open()

    def action_dismiss_page(self) -> None:
        """Out of the filter first."""
        if not self._bar.is_open:
            super().action_dismiss_page()
            return
        self._bar.input.value = ""
        self._bar.close()
        self.sheet.focus()

    @on(FilterBar.Typed)
    def _typed(self, event: FilterBar.Typed) -> None:
        self._wanted = event.text
        self.show_page()

    @on(FilterBar.Accepted)
    def _accepted(self) -> None:
        self.sheet.focus()

    # Drawing

    def blocks(self) -> list[Block]:
        statuses = list(self._reader.statuses)
        entries = listed(statuses, self._wanted)
        self._bar.count(_counted(len(entries), "source") if self._wanted else "")
        blocks: list[Block] = [_summary(self._reader, statuses), Content()]
        if entries:
            blocks.append(Content.styled(self._row([title for title, _ in _COLUMNS]) + "SOURCE", MUTED))
        for entry in entries[:_SHOWN]:
            blocks += self._all(entry) if len(entries) <= _FEW else self._short(entry)
        if len(entries) > _SHOWN:
            blocks.append(Content.styled(f"… and {len(entries) - _SHOWN:,} more, all of them well or no worse", MUTED))
        return blocks

    @property
    def _width(self) -> int:
        """Columns that a line may have without being wrapped."""
        return max(self.sheet.content_size.width - 1, 40)

    def _short(self, entry: "SourceEntry") -> list[Block]:
        """One line, and another if something is wrong."""
        wrong = self._wrong(entry.status)
        if wrong is None:
            return [self._line(entry)]
        for first in entry.status.examples[:1]:
            wrong = said(wrong, f"line {first.origin.line}", _why(first, self._hide))
        return [self._line(entry), wrong.truncate(self._width, ellipsis=True)]

    def _all(self, entry: "SourceEntry") -> list[Block]:
        status = entry.status
        wrong = self._wrong(status)
        blocks: list[Block] = [self._line(entry), *([wrong] if wrong is not None else [])]
        blocks += [
            LabelledFact("    " + one_line(reason, limit=40).plain, Content(f"{count:,}"), 34)
            for reason, count in _commonest(status)
        ]
        blocks += [LabelledFact("", _example(example, self._hide), 4) for example in status.examples[:10]]
        return [*blocks, Content()]

    def _line(self, entry: "SourceEntry") -> Content:
        status, now = entry.status, self._clock.now()
        word = standing(status.status, status.changed_at, now)
        style = "bold $warning" if status.status in UNHEALTHY else "bold $success" if word == "live" else ""
        cells = (_age(status, now), one_line(status.dialect).plain, f"{status.records:,}", size(status.size))
        row = self._row([_WORDS.get(word, word), *cells])
        beside = f"  +{_counted(entry.beside, 'side file')}" if entry.beside else ""
        path = _ending(one_line(status.path).plain, max(self._width - len(row) - len(beside), _LEAST))
        first = _COLUMNS[0][1]
        line = Content.assemble((row[:first], style), (row[first:], MUTED), path, (beside, MUTED))
        return line.truncate(self._width, ellipsis=True)

    def _row(self, cells: Sequence[str]) -> str:
        columns = _COLUMNS if self._width >= _NARROW else _COLUMNS[:3]
        return "".join(_cell(cell, title, width) for cell, (title, width) in zip(cells, columns, strict=False))

    def _wrong(self, status: SourceStatus) -> Content | None:
        """What is wrong with it, the gravest first; None if nothing is."""
        behind = status.size - status.read
        parts: list[Content | str] = [*_blemishes(status)]
        if status.status in UNHEALTHY or status.detail:
            parts.insert(0, one_line(status.detail))
        if behind > 0 and status.dialect is not None:
            parts.append(Content.styled(f"{megabytes(behind)} behind", "$warning"))
        return Content.assemble("    ", said(*parts)) if any(parts) else None


class SourceEntry(NamedTuple):
    """A line of the list."""

    status: SourceStatus
    beside: int
    """How many small files about the same session are told with it."""


def listed(statuses: Sequence[SourceStatus], wanted: str = "") -> list[SourceEntry]:
    """What is shown: those that ail first, then the newest. Files beside a session's log stand with that log."""
    mains: dict[str, str] = {}
    for path in sorted((status.path for status in statuses if not _is_side(status)), key=len, reverse=True):
        if session := session_of(path):
            mains[session] = path  # the shortest: that of the session itself
    beside = Counter(mains.get(session_of(status.path) or "", "") for status in statuses if _is_side(status))
    found = [
        SourceEntry(status, beside[status.path])
        for status in statuses
        if not (_is_side(status) and session_of(status.path) in mains) and _fits(status, wanted)
    ]
    return sorted(found, key=lambda entry: (not ails(entry.status), -(entry.status.changed_at or 0), entry.status.path))


def _is_side(status: SourceStatus) -> bool:
    """Whether it only says more about a log: a document of a session, and well."""
    return status.path.endswith(".json") and session_of(status.path) is not None and not ails(status)


def _fits(status: SourceStatus, wanted: str) -> bool:
    text = f"{status.path} {status.dialect} {status.status} {status.detail}".lower()
    return all(word in text for word in wanted.lower().split())


def _cell(cell: str, title: str, width: int) -> str:
    return f"{cell:>{width - 2}}  " if title in ("RECORDS", "SIZE") else f"{cell[: width - 2]:<{width}}"


def _age(status: SourceStatus, now: Millis) -> str:
    """When it was last written; of one that was written since the moment that is looked at, no time is told."""
    at = status.changed_at if status.changed_at is not None else status.told_at
    return "–" if at is None else f"{age(now - at)} ago" if at <= now else "since"


def _ending(path: str, width: int) -> str:
    """The end of a path, which tells it from others."""
    return path if len(path) <= width else f"…{path[-(width - 1) :]}"


def _summary(reader: Reader, statuses: list[SourceStatus]) -> Content:
    if reader.failure:
        return one_line(reader.failure, "bold $error")
    if not statuses:
        return Content.styled("No source is being read.", MUTED)
    records, unreadable = sum(s.records for s in statuses), sum(s.unreadable for s in statuses)
    return heading(f"{_counted(len(statuses), 'source')} · {_counted(records, 'record')} · {unreadable:,} unreadable")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _blemishes(status: SourceStatus) -> list[Content | str]:
    unreadable = Content.styled(f"{status.unreadable:,} unreadable", "bold $warning") if status.unreadable else ""
    odd = f"{status.deviations:,} thing{'' if status.deviations == 1 else 's'} not as the format says"
    return [unreadable, Content.styled(odd, "$warning") if status.deviations else ""]


def _commonest(status: SourceStatus) -> list[tuple[str, int]]:
    return sorted(status.reasons.items(), key=lambda reason: (-reason[1], reason[0]))[:12]


def _example(example: Unreadable | Deviation, hide: privacy.Hide) -> Content:
    return said(one_line(str(example.origin), MUTED), _why(example, hide))


def _why(example: Unreadable | Deviation, hide: privacy.Hide) -> Content:
    if isinstance(example, Unreadable):
        return said(one_line(example.reason), one_line(hide(example.excerpt), "", 200) if example.excerpt else "")
    return said(one_line(example.kind), one_line(hide(example.detail), "", 200))

"""A delegation as a bar in time: one line of text for each, on the cells of a time window. Nothing here paints.

A bar is thin while its delegation waits or works beside the others, and thick where it is on the critical path. It is
drawn solid as far as something tells of it and broken from there to now: that it still goes on is inferred.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import NamedTuple

from delegtop.base.clock import DAY, Millis
from delegtop.model.delegation import Deadline, Delegation
from delegtop.model.events import Trust
from delegtop.model.forest import Forest
from delegtop.model.history.critical_path import Piece
from delegtop.model.history.time_window import TimeWindow, day, ticks
from delegtop.model.states import ACTIVE, UNENDED, State
from delegtop.model.store.ledger import Handle
from delegtop.report.layout import CellSpan

PARTS = ("now", "grid", "axis", "firm", "usual", "past", "beyond")
"""The looks of a chart beside those of the states and `muted`."""
REVERSED = "~"
"""Before a part: with its colours the other way round, which is how a cell is filled from the right."""


class Ink(NamedTuple):
    """What bars are drawn with, every sign one cell wide."""

    thin: str
    thin_first: str
    """The right half of it."""
    thin_last: str
    guess: str
    thick: str
    """Nothing if the sign of the state stands for it."""
    eighths: str
    """Filled from the left by none to seven eighths; nothing where a cell is all there is."""
    right_half: str
    thick_guess: str
    now: str
    now_above: str
    grid: str
    firm: str
    usual: str
    unknown: str
    earlier: str
    later: str
    reverses: bool = True
    """Whether colours can be turned round."""
    caps: Mapping[State, str] | None = None
    """Signs of the states that stand at the end of a bar where colour does not tell them."""


UNICODE = Ink("━", "╺", "╸", "╌", "█", " ▏▎▍▌▋▊▉", "▐", "░", "│", "▼", "┊", "◆", "◇", "?", "‹", "›")
ASCII = Ink("-", "-", "-", ".", "=", "", " ", ":", "|", "v", " ", "D", "u", "?", "<", ">", reverses=False)


class Bar(NamedTuple):
    """When a delegation was at work, as far as anybody knows."""

    start: Millis
    known: Millis
    """The last moment that anything tells of."""
    end: Millis
    """Its end, or now while it is open."""
    starts: bool
    """Whether its start is known."""
    ends: bool
    """Whether its end is known, or it is still open."""


def bar(forest: Forest, handle: Handle, facts: Delegation) -> Bar | None:
    """Its bar, up to `Forest.now_of` it while it is open; None if there is no moment to draw it at."""
    state = forest.state(handle)
    start, seen = facts.started_at, facts.heard_at or facts.listed_at
    if state in UNENDED:
        blocker = forest.blocker(handle) if state in ACTIVE else None
        below = None if blocker is None else forest.times(blocker)[1]
        known = max((at for at in (start, seen, below) if at is not None), default=None)
        if known is None:
            return None
        now = forest.now_of(handle)
        known = min(known, now)
        return Bar(known if start is None else start, known, now, start is not None, True)
    end = facts.ended_at if facts.ended_at is not None else seen
    first = start if start is not None else end
    if first is None:
        return None
    last = Millis(max(first, first if end is None else end))
    return Bar(first, last, last, start is not None, facts.ended_at is not None)


class Chart:
    """Bars of a forest in one window of time."""

    def __init__(
        self, forest: Forest, window: TimeWindow, width: int, *, ink: Ink = UNICODE, zone: tzinfo | None = None
    ) -> None:
        self.forest, self.window, self.width, self.ink = forest, window, width, ink
        self._ticks = ticks(window, width, zone)
        # Times alone would be taken for those of today.
        first, today = day(window.start, zone), day(forest.shown_at, zone)
        self._day = "" if window.holds(forest.shown_at) or first == today or window.span >= DAY else first
        self._now = self._cell(forest.shown_at)
        self._empty = [(" ", "text")] * width
        for tick in self._ticks if ink.grid.strip() else ():
            self._put(self._empty, self._cell(tick.at), ink.grid, "grid")
        self._put(self._empty, self._now, ink.now, "now")

    def axis(self) -> tuple[CellSpan, ...]:
        """The moments along the top. Now stands before any of them."""
        cells = [(" ", "axis")] * self.width
        free = 0
        if self._day and len(self._day) < self.width:
            free = len(self._day) + 1
            cells[: len(self._day)] = [(sign, "axis") for sign in self._day]
        for tick in self._ticks:
            at, end = self._cell(tick.at), self._cell(tick.at) + len(tick.label)
            if at < free or end > self.width or at - 1 <= self._now <= end:
                continue
            cells[at:end] = [(sign, "axis") for sign in tick.label]
            free = end + 1
        self._put(cells, self._now, self.ink.now_above, "now")
        return _runs(cells)

    def row(self, handle: Handle, facts: Delegation, pieces: Sequence[Piece] = ()) -> tuple[CellSpan, ...]:
        """The line of one delegation; `pieces` are its own on the critical path."""
        cells, state = list(self._empty), self.forest.state(handle)
        part = "muted" if facts.trust is Trust.MODEL else state.colour
        found = bar(self.forest, handle, facts)
        if found is not None:
            self._thin(cells, found, part)
            solid = self.ink.thick or (self.ink.caps or {}).get(state, self.ink.thin)
            for piece in pieces:
                self._thick(cells, piece, found.known, solid, part)
            self._ends(cells, found, state, part)
        deadline = self.forest.deadline(handle)
        if deadline is not None:
            self._deadline(cells, deadline, state)
        if found is not None:
            self._beyond(cells, found, part)
        return _runs(cells)

    # One bar

    def _thin(self, cells: list[tuple[str, str]], found: Bar, part: str) -> None:
        """Half cells are as fine as lines get."""
        ink = self.ink
        first, known = self._at(found.start, 2), max(self._at(found.known, 2), self._at(found.start, 2) + 1)
        for cell in self._inside(known // 2, self._cell(found.end) + 1 if found.end > found.known else 0):
            cells[cell] = ink.guess, part
        for cell in self._inside(first // 2, -(-known // 2)):
            half = ink.thin_first if 2 * cell < first else ink.thin_last if 2 * cell + 1 >= known else ink.thin
            cells[cell] = half, part

    def _thick(self, cells: list[tuple[str, str]], piece: Piece, known: Millis, solid: str, part: str) -> None:
        """Eighths of a cell, from the left by signs and from the right by turning the colours round."""
        first, last = self._at(piece.start, 8), self._at(min(piece.end, known), 8)
        for cell in self._inside(max(first, last) // 8, self._cell(piece.end) + 1 if piece.end > known else 0):
            cells[cell] = self.ink.thick_guess, part
        last = max(last, first + 1)
        if first >= self._at(known, 8) and piece.end > known:
            return
        for cell in self._inside(first // 8, -(-last // 8)):
            cells[cell] = self._block(max(first - 8 * cell, 0), min(last - 8 * cell, 8), solid, part)

    def _block(self, first: int, last: int, solid: str, part: str) -> tuple[str, str]:
        """A cell filled from one eighth to another."""
        ink = self.ink
        if not ink.eighths or last - first == 8:
            return solid, part
        if not first or last < 8:
            return ink.eighths[max(last - first, 1)], part
        if ink.reverses:
            return ink.eighths[first], REVERSED + part
        return (ink.right_half if first >= 2 else solid), part

    def _ends(self, cells: list[tuple[str, str]], found: Bar, state: State, part: str) -> None:
        ink = self.ink
        if not found.starts:
            self._put(cells, self._cell(found.start) - 1, ink.unknown, part)
        behind = max(-(-self._at(found.end, 8) // 8), self._cell(found.start) + 1)
        if not found.ends:
            self._put(cells, behind, ink.unknown, part)
        elif ink.caps is not None:
            self._put(cells, self._cell(found.end) if state in UNENDED else behind, ink.caps[state], part)

    def _deadline(self, cells: list[tuple[str, str]], deadline: Deadline, state: State) -> None:
        sign, part = (self.ink.firm, "firm") if deadline.is_firm else (self.ink.usual, "usual")
        self._put(cells, self._cell(deadline.at), sign, part if state in ACTIVE else "past")

    def _beyond(self, cells: list[tuple[str, str]], found: Bar, part: str) -> None:
        """Where the bar is, if it is all out of view."""
        if found.end < self.window.start:
            self._put(cells, 0, self.ink.earlier, part)
        elif found.start > self.window.end:
            self._put(cells, self.width - 1, self.ink.later, part)

    # Cells

    def _at(self, at: int, parts: int) -> int:
        """The moment in so many parts of a cell, not much further out of view than needed."""
        return round(max(min(self.window.cell(at, self.width), self.width + 1), -1) * parts)

    def _cell(self, at: int) -> int:
        return int(max(min(self.window.cell(at, self.width), self.width + 1), -2) // 1)

    def _inside(self, first: int, end: int) -> range:
        return range(max(first, 0), min(end, self.width))

    def _put(self, cells: list[tuple[str, str]], cell: int, sign: str, part: str) -> None:
        if 0 <= cell < self.width:
            cells[cell] = sign, part


def _runs(cells: Sequence[tuple[str, str]]) -> tuple[CellSpan, ...]:
    """Neighbours that look alike, together: few pieces are painted faster than many."""
    return tuple(_joined(cells))


def _joined(cells: Sequence[tuple[str, str]]) -> Iterator[CellSpan]:
    begin = 0
    for cell in range(1, len(cells) + 1):
        if cell == len(cells) or cells[cell][1] != cells[begin][1]:
            yield CellSpan("".join(sign for sign, _ in cells[begin:cell]), cells[begin][1])
            begin = cell

"""What a row of the tree-table says: the cells of one delegation as pieces of safe text, each with its part.

A part names a look (`guide`, `failed`, `bar-warn`); the widget knows the colours. Nothing here paints.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from delegtop.app import theme
from delegtop.app.columns import BAR, TIME, Column, Layout
from delegtop.app.spans import Span, cut, filled, fit, short_number, size
from delegtop.app.verdicts import NOTHING, Verdict, Verdicts
from delegtop.clock import countdown, duration
from delegtop.diagnosis.finding import Severity
from delegtop.model import measures, order, phases
from delegtop.model.delegation import ACTIVE, PROBLEMS, Delegation, Link, State
from delegtop.model.events import Trust
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.outline import Outline, OutlineRow
from delegtop.secrets import mask
from delegtop.text import line

SORTS = order.SORTS
PARTS = (
    *(state.value for state in State),
    *("guide", "unsure", "mark", "name", "text", "muted", "header"),
    *("bar-plenty", "bar-warn", "bar-critical", "bar-over", "bar-track"),
)

_LONGEST = 400
"""Characters of foreign text that are looked at for one cell: no terminal is wider."""
_LOOKED_AT = 2 * _LONGEST
"""Characters that are searched for secrets: one that begins in sight is hidden whole."""
_LEAST_TITLE = 8
"""Cells a title beside the name must have to be worth reading."""
_PROBLEMS_LEAST, _PROBLEMS_KIND, _PROBLEMS_IN_WORDS = 8, 20, 30
"""Cells from which the problems are named by their rule, by their kind, and from which in a sentence."""
_LEAST_NAME = 10
"""Cells a name keeps when it hangs so deep that its guides must be cut."""
_TICKING = frozenset({"left", "age", "quiet", "doing"})
"""Columns that tell how long something takes, and so change with time alone."""
_WARN, _CRITICAL = 0.25, 0.10
_FOUND = {Severity.ERROR: "failed", Severity.WARNING: "partial", Severity.INFO: "muted"}


class Left(NamedTuple):
    """The time left as it is drawn: the words, how many half cells of the bar are full, and how pressing it is."""

    text: str
    halves: int | None
    """None if the whole span is not known, and then there is no bar."""
    level: str


class Rows:
    """The rows of a forest, in the order of an outline."""

    def __init__(
        self,
        forest: Forest,
        outline: Outline,
        verdicts: Verdicts | None = None,
        *,
        ascii: bool = False,
        masked: bool = True,
    ) -> None:
        self.forest = forest
        self.outline = outline
        self.ascii = ascii
        self.masked = masked
        """Whether secrets in foreign text are hidden."""
        self.drawing = theme.drawing(ascii=ascii)
        self._verdicts = verdicts
        self._facts = lru_cache(1024)(self._read)
        self._clean = lru_cache(2048)(self._cleaned)
        self._still = lru_cache(512)(self._still_cells)

    # What may change

    def key(self, row: OutlineRow) -> tuple[object, ...]:
        """Everything that can change the picture of this row. Two equal keys look the same."""
        handle = row.handle
        return row, self._ground(handle), self._left(handle), self._age(handle), self._quiet(handle)

    def _ground(self, handle: Handle) -> tuple[object, ...]:
        """What changes the picture other than its place and the mere passing of time."""
        forest = self.forest
        return (
            forest.version(handle),
            forest.link(handle),
            self._waits_on(handle),
            self._verdict(handle),
            self.masked,
        )

    def sort_key(self, name: str) -> Callable[[Handle], Any]:
        """The order of siblings by its name, one of SORTS."""
        return order.order(self.forest, name)

    # The cells

    def header(self, layout: Layout, sort: str = "", reverse: bool = False) -> list[Span]:
        """The titles, with a mark at the one the rows are sorted by."""
        titles = " "
        for column in layout.columns:
            title = column.title
            if title and column.sort == sort:
                title += self.drawing.up if reverse else self.drawing.down
            # The title of the time left stands over the words, not over the bar.
            width = min(column.width, TIME) if column.name == "left" else column.width
            text = self._fit(title, width, right=column.right or column.name == "left")
            titles += text + " " * (column.width - width + layout.gap)
        return [Span(titles[: layout.width].ljust(layout.width), "header")]

    def cells(self, row: OutlineRow, layout: Layout) -> list[Span]:
        """The row, exactly as wide as the layout."""
        if not layout.columns:
            return [Span(" " * layout.width, "text")]
        spans, gap = [Span(" ", "text")], " " * layout.gap
        for column, still in zip(layout.columns, self._still(row, self._ground(row.handle), layout), strict=True):
            spans += still or self._cell(row, column)
            text, part = spans[-1]
            spans[-1] = Span(text + gap, part)  # few pieces are painted faster than many
        text, part = spans[-1]
        spans[-1] = Span(text.removesuffix(gap), part)
        return spans

    def _still_cells(
        self,
        row: OutlineRow,
        ground: tuple[object, ...],  # noqa: ARG002 -- as long as it is the same, so are the cells
        layout: Layout,
    ) -> list[list[Span]]:
        """The cells that time alone does not change; an empty one for each that it does."""
        return [[] if column.name in _TICKING else self._cell(row, column) for column in layout.columns]

    def mark_at(self, row: OutlineRow, layout: Layout) -> range:
        """The cells of the fold mark: a click there folds."""
        if not row.descendants:
            return range(0)
        start = 1 + size(self._guides(row, layout.columns[0].width)[0])
        return range(start - 1, start + 2)

    def facts(self, handle: Handle) -> Delegation:
        """All that is known of it, read once a version."""
        return self._delegation(handle)

    def label(self, handle: Handle) -> str:
        """What it is called, safe to show."""
        return self._safe(measures.label(self._delegation(handle)))

    def _cell(self, row: OutlineRow, column: Column) -> list[Span]:
        handle, state = row.handle, self.forest.state(row.handle)
        width = column.width
        match column.name:
            case "delegation":
                return self._name_cell(row, state, width)
            case "state":
                sign = self.drawing.states[state]
                return [Span(self._fit(f"{sign} {state.value}" if width > 1 else sign, width), state.value)]
            case "left":
                return self._left_cell(handle, width)
            case "problems":
                return self._problems_cell(handle, width)
            case "depth":
                text, part = self._depth(handle)
            case "age":
                text, part = self._age(handle), "text" if state in ACTIVE and self._is_timed(handle) else "muted"
            case "quiet":
                text, part = self._quiet(handle), self._quiet_part(handle, state)
            case "task":
                text, part = self._safe(self._delegation(handle).task or ""), "muted"
            case "tokens":
                text, part = short_number(self._delegation(handle).tokens), "muted"
            case _:
                text, part = self._doing(handle, state)
        return [Span(self._fit(text, width, right=column.right), part)]

    # The tree

    def _name_cell(self, row: OutlineRow, state: State, width: int) -> list[Span]:
        guides, arm = self._guides(row, width)
        drawing, delegation = self.drawing, self._delegation(row.handle)
        unsure = self.forest.link(row.handle) in (Link.INFERRED, Link.AMBIGUOUS)
        mark = (drawing.opened if row.expanded else drawing.folded) if row.descendants else arm
        link = "unsure" if unsure else "guide"
        spans = [Span(guides[:-1], "guide"), Span(guides[-1:], link), Span(mark, "mark" if row.descendants else link)]
        spans.append(Span(" ", "text"))
        if delegation.parent is not None and self.forest.parent(row.handle) is None:
            spans.append(Span(f"{drawing.orphan} ", "unsure"))
        hidden = f" ({row.descendants:,})" if row.descendants and not row.expanded else ""
        blocks = self._verdict(row.handle).blocks
        holds = f" {drawing.blocker}{blocks}" if blocks else ""
        room = max(width - sum(size(span.text) for span in spans), 0)
        label = self._cut(self._called(row.handle), max(room - len(hidden + holds), min(room, _LEAST_NAME)))
        part = state.value if state in PROBLEMS else "muted" if state not in ACTIVE else "name"
        spans += [Span(label, part), Span(holds, "overdue"), Span(hidden, "muted")]
        room -= size(label) + len(hidden + holds) + 2
        title = delegation.title or (delegation.prompt or "").strip().partition("\n")[0]
        if title and room >= _LEAST_TITLE:
            spans.append(Span("  " + self._cut(self._safe(title), room), "muted"))
        return filled(spans, width)

    def _called(self, handle: Handle) -> str:
        """The agent, and its own name beside it if it has one."""
        label, own = self.label(handle), self._delegation(handle).own_name
        return f"{label} {self._safe(own)}" if own and own != label else label

    def _guides(self, row: OutlineRow, width: int) -> tuple[str, str]:
        """The lines left of the mark, and what stands in place of the mark of a row without children."""
        drawing = self.drawing
        if not row.level:
            return "", " "
        link = self.forest.link(row.handle)
        arm = {Link.INFERRED: drawing.inferred, Link.AMBIGUOUS: drawing.ambiguous}.get(link, drawing.sure)
        own = (drawing.corner if row.last else drawing.branch) + arm
        room = max((width - _LEAST_NAME - 4) // 2, 0)
        above = row.guides[1:]
        cut = len(above) > room
        if cut:
            above = above[len(above) - room :]
        trunks = "".join(f"{drawing.trunk} " if runs_on else "  " for runs_on in above)
        end = drawing.inferred if link is Link.AMBIGUOUS else arm
        return (drawing.cut + trunks[1:] if cut and trunks else trunks) + own, end

    # Figures

    def _left(self, handle: Handle) -> Left | None:
        """None for what is done: it has no time left to speak of."""
        if self.forest.state(handle) not in ACTIVE:
            return None
        deadline = self.forest.deadline(handle)
        if deadline is None:
            return Left(self.drawing.none, None, "muted")
        left = deadline.at - self.forest.now
        if not deadline.is_firm:  # what is usual is no promise: nothing is late by it
            return Left(f"~{countdown(left)}"[-TIME:], None, "muted")
        if left < 0:
            return Left(countdown(left), 0, "bar-over")
        started = self._delegation(handle).started_at
        if started is None or deadline.at <= started:
            return Left(countdown(left), None, "text")
        part = min(left / (deadline.at - started), 1.0)
        level = "bar-critical" if part < _CRITICAL else "bar-warn" if part < _WARN else "bar-plenty"
        return Left(countdown(left), max(round(part * BAR * 2), 1), level)

    def _left_cell(self, handle: Handle, width: int) -> list[Span]:
        left = self._left(handle)
        if left is None:
            return [Span(" " * width, "text")]
        part = "text" if left.level == "bar-plenty" else left.level
        words = Span(self._fit(left.text, min(TIME, width), right=True), part)
        if left.halves is None or width < TIME + 1 + BAR:
            return filled([words], width)
        drawing, (full, half) = self.drawing, divmod(left.halves, 2)
        if left.level == "bar-over":
            return [words, Span(" ", "text"), Span(drawing.over * BAR, "bar-over")]
        bar = drawing.full * full + drawing.half * half
        return [words, Span(" ", "text"), Span(bar, left.level), Span(drawing.empty * (BAR - len(bar)), "bar-track")]

    # Age and quiet follow `measures`, on facts that are read once a version and not anew for every frame.

    def _age(self, handle: Handle) -> str:
        delegation = self._delegation(handle)
        if delegation.started_at is None:
            return self.drawing.none
        if self.forest.state(handle) in measures.OPEN:
            return countdown(max(self.forest.now - delegation.started_at, 0))
        return (
            self.drawing.none if delegation.ended_at is None else duration(delegation.ended_at - delegation.started_at)
        )

    def _quiet(self, handle: Handle) -> str:
        if self.forest.state(handle) not in measures.OPEN:
            return ""
        heard = self._delegation(handle).heard_at
        return self.drawing.none if heard is None else countdown(max(self.forest.now - heard, 0))

    def _quiet_part(self, handle: Handle, state: State) -> str:
        if state is State.SILENT:
            return "silent"
        return "text" if state in ACTIVE and self._is_timed(handle) else "muted"

    def _is_timed(self, handle: Handle) -> bool:
        """Its times were taken by a clock, not written by a model."""
        return self._delegation(handle).trust is not Trust.MODEL

    def _depth(self, handle: Handle) -> tuple[str, str]:
        """As claimed, with the other claim beside it where the path says otherwise; `~` where nothing is claimed."""
        claimed, derived = self._delegation(handle).depth, self._derived_depth(handle)
        if claimed is None:
            return f"~{derived}", "muted"
        if claimed != derived:
            return f"{claimed}{self.drawing.differs}{derived}", "partial"
        return str(claimed), "text"

    def _derived_depth(self, handle: Handle) -> int:
        path = self._delegation(handle).own_path
        return max(len(path) - 2, 0) if path else self.forest.level(handle)

    # What it does

    def _waits_on(self, handle: Handle) -> str:
        if self.forest.state(handle) not in (State.WAITING, State.OVERDUE):
            return ""
        blocker = self.forest.blocker(handle)
        return "" if blocker is None else self.label(blocker)

    def _doing(self, handle: Handle, state: State) -> tuple[str, str]:
        delegation = self._delegation(handle)
        if state in ACTIVE and delegation.phase in phases.FOR_PEOPLE:
            return self._safe(phases.now(delegation)), "overdue"
        if blocker := self._waits_on(handle):
            return f"on {blocker}", "muted"
        if state in ACTIVE:
            return self._safe(phases.now(delegation) or self.forest.reason(handle)), "text"
        if state is State.IDLE:
            return self._safe(phases.work(delegation) or self.forest.reason(handle)), "muted"
        if state is not State.COMPLETED and (fault := next((e.message for e in delegation.errors if e.message), None)):
            return self._safe(fault), state.value
        made = len(delegation.artifacts)
        artifacts = f"{made} artifact{'s' if made > 1 else ''}" if made else ""
        summary = self._safe(delegation.report.summary or self.forest.reason(handle))
        return f" {self.drawing.and_} ".join(filter(None, (artifacts, summary))), "muted"

    # What is wrong with it

    def _verdict(self, handle: Handle) -> Verdict:
        return self._verdicts.of(handle) if self._verdicts else NOTHING

    def _problems_cell(self, handle: Handle, width: int) -> list[Span]:
        """What a person must look at comes first, then the worst finding, then how many more there are."""
        severity, rule, message, found, review, _, kind = self._verdict(handle)
        if severity is None and not review:
            return [Span(" " * width, "text")]
        sign = self.drawing.review if review else self.drawing.findings[severity or Severity.INFO]
        part = "overdue" if review else _FOUND[severity or Severity.INFO]
        if width < _PROBLEMS_LEAST:
            return [Span(self._fit(f"{sign}{min(found, 9) or ''}", width), part)]
        others = found if review else found - 1
        more = f" +{others}" if others else ""
        named = kind if kind and width >= _PROBLEMS_KIND else rule
        words = "review" if review else named if width < _PROBLEMS_IN_WORDS else self._safe(message)
        first = self._cut(f"{sign} {words}", width - len(more))
        return filled([Span(first, part), Span(more, "muted")], width)

    # Facts and text

    def _delegation(self, handle: Handle) -> Delegation:
        return self._facts(handle, self.forest.version(handle))

    def _read(self, handle: Handle, version: int) -> Delegation:  # noqa: ARG002 -- the version is the key of the cache
        return self.forest.delegation(handle)

    def _safe(self, text: str) -> str:
        return self._clean(text[:_LOOKED_AT], self.masked)

    def _cleaned(self, text: str, masked: bool) -> str:
        text = line(mask(text) if masked else text, _LONGEST)
        return text.encode("ascii", "replace").decode() if self.ascii else text

    def _cut(self, text: str, width: int) -> str:
        return cut(text, width, self.drawing.cut)

    def _fit(self, text: str, width: int, *, right: bool = False) -> str:
        return fit(text, width, self.drawing.cut, right=right)

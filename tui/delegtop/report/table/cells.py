"""What the cells of each column say: pieces of safe text, each with its part.

A part names a look (`guide`, `failed`, `bar-warn`); whoever paints or prints knows the colours.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from delegtop.base.clock import Millis, countdown, duration
from delegtop.base.secrets import mask
from delegtop.base.text import brief, cut, first_line, prose
from delegtop.diagnosis.assessment import Assessment, Urgency
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.pressing import Pressing
from delegtop.model import measures, phases, process_words
from delegtop.model.delegation import Delegation, Link
from delegtop.model.events import Trust
from delegtop.model.states import ACTIVE, UNENDED, State
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.outline import OutlineRow
from delegtop.report.figures import dollars
from delegtop.report.layout import CellSpan, Ruler
from delegtop.report.projects import Projects
from delegtop.report.table.columns import COLUMNS, DOING, NAME, Layout, Placed, RoomAsked, column
from delegtop.report.table.drawing import Drawing
from delegtop.report.table.namesakes import LEAST_NAME, Namesakes, fitted

PARTS = (
    *dict.fromkeys(state.colour for state in State),
    *("guide", "unsure", "mark", "name", "text", "muted", "header", "stuck"),
    *("bar-plenty", "bar-warn", "bar-critical", "bar-over", "bar-track"),
)

TIME, BAR = 8, 8
"""Cells of any span of time (`+1:02:11`, `26:10:00`), and of the bar that shows how much is left."""
_LONGEST = 400
"""Characters of foreign text that are looked at for one cell: no terminal is wider."""
_LOOKED_AT = 2 * _LONGEST
"""Characters that are searched for secrets: one that begins in sight is hidden whole."""
_LEAST_NAME = 10
"""Cells a name keeps however deep it hangs."""
_ENOUGH_WORK, _MOST_WORK = 32, 60
"""Cells of what it works at that are worth giving up other columns for, and some of what each does."""
_WARN, _CRITICAL = 0.25, 0.10
_DEEP = 24
"""Levels that get guide lines in print; how deep the others are, their depth says."""


class RemarkCell(NamedTuple):
    """What the rules find beside what is the matter: the worst of it by its short name, and how many there are."""

    name: str = ""
    severity: Severity | None = None
    found: int = 0


NOTHING = RemarkCell()


class UnseenBelow(NamedTuple):
    """Problems of this moment below a row that nobody has seen to."""

    many: int = 0
    first: Assessment | None = None
    """What presses most."""


class SeenProblems(Protocol):
    """Which problems somebody has seen to; false if there are none."""

    def __bool__(self) -> bool: ...
    def holds(self, found: Assessment) -> bool: ...
    def unseen_below(self, handle: Handle) -> UnseenBelow: ...


class Table:
    """Delegations as rows: the cells are asked of it."""

    def __init__(
        self,
        assessments: Assessments,
        pressing: Pressing,
        drawing: Drawing,
        ruler: Ruler,
        *,
        masked: bool = True,
        remarks: Callable[[Handle], RemarkCell] = lambda _: NOTHING,
        seen: SeenProblems | None = None,
        folds: bool = True,
        exact: bool = False,
    ) -> None:
        self.assessments, self.pressing, self.forest = assessments, pressing, assessments.forest
        self.drawing, self.ruler, self.masked = drawing, ruler, masked
        self.remarks, self.seen, self.folds = remarks, seen, folds
        """`folds`: whether rows can be folded, and so have a mark to do it with."""
        self._exact = exact
        """How spans of time are told: on a screen they change no oftener than needed."""
        self.projects = Projects()
        self.namesakes = Namesakes()
        self._clean = lru_cache(2048)(self._cleaned)
        self._called = lru_cache(1024)(self._called_and_work)
        self._branches: dict[tuple[object, ...], _Branch] = {}
        """What stands before the names of rows at the top and below them, which are nearly all."""

    def header(self, layout: Layout, sort: str = "", reverse: bool = False) -> str:
        """The titles, with a mark at the one the rows are sorted by."""
        turned = self.drawing.up if reverse else self.drawing.down
        sorted_by = next((each for each in layout.columns if each.column.sort == sort), None)
        titles = [self.title(each, turned if each is sorted_by else "") for each in layout.columns]
        return (" " + (" " * layout.gap).join(titles))[: layout.width].ljust(layout.width)

    def title(self, placed: Placed, mark: str = "") -> str:
        """The title of a column, as wide as that is."""
        column, width = placed
        title = column.short if column.short and width == column.small else column.title
        # The title of the time left stands over the words, not over the bar.
        over_words = min(width, TIME) if column.name == "left" else width
        if mark:  # it says more than the last letter
            title = title[: max(over_words - len(mark), 0)] + mark
        text = self.ruler.fit(title, over_words, self.drawing.cut, column.right or column.name == "left")
        return text + " " * (width - over_words)

    # What the cells share

    def facts(self, handle: Handle) -> Delegation:
        return self.forest.delegation(handle)

    def problem(self, handle: Handle) -> Assessment | None:
        """What is the matter with it, if something is."""
        known = self.assessments.known(handle)
        return known if known is not None and known.problem else None

    def is_seen(self, handle: Handle) -> bool:
        """Whether something is the matter with it that somebody has seen to."""
        return bool(self.seen and (found := self.problem(handle)) is not None and self.seen.holds(found))

    def part(self, found: Assessment) -> str:
        """The colour of what is the matter; none where somebody has seen to it."""
        return "muted" if self.seen and self.seen.holds(found) else found_part(found)

    def below(self, handle: Handle) -> UnseenBelow:
        """The problems below it that nobody has seen to."""
        if self.seen:
            return self.seen.unseen_below(handle)
        count = self.pressing.below(handle)
        return UnseenBelow(count, self.assessments.known(self.pressing.key(handle)[-1]) if count else None)

    def project(self, handle: Handle) -> str:
        return self.project_at(measures.folder(self.forest, handle))

    def project_at(self, folder: str | None) -> str:
        """The project that lies in a folder."""
        return self.safe(self.projects.name(folder))

    def new_project(self, handle: Handle) -> str:
        """The project of a row, unless it is that of the row above it, or there is but one."""
        parent = self.forest.parent(handle)
        project = self.project(handle)
        known = parent is not None and self.project(parent) == project
        return "" if known or len(self.projects) < 2 else project

    def host(self, handle: Handle) -> str:
        """The machine it is on, if there are several."""
        return self.safe(measures.host(self.forest, handle) or "") if self.forest.has_hosts else ""

    def label(self, handle: Handle) -> str:
        """What it is called, safe to show."""
        return self.called(handle)[0]

    def work(self, handle: Handle) -> str:
        """What it works at, with its own name if it has one: what tells it from others that are called alike."""
        return self.called(handle)[1]

    def called(self, handle: Handle) -> tuple[str, str]:
        """Both."""
        facts = self.facts(handle)
        label, title, prompt = measures.label(facts), facts.title, facts.prompt
        return self._called(label, facts.own_name if facts.own_name != label else None, title, prompt, self.masked)

    def _called_and_work(
        self,
        label: str,
        own: str | None,
        title: str | None,
        prompt: str | None,
        masked: bool,  # noqa: ARG002 -- what is safe to show depends on it
    ) -> tuple[str, str]:
        work = self.prose(title or first_line(prompt or ""))
        return self.safe(label), f" {self.drawing.and_} ".join(filter(None, (self.safe(own or ""), work)))

    def differs_at(self, handle: Handle) -> int | None:
        """The first sign of its work that tells it from those in sight that are called alike; None if none is."""
        return self.namesakes.differs_at(*self.called(handle))

    def told_apart(self, handle: Handle, most: int = _ENOUGH_WORK) -> str:
        """What to call it: by its work, in so many cells, where others in sight have the same name."""
        if self.differs_at(handle) is None or not (work := self.work(handle)):
            return self.label(handle)
        return self.quoted(work, most)

    def quoted(self, work: str, most: int) -> str:
        """Somebody's words among those of delegtop."""
        first, last = ('"', '"') if self.drawing.plain else ("“", "”")
        return f"{first}{self.cut(work, most)}{last}"

    def waits_on(self, handle: Handle) -> Handle | None:
        """At the end of the path that it waits on."""
        waiting = self.forest.state(handle) in (State.WAITING, State.OVERDUE)
        return self.assessments.end_of_path(handle) if waiting else None

    def safe(self, text: str) -> str:
        return self._clean(cut(text, _LOOKED_AT), self.masked, False)

    def prose(self, text: str) -> str:
        """Safe, too, and without the marks of Markdown: what was written for people."""
        return self._clean(cut(text, _LOOKED_AT), self.masked, True)

    def _cleaned(self, text: str, masked: bool, for_people: bool) -> str:
        text = (prose if for_people else brief)(mask(text) if masked else text, _LONGEST)
        return text.encode("ascii", "replace").decode() if self.drawing.plain else text

    def open_for(self, span: int, width: int) -> str:
        """A span of time that goes on."""
        return self.took(span, width) if self._exact else countdown(span)

    def since(self, handle: Handle, at: Millis, width: int) -> str:
        """How long it is since then; of what lies ahead nobody knows."""
        span = self.forest.now_of(handle) - at
        return self.drawing.none if span < 0 and self.forest.ahead(handle) else self.open_for(max(span, 0), width)

    def took(self, span: int, width: int) -> str:
        """A span of time, to the second if there is room for that."""
        exactly = duration(span)
        return exactly if len(exactly) <= width else countdown(span)

    def cut(self, text: str, width: int) -> str:
        return self.ruler.cut(text, width, self.drawing.cut)

    def said(self, text: str, part: str, width: int, *, right: bool = False) -> list[CellSpan]:
        """One piece of text as a whole cell."""
        return [CellSpan(self.ruler.fit(text, width, self.drawing.cut, right), part)]

    def guides(self, row: OutlineRow, width: int) -> tuple[str, str]:
        """The lines left of the mark, and what stands in place of the mark of a row without children."""
        drawing = self.drawing
        if not row.level:
            return "", " " if self.folds else ""
        link = self.forest.link(row.handle)
        arm = {Link.INFERRED: drawing.inferred, Link.AMBIGUOUS: drawing.ambiguous}.get(link, drawing.sure)
        own = (drawing.corner if row.last else drawing.branch) + arm
        above, cut = row.guides[1:], False
        if above:
            room = max((width - _LEAST_NAME - 4) // 2, 0) if self.folds else self._room_in_print(row, width)
            cut = len(above) > room
        if cut:
            above = above[len(above) - room :]
        trunks = "".join(f"{drawing.trunk} " if runs_on else "  " for runs_on in above)
        end = drawing.inferred if link is Link.AMBIGUOUS else arm
        return (drawing.cut + trunks[1:] if cut and trunks else trunks) + own, end if self.folds else ""

    def _room_in_print(self, row: OutlineRow, width: int) -> int:
        """How many levels above it are drawn. A column there is no wider than its longest name needs."""
        name = min(self.ruler.cells(_called(self, row, self.facts(row.handle))), _LEAST_NAME)
        return min(_DEEP, max((width - name - 3) // 2, 0))


# -- who it is -------------------------------------------------------------------------------------------------------


class Naming(NamedTuple):
    """What the first cell of a row is made of."""

    branch: Sequence[CellSpan]
    used: int
    """The cells of the branch."""
    marks: list[CellSpan]
    """Who waits for it, and what a fold hides."""
    name: str
    title: str
    project: str
    label: str
    """The name without that of its own."""
    work: str
    """The title with the name of its own."""
    differs_at: int | None

    def claim(self, table: Table) -> RoomAsked:
        """The cells it asks for."""
        cells = table.ruler.cells
        fixed = self.used + sum([cells(span.text) for span in self.marks])
        whole = fixed + cells(self.name) + (2 + min(cells(self.title), _MOST_WORK) if self.title else 0)
        if self.differs_at is None or not self.work:
            return RoomAsked(whole)
        return RoomAsked(whole, fixed + min(cells(self.label), LEAST_NAME) + 2 + min(cells(self.work), _ENOUGH_WORK))


def naming(table: Table, row: OutlineRow, width: int, project: str = "") -> Naming:
    """What there is to say in so many cells, of which the names and the work may still be too long."""
    drawing, handle = table.drawing, row.handle
    facts, found = table.facts(handle), table.problem(handle)
    branch, used = _branch(table, row, width)
    if facts.parent is not None and table.forest.parent(handle) is None:
        orphan = CellSpan(f"{drawing.orphan} ", "unsure")
        branch, used = [*branch, orphan], used + table.ruler.cells(orphan.text)
    is_seen = table.is_seen(handle)
    holds = f" {drawing.blocker}{len(found.blocks)}" if found is not None and found.blocks and not is_seen else ""
    mark = CellSpan(f" {drawing.seen}", "muted") if is_seen else CellSpan(holds, "stuck")
    room = max(width - used, 0)
    title, called = table.prose(measures.title(facts)), table.called(handle)
    return Naming(
        branch,
        used,
        [*((mark,) if mark.text else ()), *_hidden(table, row, room - len(mark.text) - _LEAST_NAME)],
        _called(table, row, facts),
        title,
        f"{project} {drawing.and_} " if project and title else project,
        *called,
        table.namesakes.differs_at(*called),
    )


@column(NAME, "DELEGATION", 22, "what it is called, in its place in the tree, and its work in a few words", sort="name")
def name_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    return _named(table, row, naming(table, row, width), width)


def name_in_project_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    """With the project where that is not the one of the row above it."""
    return _named(table, row, naming(table, row, width, table.new_project(row.handle)), width)


COLUMNS[NAME] = COLUMNS[NAME]._replace(stands_in=name_in_project_cell)


def _named(table: Table, row: OutlineRow, said: Naming, width: int) -> list[CellSpan]:
    cells, mark = table.ruler.cells, table.drawing.cut
    room = max(width - said.used, 0)
    left = max(room - sum([cells(span.text) for span in said.marks]), min(room, _LEAST_NAME))
    name, work, differs_at = said.name, said.title, None
    if said.differs_at is not None and cells(name) + 2 + cells(said.project + work) > left:
        name, work, differs_at = said.label, said.work, said.differs_at
    place = said.project
    if place and table.namesakes.has_twin(said.label, said.work):
        place, work = "", place + work
    name, work = fitted(name, work, differs_at, left, table.ruler, mark, place)
    part = _name_part(table, table.problem(row.handle), table.forest.state(row.handle))
    spans = [*said.branch, CellSpan(name, part), *said.marks]
    if work:
        spans.append(CellSpan(f"  {work}", "muted") if name else CellSpan(work, part))
    return table.ruler.filled(spans, width)


def _called(table: Table, row: OutlineRow, facts: Delegation) -> str:
    name = table.safe(measures.called(facts))
    link = table.forest.link(row.handle) if table.drawing.spoken and row.level else Link.ROOT
    return f"{name} (parent {link})" if link in (Link.INFERRED, Link.AMBIGUOUS) else name


_Branch = tuple[Sequence[CellSpan], int]
"""What stands before a name, and the cells it takes."""


def _branch(table: Table, row: OutlineRow, width: int) -> _Branch:
    """The lines of the tree and the mark that folds."""
    if row.level > 1:
        return _drawn_branch(table, row, width)
    key = row.level and table.forest.link(row.handle), row.level, row.last, row.expanded, bool(row.descendants)
    found = table._branches.get(key)
    if found is None:
        found = table._branches[key] = _drawn_branch(table, row, width)
    return found


def _drawn_branch(table: Table, row: OutlineRow, width: int) -> _Branch:
    guides, end = table.guides(row, width)
    drawing = table.drawing
    unsure = table.forest.link(row.handle) in (Link.INFERRED, Link.AMBIGUOUS)
    mark = (drawing.opened if row.expanded else drawing.folded) if row.descendants and table.folds else end
    link = "unsure" if unsure else "guide"
    spans = [
        CellSpan(guides[:-1], "guide"),
        CellSpan(guides[-1:], link),
        CellSpan(mark, "mark" if row.descendants else link),
        CellSpan(" " if guides or mark else "", "text"),
    ]
    return [span for span in spans if span.text], sum([table.ruler.cells(span.text) for span in spans])


def _name_part(table: Table, found: Assessment | None, state: State) -> str:
    if found is not None:
        return table.part(found)
    return "name" if state in ACTIVE else "muted"


def _hidden(table: Table, row: OutlineRow, room: int) -> list[CellSpan]:
    """What a fold hides: how many, and how many problems of this moment in the colour of the most pressing. These are
    said even where there is little room."""
    if not row.descendants or row.expanded:
        return []
    many, (count, worst) = f" ({row.descendants:,})", table.below(row.handle)
    if worst is None:
        return [CellSpan(many, "muted")]
    short = f" ! {count}"
    for all_of_them, below in ((many, f"{short} below"), (many, short)):
        if len(all_of_them + below) <= room:
            return [CellSpan(all_of_them, "muted"), CellSpan(below, found_part(worst))]
    return [CellSpan(short, found_part(worst))]


def found_part(found: Assessment) -> str:
    """The colour of what is the matter."""
    match found.urgency:
        case Urgency.STUCK | Urgency.PERSON:
            return "stuck"
        case Urgency.SUSPICIOUS:
            return "partial"
    return found.state.colour


def mark_at(table: Table, row: OutlineRow, layout: Layout) -> range:
    """The cells of the fold mark: a click there folds."""
    if not row.descendants or not layout.columns:
        return range(0)
    start = 1 + table.ruler.cells(table.guides(row, layout.columns[0].width)[0])
    return range(start - 1, start + 2)


@column("host", "HOST", 12, "the machine it is on, where there are several", sort="host", small=8, shrinks=83, goes=55)
def host_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    return table.said(table.host(row.handle), "muted", width)


@column("project", "PROJECT", 14, "the folder it works in", sort="project", small=10, shrinks=82, goes=60)
def project_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    return table.said(table.project(row.handle), "muted", width)


@column("task", "TASK", 10, "the number or name of the task", sort="task", goes=94)
def task_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    return table.said(table.safe(table.facts(row.handle).task or ""), "muted", width)


# -- how it stands ---------------------------------------------------------------------------------------------------


@column("state", "STATE", 18, "what is the matter with it, else its state", sort="problems", small=13, shrinks=25)
def state_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    state, found = table.forest.state(row.handle), table.problem(row.handle)
    sign = table.drawing.state(state)
    words = state.value if found is None else found.short
    unsure = "?" if found is not None and not found.is_sure else ""
    part = state.colour if found is None else table.part(found)
    return table.said(f"{sign} {words}{unsure}".lstrip() if width > 1 else sign, part, width)


@column("depth", "DEPTH", 5, "how deep it is", right=True, sort="depth", short="D", small=2, shrinks=86, goes=20)
def depth_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    """As claimed, with the other claim beside it where the path says otherwise; `~` where nothing is claimed."""
    facts = table.facts(row.handle)
    level = None if table.folds else row.level  # of one subtree looked at alone the outline counts from there
    claimed, derived = facts.depth, measures.derived_depth(table.forest, row.handle, facts, level)
    if claimed is None:
        guessed = f"~{derived}"
        return table.said(guessed if len(guessed) <= width else str(derived), "muted", width, right=True)
    if claimed != derived:
        both = f"{claimed}{table.drawing.differs}{derived}"
        return table.said(both if table.ruler.cells(both) <= width else str(claimed), "partial", width, right=True)
    return table.said(str(claimed), "text", width, right=True)


@column(
    *("left", "LEFT", TIME + 1 + BAR, "the time until its deadline"),
    sort="deadline",
    small=TIME,
    shrinks=92,
    goes=30,
    ticks=True,
)
def left_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    """The time left, and a bar of how much of it all that is."""
    left = left_of(table, row.handle)
    if left is None:
        return [CellSpan(" " * width, "text")]
    part = "text" if left.level == "bar-plenty" else left.level
    words = CellSpan(table.ruler.fit(left.text, min(TIME, width), table.drawing.cut, True), part)
    if left.halves is None or width < TIME + 1 + BAR:
        return table.ruler.filled([words], width)
    drawing, (full, half) = table.drawing, divmod(left.halves, 2)
    if left.level == "bar-over":
        return table.ruler.filled([words, CellSpan(" ", "text"), CellSpan(drawing.over * BAR, "bar-over")], width)
    bar = drawing.full * full + drawing.half * half
    drawn = [CellSpan(bar, left.level), CellSpan(drawing.empty * (BAR - len(bar)), "bar-track")]
    return table.ruler.filled([words, CellSpan(" ", "text"), *drawn], width)


class Left(NamedTuple):
    """The time left as it is drawn: the words, how many half cells of the bar are full, and how pressing it is."""

    text: str
    halves: int | None
    """None if the whole span is not known, and then there is no bar."""
    level: str


def left_of(table: Table, handle: Handle) -> Left | None:
    """None for what is done, and for what has no deadline: there is no time left to speak of."""
    forest = table.forest
    deadline = forest.deadline(handle) if forest.state(handle) in ACTIVE else None
    if deadline is None:
        return None
    left = deadline.at - forest.now_of(handle)
    if not deadline.is_firm:  # what is usual is no promise: nothing is late by it
        return Left(f"~{countdown(left)}"[-TIME:], None, "muted")
    if left < 0:
        return Left(countdown(left), 0, "bar-over")
    started = table.facts(handle).started_at
    if started is None or deadline.at <= started:
        return Left(countdown(left), None, "text")
    part = min(left / (deadline.at - started), 1.0)
    level = "bar-critical" if part < _CRITICAL else "bar-warn" if part < _WARN else "bar-plenty"
    return Left(countdown(left), max(round(part * BAR * 2), 1), level)


@column(
    "age", "AGE", TIME, "how long it has run, or took", right=True, sort="age", small=7, shrinks=87, goes=80, ticks=True
)
def age_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    facts, state = table.facts(row.handle), table.forest.state(row.handle)
    text = table.drawing.none
    if facts.started_at is not None and state in UNENDED:
        text = table.since(row.handle, facts.started_at, width)
    elif facts.started_at is not None and facts.ended_at is not None:
        text = table.took(facts.ended_at - facts.started_at, width)
    return table.said(text, _time_part(state, facts), width, right=True)


@column(
    *("quiet", "QUIET", TIME, "how long nothing came of it"),
    right=True,
    sort="quiet",
    small=7,
    shrinks=87,
    goes=40,
    ticks=True,
)
def quiet_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    facts, state = table.facts(row.handle), table.forest.state(row.handle)
    if state not in UNENDED:
        return [CellSpan(" " * width, "text")]
    heard = measures.silent_since(table.forest, row.handle, facts)
    text = table.drawing.none if heard is None else table.since(row.handle, heard, width)
    part = State.SILENT.colour if state is State.SILENT else _time_part(state, facts)
    return table.said(text, part, width, right=True)


def _time_part(state: State, facts: Delegation) -> str:
    """Times that a model wrote are grey: they are no clock."""
    return "text" if state in ACTIVE and facts.trust is not Trust.MODEL else "muted"


# -- what it used and does -------------------------------------------------------------------------------------------


@column("tokens", "TOKENS", 6, "new tokens it used", right=True, sort="tokens", goes=93)
def tokens_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    return table.said(short_number(table.forest.used(row.handle).tokens), "muted", width, right=True)


@column("cost", "COST", 8, "US dollars, as told or ~ by list prices", right=True, sort="cost", goes=95)
def cost_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    spent = table.forest.used(row.handle)
    return table.said(dollars(spent.cost, is_estimate=spent.is_estimate), "muted", width, right=True)


_SEVERITIES = {Severity.ERROR: "failed", Severity.WARNING: "partial", Severity.INFO: "muted"}


@column("findings", "FINDINGS", 22, "what the rules find beside that", sort="problems", small=14, shrinks=91, goes=88)
def findings_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    name, severity, count = table.remarks(row.handle)
    if severity is None:
        return [CellSpan(" " * width, "text")]
    more = f" +{count - 1}" if count > 1 else ""
    sign = table.drawing.findings[severity]
    words = CellSpan(table.cut(f"{sign} {name}", width - len(more)), _SEVERITIES[severity])
    return table.ruler.filled([words, CellSpan(more, "muted")], width)


@column(DOING, "DOING", 12, "what it does, waits for, or came to", sort="doing", goes=50, ticks=True)
def doing_cell(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    text, part = doing_of(table, row.handle)
    return table.said(text, part, width)


def doing_of(table: Table, handle: Handle) -> tuple[str, str]:
    """What it does, and the part that plays."""
    facts, state = table.facts(handle), table.forest.state(handle)
    if state in ACTIVE and facts.phase in phases.FOR_PEOPLE:
        return table.safe(phases.now(facts)), "stuck"
    if (blocker := table.waits_on(handle)) is not None:
        found = table.problem(blocker)
        what = f": {found.short}" if found is not None else ""
        return f"on {table.told_apart(blocker)}{what}", "muted" if found is None else "text"
    if state in ACTIVE:
        shown = process_words.brief(facts.process) if facts.process else ""
        doing = measures.doing(table.forest, handle, facts)
        return table.safe(": ".join(filter(None, (shown, doing)))), "text"
    made = measures.made(facts) if state is State.COMPLETED and facts.report.summary else ""
    told = table.prose(measures.remark(table.forest, handle, facts))
    part = state.colour if state.problem and facts.errors else "muted"
    return f" {table.drawing.and_} ".join(filter(None, (made, told))), part


def short_number(number: int | None) -> str:
    """`812`, `12.3k`, `1.2M`."""
    if number is None:
        return ""
    for one, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= one:
            scaled = number / one
            return f"{scaled:.0f}{unit}" if scaled >= 100 else f"{scaled:.1f}{unit}"
    return str(number)

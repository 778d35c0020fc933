"""The tree as plain text: it reads well in a pipe, in a narrow terminal and by ear."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice

import msgspec

from delegtop.base import text
from delegtop.base.clock import iso
from delegtop.base.secrets import mask_beginning
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.pressing import Pressing
from delegtop.model import measures
from delegtop.model.delegation import Link
from delegtop.model.events import Deviation
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.order import order
from delegtop.model.tree.outline import OutlineRow
from delegtop.report import layout
from delegtop.report.health import UNREADABLE, Health, Unread, unread
from delegtop.report.layout import CellSpan, cut
from delegtop.report.remark import remark_of
from delegtop.report.table.cells import Table, left_of, naming
from delegtop.report.table.columns import COLUMNS, DOING, NAME, Column, Layout, Placed, RoomAsked, chosen
from delegtop.report.table.columns import layout as laid_out
from delegtop.report.table.drawing import UNICODE, Drawing
from delegtop.report.walk import rows, with_ancestors

EXAMPLES = 5
ALIKE = 3
"""Files without a format that are named one by one; a folder may hold hundreds of others."""
HEALTHY = 5
"""So many files of one format are listed when nothing is wrong with them: an agent may keep hundreds."""
USUAL = ("host", "project", "state", "depth", "left", "age", "quiet", DOING)
"""The columns that are printed unless others are asked for."""
_LINE_MOST = 500
_NAME_MOST = 120
_TITLE_MOST = 60
_TOLD, _STEPS = 10, 3
"""Problems that are told with what to do, and the steps of each."""


class Look(msgspec.Struct, frozen=True):
    """How to print: with what signs, how wide, in colour or not."""

    drawing: Drawing = UNICODE
    width: int = 120
    color: bool = False
    cuts: bool = True
    """Whether what is too wide is cut. In a pipe nothing needs to be."""
    masked: bool = True
    """Whether secrets in foreign text are hidden."""

    def line(self, foreign: str, limit: int) -> str:
        """Foreign text, safe to print and on one line."""
        return text.line(mask_beginning(foreign, 2 * limit) if self.masked else foreign, limit)

    def brief(self, foreign: str, limit: int) -> str:
        """The same of several lines, which become blanks only when secrets over them are hidden."""
        return text.brief(mask_beginning(foreign, 2 * limit) if self.masked else foreign, limit)


COLOURS = {
    "running": "36",
    "waiting": "34",
    "silent": "33",
    "overdue": "1;31",
    "stuck": "1;31",
    "completed": "32",
    "partial": "33",
    "failed": "31",
    "blocked": "33",
    "timeout": "31",
    "interrupted": "35",
    "lost": "1;35",
    "unknown": "2",
    "idle": "2",
}
"""How a terminal says the roles of the colours."""


class Printing:
    """One look at a forest: which rows, in which order, assessed once for all that is printed of them, if any are."""

    def __init__(self, forest: Forest, matches: Collection[Handle] | None, sort: str, look: Look) -> None:
        self.forest, self.matches, self.look = forest, matches, look
        shown = None if matches is None else with_ancestors(forest, matches)
        ordered = order(forest, sort, pressing=lambda handle: self.pressing.key(handle))
        self.rows = list(rows(forest, shown, ordered))

    @cached_property
    def assessments(self) -> Assessments:
        found = Assessments(self.forest)
        found.update()
        return found

    @cached_property
    def pressing(self) -> Pressing:
        return Pressing(self.assessments)

    @cached_property
    def table(self) -> Table:
        table = Table(
            self.assessments,
            self.pressing,
            self.look.drawing,
            layout,
            masked=self.look.masked,
            remarks=partial(remark_of, self.assessments),
            folds=False,
            exact=True,
        )
        table.namesakes.look((table.label(row.handle), table.work(row.handle)) for row in self.rows)
        return table

    @cached_property
    def claim(self) -> RoomAsked:
        """How much room the names of all rows ask for."""
        asked = [naming(self.table, row, _NAME_MOST).claim(self.table) for row in self.rows]
        return RoomAsked(max(each.whole for each in asked), max(each.enough for each in asked))

    def problems(self) -> list[Assessment]:
        """What is the matter with those that are asked for, in the order of looking."""
        wanted = {row.handle for row in self.rows} if self.matches is None else set(self.matches)
        if not wanted:
            return []
        return [each for each in self.assessments.problems() if each.handle in wanted]


def tree(
    forest: Forest,
    sources: Sequence[Health],
    *,
    matches: Collection[Handle] | None = None,
    sort: str = "start",
    look: Look = Look(),  # noqa: B008 - an immutable value
    columns: Sequence[str] = USUAL,
    health: bool = False,
    claims: bool = False,
) -> Iterator[str]:
    """The lines of the report. With `matches`, those and their ancestors are shown. The health of the sources and the
    claims that disagree are only counted unless they are asked for."""
    yield summary(forest, matches)
    printing = Printing(forest, matches, sort, look)
    if printing.rows:
        yield ""
        yield from _table(printing, chosen(columns), kept=() if tuple(columns) == USUAL else columns)
    told = list(_claims(forest, [row.handle for row in printing.rows], look))
    blocks = {
        "What to do": list(_what_to_do(printing)),
        "Claims that disagree": told if claims else [],
        "Sources": list(_health(sources, look)) if health else [],
    }
    for title, lines in blocks.items():
        if lines:
            yield from ("", title, *lines)
    unsaid = [*([] if health else _ailing(sources, look)), *([] if claims else _disagreeing(told))]
    if unsaid:
        yield from ("", *unsaid)


def summary(forest: Forest, matches: Collection[Handle] | None) -> str:
    at = re.sub(r"\.\d+Z$", "Z", iso(forest.shown_at))
    total = len(forest)
    if not total:
        return f"No delegations at {at}."
    states = Counter({state: count for state, count in forest.counts.items() if count})
    subject = _count(total, "delegation")
    if matches is not None:
        states = Counter(forest.state(handle) for handle in matches)
        subject = f"{len(matches)} of {subject} match"
    words = ", ".join(f"{states[state]} {state}" for state in State if states[state])
    return f"{subject} at {at}: {words}." if words else f"{subject} at {at}."


def coloured(words: str, part: str) -> str:
    """In the colour of that part."""
    return f"\x1b[{COLOURS[part]}m{words}\x1b[0m" if part in COLOURS else words


# -- the table -------------------------------------------------------------------------------------------------------


def _table(printing: Printing, columns: Sequence[Column], kept: Collection[str]) -> Iterator[str]:
    table, look = printing.table, printing.look
    placed, names = _placed(printing, columns, kept)
    yield (" " * placed.gap).join(map(table.title, placed.columns)).rstrip()
    drawn = [(each, _width(look, each), look.color and each.name == "state") for each in placed.columns]
    gap = " " * placed.gap
    for row, name in zip(printing.rows, names, strict=True):
        cells = (
            layout.fit(name, width) if column.name == NAME else _joined(column.cell(table, row, width), paints=paints)
            for (column, _), width, paints in drawn
        )
        yield gap.join(cells).rstrip()
    if legend := list(_legend(printing, placed)):
        yield ""
        yield from legend


def _placed(printing: Printing, columns: Sequence[Column], kept: Collection[str]) -> tuple[Layout, list[str]]:
    """The columns that say something, and where they are; and the name of each row, which takes no more room than the
    longest needs."""
    table = printing.table
    folders = dict.fromkeys(measures.folder(printing.forest, row.handle) for row in printing.rows)
    one_project = len({table.project_at(folder) for folder in folders} - {""}) < 2
    empty = {"project"} if one_project else set()
    if not printing.forest.has_hosts:
        empty.add("host")
    unknown = table.drawing.none
    for each in [each for each in columns if each.name not in empty]:
        blank = all(_plain(each.cell(table, row, each.width)).strip() in ("", unknown) for row in printing.rows)
        if blank and each.name != DOING:
            empty.add(each.name)
    claim, look = printing.claim, printing.look
    found = laid_out(look.width, columns, empty, kept, claim) if look.cuts else _uncut(columns, empty, claim.whole)
    if look.cuts and _column(found, NAME).width < claim.whole:  # what each does may ask for less than it was given
        claim = claim._replace(doing=_asked_by_doing(printing, _column(found, DOING).width))
        found = laid_out(look.width, columns, empty, kept, claim)
    placed_name = _column(found, NAME)
    names = [_plain(placed_name.column.cell(table, row, placed_name.width)) for row in printing.rows]
    spare = max(placed_name.width - max(max(map(layout.cells, names)), len("DELEGATION")), 0)
    widths = {NAME: -spare, DOING: spare}
    placed = tuple(each._replace(width=each.width + widths.get(each.name, 0)) for each in found.columns)
    return found._replace(columns=placed), names


def _column(placed: Layout, name: str) -> Placed:
    return next((each for each in placed.columns if each.name == name), Placed(COLUMNS[name], 0))


def _asked_by_doing(printing: Printing, most: int) -> int:
    """How many of so many cells what each does fills."""
    filled = 0
    for row in printing.rows:
        filled = max(filled, layout.cells(_plain(COLUMNS[DOING].cell(printing.table, row, most))))
        if filled >= most:
            break
    return filled


def _uncut(columns: Sequence[Column], empty: Collection[str], name: int) -> Layout:
    """All of them: in a pipe nothing needs to be narrow. But for a bar, which says nothing there."""
    widths = {NAME: min(name, _NAME_MOST), "left": COLUMNS["left"].small}
    placed = (Placed(each, widths.get(each.name, each.width)) for each in columns if each.name not in empty)
    return Layout(0, 2, tuple(placed))


def table_name(table: Table, row: OutlineRow, width: int) -> list[CellSpan]:
    return COLUMNS[NAME].cell(table, row, width)


def _plain(spans: Sequence[CellSpan]) -> str:
    return _joined(spans).rstrip()


def _joined(spans: Sequence[CellSpan], *, paints: bool = False) -> str:
    if paints:
        return "".join([coloured(span.text, span.part) for span in spans])
    return spans[0].text if len(spans) == 1 else "".join([span.text for span in spans])


def _width(look: Look, placed: Placed) -> int:
    """How wide its cells are drawn: what is last in a pipe is not cut."""
    return _LINE_MOST if placed.name == DOING and not look.cuts else placed.width


def _legend(printing: Printing, placed: Layout) -> Iterator[str]:
    table, forest, drawing = printing.table, printing.forest, printing.look.drawing
    links = Counter(forest.link(row.handle) for row in printing.rows if row.level)
    if links[Link.INFERRED]:
        sign = "" if drawing.spoken else f"{drawing.corner}{drawing.inferred} "
        yield f"{sign}{_count(links[Link.INFERRED], 'parent')} inferred from path and time, not told by a log"
    if links[Link.AMBIGUOUS]:
        sign = "" if drawing.spoken else f"{drawing.corner}{drawing.ambiguous} "
        yield f"{sign}{_count(links[Link.AMBIGUOUS], 'parent')} ambiguous: more than one fits"
    unseen = sum(not row.level and forest.link(row.handle) is Link.EXPLICIT for row in printing.rows)
    if unseen:
        yield f"{_count(unseen, 'parent')} named by a log but never seen: the child stands at the top"
    lefts = (left_of(table, row.handle) for row in printing.rows)
    if placed.has("left") and any(left is not None and left.text.startswith("~") for left in lefts):
        yield "~ in LEFT: by what such agents usually take; nothing is overdue by it"
    if placed.has("depth") and any(_contradicts(forest, row) for row in printing.rows):
        yield f"1{drawing.differs}2 in DEPTH: it claims 1, its path or place says 2"


def _contradicts(forest: Forest, row: OutlineRow) -> bool:
    facts = forest.delegation(row.handle)
    return facts.depth is not None and facts.depth != measures.derived_depth(forest, row.handle, facts, row.level)


# -- what to do ------------------------------------------------------------------------------------------------------


def _what_to_do(printing: Printing) -> Iterator[str]:
    """The problems of this moment with what to do about each; earlier ones in a line, unless there are no others."""
    found = printing.problems()
    now = [each for each in found if each.is_now]
    told = now or found
    for each in told[:_TOLD]:
        yield from _problem(printing, each)
    if len(told) > _TOLD:
        yield f"  and {len(told) - _TOLD} more (delegtop report tells of all)"
    if now and (kinds := earlier(found)):
        yield f"  Earlier: {kinds}"


def earlier(found: Collection[Assessment]) -> str:
    """`5 lost, 7 failed`: the troubles that are over; nothing if there are none."""
    kinds = Counter(each.kind for each in found if not each.is_now)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())


def _problem(printing: Printing, each: Assessment) -> Iterator[str]:
    table, look = printing.table, printing.look
    steps = printing.assessments.todo(each.handle)
    project = table.project(each.handle) if len(table.projects) > 1 else ""
    work = table.prose(measures.title(table.facts(each.handle)))
    name = " ".join(filter(None, (table.label(each.handle), work and table.quoted(work, _TITLE_MOST))))
    who = " in ".join(filter(None, (name, project)))
    who += f" on {host}" if (host := table.host(each.handle)) else ""
    sure = "" if each.is_sure else f", {each.certainty}"
    yield f"  {who} ({each.kind}{sure}): {look.line(each.sentence(printing.forest.now_of(each.handle)), _LINE_MOST)}"
    for number, step in enumerate(steps[:_STEPS], 1):
        yield f"    {number} {step.by}: {look.brief(step.words, _LINE_MOST)}"
        if step.command:
            yield f"      {look.line(step.command, _LINE_MOST)}"


def _claims(forest: Forest, handles: Collection[Handle], look: Look) -> Iterator[str]:
    for handle in handles:
        facts = forest.delegation(handle)
        for field in dict.fromkeys(claim.field for claim in facts.claims):
            said = (f"{c.value} ({c.origin})" for c in facts.claims if c.field == field)
            yield look.line(f"  {measures.label(facts)}: {field} {', '.join(said)}", _LINE_MOST)


def _disagreeing(claims: Sequence[str]) -> Iterator[str]:
    if claims:
        verb = "is" if len(claims) == 1 else "are"
        yield f"{_count(len(claims), 'claim')} {verb} contradicted by another source: --claims tells"


def _ailing(sources: Sequence[Health], look: Look) -> Iterator[str]:
    """That not all could be read, and the first thing that could not."""
    if closed := sum(map(unread, sources)):
        yield f"{_count(closed, 'source')} cannot be read, so agents may be missing or seem silent: --sources tells"
    ailing = [each for each in sources if (each.unreadable or each.status == UNREADABLE) and not unread(each)]
    if not ailing:
        return
    examples = (each for source in ailing for each in source.examples if not isinstance(each, Deviation))
    first = next((_short(each, look) for each in examples), "")
    yield f"{_count(len(ailing), 'source')} cannot be read whole{first}: --sources tells"


def _short(example: Unread, look: Look) -> str:
    why = look.line(": ".join(part for part in (example.reason, example.excerpt) if part), 60)
    return f" ({text.line(str(example.origin), 1_000)}: {why})"


def _health(sources: Sequence[Health], look: Look) -> Iterator[str]:
    alike: Counter[tuple[str, str]] = Counter()
    healthy: Counter[str] = Counter()
    for source in sources:
        if source.dialect is None:
            alike[source.status, source.detail] += 1
            if alike[source.status, source.detail] > ALIKE:
                continue
        elif source.status == "live" and not (source.detail or source.unreadable or source.deviations):
            healthy[source.dialect] += 1
            if healthy[source.dialect] > HEALTHY:
                continue
        yield f"  {text.line(source.path, 1_000)}: {_state_of(source)}"
        for reason, count in sorted(source.reasons.items(), key=lambda item: (-item[1], item[0])):
            yield f"    {count} {text.line(reason, 80)}"
        for example in islice(source.examples, EXAMPLES):
            yield cut(f"    {_example(example, look)}", max(look.width, 80), look.drawing.cut)
        if (more := source.unreadable + source.deviations - EXAMPLES) > 0:
            yield f"    and {more} more (--json tells the kinds, the dashboard shows them)"
    for dialect, count in healthy.items():
        if count > HEALTHY:
            yield f"  {_count(count - HEALTHY, 'more file')} of {text.line(dialect, 80)}, read without trouble"
    for (status, detail), count in alike.items():
        if count > ALIKE:
            why = f", {text.line(detail, 400)}" if detail else ""
            yield f"  {_count(count - ALIKE, 'more file')} {status}{why}"


def _state_of(source: Health) -> str:
    parts = [text.line(source.dialect or "no format", 80), _count(source.records, "record")]
    if source.status != "live":
        parts.insert(1, source.status)
    if source.unreadable:
        parts.append(f"{source.unreadable} unreadable")
    if source.deviations:
        parts.append(_count(source.deviations, "deviation"))
    if source.detail:
        parts.append(text.line(source.detail, 400))
    return ", ".join(parts)


def _example(example: Unread | Deviation, look: Look) -> str:
    told = (example.kind, example.detail) if isinstance(example, Deviation) else (example.reason, example.excerpt)
    return f"{text.line(str(example.origin), 1_000)}: " + ": ".join(look.line(part, 200) for part in told if part)


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"

"""The line above the tree while something is stuck or needs a person: who, in what, since when, and the key that goes
there. A click goes there, too."""

from collections.abc import Callable
from typing import NamedTuple

from textual.content import Content

from delegtop.app.cell_width import cells, cut
from delegtop.app.widgets.chips import Chip, Chips
from delegtop.base.clock import duration
from delegtop.diagnosis.assessment import Assessment, Urgency
from delegtop.diagnosis.verdicts import Kind
from delegtop.model import measures, phases
from delegtop.model.events import Phase
from delegtop.report.table.cells import Table

GO = "go"
_LEAST, _LEAST_WORK, _LEAST_NAME = 24, 16, 6
"""Cells that what it is in has at least, and what it works at; and a name that others have, too."""
_WORK = 40
"""Cells that the work takes at most."""


class Banner(Chips):
    """Hidden while nothing presses."""

    DEFAULT_CSS = """
    Banner { display: none; padding: 0 1; background: $stuck; color: $background; text-style: bold; }
    Banner.-open { display: block; }
    Banner:nocolor { text-style: bold reverse; }
    Banner.-seen { background: $panel; color: $foreground; text-style: none; }
    """

    def tell(self, table: Table, pressing: tuple[Assessment | None, int, int], key: Callable[[], str]) -> None:
        """Say what presses most, of how many that nobody has seen to and how many others, and the key that goes there:
        calmly, and asking for nothing, if all are seen to."""
        first, unseen, seen = pressing
        self.set_class(first is not None, "-open")
        self.set_class(first is not None and not unseen, "-seen")
        if first is not None:
            self.show([Chip(line(table, first, unseen, seen, key(), self.room), GO)])


def line(table: Table, first: Assessment, unseen: int, seen: int, key: str, width: int) -> Content:
    """`STUCK  implementer “Mend the parser” ◀2  in bash: lake build 12:40  →  enter   +2 more, 1 seen to`."""
    arrow = "->" if table.drawing.plain else "→"
    word, more = _word(first) if unseen else f"{table.drawing.seen} seen to", _others(unseen, seen)
    since = "" if first.since is None else f" {duration(max(table.forest.now_of(first.handle) - first.since, 0))}"
    what, where = _what(table, first)
    begin = f"  {what}{since if what and where else ''}"
    go = f"  {arrow}  {key}" if unseen else ""
    end = f"{'' if what and where else since}{go}{more}"
    who = _Who.of(table, first)
    over = len(word) + 2 + who.cells + cells(begin + where + end) - width
    kept = max(cells(where) - max(over, 0), min(cells(where), _LEAST))
    over -= cells(where) - kept
    told = f"{word}  {who.shorter(over)}{begin}{cut(where, kept, table.drawing.cut)}{end}"
    return Content(cut(told, width, table.drawing.cut))


class _Who(NamedTuple):
    """Who presses, in the pieces that give way where there is little room."""

    table: Table
    is_alike: bool
    name: str
    work: str
    project: str
    rest: str

    @classmethod
    def of(cls, table: Table, found: Assessment) -> "_Who":
        handle = found.handle
        facts = table.facts(handle)
        project = table.project(handle)
        on = f" on {host}" if (host := table.host(handle)) else ""
        holds = f" {table.drawing.blocker}{len(found.blocks)}" if found.blocks else ""
        return cls(
            table,
            table.differs_at(handle) is not None,
            table.safe(measures.called(facts)),
            table.cut(table.prose(measures.title(facts)), _WORK),
            f" in {project}" if project and len(table.projects) > 1 else "",
            on + holds,
        )

    @property
    def cells(self) -> int:
        return cells(str(self))

    def shorter(self, over: int) -> "_Who":
        """So many cells less. Among those that are called alike the work tells who it is, and stays the longest."""
        found = self
        if self.work and self.is_alike:
            found = found._replace(project="" if over > 0 else self.project)
            over -= cells(self.project) if over > 0 else 0
            found = found._replace(name=found._cut(self.name, over, _LEAST_NAME))
            over -= cells(self.name) - cells(found.name)
        if not self.work or over <= 0:
            return found
        least = _LEAST_WORK if self.is_alike or cells(self.work) - over >= _LEAST_WORK else 0
        return found._replace(work=found._cut(self.work, over, least))

    def _cut(self, text: str, over: int, least: int) -> str:
        return self.table.cut(text, max(cells(text) - max(over, 0), min(cells(text), least)))

    def __str__(self) -> str:
        work = f" {self.table.quoted(self.work, _WORK)}" if self.work else ""
        return f"{self.name}{work}{self.project}{self.rest}"


def _others(unseen: int, seen: int) -> str:
    """How many press beside that one."""
    more = (unseen or seen) - 1
    told = [f"+{more} more"] if more else []
    if unseen and seen:
        told.append(f"{seen} seen to")
    return f"   {', '.join(told)}" if told else ""


def _word(found: Assessment) -> str:
    if found.urgency is Urgency.PERSON:
        return "NEEDS YOU" if found.is_sure else "NEEDS YOU?"
    return "STUCK" if found.is_sure else "STUCK?"


_IN_A_TOOL = frozenset({Kind.HUNG_IN_TOOL, Kind.SILENT})


def _what(table: Table, found: Assessment) -> tuple[str, str]:
    """What is the matter, if the time is to stand beside that, and in what, which is cut where there is little room."""
    facts = table.facts(found.handle)
    work = table.safe(phases.work(facts))
    if work and found.verdict in _IN_A_TOOL and (facts.phase is Phase.TOOL or facts.tool):
        return "", f"in {work}"
    if work and found.verdict is Kind.OVERDUE:
        return found.short, f" in {work}"
    return "", f"{found.short}: {work}" if work and found.urgency is Urgency.PERSON else found.short

"""The line above the tree while something is stuck or needs a person: who, in what, since when, and the key that goes
there. A click goes there, too."""

from collections.abc import Callable

from textual.content import Content

from delegtop.app.cell_width import cut
from delegtop.app.widgets.chips import Chip, Chips
from delegtop.base.clock import duration
from delegtop.diagnosis.assessment import Assessment, Urgency
from delegtop.diagnosis.verdicts import Kind
from delegtop.model import measures, phases
from delegtop.model.events import Phase
from delegtop.report.table.cells import Table

GO = "go"
_LEAST = 16
"""Cells that what it is in has at least."""


class Banner(Chips):
    """Hidden while nothing presses."""

    DEFAULT_CSS = """
    Banner { display: none; padding: 0 1; background: $stuck; color: $background; text-style: bold; }
    Banner.-open { display: block; }
    Banner:nocolor { text-style: bold reverse; }
    """

    def tell(self, table: Table, first: Assessment | None, count: int, key: Callable[[], str]) -> None:
        """Say what presses most, of how many that press, and the key that goes there."""
        self.set_class(first is not None, "-open")
        if first is not None:
            self.show([Chip(line(table, first, count, key(), self.room), GO)])


def line(table: Table, first: Assessment, count: int, key: str, width: int) -> Content:
    """`STUCK  implementer ◀2  in bash: lake build 12:40  →  enter`."""
    arrow = "->" if table.drawing.plain else "→"
    more = f"   +{count - 1} more" if count > 1 else ""
    since = "" if first.since is None else f" {duration(max(table.forest.now_of(first.handle) - first.since, 0))}"
    what, where = _what(table, first)
    begin = f"{_word(first)}  {_who(table, first)}  {what}{since if what and where else ''}"
    end = f"{'' if what and where else since}  {arrow}  {key}{more}"
    room = max(width - len(begin) - len(end), _LEAST)
    return Content(cut(begin + cut(where, room, table.drawing.cut) + end, width, table.drawing.cut))


def _word(found: Assessment) -> str:
    if found.urgency is Urgency.PERSON:
        return "NEEDS YOU" if found.is_sure else "NEEDS YOU?"
    return "STUCK" if found.is_sure else "STUCK?"


def _who(table: Table, found: Assessment) -> str:
    name = table.safe(measures.called(table.facts(found.handle)))
    project = table.project(found.handle)
    holds = f" {table.drawing.blocker}{len(found.blocks)}" if found.blocks else ""
    on = f" on {host}" if (host := table.host(found.handle)) else ""
    return f"{name}{f' in {project}' if project and len(table.projects) > 1 else ''}{on}{holds}"


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

"""The trees over time, printed: a line of moments above each tree, and a bar for each delegation."""

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC
from itertools import groupby

from delegtop import text
from delegtop.model import measures
from delegtop.model.critical_path import critical_path
from delegtop.model.delegation import State
from delegtop.model.extent import tree_extent
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.time_window import around
from delegtop.report import bars
from delegtop.report.layout import cells, fit
from delegtop.report.text import UNICODE, Look, coloured, guide, summary
from delegtop.report.walk import Row, rows, with_ancestors

_STATE = 11
_NAME_LEAST, _NAME_MOST = 16, 44
_BARS_LEAST = 20


def gantt(
    forest: Forest,
    *,
    matches: Collection[Handle] | None = None,
    sort: str = "start",
    look: Look = Look(),  # noqa: B008 - an immutable value
) -> Iterator[str]:
    """The lines of the report. With `matches`, those and their ancestors are shown."""
    yield summary(forest, matches)
    shown = None if matches is None else with_ancestors(forest, matches)
    table = list(rows(forest, shown, sort))
    if not table:
        return
    ink = bars.UNICODE._replace(reverses=False) if look.guides is UNICODE else bars.ASCII
    name = min(max(cells(_name(forest, row, look)) for row in table), _NAME_MOST, look.width // 3)
    width = max(look.width - max(name, _NAME_LEAST) - _STATE - 4, _BARS_LEAST)
    for _, tree in groupby(table, _numbered_trees()):
        yield ""
        yield from _tree(forest, list(tree), look, max(name, _NAME_LEAST), width, ink)
    yield ""
    yield (
        f"{ink.thin * 3} at work   {ink.thick * 3} on the critical path   {ink.guess * 3} inferred   "
        f"{ink.firm} deadline   {ink.usual} usually done by then   {ink.now} now   {ink.unknown} not known   (UTC)"
    )


class _numbered_trees:  # noqa: N801 - used as a function
    """The number of the tree a row is in."""

    def __init__(self) -> None:
        self._tree = 0

    def __call__(self, row: Row) -> int:
        self._tree += not row.level
        return self._tree


def _tree(forest: Forest, tree: Sequence[Row], look: Look, name: int, width: int, ink: bars.Ink) -> Iterator[str]:
    root = tree[0].handle
    extent = tree_extent(forest, root)
    if extent is None:
        for row in tree:
            yield f"{fit(_name(forest, row, look), name, look.guides.cut)}  {forest.state(row.handle)}"
        return
    chart = bars.Chart(forest, around(extent), width, ink=ink, zone=UTC)
    pieces = critical_path(forest, root).by_delegation()
    yield (" " * (name + _STATE + 4) + "".join(run.text for run in chart.axis())).rstrip()
    for row in tree:
        state = forest.state(row.handle)
        drawn = chart.row(row.handle, forest.delegation(row.handle), pieces.get(row.handle, ()))
        runs = (bars.Run(fit(state.value, _STATE) + "  ", state.value), *drawn)
        line = "".join(_painted(run, state, look.color) for run in runs)
        yield f"{fit(_name(forest, row, look), name, look.guides.cut)}  {line}".rstrip()


def _name(forest: Forest, row: Row, look: Look) -> str:
    return guide(forest, row, look.guides) + text.line(measures.label(forest.delegation(row.handle)), 200)


def _painted(run: bars.Run, state: State, color: bool) -> str:
    return coloured(run.text, state) if color and run.part == state.value else run.text

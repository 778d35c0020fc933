"""The trees over time, printed: a line of moments above each tree, and a bar for each delegation."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC
from itertools import groupby

from delegtop.model.critical_path import critical_path
from delegtop.model.extent import tree_extent
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.outline import OutlineRow
from delegtop.model.time_window import around
from delegtop.report import bars
from delegtop.report.layout import cells, fit
from delegtop.report.table.drawing import UNICODE
from delegtop.report.text import Look, Printing, coloured, summary, table_name

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
    printing = Printing(forest, matches, sort, look)
    if not printing.rows:
        return
    ink = bars.UNICODE._replace(reverses=False) if look.drawing is UNICODE else bars.ASCII
    names = {
        row.handle: "".join(span.text for span in table_name(printing.table, row, _NAME_MOST)).rstrip()
        for row in printing.rows
    }
    name = max(min(max(map(cells, names.values())), look.width // 3), _NAME_LEAST)
    width = max(look.width - name - _STATE - 4, _BARS_LEAST)
    for _, tree in groupby(printing.rows, _numbered_trees()):
        yield ""
        yield from _tree(
            forest, list(tree), look, {h: fit(n, name, look.drawing.cut) for h, n in names.items()}, width, ink
        )
    yield ""
    yield (
        f"{ink.thin * 3} at work   {ink.thick * 3} on the critical path   {ink.guess * 3} inferred   "
        f"{ink.firm} deadline   {ink.usual} usually done by then   {ink.now} now   {ink.unknown} not known   (UTC)"
    )


class _numbered_trees:  # noqa: N801 - used as a function
    """The number of the tree a row is in."""

    def __init__(self) -> None:
        self._tree = 0

    def __call__(self, row: OutlineRow) -> int:
        self._tree += not row.level
        return self._tree


def _tree(
    forest: Forest, tree: Sequence[OutlineRow], look: Look, names: Mapping[Handle, str], width: int, ink: bars.Ink
) -> Iterator[str]:
    root = tree[0].handle
    extent = tree_extent(forest, root)
    if extent is None:
        for row in tree:
            yield f"{names[row.handle]}  {forest.state(row.handle)}"
        return
    chart = bars.Chart(forest, around(extent), width, ink=ink, zone=UTC)
    pieces = critical_path(forest, root).by_delegation()
    yield (" " * (cells(names[root]) + _STATE + 4) + "".join(run.text for run in chart.axis())).rstrip()
    for row in tree:
        state = forest.state(row.handle)
        drawn = chart.row(row.handle, forest.delegation(row.handle), pieces.get(row.handle, ()))
        runs = (bars.Run(fit(state.value, _STATE) + "  ", state.colour), *drawn)
        line = "".join(coloured(run.text, run.part) if look.color else run.text for run in runs)
        yield f"{names[row.handle]}  {line}".rstrip()

"""The trees over time, printed: a line of moments above each tree, and a bar for each delegation."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC
from itertools import accumulate, groupby
from operator import itemgetter

from delegtop.model.forest import Forest
from delegtop.model.history.critical_path import critical_path
from delegtop.model.history.extent import tree_extent
from delegtop.model.history.time_window import around
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.outline import OutlineRow
from delegtop.report import bars
from delegtop.report.layout import CellSpan, cells, fit
from delegtop.report.table.drawing import UNICODE
from delegtop.report.tree_text import Look, Printing, coloured, summary, table_name

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
    fitted = {handle: fit(words, name, look.drawing.cut) for handle, words in names.items()}
    numbered = zip(accumulate(not row.level for row in printing.rows), printing.rows, strict=True)
    for _, tree in groupby(numbered, itemgetter(0)):
        yield ""
        yield from _tree(forest, [row for _, row in tree], look, fitted, width, ink)
    yield ""
    yield (
        f"{ink.thin * 3} at work   {ink.thick * 3} on the critical path   {ink.guess * 3} inferred   "
        f"{ink.firm} deadline   {ink.usual} usually done by then   {ink.now} now   {ink.unknown} not known   (UTC)"
    )


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
        runs = (CellSpan(fit(state.value, _STATE) + "  ", state.colour), *drawn)
        line = "".join(coloured(run.text, run.part) if look.color else run.text for run in runs)
        yield f"{names[row.handle]}  {line}".rstrip()

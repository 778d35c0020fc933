"""The trees over time, printed: a line of moments above each tree, and a bar for each delegation."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from delegtop.report.table.columns import COLUMNS
from delegtop.report.table.drawing import UNICODE
from delegtop.report.tree_text import Look, Printing, coloured, summary, table_name

_STATE = COLUMNS["state"]
_WIDE = 100
"""Cells of a line in which what is the matter has its whole room."""
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
    state = _STATE.width if look.width >= _WIDE else _STATE.small
    width = max(look.width - name - state - 4, _BARS_LEAST)
    fitted = {handle: fit(words, name, look.drawing.cut) for handle, words in names.items()}
    numbered = zip(accumulate(not row.level for row in printing.rows), printing.rows, strict=True)
    for _, tree in groupby(numbered, itemgetter(0)):
        yield ""
        yield from _tree(printing, [row for _, row in tree], fitted, state, width, ink)
    yield ""
    guessed = f"{ink.guess * 3} {ink.thick_guess * 3}"
    yield f"{ink.thin * 3} at work   {ink.thick * 3} on the critical path   {guessed} inferred"
    grid = f"{ink.grid} the moments above   " if ink.grid.strip() else ""
    yield (
        f"{ink.firm} deadline   {ink.usual} usually done by then   {ink.now_above} {ink.now} now   {grid}"
        f"{ink.unknown} not known   (UTC)"
    )


def _tree(
    printing: Printing, tree: Sequence[OutlineRow], names: Mapping[Handle, str], state: int, width: int, ink: bars.Ink
) -> Iterator[str]:
    forest, root = printing.forest, tree[0].handle
    extent = tree_extent(forest, root)
    if extent is None:
        for row in tree:
            yield f"{names[row.handle]}  {_joined(printing, _STATE.cell(printing.table, row, state))}".rstrip()
        return
    chart = bars.Chart(forest, around(extent), width, ink=ink, zone=UTC)
    pieces = critical_path(forest, root).by_delegation()
    yield (" " * (cells(names[root]) + state + 4) + "".join(run.text for run in chart.axis())).rstrip()
    for row in tree:
        drawn = chart.row(row.handle, forest.delegation(row.handle), pieces.get(row.handle, ()))
        runs = (*_STATE.cell(printing.table, row, state), CellSpan("  ", "text"), *drawn)
        yield f"{names[row.handle]}  {_joined(printing, runs)}".rstrip()


def _joined(printing: Printing, runs: Iterable[CellSpan]) -> str:
    return "".join(coloured(run.text, run.part) if printing.look.color else run.text for run in runs)

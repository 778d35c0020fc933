"""A search that leaves all rows where they are: the next row whose text has the words."""

from collections.abc import Iterator

from delegtop.app.state.board import Board
from delegtop.model import measures
from delegtop.model.store.ledger import Handle
from delegtop.report.table.cells import doing_of

_PAGE = 200
_FURTHEST = 50_000
"""Rows that are looked at for one step."""


def next_match(board: Board, text: str, cursor: Handle | None, step: int) -> Handle | None:
    """The next (or previous) row that has the words in its name, project, title, state or what it does, where they are
    marked, or in its id; it comes round."""
    outline, words = board.outline, text.lower()
    here = outline.row_of(cursor) if cursor is not None else None
    start = (-1 if step > 0 else len(outline)) if here is None else here
    for handle in _from(board, start, step):
        if words in _told(board, handle).lower():
            return handle
    return None


def _told(board: Board, handle: Handle) -> str:
    """What the row says of it, each thing on a line of its own, and its id."""
    table, facts = board.table, board.table.facts(handle)
    state, found = board.forest.state(handle), table.problem(handle)
    title = table.prose(measures.title(facts))
    doing, _ = doing_of(table, handle)
    name, project = table.safe(measures.called(facts)), table.project(handle)
    return "\n".join((name, title, project, found.short if found else state.value, doing, facts.id))


def _from(board: Board, start: int, step: int) -> Iterator[Handle]:
    """All rows after this one, then those before it and itself; the other way round for a step back."""
    outline = board.outline
    count = min(len(outline), _FURTHEST)
    done = 0
    row = start
    while done < count:
        if step > 0:
            row = row + 1 if row + 1 < len(outline) else 0
            page = outline.window(row, min(_PAGE, count - done))
            yield from (shown.handle for shown in page)
            row += len(page) - 1
        else:
            end = row if row > 0 else len(outline)
            top = max(end - min(_PAGE, count - done), 0)
            page = outline.window(top, end - top)
            yield from (shown.handle for shown in reversed(page))
            row = top
        done += len(page)

"""The table: whatever names and numbers there are, each cell fills its column, and print says what the screen says."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.screens.conftest import NOW, scene
from tests.telling import forest_at

from delegtop.app import cell_width
from delegtop.app.state.board import Board
from delegtop.app.state.table_rows import TableRows
from delegtop.base.clock import FrozenClock, Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.pressing import Pressing
from delegtop.model.events import Described, Ended, Ending, Event, Heard, Outcome, Phase, Started
from delegtop.model.forest import Forest
from delegtop.model.tree.order import order
from delegtop.model.tree.outline import Outline, OutlineRow
from delegtop.report import layout as print_ruler
from delegtop.report.table.cells import RemarkCell, Table
from delegtop.report.table.columns import COLUMNS, DOING, NAME, chosen, layout
from delegtop.report.table.drawing import ASCII, UNICODE, Drawing
from delegtop.report.tree_text import USUAL, Look, Printing, tree
from delegtop.settings import Settings

WIDTHS = range(4, 241)
_lines = count(1)

words = st.text(st.sampled_from("ab c/-_.日本語ｱé́👩‍👩‍👧🇩🇪\u0301\t[]{}"), max_size=60)
spans_of_time = st.integers(0, 400 * 86_400_000)


def _origin() -> Origin:
    return Origin("run.jsonl", next(_lines), 0)


def forest_of(events: list[Event]) -> Forest:
    return forest_at(NOW, events)


@st.composite
def families(draw: st.DrawFn) -> list[Event]:
    """A few delegations below each other, each with whatever may be told of one."""
    events: list[Event] = []
    for number in range(draw(st.integers(1, 6))):
        id, begun = f"d{number}", Millis(NOW - draw(spans_of_time))
        parent = f"d{draw(st.integers(0, number - 1))}" if number and draw(st.booleans()) else None
        name, task = draw(words), draw(st.none() | words)
        depth, timeout = draw(st.none() | st.integers(0, 99)), draw(st.none() | st.integers(1, 10**10))
        events.append(
            Started(id, begun, _origin(), agent=name or None, task=task, parent=parent, depth=depth, timeout=timeout)
        )
        events.append(Described(id, begun, _origin(), title=draw(words), cwd=draw(st.none() | words)))
        phase, tool = draw(st.none() | st.sampled_from(Phase)), draw(st.none() | words)
        tokens, cost = draw(st.none() | st.integers(0, 10**12)), draw(st.none() | st.floats(0, 10**6))
        heard = Millis(min(begun + draw(spans_of_time), NOW))
        events.append(Heard(id, heard, _origin(), draw(words), tool=tool, phase=phase, tokens=tokens, cost=cost))
        if draw(st.booleans()):
            events.append(Ended(id, heard, _origin(), draw(st.sampled_from(Outcome)), Ending.RETURN))
    return events


class Shown:
    """Rows as the dashboard makes them, all judged."""

    def __init__(self, events: list[Event], drawing: Drawing = UNICODE, remark: RemarkCell = RemarkCell()) -> None:  # noqa: B008 - a value
        self.forest, self.outline = Forest(), Outline()
        for handle in self.forest.apply(events).added:
            self.outline.add(handle, self.forest.parent(handle))
        self.forest.advance(NOW)
        assessments = Assessments(self.forest)
        assessments.update()
        table = Table(assessments, Pressing(assessments), drawing, cell_width, remarks=lambda _: remark)
        self.rows = TableRows(table, self.outline)
        self.rows.learn(self.window)

    @property
    def window(self) -> list[OutlineRow]:
        return self.outline.window(0, len(self.outline))


@settings(max_examples=25, deadline=None)
@given(families(), st.sampled_from([UNICODE, ASCII]), st.booleans())
def test_every_row_is_as_wide_as_the_table_at_every_width(events: list[Event], drawing: Drawing, folds: bool) -> None:
    shown = Shown(events, drawing, RemarkCell("a finding of 20 char", Severity.ERROR, 12))
    if folds:
        shown.outline.collapse_all()
    for width in WIDTHS:
        placed = shown.rows.layout(width)
        assert cell_len(shown.rows.header(placed, "problems")[0].text) == width
        for row in shown.window:
            assert cell_len("".join(span.text for span in shown.rows.cells(row, placed))) == width


@settings(max_examples=40, deadline=None)
@given(families(), st.sampled_from(sorted(COLUMNS)), st.integers(1, 240))
def test_every_cell_fills_its_column_whatever_the_ruler(events: list[Event], name: str, width: int) -> None:
    shown = Shown(events)
    printed = Table(
        shown.rows.table.assessments, shown.rows.table.pressing, UNICODE, print_ruler, folds=False, exact=True
    )
    for row in shown.window:
        cell = COLUMNS[name].cell(shown.rows.table, row, width)
        assert cell_len("".join(span.text for span in cell)) == width
        cell = COLUMNS[name].cell(printed, row, width)
        assert print_ruler.cells("".join(span.text for span in cell)) == width


@given(st.integers(1, 99 * 3_600), st.integers(7, 8), st.booleans(), st.booleans())
def test_no_span_of_time_is_cut(seconds: int, width: int, exact: bool, over: bool) -> None:
    begun = Millis(NOW - seconds * 1_000)
    events: list[Event] = [Started("a", begun, _origin(), agent="a")]
    if over:
        events.append(Ended("a", NOW, _origin(), Outcome.COMPLETED, Ending.RETURN))
    assessments = Assessments(forest_of(events))
    table = Table(assessments, Pressing(assessments), UNICODE, print_ruler, exact=exact)
    row = OutlineRow(0, 0, (), True, 0, 0, True)
    for name in ("age", "quiet"):
        assert "…" not in "".join(span.text for span in COLUMNS[name].cell(table, row, width))


@given(
    st.integers(4, 400),
    st.sets(st.sampled_from(sorted(COLUMNS))),
    st.lists(st.sampled_from([name for name in COLUMNS if name != NAME]), unique=True),
    st.sets(st.sampled_from(sorted(COLUMNS))),
)
def test_the_columns_fill_the_width_and_the_name_is_first(
    width: int, empty: set[str], names: list[str], kept: set[str]
) -> None:
    placed = layout(width, chosen(names), empty - {NAME}, kept)
    assert 1 + sum(each.width for each in placed.columns) + placed.gap * (len(placed.columns) - 1) == width
    assert placed.columns[0].name == NAME
    assert all(each.width > 0 for each in placed.columns)
    assert not {each.name for each in placed.columns[1:]} & empty or width < 32


@given(st.integers(160, 400), st.sets(st.sampled_from([name for name in COLUMNS if name not in (NAME, DOING)])))
def test_what_each_does_has_two_fifths_of_a_wide_table(width: int, empty: set[str]) -> None:
    placed = layout(width, chosen(()), empty)
    assert next(each.width for each in placed.columns if each.name == DOING) >= 0.4 * width


@given(st.integers(80, 400), st.sets(st.sampled_from(sorted(set(COLUMNS) - {NAME, DOING, "depth", "state"}))))
def test_the_depth_and_the_state_are_there_from_eighty_cells_on(width: int, empty: set[str]) -> None:
    assert {"depth", "state", DOING} <= {each.name for each in layout(width, chosen(()), empty).columns}


def test_a_column_that_is_kept_is_there_wherever_it_fits() -> None:
    for width in range(80, 241):
        kept = {"state", "cost", "tokens", DOING}
        assert {
            each.name for each in layout(width, chosen(("state", "cost", "tokens", DOING)), (), kept).columns
        } >= kept


# Print


@pytest.mark.parametrize("width", [80, 100, 120, 160, 200])
def test_no_line_of_the_printed_table_is_wider_than_the_terminal(width: int) -> None:
    forest = forest_of([*scene(), Heard("sess_1766743200_lint07", Millis(NOW - 9_000), _origin(), "x" * 400)])
    lines = list(tree(forest, [], look=Look(width=width)))
    table = lines[2 : 3 + len(forest)]
    assert all(print_ruler.cells(line) <= width for line in table)
    assert any(line.endswith("…") for line in table)


def test_tree_prints_the_same_words_as_the_dashboard_shows_for_the_same_row() -> None:
    board = Board(Settings(), FrozenClock(NOW))
    board.receive(scene())
    board.loaded()
    while board.assessments.waiting:
        board.judge(1.0)
    forest = forest_of(scene())
    printing = Printing(forest, None, "problems", Look(width=200))
    dashboard = {board.forest.id(row.handle): row for row in board.outline.window(0, len(board.outline))}
    assert [forest.id(row.handle) for row in printing.rows] == list(dashboard), "and in the same order"
    for row in printing.rows:
        twin = dashboard[forest.id(row.handle)]
        for name in ("project", "task", "state", "depth", "left", "tokens", "cost", DOING):
            shown = COLUMNS[name].cell(board.table, twin, 40)
            printed = COLUMNS[name].cell(printing.table, row, 40)
            assert "".join(span.text for span in shown) == "".join(span.text for span in printed), name
            assert [span.part for span in shown] == [span.part for span in printed], name
        called = [
            "".join(span.text for span in COLUMNS[NAME].cell(*cell, 40))
            for cell in ((board.table, twin), (printing.table, row))
        ]
        assert len({text.strip(" ▾▸├└│─") for text in called}) == 1


def test_the_usual_columns_of_tree_are_columns() -> None:
    assert [column.name for column in chosen(USUAL)[1:]] == list(USUAL)


def test_both_sort_by_the_same_key() -> None:
    forest = forest_of(scene())
    assessments = Assessments(forest)
    assessments.update()
    pressing = Pressing(assessments)
    roots = forest.children(forest.roots()[0])
    printed = [row.handle for row in Printing(forest, None, "problems", Look()).rows if row.level == 1]
    assert printed == sorted(roots, key=order(forest, "problems", pressing=pressing.key))

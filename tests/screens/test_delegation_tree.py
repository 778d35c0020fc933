"""The tree-table on a screen of its own: what it paints, how little it paints, keys, mouse and arrivals."""

from collections.abc import Iterable

import pytest
from rich.style import Style
from tests.telling import handle_of, place
from textual.app import App, ComposeResult
from textual.events import MouseScrollDown
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from delegtop.app import cell_width, theme
from delegtop.app.state.table_rows import TableRows
from delegtop.app.widgets.delegation_tree import DelegationTree
from delegtop.base.clock import HOUR, MINUTE, Millis
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.pressing import Pressing
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Started
from delegtop.model.forest import Forest
from delegtop.model.tree.order import order
from delegtop.model.tree.outline import Outline
from delegtop.report.table.cells import Table
from delegtop.report.table.drawing import drawing

pytestmark = pytest.mark.anyio
NOW = Millis(1_766_750_000_000)
TIMEOUT = HOUR + 30_500


def started(id: str, ago: int, parent: str | None = None, timeout: int | None = TIMEOUT) -> Started:
    return Started(id, Millis(NOW - ago), place(), agent=id, parent=parent, timeout=timeout)


def family() -> list[Event]:
    """A root with two children, one of them a parent itself, and a root that failed."""
    return [
        started("orchestrator", 50 * MINUTE),
        started("planner", 40 * MINUTE, "orchestrator"),
        started("writer", 30 * MINUTE, "orchestrator"),
        started("tester", 20 * MINUTE, "writer"),
        started("lonely", 10 * MINUTE),
        Ended("lonely", Millis(NOW - MINUTE), place(), Outcome.FAILED, Ending.RETURN),
        *(Heard(name, NOW, place(), "work") for name in ("orchestrator", "planner", "writer", "tester")),
    ]


def many(count: int) -> list[Event]:
    return [started(f"job-{number:03}", HOUR - number * 1000, timeout=None) for number in range(count)]


class Stage(App[None]):
    """The widget alone, with a note of what it said and what it repainted."""

    def __init__(self, events: Iterable[Event] = (), *, plain: bool = False, look: str = "dark") -> None:
        super().__init__()
        for each in theme.THEMES:
            self.register_theme(each)
        self.theme = look
        self.forest, self.outline = Forest(), Outline()
        self.assessments = Assessments(self.forest)
        table = Table(self.assessments, Pressing(self.assessments), drawing(ascii=plain), cell_width)
        self.table = Recording(TableRows(table, self.outline))
        self.outline.sort(order(self.forest, "start"))
        self.said: list[Message] = []
        self.arrive(events)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.DEFAULTS

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.table.focus()
        self.table.update_rows()

    def arrive(self, events: Iterable[Event], at: int = 0) -> None:
        change = self.forest.apply(events)
        lives = self.forest.advance(Millis(NOW + at))
        for handle in change.added:
            self.outline.add(handle, self.forest.parent(handle))
        for handle in change.moved:
            self.outline.move(handle, self.forest.parent(handle))
        self.assessments.touch(change.touched, lives.union(change.lives, change.added))
        self.assessments.update()

    def on_delegation_tree_highlighted(self, message: DelegationTree.Highlighted) -> None:
        self.said.append(message)

    def on_delegation_tree_activated(self, message: DelegationTree.Activated) -> None:
        self.said.append(message)

    def on_delegation_tree_folded(self, message: DelegationTree.Folded) -> None:
        self.said.append(message)

    def on_delegation_tree_sort_requested(self, message: DelegationTree.SortRequested) -> None:
        self.said.append(message)

    def lines(self) -> list[str]:
        size = self.table.size
        return [strip.text.rstrip() for strip in self.table.render_lines(Region(0, 0, size.width, size.height))]

    def names(self) -> list[str]:
        """The first column of the rows on screen, without the lines of the tree."""
        return [line[1:24].strip(" ▾▸├└│─╌…") for line in self.lines()[1:] if line[1:24].strip(" │┃╺")]

    @property
    def under_cursor(self) -> str:
        cursor = self.table.cursor
        return "" if cursor is None else self.forest.delegation(cursor).id

    def handle(self, id: str) -> int:
        return handle_of(self.forest, id)


class Recording(DelegationTree):
    """Notes which rows are asked to be painted anew; -1 is everything."""

    def __init__(self, rows: TableRows) -> None:
        super().__init__(rows)
        self.painted: list[int] = []

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> "Recording":
        self.painted.extend([region.y for region in regions] or [-1])
        super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        return self


async def test_the_table_at_eighty_columns() -> None:
    app = Stage(family())
    async with app.run_test(size=(80, 8)):
        assert app.lines() == [
            " DELEGATION             STATE               D     LEFT   QUIET DOING",
            " ▾ orchestrator         ◐ waiting          ~0      10m    0:00 on planner",
            " ├── planner            ▶ running          ~1      10m    0:00 work",
            " └─▾ writer             ◐ waiting          ~1      10m    0:00 on tester",
            "   └── tester           ▶ running          ~2      10m    0:00 work",
            "   lonely               ✖ failed           ~0",
            "",
            "",
        ]


async def test_the_table_in_ascii() -> None:
    app = Stage(family(), plain=True)
    async with app.run_test(size=(181, 6)):
        shown = app.lines()
        assert all(line.isascii() for line in shown)
        assert " > running " in shown[2]
        assert shown[2].startswith(" |-- planner ")
        assert " 10m #=......  " in shown[2]


async def test_an_empty_outline_paints_nothing_of_its_own() -> None:
    app = Stage()
    async with app.run_test(size=(80, 6)) as pilot:
        assert app.lines() == [""] * 6
        await pilot.press("down", "enter", "space", "G", "left", "right", "pagedown")
        await pilot.click(DelegationTree, offset=(3, 2))
        assert app.table.cursor is None
        assert app.said == []


async def test_every_piece_has_a_foreground_and_a_background() -> None:
    for look in ("dark", "light", "safe"):
        app = Stage([*family(), *many(30)], look=look)
        async with app.run_test(size=(120, 12)):
            for strip in app.table.render_lines(Region(0, 0, 120, 12)):
                assert strip.cell_length == 120
                for segment in strip:
                    assert isinstance(segment.style, Style)
                    assert segment.style.color is not None
                    assert segment.style.bgcolor is not None


async def test_keys_move_fold_and_open() -> None:
    app = Stage(family())
    async with app.run_test(size=(80, 12)) as pilot:
        assert app.under_cursor == "orchestrator"
        await pilot.press("j", "down")
        assert app.under_cursor == "writer"
        await pilot.press("left")
        assert app.names() == ["orchestrator", "planner", "writer (1)", "lonely"]
        await pilot.press("right", "right")
        assert app.under_cursor == "tester"
        await pilot.press("left")
        assert app.under_cursor == "writer"
        await pilot.press("g", "space")
        assert app.names() == ["orchestrator (3)", "lonely"]
        await pilot.press("G")
        assert app.under_cursor == "lonely"
        app.said.clear()
        await pilot.press("enter")
        assert [type(message) for message in app.said] == [DelegationTree.Activated]


async def test_folding_an_ancestor_takes_the_cursor_to_the_fold() -> None:
    app = Stage(family())
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.cursor = app.handle("tester")
        app.outline.collapse(app.handle("orchestrator"))
        app.table.update_rows()
        await pilot.pause()
        assert app.under_cursor == "orchestrator"


async def test_pages_and_ends() -> None:
    app = Stage(many(100))
    async with app.run_test(size=(80, 11)) as pilot:
        await pilot.press("pagedown")
        assert app.under_cursor == "job-009"
        assert app.names()[0] == "job-009"
        await pilot.press("end")
        assert app.names()[-1] == "job-099"
        await pilot.press("pageup")
        assert app.under_cursor == "job-090"
        await pilot.press("home")
        assert app.names()[0] == "job-000"


async def test_a_click_selects_and_a_click_on_the_mark_folds() -> None:
    app = Stage(family())
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.click(DelegationTree, offset=(20, 2))
        assert app.under_cursor == "planner"
        await pilot.click(DelegationTree, offset=(3, 3))
        assert app.under_cursor == "writer"
        assert app.names() == ["orchestrator", "planner", "writer (1)", "lonely"]


async def test_a_double_click_opens() -> None:
    app = Stage(family())
    async with app.run_test(size=(80, 12)) as pilot:
        app.said.clear()
        await pilot.click(DelegationTree, offset=(40, 2), times=2)
        assert [type(each) for each in app.said] == [DelegationTree.Highlighted, DelegationTree.Activated]


async def test_a_click_on_a_title_asks_for_its_order() -> None:
    app = Stage(family())
    async with app.run_test(size=(80, 12)) as pilot:
        for x in (3, 30, 43, 50, 57, 75):
            await pilot.click(DelegationTree, offset=(x, 0))
        asked = [each.sort for each in app.said if isinstance(each, DelegationTree.SortRequested)]
        assert asked == ["name", "problems", "depth", "deadline", "quiet", "doing"]
        app.table.show_sort("deadline")
        assert "LEFT▼" in app.lines()[0]
        app.table.show_sort("deadline", reverse=True)
        assert "LEFT▲" in app.lines()[0]


async def test_the_wheel_moves_the_view_and_not_the_cursor() -> None:
    app = Stage(many(100))
    async with app.run_test(size=(80, 11)) as pilot:
        await pilot._post_mouse_events([MouseScrollDown], DelegationTree, button=0)
        assert app.names()[0] == "job-003"
        assert app.under_cursor == "job-000"


async def test_the_scrollbar_can_be_clicked_and_dragged() -> None:
    app = Stage(many(100))
    async with app.run_test(size=(80, 11)) as pilot:
        assert app.lines()[1].endswith("┃")
        await pilot.mouse_down(DelegationTree, offset=(79, 10))
        await pilot.mouse_up(DelegationTree, offset=(79, 10))
        assert app.names()[-1] == "job-099"
        await pilot.mouse_down(DelegationTree, offset=(79, 10))
        await pilot.hover(DelegationTree, offset=(79, 5))
        middle = app.names()[0]
        await pilot.hover(DelegationTree, offset=(79, 1))
        await pilot.mouse_up(DelegationTree, offset=(79, 1))
        assert "job-030" < middle < "job-070"
        assert app.names()[0] == "job-000"


async def test_problems_are_painted_on_the_scrollbar() -> None:
    app = Stage([*many(100), Ended("job-050", NOW, place(), Outcome.FAILED, Ending.RETURN)])
    async with app.run_test(size=(80, 11)):
        app.table.mark_problems([app.handle("job-050")])
        app.table._marks_due = 0.0
        app.table.update_rows()
        assert [line[-1] for line in app.lines()[1:]] == ["┃", *"││││", "╺", *"││││"]
        app.table.mark_problems([app.handle("job-000")])
        app.table._marks_due = 0.0
        app.table.update_rows()
        assert app.lines()[1].endswith("┃")
        assert app.table._bar(0).part == "problem"


async def test_only_the_rows_that_changed_are_painted_again() -> None:
    app = Stage(family())
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        app.table.painted.clear()
        app.table.update_rows()
        assert app.table.painted == []
        app.arrive([Heard("planner", NOW, place(), "something else")])
        app.table.update_rows()
        assert app.table.painted == [2]
        app.table.painted.clear()
        app.arrive([], at=400)
        app.table.update_rows()
        assert app.table.painted == []


async def test_arrivals_move_neither_cursor_nor_view() -> None:
    app = Stage(many(100))
    async with app.run_test(size=(80, 11)) as pilot:
        app.table.cursor = app.handle("job-050")
        await pilot.pause()
        before = app.names()
        app.arrive([started("early", 2 * HOUR), started("earlier", 3 * HOUR), started("late", 1)])
        app.table.update_rows()
        await pilot.pause()
        assert app.names() == before
        assert app.under_cursor == "job-050"
        for _ in range(4):
            await pilot._post_mouse_events([MouseScrollDown], DelegationTree, button=0)
        before = app.names()
        assert "job-050" not in before
        app.arrive([started("earliest", 4 * HOUR)])
        app.table.update_rows()
        await pilot.pause()
        assert app.names() == before


async def test_a_line_is_made_again_only_if_it_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Stage(many(100))
    async with app.run_test(size=(80, 11)) as pilot:
        await pilot.pause()
        app.lines()
        made: list[int] = []
        make = app.table.render_line

        def note(y: int) -> Strip:
            made.append(y)
            return make(y)

        monkeypatch.setattr(app.table, "render_line", note)
        app.lines()
        assert made == []
        await pilot.press("down")
        app.lines()
        assert sorted(made) == [1, 2]


async def test_a_size_that_nobody_told_it_is_found_when_it_is_painted() -> None:
    app = Stage(many(100))
    async with app.run_test(size=(80, 11)):
        app.table._view.resize(0)
        app.table._room = Size(0, 0)
        app.table.update_rows()
        assert len(app.names()) == 10


async def test_what_comes_out_of_view_is_counted_until_it_is_seen() -> None:
    app = Stage(many(100))
    async with app.run_test(size=(80, 11)) as pilot:
        app.table.update_rows()
        assert app.table.pending == 0
        app.arrive([started("late", 2), started("later", 1)])
        app.table.update_rows()
        assert app.table.pending == 2
        await pilot.press("end")
        assert app.table.pending == 0
        await pilot.press("home")
        app.arrive([started("last", 0)])
        app.table.update_rows()
        assert app.table.pending == 1
        app.table.go_to_newest()
        assert app.table.pending == 0
        assert app.under_cursor == "last"


async def test_what_was_over_before_one_looked_and_is_read_later_is_no_news() -> None:
    app = Stage(many(100))
    async with app.run_test(size=(80, 11)):
        app.table.seen()
        app.arrive([started("yesterday", 24 * HOUR), started("just-before", 1)])
        app.table.update_rows(True)
        assert app.table.pending == 0
        app.arrive([started("now", -1), started("last-week", 7 * 24 * HOUR)])
        app.table.update_rows(True)
        assert app.table.pending == 1
        app.arrive([started("goes-on", 30 * MINUTE), Heard("goes-on", Millis(NOW + 2), place(), "work")])
        app.table.update_rows(True)
        assert app.table.pending == 2
        app.table.go_to_newest()
        assert app.table.pending == 0
        assert app.under_cursor == "now"


async def test_the_newest_is_the_one_that_began_last_whatever_was_read_last() -> None:
    app = Stage([started("now", 0), *many(100)])
    async with app.run_test(size=(80, 11)) as pilot:
        await pilot.press("home")
        app.table.follow = True
        assert app.under_cursor == "now"
        app.arrive([started("an-hour-ago", HOUR), Heard("heard-of", Millis(NOW - MINUTE), place(), "work")])
        app.table.update_rows(True)
        assert app.under_cursor == "now"
        app.arrive([Heard("only-heard-of", Millis(NOW + 1), place(), "work"), started("last-year", 8_000 * HOUR)])
        app.table.update_rows(True)
        assert app.under_cursor == "only-heard-of"
        app.arrive([started("newer", -5)])
        app.table.update_rows(True)
        assert app.under_cursor == "newer"


async def test_following_keeps_the_newest_under_the_cursor_until_a_key_moves_it() -> None:
    app = Stage(many(100))
    async with app.run_test(size=(80, 11)) as pilot:
        app.table.follow = True
        await pilot.pause()
        assert app.under_cursor == "job-099"
        app.outline.collapse(app.handle("job-010"))
        app.arrive([started("child", 1, "job-010")])
        app.table.update_rows()
        assert app.under_cursor == "child"
        assert "child" in app.names()
        assert app.table.pending == 0
        await pilot.press("up")
        assert not app.table.follow
        app.arrive([started("another", 0)])
        app.table.update_rows()
        assert app.under_cursor == "job-010"


async def test_a_filter_that_hides_the_cursor_takes_it_to_what_is_left() -> None:
    app = Stage(many(20))
    async with app.run_test(size=(80, 11)) as pilot:
        app.table.cursor = app.handle("job-015")
        app.outline.filter(lambda handle: handle < 3)
        app.table.update_rows()
        await pilot.pause()
        assert app.under_cursor == "job-002"
        app.outline.filter(lambda _: False)
        app.table.update_rows()
        await pilot.pause()
        assert app.under_cursor == ""
        assert app.lines() == [""] * 11
        app.outline.filter(None)
        app.table.update_rows()
        await pilot.pause()
        assert app.under_cursor == "job-000"


async def test_the_cursor_stays_in_view_when_the_screen_shrinks() -> None:
    app = Stage(many(100))
    async with app.run_test(size=(80, 31)) as pilot:
        app.table.cursor = app.handle("job-025")
        await pilot.resize_terminal(60, 6)
        await pilot.pause()
        assert "job-025" in app.names()
        await pilot.resize_terminal(1, 1)
        await pilot.pause()
        await pilot.resize_terminal(200, 40)
        await pilot.pause()
        assert "job-025" in app.names()


async def test_a_new_theme_changes_the_colours_at_once() -> None:
    app = Stage(family())
    async with app.run_test(size=(80, 8)) as pilot:
        before = [segment.style for segment in app.table.render_line(2)]
        app.theme = "light"
        await pilot.pause()
        after = [segment.style for segment in app.table.render_line(2)]
        assert len(before) == len(after)
        assert all(one != other for one, other in zip(before, after, strict=True))


async def test_a_very_deep_tree_can_be_walked_and_folded() -> None:
    events = [started("n0", HOUR), *(started(f"n{i}", HOUR - i, f"n{i - 1}") for i in range(1, 1300))]
    app = Stage(events)
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press("end")
        assert app.under_cursor == "n1299"
        assert app.names()[-1].startswith("n1299 ◀")
        await pilot.press("home", "space")
        assert app.names() == ["n0 (1,299)"]

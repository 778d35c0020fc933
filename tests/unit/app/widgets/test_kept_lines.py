"""What is on the screen already is not put together again, and what is not is."""

from collections.abc import Iterator

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Static

from delegtop.app.widgets.chips import Chip, Chips
from delegtop.app.widgets.kept_lines import KeptLines
from delegtop.app.widgets.sheet import Beside, JoinedLines, LabelledFact, wrap

pytestmark = pytest.mark.anyio
ALL = Region(0, 0, 40, 1)


class Line(KeptLines, Static):
    asked = 0

    def render_line(self, y: int) -> Strip:
        self.asked += 1
        return super().render_line(y)


class Two(App[None]):
    CSS = "Line { height: 1; } Line.-loud { background: red; }"

    def compose(self) -> ComposeResult:
        yield Line("first")
        yield Line("second")


def lines(app: Two) -> Iterator[Line]:
    return iter(app.query(Line))


async def test_a_line_that_stays_is_given_again_and_one_that_changes_is_made_anew() -> None:
    async with Two().run_test(size=(40, 4)) as pilot:
        first, second = lines(pilot.app)  # type: ignore[arg-type]  # the pilot does not say of which app it is
        given = second.render_lines(ALL)
        first.update("other")
        await pilot.pause()
        assert first.render_lines(ALL)[0].text.strip() == "other"
        assert second.render_lines(ALL) is given


async def test_another_style_is_painted() -> None:
    async with Two().run_test(size=(40, 4)) as pilot:
        first, _ = lines(pilot.app)  # type: ignore[arg-type]  # as above
        before = [segment.style for segment in first.render_lines(ALL)[0]]
        first.add_class("-loud")
        await pilot.pause()
        assert [segment.style for segment in first.render_lines(ALL)[0]] != before


async def test_another_theme_is_painted() -> None:
    async with Two().run_test(size=(40, 4)) as pilot:
        first, _ = lines(pilot.app)  # type: ignore[arg-type]  # as above
        before = [segment.style for segment in first.render_lines(ALL)[0]]
        pilot.app.theme = "textual-light"
        await pilot.pause()
        assert [segment.style for segment in first.render_lines(ALL)[0]] != before


async def test_a_part_of_it_is_not_taken_for_all_of_it() -> None:
    async with Two().run_test(size=(40, 4)) as pilot:
        first, _ = lines(pilot.app)  # type: ignore[arg-type]  # as above
        assert first.render_lines(ALL)[0].cell_length == 40
        assert first.render_lines(Region(0, 0, 3, 1))[0].text == "fir"


async def test_the_very_same_chips_are_not_put_together_again_but_a_word_under_the_mouse_is_underlined() -> None:
    class One(App[None]):
        def compose(self) -> ComposeResult:
            yield Chips()

    async with One().run_test(size=(40, 4)) as pilot:
        shown, chips = pilot.app.query_one(Chips), [Chip(Content("one"), "one"), Chip(Content("two"), "two")]
        shown.show(chips)
        line = shown.line
        shown.show(list(chips))
        assert shown.line is line
        shown._hover("one")
        assert not shown.line.is_same(line)
        shown._hover("")
        assert shown.line.is_same(line)


def test_two_columns_are_joined_anew_only_where_one_of_them_says_something_else() -> None:
    def beside(left: str) -> Beside:
        return Beside(
            [LabelledFact("left", Content(left)), LabelledFact("state", Content("running"))],
            [LabelledFact("agent", Content("a", spans=None)), LabelledFact("path", Content("wide " * 30))],
        )

    joined = JoinedLines()
    before = wrap(beside("0:59"), 120, joined)
    joined.settle()
    after = wrap(beside("0:58"), 120, joined)
    joined.settle()
    assert [one is other for one, other in zip(before, after, strict=True)] == [False, *[True] * (len(before) - 1)]
    afresh = wrap(beside("0:58"), 120)
    assert all(one.is_same(other) for one, other in zip(after, afresh, strict=True))


@pytest.mark.parametrize(
    "text", ["", "one", "one two", "one\ntwo", "a\tb", "trailing   ", "漢字漢字", "x" * 40, "x " * 30]
)
@pytest.mark.parametrize("width", [1, 5, 12, 40, 41, 200])
def test_what_fits_is_not_wrapped_and_looks_as_if_it_were(text: str, width: int) -> None:
    content = Content.styled(text, "bold")
    lines, wrapped = wrap(content, width), content.wrap(width)
    assert [line.plain for line in lines] == [line.plain for line in wrapped]
    assert all(one.is_same(other) for one, other in zip(lines, wrapped, strict=True))

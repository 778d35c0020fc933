"""What is said twice in one frame is said alike, and what was said does not go back when one looks elsewhere."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.piloting import until
from tests.screens.conftest import NOW, observed
from tests.screens.looking import banner, page, ready, running, settled, table, text_of
from tests.telling import handle_of

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.triage import Triage
from delegtop.base.clock import Clock, FrozenClock, Millis
from delegtop.model.events import Event, Phase

if TYPE_CHECKING:
    from tests.screens.conftest import Script, ScriptedFeed

pytestmark = pytest.mark.anyio
MakeApp = Callable[..., DelegtopApp]
SIZE = (160, 45)
TIME = re.compile(r"(?:(\d+):)?(\d+):(\d\d)")
SPAN = re.compile(rf"\d+d\d\dh|{TIME.pattern}")


class Wall(Clock):
    """A clock that is not frozen, and goes on when the test says so, even between two questions."""

    def __init__(self) -> None:
        self.at, self.pace = NOW, 0

    def now(self) -> Millis:
        self.at = Millis(self.at + self.pace)
        return self.at


def idle(s: "Script") -> list[Event]:
    """A session between two prompts, one that is silent, and one that was lost."""
    return [
        s.started("rests", 0, agent="claude", product="claude-code"),
        s.heard("rests", 40, "", phase=Phase.IDLE),
        s.started("quiet", 10, agent="reviewer"),
        s.heard("quiet", 31, "reading the diff"),
        s.started("gone", -26 * 60, agent="deployer", timeout=60_000),
        s.heard("gone", -26 * 60 + 1, "uploading"),
    ]


def ago(text: str, after: str) -> int:
    """The seconds that are told after these words."""
    found = TIME.search(text, text.index(after) + len(after))
    assert found is not None, text
    hours, minutes, seconds = (int(each or 0) for each in found.groups())
    return hours * 3_600 + minutes * 60 + seconds


def row(app: DelegtopApp, name: str) -> str:
    return next(line for line in table(app) if name in line)


async def go_to(app: DelegtopApp, pilot: object, id: str) -> None:
    handle = handle_of(app.board.forest, id)
    app.monitor._go_to(handle)
    await settled(pilot)  # type: ignore[arg-type]  # Textual's pilot


@pytest.mark.parametrize("pace", [0, 137, 1_900], ids=["still", "slow", "fast"])
async def test_row_inspector_and_line_above_tell_the_same_age_in_one_frame(feed: "ScriptedFeed", pace: int) -> None:
    clock = Wall()
    async with running(DelegtopApp(observed(feed, clock)), size=SIZE) as (app, pilot):
        clock.pace = pace
        for _ in range(4):
            clock.at = Millis(clock.at + 7_300)
            app._second()
            await settled(pilot)
            told = {
                ago(banner(app), "lake build"),
                ago(page(app), "inside bash: lake build for"),
                ago(page(app), "last heard 10:49:30 ·"),
            }
            assert len(told) == 1


async def test_they_do_so_between_two_seconds_too(feed: "ScriptedFeed", script: "Script") -> None:
    clock = Wall()
    uneven = script.heard("sess_1766743200_def456", 49.5 + 0.63 / 60, "bash: lake build", tool="bash")
    async with running(DelegtopApp(observed(type(feed)([*feed.events, uneven]), clock)), size=SIZE) as (app, pilot):
        said = app.reader.feed
        assert isinstance(said, type(feed))
        for number in range(12):
            clock.at = Millis(clock.at + 290)
            said.say(script.heard("sess_1766743200_lint07", 62, f"file {number}", tool="bash"))
            await until(pilot, lambda number=number: f"file {number}" in text_of(app))  # type: ignore[misc]  # this number
            assert ago(banner(app), "lake build") == ago(page(app), "inside bash: lake build for")
            assert ago(banner(app), "lake build") == ago(page(app), "last heard 10:49:30 ·")


@pytest.mark.parametrize(("id", "name", "words"), [("rests", "claude", "its turn ended"), ("gone", "deployer", "")])
async def test_what_a_row_says_with_the_inspector_on_it_is_what_the_inspector_says(
    feed: "ScriptedFeed", script: "Script", id: str, name: str, words: str
) -> None:
    clock = Wall()
    async with running(DelegtopApp(observed(type(feed)(idle(script)), clock)), size=SIZE) as (app, pilot):
        await pilot.press("d")
        await go_to(app, pilot, id)
        for _ in range(3):
            clock.at = Millis(clock.at + 61_700)
            app._second()
            await settled(pilot)
            told = row(app, name)
            times = [match.group() for match in SPAN.finditer(told[told.index(words) :])]
            assert times, told
            assert times[-1] in page(app), f"{told.strip()} in the row"


@pytest.mark.parametrize("name", ["claude", "deployer", "reviewer"])
async def test_nothing_goes_back_when_a_row_is_left(feed: "ScriptedFeed", script: "Script", name: str) -> None:
    clock = Wall()
    app = DelegtopApp(observed(type(feed)(idle(script)), clock))
    ids = {"claude": "rests", "deployer": "gone", "reviewer": "quiet"}
    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot)
        await pilot.press("d")
        await go_to(app, pilot, ids[name])
        clock.at = Millis(clock.at + 47_000)
        app._second()
        await settled(pilot)
        held = row(app, name)
        await pilot.press("down" if app.monitor.table._view.row == 0 else "up")
        await settled(pilot)
        assert row(app, name) == held


@pytest.mark.parametrize("name", ["claude", "deployer", "reviewer"])
async def test_a_row_counts_on_whether_or_not_the_cursor_is_on_it(
    feed: "ScriptedFeed", script: "Script", name: str
) -> None:
    clock = Wall()
    app = DelegtopApp(observed(type(feed)(idle(script)), clock))
    ids = {"claude": "rests", "deployer": "gone", "reviewer": "quiet"}
    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot)
        await pilot.press("d")
        seen = []
        for id in (ids[name], *(other for other in ids.values() if other != ids[name])):
            await go_to(app, pilot, id)
            clock.at = Millis(clock.at + 60 * 60_000)
            app._second()
            await settled(pilot)
            seen.append(row(app, name))
        assert len(set(seen)) == 3, "another hour, another text"


async def test_triage_tells_the_same_sentence_as_the_page_of_the_monitor(make_app: MakeApp, clock: FrozenClock) -> None:
    async with running(make_app(), size=SIZE) as (app, pilot):
        clock.set(Millis(NOW + 20_000))
        app._second()
        await settled(pilot)
        handle = app.monitor.table.cursor
        assert handle is not None
        sentence = app.board.assessments.sentence(handle)
        assert sentence in page(app)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, Triage))
        screen = app.screen
        assert isinstance(screen, Triage)
        await until(pilot, lambda: sentence in " ".join(screen.sheet.text.split()))


@pytest.mark.parametrize("watching", [True, False])
async def test_triage_where_nothing_is_read_does_not_say_that_all_is_well(
    make_app: MakeApp, feed: "ScriptedFeed", watching: bool
) -> None:
    async with running(make_app(feed=type(feed)(), watching=watching), size=SIZE) as (app, pilot):
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, Triage))
        assert "Nothing is read yet" in text_of(app)
        assert "no problem" not in text_of(app).lower()

"""Which one? Agents of one kind are told apart wherever an operator looks: in rows, the line above them and triage."""

from datetime import UTC
from pathlib import Path

import pytest
from tests.homes import WORKS, parallel_home
from tests.piloting import until
from tests.screens.looking import banner, ready, settled, table, text_of

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.triage import Triage
from delegtop.base.clock import SECOND, FrozenClock, Millis, WallClock
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

pytestmark = pytest.mark.anyio
SIZES = [(40, 20), (60, 20), (80, 24), (120, 35), (160, 45), (300, 50)]
STUCK = (WORKS[0], *WORKS[2:])


def dashboard(home: Path) -> DelegtopApp:
    now = Millis(WallClock().now() // SECOND * SECOND)
    parallel_home(home, now)
    return DelegtopApp(opened(Places([str(home / ".claude" / "projects")]), Settings(), FrozenClock(now)), zone=UTC)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_rows_of_one_kind_are_told_apart_at_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    app = dashboard(tmp_path)
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        name = app.monitor.table._layout.columns[0].width + 1
        rows = [line[:name].replace("└", "├") for line in table(app) if line[:3].strip(" ▾├└")[:1] != "c"]
        children = [row for row in rows if row.startswith(" ├")][:4]
        assert len(children) == len(set(children)) == 4
        parents = [line[: name + 12] for line in table(app) if "▾ claude" in line]
        assert len(set(parents)) == len(parents) == 2, "and who started them by their projects"


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_line_above_says_which_by_its_work_before_project_and_kind(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = dashboard(tmp_path)
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        assert banner(app).startswith("STUCK  gener")
        assert "“Deploy to sta" in banner(app)
        if size[0] >= 80:
            assert "→" in banner(app), "the key is there still"


@pytest.mark.parametrize("size", SIZES[1:], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_triage_lists_problems_that_are_told_apart(tmp_path: Path, size: tuple[int, int]) -> None:
    app = dashboard(tmp_path)
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, Triage))
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, Triage)
        width = screen.problems.scrollable_content_region.width
        rows = [screen._row(each, width).plain for each in screen.problems.problems]
        assert len(rows) == len(set(rows)) == 6
        for work in STUCK:
            assert sum(work.split()[-1] in row for row in rows) == 2 or size[0] < 80
        assert sum(row in text_of(app) for row in rows) >= 2, "as they stand in the list"

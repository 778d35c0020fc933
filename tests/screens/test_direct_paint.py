"""What a frame puts on the terminal by itself is what is to be seen there, whatever lies where."""

from pathlib import Path
from random import Random

import pytest
from rich.console import RenderableType
from tests.piloting import rest
from tests.screens.monkey import SIZES, Growing, Hours
from tests.screens.test_monkey import MOMENTS, SAMPLES, Deaf
from textual.screen import Screen
from textual.strip import Strip

from delegtop.app.screens import direct_paint
from delegtop.app.screens.direct_paint import Pieces
from delegtop.base.clock import MINUTE, SECOND, Millis, parse_time
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

pytestmark = pytest.mark.anyio


def cells(strip: Strip) -> list[tuple[str, str]]:
    """Each character with its look."""
    return [(character, str(segment.style)) for segment in strip for character in segment.text]


class Seen(Deaf):
    """The program, with a terminal that remembers what it was sent."""

    lines: list[Strip] | None = None
    """Of the monitor, if that was painted last."""
    painted = 0
    """How often a frame was painted by itself."""

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        super()._display(screen, renderable)
        if renderable is None or self._batch_count:
            return
        if screen is not self.monitor:
            self.lines = None
        elif isinstance(renderable, Pieces) and self.lines is not None:
            self._write(renderable, self.lines)
        else:
            self.lines = self.monitor._compositor.render_strips()

    def _write(self, update: Pieces, lines: list[Strip]) -> None:
        self.painted += 1
        for x, y, strip in update.pieces:
            lines[y] = Strip.join([lines[y].crop(0, x), strip, lines[y].crop(x + strip.cell_length)])
        whole = self.monitor._compositor.render_strips()
        assert [*map(cells, lines)] == [*map(cells, whole)], f"frame {self.painted} is not what is to be seen"


KEYS = (
    "down",
    "up",
    "pagedown",
    "end",
    "home",
    "enter",
    "escape",
    "space",
    "1",
    "2",
    "tab",
    "s",
    "R",
    "f",
    "i",
    "d",
    "b",
    "m",
)


@pytest.mark.parametrize("sample", ["02_hang", "15_fan_out", "claude-code"])
async def test_whatever_comes_the_terminal_shows_what_is_to_be_seen(sample: str, tmp_path: Path) -> None:
    hours, chance = Hours(parse_time(MOMENTS.get(sample, {}).get("at", "2026-03-03T10:30:00Z")) or Millis(0)), Random(7)
    logs = Growing(SAMPLES / sample, tmp_path / "logs")
    app = Seen(opened(Places([str(logs.folder)]), Settings(), hours, rewinds=True))
    async with app.run_test(size=(120, 35), notifications=True) as pilot:
        await rest([app])
        for _ in range(60):
            hours.at = Millis(hours.at + chance.choice((SECOND, SECOND, 7 * SECOND, MINUTE)))
            luck = chance.random()
            if luck < 0.25:
                await pilot.press(chance.choice(KEYS))
            elif luck < 0.4:
                logs.grow(chance)
            elif luck < 0.43:
                await pilot.resize_terminal(*chance.choice(SIZES))
            elif luck < 0.5:
                app.notify("This lies over it.", timeout=1)
            app._second()
            if luck > 0.3:
                await pilot.pause()
    assert app._exception is None
    assert app.painted > 12


async def test_what_lies_over_a_line_that_changes_stays_there(tmp_path: Path) -> None:
    hours = Hours(parse_time(MOMENTS["02_hang"]["at"]) or Millis(0))
    logs = Growing(SAMPLES / "02_hang", tmp_path / "logs")
    app = Seen(opened(Places([str(logs.folder)]), Settings(), hours))
    async with app.run_test(size=(120, 35), notifications=True) as pilot:
        await rest([app])
        app.notify("\n".join(["over it"] * 12), timeout=600)
        await pilot.pause()
        for _ in range(5):
            hours.at = Millis(hours.at + SECOND)
            app._second()
            await pilot.pause()
            assert app.lines is not None
            assert sum("over it" in line.text for line in app.lines) == 12


@pytest.mark.parametrize(("needed", "paints"), [("_repaint_regions", True), ("_renamed", False)])
async def test_where_textual_is_made_otherwise_it_paints_by_itself(
    needed: str, paints: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It promises nothing of what is used."""
    monkeypatch.setattr(direct_paint, "_OF_SCREEN", (needed,))
    hours = Hours(parse_time(MOMENTS["02_hang"]["at"]) or Millis(0))
    logs = Growing(SAMPLES / "02_hang", tmp_path / "logs")
    app = Seen(opened(Places([str(logs.folder)]), Settings(), hours))
    async with app.run_test(size=(120, 35)) as pilot:
        await rest([app])
        await pilot.press("down")
        for _ in range(10):
            hours.at = Millis(hours.at + SECOND)
            app._second()
            await pilot.pause()
        assert app.lines is not None
        assert (app.painted > 0) is paints
